import { type DragEvent, useId, useState } from "react";
import { classes } from "./classes";
import styles from "./FileDrop.module.css";
import { Icon } from "./Icon";

interface FileDropProps {
  label: string;
  /** The endings and types of files that are offered. */
  accept: string;
  /** What was chosen, in words. */
  chosen: string | undefined;
  onChoose: (file: File) => void;
}

/** A place for a file: chosen by a click or a key, or dropped. */
export function FileDrop({ label, accept, chosen, onChoose }: FileDropProps) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) onChoose(file);
  };
  return (
    <label
      htmlFor={id}
      className={classes(styles.drop, isOver && styles.over)}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="up" size={18} />
      <span className={styles.label}>{label}</span>
      <span className={styles.chosen}>{chosen ?? "Drop it here, or click to choose"}</span>
      <input
        id={id}
        type="file"
        accept={accept}
        className="visually-hidden"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // The same file once more is another choice: it may have changed.
          target.value = "";
          if (file) onChoose(file);
        }}
      />
    </label>
  );
}
