import { Status } from "../../ui/Status";
import { lookOf } from "./states";

/** A state in a word with its sign. */
export function StateBadge({ state }: { state: string }) {
  const { tone, icon } = lookOf(state);
  return (
    <Status tone={tone} icon={icon}>
      {`${state[0]?.toUpperCase()}${state.slice(1)}`}
    </Status>
  );
}
