import type { ReactNode } from "react";
import styles from "./Markdown.module.css";
import { type Block, type Inline, type Item, parseInline, parseMarkdown } from "./markdown";

interface MarkdownProps {
  source: string;
  /** Told when a box is ticked; without it boxes are only shown. */
  onTick?: ((line: number, isDone: boolean) => void) | undefined;
}

/** A text that somebody wrote, drawn part by part; nothing of it is ever HTML. */
export function Markdown({ source, onTick }: MarkdownProps) {
  const blocks = numbered(parseMarkdown(source));
  return (
    <div className={styles.markdown}>
      {blocks.map(({ key, value }) => (
        <BlockView key={key} block={value} onTick={onTick} />
      ))}
    </div>
  );
}

function BlockView({ block, onTick }: { block: Block; onTick: MarkdownProps["onTick"] }) {
  switch (block.kind) {
    case "head":
      // The panel has heads of its own; those of a text are below them.
      return <p className={styles.head}>{inline(block.text)}</p>;
    case "text":
      return <p>{inline(block.text)}</p>;
    case "quote":
      return <blockquote>{inline(block.text)}</blockquote>;
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr />;
    case "list": {
      const items = numbered(block.items).map(({ key, value }) => (
        <ItemView key={key} item={value} onTick={onTick} />
      ));
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function ItemView({ item, onTick }: { item: Item; onTick: MarkdownProps["onTick"] }) {
  const { check, depth, text } = item;
  const style = { marginInlineStart: `${depth * 16}px` };
  if (!check) return <li style={style}>{inline(text)}</li>;
  return (
    <li className={styles.check} style={style}>
      <label>
        <input
          type="checkbox"
          checked={check.isDone}
          disabled={onTick === undefined}
          onChange={(event) => onTick?.(check.line, event.target.checked)}
        />
        <span className={check.isDone ? styles.ticked : undefined}>{inline(text)}</span>
      </label>
    </li>
  );
}

function inline(text: string): ReactNode {
  return numbered(parseInline(text)).map(({ key, value }) => <Part key={key} part={value} />);
}

function Part({ part }: { part: Inline }) {
  switch (part.kind) {
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{part.text}</strong>;
    case "em":
      return <em>{part.text}</em>;
    case "link":
      return (
        <a href={part.href} target="_blank" rel="noreferrer noopener" title={part.href}>
          {part.text}
        </a>
      );
    default:
      return part.text;
  }
}

/** Parts of a text have no name but their place. */
function numbered<T>(values: readonly T[]): { key: string; value: T }[] {
  return values.map((value, at) => ({ key: String(at), value }));
}
