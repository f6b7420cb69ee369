import { memo } from "react";
import type { ReviewLine } from "../../api/types";
import { classes } from "../../ui/classes";
import { Icon } from "../../ui/Icon";
import type { Verdict } from "./changes";
import styles from "./LineView.module.css";
import type { LineRow } from "./rows";
import { LINE_MAX, piecesOf, type Token } from "./words";

interface LineViewProps {
  row: LineRow;
  isSplit: boolean;
  /** Whether it is one of the lines that a person chose. */
  isChosen: boolean;
  /** What was decided about the line on either side. */
  leftVerdict?: Verdict | undefined;
  rightVerdict?: Verdict | undefined;
  /** Colours of both sides. */
  left?: readonly Token[] | undefined;
  right?: readonly Token[] | undefined;
}

/** A line of a hunk, or a line before and after beside each other. */
export const LineView = memo(function LineView({
  row,
  isSplit,
  isChosen,
  leftVerdict,
  rightVerdict,
  left,
  right,
}: LineViewProps) {
  const look = classes(styles.row, isChosen && styles.chosen, isSplit && styles.split);
  if (isSplit) {
    return (
      <div className={look} data-line>
        <Side
          row={row}
          line={row.left}
          number={row.left?.old}
          tokens={left}
          verdict={leftVerdict}
        />
        <Side
          row={row}
          line={row.right}
          number={row.right?.new}
          tokens={right}
          verdict={rightVerdict}
        />
      </div>
    );
  }
  const line = row.right ?? row.left;
  const tokens = row.right ? right : left;
  const verdict = row.right ? rightVerdict : leftVerdict;
  if (!line) return null;
  const kind = row.isSpace ? "context" : line.kind;
  return (
    <div
      className={classes(look, styles[kind], verdict && styles.decided)}
      data-line
      data-kind={kind}
      data-verdict={verdict}
    >
      <LineNumber value={row.isSpace ? undefined : line.old} line={line} row={row} />
      <LineNumber value={line.new} line={line} row={row} />
      <Code line={line} kind={kind} tokens={tokens} />
      {verdict && <VerdictMark verdict={verdict} />}
    </div>
  );
});

interface SideProps {
  row: LineRow;
  line: ReviewLine | undefined;
  number: number | null | undefined;
  tokens: readonly Token[] | undefined;
  verdict: Verdict | undefined;
}

function Side({ row, line, number, tokens, verdict }: SideProps) {
  if (!line) return <div className={classes(styles.side, styles.none)} />;
  const kind = row.isSpace ? "context" : line.kind;
  return (
    <div
      className={classes(styles.side, styles[kind], verdict && styles.decided)}
      data-kind={kind}
      data-verdict={verdict}
    >
      <LineNumber value={number} line={line} row={row} />
      <Code line={line} kind={kind} tokens={tokens} />
      {verdict && <VerdictMark verdict={verdict} />}
    </div>
  );
}

/** A number; the pointer chooses lines by it. */
function LineNumber({
  value,
  line,
  row,
}: {
  value: number | null | undefined;
  line: ReviewLine;
  row: LineRow;
}) {
  return (
    <span
      className={styles.number}
      data-hunk={line.at == null ? undefined : row.hunk.key}
      data-at={line.at ?? undefined}
    >
      {value ?? ""}
    </span>
  );
}

const VERDICTS = {
  accepted: { title: "Accepted", icon: "check" },
  rejected: { title: "Rejected", icon: "cross" },
} as const;

/** What was decided about a line; its colour is never alone. */
function VerdictMark({ verdict }: { verdict: Verdict }) {
  const { title, icon } = VERDICTS[verdict];
  return (
    <span className={styles.verdict} title={title}>
      <Icon name={icon} size={10} />
      <span className="visually-hidden">{title}</span>
    </span>
  );
}

const SIGNS: Record<string, string> = { added: "+", removed: "−", context: " " };

function Code({
  line,
  kind,
  tokens,
}: {
  line: ReviewLine;
  kind: string;
  tokens: readonly Token[] | undefined;
}) {
  const marks = kind === "context" ? [] : (line.marks ?? []);
  let at = 0;
  return (
    <>
      <span className={styles.sign}>{SIGNS[kind]}</span>
      <code className={styles.code} dir="ltr">
        {piecesOf(line.text, marks, tokens).map((piece) => {
          const key = at;
          at += piece.text.length;
          const look = classes(
            piece.isMarked && styles.mark,
            piece.isHidden && styles.hidden,
            piece.token !== undefined && styles[piece.token],
          );
          return look === "" ? (
            piece.text
          ) : (
            <span
              key={key}
              className={look}
              data-mark={piece.isMarked || undefined}
              data-token={piece.token}
            >
              {piece.text}
            </span>
          );
        })}
        {line.text.length > LINE_MAX && (
          <span className={styles.end}>… {line.text.length - LINE_MAX} more characters</span>
        )}
        {line.noNewline && <span className={styles.end}> no line break at the end</span>}
        {line.lossy && <span className={styles.end}> some of it is no text</span>}
      </code>
    </>
  );
}
