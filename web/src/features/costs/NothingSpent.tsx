import { setParams, useChoice, useParam } from "../../router/router";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { SpawnFirst } from "../agents/SpawnFirst";
import { PRESETS } from "./range";

const WIDEST = "90d";

/** No spending in the time that is looked at: a longer time may have some, and else an agent makes some. */
export function NothingSpent({ why, cli }: { why: string; cli: string }) {
  const [preset] = useChoice("range", PRESETS, "30d");
  const [from] = useParam("from");
  const isWidest = preset === WIDEST && from === undefined;
  return (
    <Empty
      icon="costs"
      why={why}
      action={
        isWidest ? (
          <SpawnFirst />
        ) : (
          <Button
            onClick={() =>
              setParams({ range: WIDEST, from: undefined, to: undefined }, { replace: false })
            }
          >
            Show the last 90 days
          </Button>
        )
      }
      cli={cli}
    />
  );
}
