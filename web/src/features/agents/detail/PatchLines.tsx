import { useMemo } from "react";
import { plural } from "../../../ui/format";
import { PartialBadge } from "../../../ui/Status";
import { FileChange } from "./Changes";
import styles from "./PatchLines.module.css";
import { filesOf } from "./patch";

interface PatchLinesProps {
  diff: { files: number; added: number; removed: number; patch: string; cut: boolean };
  /** What is said if nothing differs. */
  same: string;
}

/** A change as git writes it: how large it is, and each file line by line. */
export function PatchLines({ diff, same }: PatchLinesProps) {
  const files = useMemo(() => filesOf(diff.patch), [diff.patch]);
  return (
    <div className={styles.files}>
      <p className={styles.sum}>
        {diff.files === 0 ? same : `${plural(diff.files, "file")},`}
        {diff.files > 0 && (
          <span>
            <ins>+{diff.added}</ins> <del>−{diff.removed}</del>
          </span>
        )}
        {diff.cut && <PartialBadge kind="limited" why="The change is larger than what is shown" />}
      </p>
      {files.map((file) => (
        <FileChange key={file.path} file={file} />
      ))}
    </div>
  );
}
