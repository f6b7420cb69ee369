import type { Modes } from "./screen";

/** The part of a key press that is needed here. */
export interface Press {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

const ARROWS: Record<string, string> = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F",
};
const NUMBERED: Record<string, number> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};
const FIRST: Record<string, string> = { F1: "P", F2: "Q", F3: "R", F4: "S" };
const SINGLE: Record<string, string> = {
  Enter: "\r",
  Backspace: "\x7f",
  Tab: "\t",
  Escape: "\x1b",
};

/** The way out of the shell by key, the same as in `godel agent attach`. */
export function isLeaving({ key, ctrlKey }: Press): boolean {
  return ctrlKey && key === "]";
}

/** What a key types, as a terminal tells it; nothing if it is text or belongs to the browser. */
export function typedBy(press: Press, modes: Modes): string | undefined {
  const { key, ctrlKey, altKey, metaKey, shiftKey } = press;
  // Copy and paste are the browser's: with Shift beside a shell, with Command on a Mac.
  if (metaKey || (ctrlKey && shiftKey) || (ctrlKey && key === "v")) return undefined;
  const held = 1 + (shiftKey ? 1 : 0) + (altKey ? 2 : 0) + (ctrlKey ? 4 : 0);
  if (key === "Tab" && shiftKey) return "\x1b[Z";
  const single = SINGLE[key];
  if (single !== undefined) return altKey ? `\x1b${single}` : single;
  const arrow = ARROWS[key];
  if (arrow) {
    if (held > 1) return `\x1b[1;${held}${arrow}`;
    return `${modes.applicationKeys ? "\x1bO" : "\x1b["}${arrow}`;
  }
  if (FIRST[key]) return held > 1 ? `\x1b[1;${held}${FIRST[key]}` : `\x1bO${FIRST[key]}`;
  if (NUMBERED[key]) return `\x1b[${NUMBERED[key]}${held > 1 ? `;${held}` : ""}~`;
  if (key.length !== 1) return undefined;
  if (ctrlKey) return controlOf(key, altKey);
  return altKey ? `\x1b${key}` : undefined;
}

/** `Ctrl` and a letter is one of the first 32 characters. */
function controlOf(key: string, altKey: boolean): string | undefined {
  const code = key === " " ? 0 : key === "?" ? 0x7f : key.toUpperCase().charCodeAt(0) - 0x40;
  if (code < 0 || (code > 0x1f && code !== 0x7f)) return undefined;
  return (altKey ? "\x1b" : "") + String.fromCharCode(code);
}

/** What is pasted: new lines as the Enter key types them, and marked if the program wants that. */
export function pasted(text: string, { bracketedPaste }: Modes): string {
  const typed = text.replace(/\r?\n/g, "\r");
  if (!bracketedPaste) return typed;
  // The mark of the end inside of what is pasted would let the rest count as typed.
  return `\x1b[200~${typed.replaceAll("\x1b[201~", "")}\x1b[201~`;
}
