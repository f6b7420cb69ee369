import { useId, useState } from "react";
import type { Team } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { shellWord } from "../../ui/format";
import { useScaleTeam } from "./queries";
import styles from "./ScaleField.module.css";

/** The most that a team may have at work. */
const MOST = 10_000;

/** How many of a team work at once; it may be changed while they work. */
export function ScaleField({ team }: { team: Team }) {
  const id = useId();
  const scale = useScaleTeam();
  const [typed, setTyped] = useState<string>();
  const text = typed ?? String(team.size);
  const size = Number(text);
  const isPossible = Number.isInteger(size) && size >= 1 && size <= MOST;
  const refused = !isPossible
    ? `Say a number from 1 to ${MOST}.`
    : size === team.size
      ? "So many work at once already."
      : undefined;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (refused !== undefined) return;
        scale.mutate({ team, size });
        setTyped(undefined);
      }}
    >
      <label htmlFor={id}>At once</label>
      <input
        id={id}
        type="number"
        min={1}
        max={MOST}
        value={text}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Guarded
        size="small"
        type="submit"
        can="team:execute:team"
        refused={refused}
        cli={`godel team scale ${shellWord(team.name)} ${text}`}
      >
        Scale
      </Guarded>
    </form>
  );
}
