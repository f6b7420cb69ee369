import { Grid, type Row } from "./grid";
import { Parser } from "./parser";
import { PLAIN, styled } from "./style";

/** So many lines are kept above those in sight. */
export const MOST_LINES = 100_000;

/** Line drawing of the old terminals: what letters stand for after `ESC ( 0`. */
const DRAWN = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
const DRAWN_FROM = 0x60;

/** How a program wants keys to be told. */
export interface Modes {
  /** Arrows as `ESC O A` instead of `ESC [ A`. */
  applicationKeys: boolean;
  /** What is pasted stands between two marks. */
  bracketedPaste: boolean;
}

/**
 * What a terminal shows: lines, the cursor and colours, from the bytes of the program in it. Text is
 * text here; nothing in it can become a part of the page.
 */
export class Screen {
  readonly #parser: Parser;
  #main: Grid;
  /** The second screen of programs such as editors; it has no past. */
  #other: Grid | undefined;
  #isDrawing = false;
  #last = "";
  #isCursorShown = true;
  #modes: Modes = { applicationKeys: false, bracketedPaste: false };
  #answers = "";

  constructor(columns: number, rows: number, past = MOST_LINES) {
    this.#main = new Grid(columns, rows, past);
    this.#parser = new Parser({
      print: (char) => this.#print(char),
      control: (code) => this.#control(code),
      escape: (final, between) => this.#escape(final, between),
      csi: (final, params, mark) => this.#csi(final, params, mark),
    });
  }

  write(bytes: Uint8Array): void {
    this.#parser.write(bytes);
  }

  /** The same for what is text already. */
  writeText(text: string): void {
    this.#parser.writeText(text);
  }

  /** Says in the text that a part of it is missing. */
  gap(text: string): void {
    this.#parser.reset();
    this.#grid.style = PLAIN;
    if (this.#grid.x > 0) this.#newLine();
    this.#parser.writeText(`\x1b[7m${text}\x1b[m\r\n`);
  }

  resize(columns: number, rows: number): void {
    this.#main.resize(columns, rows);
    this.#other?.resize(columns, rows);
  }

  get #grid(): Grid {
    return this.#other ?? this.#main;
  }

  get columns(): number {
    return this.#grid.columns;
  }

  get rows(): number {
    return this.#grid.rows;
  }

  /** All lines that are kept, the oldest first; the last ones are in sight. */
  get lines(): readonly Row[] {
    return this.#grid.lines;
  }

  get cursor(): { line: number; column: number; isShown: boolean } {
    const { top, x, y, columns } = this.#grid;
    return { line: top + y, column: Math.min(x, columns - 1), isShown: this.#isCursorShown };
  }

  get modes(): Modes {
    return this.#modes;
  }

  /** What the program asked the terminal and waits for; each answer is given once. */
  takeAnswers(): string {
    const answers = this.#answers;
    this.#answers = "";
    return answers;
  }

  /** Everything as text, lines without the blanks at their end. */
  text(): string {
    return this.lines
      .map((row) => row.chars.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  #print(char: string): void {
    const drawn = this.#isDrawing
      ? DRAWN[(char.codePointAt(0) ?? 0) - DRAWN_FROM] // One of the letters, or nothing.
      : undefined;
    this.#last = drawn ?? char;
    this.#grid.print(this.#last);
  }

  #newLine(): void {
    this.#grid.x = 0;
    this.#grid.lineFeed();
  }

  #control(code: number): void {
    const grid = this.#grid;
    if (code === 0x08) grid.x = Math.max(0, Math.min(grid.x, grid.columns - 1) - 1);
    else if (code === 0x09) grid.x = Math.min(grid.columns - 1, (Math.floor(grid.x / 8) + 1) * 8);
    else if (code >= 0x0a && code <= 0x0c) grid.lineFeed();
    else if (code === 0x0d) grid.x = 0;
    else if (code === 0x0e || code === 0x0f) this.#isDrawing = code === 0x0e;
  }

  #escape(final: string, between: string): void {
    const grid = this.#grid;
    if (between === "(") this.#isDrawing = final === "0";
    else if (between !== "") return;
    else if (final === "7") grid.save();
    else if (final === "8") grid.restore();
    else if (final === "D") grid.lineFeed();
    else if (final === "E") this.#newLine();
    else if (final === "M") grid.reverseFeed();
    else if (final === "c") this.#reset();
  }

  #reset(): void {
    this.#other = undefined;
    this.#isDrawing = false;
    this.#isCursorShown = true;
    this.#modes = { applicationKeys: false, bracketedPaste: false };
    this.#main.reset();
  }

  #csi(final: string, params: readonly number[], mark: string): void {
    if (mark === "?" && (final === "h" || final === "l")) {
      for (const mode of params) this.#setPrivate(mode, final === "h");
      return;
    }
    if (mark === "!" && final === "p") {
      this.#grid.style = PLAIN;
      this.#grid.setRegion(0, this.rows - 1);
      return;
    }
    if (mark !== "") return;
    const many = Math.max(1, params[0] ?? 1);
    if (final === "m") this.#grid.style = styled(this.#grid.style, params);
    else if (final === "n") this.#report(params[0]);
    else if (final === "c") this.#answers += "\x1b[?6c";
    else if (final === "b") this.#grid.repeat(this.#last, many);
    else if (final === "h" || final === "l") {
      if (params.includes(4)) this.#grid.isInserting = final === "h";
    } else if (!this.#move(final, many, params)) this.#edit(final, many, params);
  }

  #report(what: number | undefined): void {
    const { x, y } = this.#grid;
    if (what === 5) this.#answers += "\x1b[0n";
    else if (what === 6) this.#answers += `\x1b[${y + 1};${Math.min(x, this.columns - 1) + 1}R`;
  }

  #move(final: string, many: number, params: readonly number[]): boolean {
    const grid = this.#grid;
    const second = Math.max(1, params[1] ?? 1);
    if (final === "A") grid.goTo(grid.x, grid.y - many);
    else if (final === "B" || final === "e") grid.goTo(grid.x, grid.y + many);
    else if (final === "C" || final === "a") grid.goTo(grid.x + many, grid.y);
    else if (final === "D") grid.goTo(Math.min(grid.x, grid.columns - 1) - many, grid.y);
    else if (final === "E") grid.goTo(0, grid.y + many);
    else if (final === "F") grid.goTo(0, grid.y - many);
    else if (final === "G" || final === "`") grid.goTo(many - 1, grid.y);
    else if (final === "H" || final === "f") grid.goTo(second - 1, many - 1);
    else if (final === "d") grid.goTo(grid.x, many - 1);
    else if (final === "s") grid.save();
    else if (final === "u") grid.restore();
    else return false;
    return true;
  }

  #edit(final: string, many: number, params: readonly number[]): void {
    const grid = this.#grid;
    const which = Math.max(0, params[0] ?? 0);
    if (final === "J") grid.clear(which);
    else if (final === "K") grid.clearLine(which);
    else if (final === "L") grid.insertLines(many);
    else if (final === "M") grid.deleteLines(many);
    else if (final === "P") grid.deleteChars(many);
    else if (final === "@") grid.insertChars(many);
    else if (final === "X") grid.eraseChars(many);
    else if (final === "S") grid.scrollUp(many);
    else if (final === "T") grid.scrollDown(many);
    else if (final === "r") {
      const bottom = (params[1] ?? -1) > 0 ? (params[1] as number) : grid.rows;
      grid.setRegion(many - 1, bottom - 1);
      grid.goTo(0, 0);
    }
  }

  #setPrivate(mode: number, isOn: boolean): void {
    if (mode === 1) this.#modes = { ...this.#modes, applicationKeys: isOn };
    else if (mode === 2004) this.#modes = { ...this.#modes, bracketedPaste: isOn };
    else if (mode === 7) this.#grid.wraps = isOn;
    else if (mode === 25) this.#isCursorShown = isOn;
    else if (mode === 47 || mode === 1047 || mode === 1049) this.#switch(isOn);
  }

  /** Goes to the second screen, or back to where the first one was left. */
  #switch(toOther: boolean): void {
    if (toOther === (this.#other !== undefined)) return;
    if (toOther) {
      this.#main.save();
      this.#other = new Grid(this.#main.columns, this.#main.rows, 0);
    } else {
      this.#other = undefined;
      this.#main.restore();
    }
  }
}
