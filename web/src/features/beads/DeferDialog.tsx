import { useState } from "react";
import { serverNow } from "../../api/clock";
import type { Bead } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { plural, shortTime } from "../../ui/format";
import { MAY_CHANGE } from "./actions";
import styles from "./BeadTable.module.css";
import { dateFault, deferCli, morningIn, SPANS, usePutOff } from "./defer";
import { useForeign } from "./useForeign";

const BY_DATE = "date";

interface DeferDialogProps {
  beads: readonly Bead[];
  onClose: () => void;
}

/** Asks until when beads are put off: some days, or a date and time. */
export function DeferDialog({ beads, onClose }: DeferDialogProps) {
  // What was offered is what is done, also when the dialog was open over midnight.
  const [now] = useState(serverNow);
  const mornings = SPANS.map(([days, title]) => [morningIn(days, now), title] as const);
  const [choice, setChoice] = useState<string>(mornings[0]?.[0] ?? BY_DATE);
  const [date, setDate] = useState("");
  const putOff = usePutOff();
  const open = beads.filter(({ status }) => status !== "done");
  const chosen = choice === BY_DATE ? date : choice;
  const fault = dateFault(chosen, serverNow());
  const refused = useForeign()(open) ?? fault;
  const submit = () => {
    if (refused !== undefined) return;
    putOff(open, new Date(chosen).toISOString());
    onClose();
  };
  const [first] = open;
  const name = open.length === 1 && first ? first.id : plural(open.length, "bead");
  return (
    <Dialog title={`Put off ${name}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Choice
          label="Until"
          value={choice}
          options={[
            ...mornings.map(([at, title]) => [at, `${title}: ${shortTime(at)}`] as const),
            [BY_DATE, "A date and time"],
          ]}
          onChange={setChoice}
          note="Until then it is not ready, and nobody can claim it."
        />
        {choice === BY_DATE && (
          <TextField
            label="Date and time"
            type="datetime-local"
            value={date}
            error={date === "" ? undefined : fault}
            note="In your time zone."
            onChange={(event) => setDate(event.target.value)}
          />
        )}
        <Cli command={deferCli(open, fault ? "WHEN" : new Date(chosen).toISOString())} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded look="solid" type="submit" side="above" can={MAY_CHANGE} refused={refused}>
            Put off
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}
