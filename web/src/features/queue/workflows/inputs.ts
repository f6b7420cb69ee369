/** One value that a workflow is given, as its text declares it. */
export interface Input {
  name: string;
  type: string;
  isRequired: boolean;
  /** What it is if nothing is given, as a person would type it. */
  fallback: string | undefined;
  options: readonly string[];
  description: string | undefined;
}

/**
 * The inputs that a text declares, by what can be told without reading all of YAML: lines of
 * `name: { ... }` or `name:` with lines below it. Undefined if they are written in another way, so
 * that who asks falls back to JSON; the server checks what is sent in any case.
 */
export function inputsOf(source: string): readonly Input[] | undefined {
  try {
    const json = jsonOf(source);
    if (json !== undefined) return fromObject(json.inputs);
    const block = blockOf(source);
    if (block === null) return undefined;
    return block === undefined || block.length === 0 ? [] : fromObject(readMap(block));
  } catch {
    return undefined;
  }
}

/** What is given, by the types of the inputs; what is left empty is not given. */
export function valuesOf(
  inputs: readonly Input[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = inputs.flatMap((input) => {
    const text = typed[input.name] ?? "";
    return text === "" ? [] : [[input.name, typedValue(input, text)] as const];
  });
  return Object.fromEntries(given);
}

/** Why a value cannot be given, as a sentence. */
export function whyNoValue({ type, isRequired, fallback }: Input, text: string) {
  if (text === "") return isRequired && fallback === undefined ? "It is needed." : undefined;
  if (type === "integer" && !/^-?\d+$/.test(text.trim())) return "Write a whole number.";
  if (type === "number" && !Number.isFinite(Number(text))) return "Write a number.";
  if ((type === "array" || type === "object") && !isJson(text, type)) {
    return type === "array" ? "Write a list as JSON, such as [1, 2]." : 'Write JSON: {"a": 1}.';
  }
  return undefined;
}

function typedValue({ type }: Input, text: string): unknown {
  if (type === "integer" || type === "number") return Number(text);
  if (type === "boolean") return text === "true";
  if (type === "array" || type === "object") return JSON.parse(text);
  if (type === "any") return scalarOf(text);
  return text;
}

function isJson(text: string, type: "array" | "object"): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) === (type === "array") && typeof value === "object";
  } catch {
    return false;
  }
}

function jsonOf(source: string): Record<string, unknown> | undefined {
  if (!source.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(source) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function fromObject(declared: unknown): readonly Input[] {
  if (declared === undefined || declared === null) return [];
  if (typeof declared !== "object" || Array.isArray(declared)) throw new Error("no inputs");
  return Object.entries(declared).map(([name, about]) => {
    const fields = (typeof about === "object" && about !== null ? about : {}) as Record<
      string,
      unknown
    >;
    const { type, required, default: fallback, description } = fields;
    return {
      name,
      type: typeof about === "string" ? about : String(type ?? "any"),
      isRequired: required === true,
      fallback: fallback === undefined || fallback === null ? undefined : textOf(fallback),
      options: Array.isArray(fields.options) ? fields.options.map(textOf) : [],
      description: description === undefined ? undefined : String(description),
    };
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The lines below `inputs:`; null if they are not lines below it, undefined if there are none. */
function blockOf(source: string): string[] | null | undefined {
  const lines = source.split(/\r?\n/).filter((line) => !/^\s*(#.*)?$/.test(line));
  const at = lines.findIndex((line) => /^inputs\s*:/.test(line));
  if (at < 0) return undefined;
  if (!/^inputs\s*:\s*(#.*)?$/.test(lines[at] ?? "")) return null;
  const end = lines.findIndex((line, index) => index > at && /^\S/.test(line));
  return lines.slice(at + 1, end < 0 ? undefined : end);
}

/** A map of lines with the same indent; what is indented more belongs to the line before. */
function readMap(lines: readonly string[]): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  const [first = ""] = lines;
  const indent = first.search(/\S/);
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const found = /^\s*(?:"([^"]+)"|'([^']+)'|([\w.-]+))\s*:(?:\s+(.*))?$/.exec(line);
    if (line.search(/\S/) !== indent || !found) throw new Error("not understood");
    let end = at + 1;
    while (end < lines.length && (lines[end] ?? "").search(/\S/) > indent) end += 1;
    const name = found[1] ?? found[2] ?? found[3] ?? "";
    const rest = (found[4] ?? "").trim();
    const below = lines.slice(at + 1, end);
    map[name] = rest === "" || rest.startsWith("#") ? readBelow(below) : readFlow(rest, below);
    at = end;
  }
  return map;
}

function readBelow(lines: readonly string[]): unknown {
  if (lines.length === 0) return null;
  if (!/^\s*-\s/.test(lines[0] ?? "")) return readMap(lines);
  return lines.map((line) => {
    const found = /^\s*-\s+(.*)$/.exec(line);
    if (!found) throw new Error("not understood");
    return readFlow(found[1] ?? "", []);
  });
}

/** A value on one line: a word, or a map or list in brackets. */
function readFlow(text: string, below: readonly string[]): unknown {
  if (below.length > 0 || /^[|>&*!]/.test(text)) throw new Error("not understood");
  const reader = new Flow(text);
  const value = reader.value("");
  reader.end();
  return value;
}

/** Reads what YAML writes in brackets, as far as inputs need it. */
class Flow {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** A value, up to one of the letters in `ends`. */
  value(ends: string): unknown {
    this.#blanks();
    const next = this.#text[this.#at];
    if (next === "{") return this.#map();
    if (next === "[") return this.#list();
    if (next === '"' || next === "'") return this.#quoted(next);
    const rest = this.#text.slice(this.#at);
    const stop = [...rest].findIndex(
      (letter, index) => ends.includes(letter) || (letter === "#" && rest[index - 1] === " "),
    );
    const word = (stop < 0 ? rest : rest.slice(0, stop)).trim();
    this.#at += stop < 0 ? rest.length : stop;
    return scalarOf(word);
  }

  /** Nothing may follow but a comment. */
  end(): void {
    if (!/^\s*(#.*)?$/.test(this.#text.slice(this.#at))) throw new Error("not understood");
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at += 1;
    for (;;) {
      this.#blanks();
      if (this.#take("}")) return map;
      const name = String(this.value(":}"));
      if (!this.#take(":")) throw new Error("not understood");
      map[name] = this.value(",}");
      this.#blanks();
      if (!this.#take(",") && this.#text[this.#at] !== "}") throw new Error("not understood");
    }
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    for (;;) {
      this.#blanks();
      if (this.#take("]")) return list;
      list.push(this.value(",]"));
      this.#blanks();
      if (!this.#take(",") && this.#text[this.#at] !== "]") throw new Error("not understood");
    }
  }

  #quoted(mark: string): string {
    const pattern = mark === '"' ? /"((?:\\.|[^"\\])*)"/y : /'((?:''|[^'])*)'/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) throw new Error("not understood");
    this.#at = pattern.lastIndex;
    return mark === '"' ? JSON.parse(found[0]) : (found[1] ?? "").replaceAll("''", "'");
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }

  #blanks(): void {
    while (this.#text[this.#at] === " ") this.#at += 1;
  }
}

function scalarOf(word: string): unknown {
  if (word === "true" || word === "false") return word === "true";
  if (word === "" || word === "null" || word === "~") return null;
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(word) ? Number(word) : word;
}
