import type { Bead } from "../../api/types";
import { ToastsHere } from "../../change/Toaster";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { plural, shellWord } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { wordsIn } from "../../ui/typed";
import { MAY_CHANGE } from "./actions";
import styles from "./BeadTable.module.css";
import { useEditBeads } from "./changes";
import { labelCounts } from "./fields";
import own from "./panel/EditableFact.module.css";
import { LabelInput } from "./panel/Labels";
import { useForeign } from "./useForeign";

/** The labels of many beads: which of them have which, more for all, and fewer. */
export function LabelDialog({ beads, onClose }: { beads: readonly Bead[]; onClose: () => void }) {
  const edit = useEditBeads();
  const foreign = useForeign()(beads);
  const add = (text: string) => {
    const fresh = wordsIn(text);
    const lacking = beads.filter(({ labels }) => fresh.some((label) => !labels.includes(label)));
    if (lacking.length === 0) return;
    const change = ({ labels }: Bead) => ({ labels: [...new Set([...labels, ...fresh])] });
    edit.mutate({ beads: lacking, change, what: "the labels" });
  };
  const removeFrom = (label: string) => {
    const having = beads.filter(({ labels }) => labels.includes(label));
    const change = ({ labels }: Bead) => ({ labels: labels.filter((one) => one !== label) });
    edit.mutate({ beads: having, change, what: "the labels" });
  };
  const counts = labelCounts(beads);
  return (
    <Dialog title={`Labels of ${plural(beads.length, "bead")}`} onClose={onClose}>
      <div className={styles.form}>
        {counts.length === 0 && <p className={styles.soft}>None of them has a label.</p>}
        <div className={own.chips}>
          {counts.map(([label, many]) => (
            <span key={label} className={own.chip} data-label={label}>
              {label}
              {many < beads.length && <span className={styles.soft}>{many}</span>}
              <Guarded
                look="quiet"
                size="small"
                isIcon
                can={MAY_CHANGE}
                refused={foreign}
                aria-label={`Remove the label ${label} from all`}
                cli={`godel bead label remove ID ${shellWord(label)}`}
                onClick={() => removeFrom(label)}
              >
                <Icon name="cross" size={11} />
              </Guarded>
            </span>
          ))}
          <LabelInput refused={foreign} onAdd={add} />
        </div>
        <Cli command={beads.map(({ id }) => `godel bead label add ${id} LABEL`).join(" && ")} />
        <div className={styles.acts}>
          <Button look="solid" onClick={onClose}>
            Done
          </Button>
        </div>
        <ToastsHere />
      </div>
    </Dialog>
  );
}
