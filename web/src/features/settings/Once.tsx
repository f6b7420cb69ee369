import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import styles from "./Once.module.css";

interface OnceProps {
  title: string;
  /** What to do with it. */
  text: string;
  value: string;
  onClose: () => void;
}

/** Something that is shown now and never again. */
export function Once({ title, text, value, onClose }: OnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={styles.stack}>
        <p>{text}</p>
        <div className={styles.value}>
          <code>{value}</code>
          <CopyButton text={value} />
        </div>
        <div className={styles.acts}>
          <Button look="solid" onClick={onClose}>
            I have kept it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
