/** A part of a line. */
export type Inline =
  | { kind: "text" | "code" | "strong" | "em"; text: string }
  | { kind: "link"; text: string; href: string };

/** An entry of a list; `check` is set for those that can be ticked off. */
export interface Item {
  text: string;
  depth: number;
  check?: { isDone: boolean; line: number };
}

/** A part of a text. */
export type Block =
  | { kind: "head"; level: number; text: string }
  | { kind: "text" | "quote"; text: string }
  | { kind: "code"; text: string; language: string }
  | { kind: "list"; isOrdered: boolean; items: Item[] }
  | { kind: "rule" };

const FENCE = /^\s{0,3}```\s*([\w+-]*)\s*$/;
const HEAD = /^(#{1,6})\s+(.+?)\s*#*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const CHECK = /^\[([ xX])\]\s+(.*)$/;
/** Deeper than this nothing gets clearer. */
const DEEPEST = 5;

/**
 * Reads the small part of Markdown that beads use. It never fails: whatever it does not know is
 * text, HTML included.
 */
export function parseMarkdown(source: string): Block[] {
  const lines = source.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    if (fence) {
      const end = lines.findIndex((one, index) => index > at && /^\s{0,3}```\s*$/.test(one));
      const last = end < 0 ? lines.length : end;
      const text = lines.slice(at + 1, last).join("\n");
      blocks.push({ kind: "code", text, language: fence[1] ?? "" });
      at = last + 1;
      continue;
    }
    addLine(blocks, line, at);
    at += 1;
  }
  return blocks.filter((block) => block.kind !== "text" || block.text !== "");
}

function addLine(blocks: Block[], line: string, at: number): void {
  const last = blocks.at(-1);
  const head = HEAD.exec(line);
  const item = ITEM.exec(line);
  if (line.trim() === "") blocks.push({ kind: "text", text: "" });
  else if (head) blocks.push({ kind: "head", level: head[1]?.length ?? 1, text: head[2] ?? "" });
  else if (RULE.test(line)) blocks.push({ kind: "rule" });
  else if (item) addItem(blocks, item, at);
  else if (line.startsWith(">")) {
    const text = line.replace(/^>\s?/, "");
    if (last?.kind === "quote") last.text += `\n${text}`;
    else blocks.push({ kind: "quote", text });
  } else if (last?.kind === "list" && /^\s{2,}/.test(line)) {
    const entry = last.items.at(-1);
    if (entry) entry.text += ` ${line.trim()}`;
  } else if (last?.kind === "text" && last.text !== "") last.text += `\n${line.trim()}`;
  else blocks.push({ kind: "text", text: line.trim() });
}

function addItem(
  blocks: Block[],
  [, indent = "", mark = "", rest = ""]: RegExpExecArray,
  at: number,
) {
  const isOrdered = /\d/.test(mark);
  const check = CHECK.exec(rest);
  const item: Item = {
    text: check ? (check[2] ?? "") : rest,
    depth: Math.min(DEEPEST, Math.floor(indent.replaceAll("\t", "  ").length / 2)),
    ...(check && { check: { isDone: check[1] !== " ", line: at } }),
  };
  const last = blocks.at(-1);
  if (last?.kind === "list" && last.isOrdered === isOrdered) last.items.push(item);
  else blocks.push({ kind: "list", isOrdered, items: [item] });
}

const INLINE =
  /(`+)([^`]+)\1|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])|(?<!\w)_([^_\s][^_\n]*)_(?!\w)|\[([^\]\n]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?])/g;

/** Reads the marks within a line. */
export function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let from = 0;
  const plain = (until: number) => {
    if (until > from) parts.push({ kind: "text", text: text.slice(from, until) });
  };
  for (const found of text.matchAll(INLINE)) {
    plain(found.index);
    parts.push(partOf(found));
    from = found.index + found[0].length;
  }
  plain(text.length);
  return parts;
}

function partOf(found: RegExpExecArray): Inline {
  const [whole, , code, strong, star, under, label, target, bare] = found;
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", text: strong };
  const em = star ?? under;
  if (em !== undefined) return { kind: "em", text: em };
  const href = safeHref(target ?? bare ?? "");
  if (href === undefined) return { kind: "text", text: whole };
  return { kind: "link", text: label ?? whole, href };
}

/** Only addresses of the web; a script, a file or another page of this server is no link. */
export function safeHref(address: string): string | undefined {
  try {
    const url = new URL(address);
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    return isWeb && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** The text with the box in one of its lines ticked, or not. */
export function tick(source: string, line: number, isDone: boolean): string {
  const lines = source.replace(/\r\n?/g, "\n").split("\n");
  const old = lines[line];
  if (old === undefined) return source;
  lines[line] = old.replace(/\[[ xX]\]/, isDone ? "[x]" : "[ ]");
  return lines.join("\n");
}

/** How many boxes a text has, and how many are ticked. */
export function countChecks(source: string): { done: number; all: number } {
  const items = parseMarkdown(source).flatMap((block) =>
    block.kind === "list" ? block.items : [],
  );
  const checks = items.flatMap(({ check }) => check ?? []);
  return { done: checks.filter(({ isDone }) => isDone).length, all: checks.length };
}
