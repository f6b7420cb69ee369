import { PLAIN, type Style } from "./style";
import { widthOf } from "./width";

/** One line: a character and a style for each place. Behind a wide character stands an empty one. */
export interface Row {
  /** It tells lines apart that look alike, and stays when others go. */
  readonly id: number;
  chars: string[];
  styles: Style[];
  /** Another number after each change, for who has drawn it. */
  version: number;
}

interface Saved {
  x: number;
  y: number;
  style: Style;
}

/** So many lines too many are cut off at once; to do it for each line would be slow. */
const SLACK = 512;

/** Lines of places, the last of them in sight, and a cursor. Knows no bytes. */
export class Grid {
  readonly lines: Row[] = [];
  x = 0;
  y = 0;
  style: Style = PLAIN;
  wraps = true;
  isInserting = false;
  columns: number;
  rows: number;
  /** How many lines are kept above those in sight. */
  readonly #past: number;
  #ids = 0;
  #first = 0;
  #last: number;
  #saved: Saved = { x: 0, y: 0, style: PLAIN };

  constructor(columns: number, rows: number, past: number) {
    this.columns = columns;
    this.rows = rows;
    this.#past = past;
    this.#last = rows - 1;
    for (let at = 0; at < rows; at += 1) this.lines.push(this.#blank());
  }

  /** The place of the first line in sight. */
  get top(): number {
    return this.lines.length - this.rows;
  }

  print(char: string): void {
    const width = widthOf(char);
    if (width === 0) {
      this.#combine(char);
      return;
    }
    if (this.x + width > this.columns) {
      if (this.wraps) {
        this.x = 0;
        this.lineFeed();
      } else this.x = Math.max(0, this.columns - width);
    }
    if (this.isInserting) this.insertChars(width);
    const row = this.#row(this.y);
    this.#pad(row, this.x);
    this.#unpair(row, this.x);
    if (width === 2) this.#unpair(row, this.x + 1);
    row.chars[this.x] = char;
    row.styles[this.x] = this.style;
    if (width === 2) {
      row.chars[this.x + 1] = "";
      row.styles[this.x + 1] = this.style;
    }
    this.x += width;
  }

  repeat(char: string, many: number): void {
    if (char === "") return;
    for (let at = 0; at < Math.min(many, this.columns * this.rows); at += 1) this.print(char);
  }

  lineFeed(): void {
    if (this.y === this.#last) this.scrollUp(1);
    else if (this.y < this.rows - 1) this.y += 1;
  }

  reverseFeed(): void {
    if (this.y === this.#first) this.scrollDown(1);
    else if (this.y > 0) this.y -= 1;
  }

  goTo(x: number, y: number): void {
    this.x = Math.min(this.columns - 1, Math.max(0, x));
    this.y = Math.min(this.rows - 1, Math.max(0, y));
  }

  save(): void {
    this.#saved = { x: this.x, y: this.y, style: this.style };
  }

  restore(): void {
    this.goTo(this.#saved.x, this.#saved.y);
    this.style = this.#saved.style;
  }

  setRegion(first: number, last: number): void {
    const end = Math.min(last, this.rows - 1);
    const isRegion = first >= 0 && first < end;
    this.#first = isRegion ? first : 0;
    this.#last = isRegion ? end : this.rows - 1;
  }

  /** What scrolls out of the whole screen is kept above it; out of a part of it, it is gone. */
  scrollUp(many: number): void {
    for (let at = 0; at < Math.min(many, this.rows); at += 1) {
      if (this.#first === 0 && this.#last === this.rows - 1) {
        this.lines.push(this.#blank());
        this.#trim();
      } else {
        this.#moveBlank(this.#first, this.#last);
      }
    }
  }

  scrollDown(many: number): void {
    for (let at = 0; at < Math.min(many, this.rows); at += 1) {
      this.#moveBlank(this.#last, this.#first);
    }
  }

  insertLines(many: number): void {
    if (this.y < this.#first || this.y > this.#last) return;
    for (let at = 0; at < Math.min(many, this.rows); at += 1) this.#moveBlank(this.#last, this.y);
    this.x = 0;
  }

  deleteLines(many: number): void {
    if (this.y < this.#first || this.y > this.#last) return;
    for (let at = 0; at < Math.min(many, this.rows); at += 1) this.#moveBlank(this.y, this.#last);
    this.x = 0;
  }

  insertChars(many: number): void {
    const row = this.#row(this.y);
    this.#pad(row, this.x);
    const blanks = Math.min(many, this.columns - this.x);
    row.chars.splice(this.x, 0, ...Array<string>(blanks).fill(" "));
    row.styles.splice(this.x, 0, ...Array<Style>(blanks).fill(this.#ground()));
    row.chars.length = Math.min(row.chars.length, this.columns);
    row.styles.length = row.chars.length;
  }

  deleteChars(many: number): void {
    const row = this.#row(this.y);
    row.chars.splice(this.x, many);
    row.styles.splice(this.x, many);
  }

  eraseChars(many: number): void {
    this.#erase(this.#row(this.y), this.x, Math.min(this.columns, this.x + many));
  }

  /** 0 from the cursor on, 1 up to it, 2 all of it. */
  clearLine(which: number): void {
    const row = this.#row(this.y);
    const x = Math.min(this.x, this.columns - 1);
    if (which === 1) this.#erase(row, 0, x + 1);
    else this.#erase(row, which === 0 ? this.x : 0, this.columns);
  }

  /** The same for the screen; 3 is what is above it. */
  clear(which: number): void {
    if (which === 3) {
      this.lines.splice(0, this.top);
      return;
    }
    if (which === 2) this.#keepAbove();
    const [from, to] =
      which === 0 ? [this.y + 1, this.rows] : [0, which === 1 ? this.y : this.rows];
    for (let y = from; y < to; y += 1) this.#erase(this.#row(y), 0, this.columns);
    if (which < 2) this.clearLine(which);
  }

  reset(): void {
    this.#keepAbove();
    this.setRegion(0, this.rows - 1);
    this.style = PLAIN;
    this.wraps = true;
    this.isInserting = false;
    for (let y = 0; y < this.rows; y += 1) this.#erase(this.#row(y), 0, this.columns);
    this.goTo(0, 0);
  }

  /** A lower screen lets its first lines go up, a higher one takes them back. */
  resize(columns: number, rows: number): void {
    this.columns = columns;
    const above = this.top;
    let more = rows - this.rows;
    let below = this.rows - 1 - this.y;
    for (; more < 0 && below > 0 && this.lines.at(-1)?.chars.length === 0; below -= 1) {
      this.lines.pop();
      more += 1;
    }
    const back = Math.min(more, above);
    for (let at = back; at < more; at += 1) this.lines.push(this.#blank());
    this.rows = rows;
    this.setRegion(0, rows - 1);
    this.goTo(this.x, this.y + back);
    this.#trim();
  }

  /** What a program clears away may still be read above; only if there is something. */
  #keepAbove(): void {
    const used = this.lines.slice(this.top).findLastIndex((row) => row.chars.length > 0) + 1;
    if (this.#past === 0 || used === 0) return;
    const kept = this.lines.splice(this.top, used);
    for (const _ of kept) this.lines.push(this.#blank());
    this.lines.splice(this.top, 0, ...kept);
  }

  /** Takes one line in sight away and puts an empty one elsewhere. */
  #moveBlank(from: number, to: number): void {
    const { top } = this;
    this.lines.splice(top + from, 1);
    this.lines.splice(top + to, 0, this.#blank());
  }

  #trim(): void {
    const slack = this.#past === 0 ? 0 : SLACK;
    if (this.top > this.#past + slack) this.lines.splice(0, this.top - this.#past);
  }

  #combine(char: string): void {
    const row = this.#row(this.y);
    const at = row.chars[this.x - 1] === "" ? this.x - 2 : this.x - 1;
    if (row.chars[at] !== undefined && row.chars[at].length < 16) row.chars[at] += char;
  }

  /** A wide character of which one half is overwritten is gone. */
  #unpair(row: Row, at: number): void {
    if (row.chars[at] === "" && at > 0) row.chars[at - 1] = " ";
    if (row.chars[at + 1] === "") row.chars[at + 1] = " ";
  }

  #erase(row: Row, from: number, to: number): void {
    row.version += 1;
    const ground = this.#ground();
    if (to >= this.columns && ground === PLAIN) {
      row.chars.length = Math.min(row.chars.length, from);
      row.styles.length = row.chars.length;
      return;
    }
    this.#pad(row, from);
    for (let at = from; at < to; at += 1) {
      row.chars[at] = " ";
      row.styles[at] = ground;
    }
  }

  /** What is erased gets the colour behind letters that is chosen now. */
  #ground(): Style {
    return this.style.bg === undefined ? PLAIN : { bg: this.style.bg };
  }

  #pad(row: Row, until: number): void {
    while (row.chars.length < until) {
      row.chars.push(" ");
      row.styles.push(PLAIN);
    }
  }

  /** A line in sight, to be changed. */
  #row(y: number): Row {
    const row = this.lines[this.top + y];
    if (!row) throw new Error(`there is no line ${y} of ${this.rows}`);
    row.version += 1;
    return row;
  }

  #blank(): Row {
    this.#ids += 1;
    return { id: this.#ids, chars: [], styles: [], version: 0 };
  }
}
