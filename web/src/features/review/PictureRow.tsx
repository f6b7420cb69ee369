import { useState } from "react";
import type { ReviewFile } from "../../api/types";
import { bytes } from "../../ui/format";
import { useDesk } from "./deskContext";
import styles from "./PictureRow.module.css";
import { reviewPath } from "./queries";

type Side = "base" | "head";

/** A picture as it was and as it is, beside each other. */
export function PictureRow({ file }: { file: ReviewFile }) {
  return (
    <div className={styles.pair}>
      {file.old && <Picture key={file.old.id} file={file} side="base" />}
      {file.new && <Picture key={file.new.id} file={file} side="head" />}
    </div>
  );
}

function Picture({ file, side }: { file: ReviewFile; side: Side }) {
  const { bead } = useDesk();
  const [size, setSize] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  const of = side === "base" ? file.old : file.new;
  const when = side === "base" ? "Before" : "After";
  const fields = { path: file.path, side, content: of?.id ?? "" };
  const facts = [when, size, of?.size == null ? undefined : bytes(of.size)];
  return (
    <figure className={styles.picture} data-side={side}>
      {isBroken ? (
        <p className={styles.broken}>
          This one cannot be shown: it is larger than 5 MiB, or not the picture that its name says.
        </p>
      ) : (
        <img
          src={reviewPath(bead, "/file", fields)}
          alt={`${file.path}, ${when.toLowerCase()}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setSize(`${naturalWidth} × ${naturalHeight}`)
          }
          onError={() => setBroken(true)}
        />
      )}
      <figcaption>{facts.filter((fact) => fact !== undefined).join(", ")}</figcaption>
    </figure>
  );
}
