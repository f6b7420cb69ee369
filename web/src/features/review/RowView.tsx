import { type ReactNode, useLayoutEffect, useRef } from "react";
import { classes } from "../../ui/classes";
import type { Flow } from "../../ui/flow/useFlow";
import { Composer } from "./Composer";
import styles from "./DiffPane.module.css";
import { verdictOf } from "./decided";
import { cliFor, partName, useDesk } from "./deskContext";
import { ExpandBar } from "./ExpandBar";
import { HunkBar, PartBar } from "./HunkBar";
import { LineView } from "./LineView";
import { PictureRow } from "./PictureRow";
import { type DiffRow, editableText } from "./rows";
import { Thread } from "./Thread";
import type { ReviewDesk } from "./useReviewDesk";
import type { FileTokens } from "./useTokens";

interface RowViewProps {
  row: DiffRow;
  top: number;
  measure: Flow["measure"];
  desk: ReviewDesk;
  isSplit: boolean;
  tokens: FileTokens | undefined;
}

/** One row of the diff at its place; it tells how high it is. */
export function RowView({ row, top, measure, desk, isSplit, tokens }: RowViewProps) {
  const element = useRef<HTMLDivElement>(null);
  const { key, estimate } = row;
  useLayoutEffect(() => {
    return element.current ? measure(element.current, { key, estimate }) : undefined;
  }, [measure, key, estimate]);
  const isBar = row.kind === "hunk" || row.kind === "part";
  return (
    <div
      ref={element}
      className={classes(styles.row, isBar && styles.bar)}
      style={{ top }}
      data-row-kind={row.kind}
    >
      {bodyOf(row, desk, isSplit, tokens)}
    </div>
  );
}

function bodyOf(
  row: DiffRow,
  desk: ReviewDesk,
  isSplit: boolean,
  tokens: FileTokens | undefined,
): ReactNode {
  const { here, chosen, decisions, decided } = desk;
  switch (row.kind) {
    case "line":
      return (
        <LineView
          row={row}
          isSplit={isSplit}
          isChosen={isChosen(row, chosen)}
          leftVerdict={verdictOf(decided.get(row.hunk.key), row.left?.at)}
          rightVerdict={verdictOf(decided.get(row.hunk.key), row.right?.at)}
          left={row.left && tokens?.get(row.left.text)}
          right={row.right && tokens?.get(row.right.text)}
        />
      );
    case "hunk":
      return (
        <HunkBar
          file={row.file}
          hunk={row.hunk}
          isHere={here === row.hunk.key}
          isOld={row.isOld}
          chosen={chosen?.key === row.hunk.key ? chosen : undefined}
          decision={decisions.get(row.hunk.key)}
          decided={decided.get(row.hunk.key)}
        />
      );
    case "expand":
      return <ExpandBar file={row.file} at={row.at} hidden={row.hidden} />;
    case "part": {
      const key = row.file.key ?? "";
      return <PartBar file={row.file} isHere={here === key} decision={decisions.get(key)} />;
    }
    case "note":
      return <p className={styles.note}>{row.text}</p>;
    case "picture":
      return <PictureRow file={row.file} />;
    case "thread":
      return (
        <div className={styles.aside}>
          <Thread first={row.first} answers={row.answers} />
        </div>
      );
    case "edited":
      return (
        <div className={styles.edited}>
          <p>Written by a person instead of the lines below; Apply makes it a commit:</p>
          <pre>{row.text}</pre>
        </div>
      );
    case "editor":
      return <EditorRow row={row} was={decisions.get(row.hunk.key)?.text ?? undefined} />;
    case "compose":
      return <ComposeRow row={row} />;
    default:
      return null;
  }
}

function isChosen(row: Extract<DiffRow, { kind: "line" }>, chosen: ReviewDesk["chosen"]): boolean {
  if (chosen?.key !== row.hunk.key) return false;
  return [row.left?.at, row.right?.at].some(
    (at) => at != null && at >= chosen.from && at <= chosen.to,
  );
}

function EditorRow({
  row,
  was,
}: {
  row: Extract<DiffRow, { kind: "editor" }>;
  was: string | undefined;
}) {
  const desk = useDesk();
  const name = partName(row.file, row.hunk);
  return (
    <div className={styles.aside}>
      <Composer
        name={`${desk.bead}.edit.${row.hunk.key}`}
        label={`What ${name} is to be, from its first line that differs to its last`}
        act="Save"
        cli={`${cliFor("edit", desk.bead, name)} -`}
        initial={was ?? editableText(row.hunk)}
        isCode
        canBeEmpty
        onSend={(_, draft) => desk.saveEdit(row.file, row.hunk, draft)}
        onCancel={() => desk.setEditing(undefined)}
      />
    </div>
  );
}

function ComposeRow({ row }: { row: Extract<DiffRow, { kind: "compose" }> }) {
  const desk = useDesk();
  const { path, side, line } = row.spot;
  return (
    <div className={styles.aside}>
      <Composer
        name={`${desk.bead}.${path}.${side}.${line}`}
        label={`About ${side === "old" ? "the old line" : "line"} ${line}`}
        act="Add comment"
        cli={`godel review comment ${desk.bead} TEXT --on ${path}:${line}${side === "old" ? " --old" : ""}`}
        onSend={(text, draft) => desk.say({ text, path, side, line }, draft)}
        onCancel={() => desk.compose(undefined)}
      />
    </div>
  );
}
