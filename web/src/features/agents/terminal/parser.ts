/** What a terminal is told, in the order in which it came. */
export interface Sink {
  /** One character to show. */
  print: (char: string) => void;
  /** A control character such as a new line. */
  control: (code: number) => void;
  /** `ESC` and a letter, with what stood between them. */
  escape: (final: string, between: string) => void;
  /** `ESC [`, a mark such as `?`, numbers and a letter. */
  csi: (final: string, params: readonly number[], mark: string) => void;
}

type State = "ground" | "escape" | "csi" | "string" | "stringEscape";

/** A sequence that is longer is no sequence; it must not fill the memory. */
const LONGEST = 256;
const ESC = 0x1b;
const BEL = 0x07;
/** What `ESC` begins a text with that is not for the screen: titles, links, settings. */
const STRINGS = "]PX^_";

/** Takes bytes as they come, in any pieces, and says what they mean. Knows no screen. */
export class Parser {
  readonly #sink: Sink;
  // A character may be cut in two by the network; the decoder keeps its first half.
  #decoder = new TextDecoder("utf-8");
  #state: State = "ground";
  #held = "";

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  write(bytes: Uint8Array): void {
    this.writeText(this.#decoder.decode(bytes, { stream: true }));
  }

  writeText(text: string): void {
    for (const char of text) this.#step(char, char.codePointAt(0) ?? 0);
  }

  /** Forgets what was begun: a part of the bytes is missing. */
  reset(): void {
    this.#decoder = new TextDecoder("utf-8");
    this.#become("ground");
  }

  #become(state: State): void {
    this.#state = state;
    this.#held = "";
  }

  #step(char: string, code: number): void {
    if (this.#state === "string" || this.#state === "stringEscape") {
      this.#inString(char, code);
    } else if (code === ESC) {
      this.#become("escape");
    } else if (code === 0x18 || code === 0x1a) {
      this.#become("ground");
    } else if (code < 0x20) {
      // Control characters count even inside a sequence.
      this.#sink.control(code);
    } else if (this.#state === "ground") {
      if (code !== 0x7f && !(code >= 0x80 && code < 0xa0)) this.#sink.print(char);
    } else if (this.#state === "escape") {
      this.#inEscape(char, code);
    } else {
      this.#inCsi(char, code);
    }
  }

  #inString(char: string, code: number): void {
    const isOver = code === BEL || (this.#state === "stringEscape" && char === "\\");
    if (isOver || code === 0x18 || code === 0x1a) this.#become("ground");
    else this.#state = code === ESC ? "stringEscape" : "string";
  }

  #inEscape(char: string, code: number): void {
    if (this.#held === "" && char === "[") {
      this.#become("csi");
    } else if (this.#held === "" && STRINGS.includes(char)) {
      this.#become("string");
    } else if (code < 0x30 && this.#held.length < LONGEST) {
      this.#held += char;
    } else {
      const between = this.#held;
      this.#become("ground");
      this.#sink.escape(char, between);
    }
  }

  #inCsi(char: string, code: number): void {
    if (code < 0x40) {
      if (this.#held.length < LONGEST) this.#held += char;
      return;
    }
    const held = this.#held;
    this.#become("ground");
    const [, mark = "", numbers = "", after = ""] = /^([<=>?]*)([\d;:]*)(.*)$/s.exec(held) ?? [];
    this.#sink.csi(char, numbers === "" ? [] : paramsOf(numbers), mark + after);
  }
}

/** Numbers of a sequence; one that is left out is -1, parts after a colon come as they are. */
function paramsOf(numbers: string): number[] {
  return numbers.split(/[;:]/).map((one) => (one === "" ? -1 : Math.min(Number(one), 65_535)));
}
