import styles from "./Cli.module.css";
import { CopyButton } from "./CopyButton";

/** The same thing on the command line, to be copied. */
export function Cli({ command }: { command: string }) {
  return (
    <div className={styles.cli}>
      <code>{command}</code>
      <CopyButton text={command} />
    </div>
  );
}
