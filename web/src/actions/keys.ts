/** The part of a keyboard event that makes a chord. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

const NAMES: Record<string, string> = {
  " ": "space",
  escape: "esc",
  arrowup: "up",
  arrowdown: "down",
  arrowleft: "left",
  arrowright: "right",
};

/** One press as it is written in a keymap: `j`, `?`, `shift+j`, `mod+k`, `esc`. */
export function chordOf(press: KeyPress): string | undefined {
  const low = press.key.toLowerCase();
  if (["control", "shift", "alt", "meta", "altgraph", "dead", "unidentified"].includes(low)) return;
  if (press.altKey) return;
  const name = NAMES[low] ?? low;
  // A sign such as `?` is itself on every keyboard, however it is typed.
  const isShifted = press.shiftKey && (name.length > 1 || /[a-z]/.test(name));
  return `${press.ctrlKey || press.metaKey ? "mod+" : ""}${isShifted ? "shift+" : ""}${name}`;
}

const SIGNS: Record<string, string> = {
  esc: "Esc",
  enter: "↵",
  space: "Space",
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
};

/** The keys of a chord or a sequence as they are drawn: `["⌘", "K"]`, `["G", "A"]`. */
export function keyCaps(keys: string, isMac: boolean): string[] {
  return keys.split(" ").flatMap((chord) =>
    splitChord(chord).map((part) => {
      if (part === "mod") return isMac ? "⌘" : "Ctrl";
      if (part === "shift") return isMac ? "⇧" : "Shift";
      return SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part);
    }),
  );
}

/** `mod++` is the plus key, too. */
function splitChord(chord: string): string[] {
  return chord.split("+").map((part) => (part === "" ? "+" : part));
}

/** Whether this is a keyboard with a command key. */
export function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent);
}

const EDITABLE =
  "textarea, select, [contenteditable='true'], input:not([type='checkbox'], [type='radio'], [type='button'], [type='submit'], [type='range'])";
const PRESSABLE =
  "a[href], button, summary, input, select, [role='button'], [role='tab'], [role='menuitem'], [role='option'], [role='switch']";

/** Whether a person is writing: one-letter keys are letters then. */
export function isEditable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(EDITABLE) !== null;
}

/** Whether Enter and Space already mean something here. */
export function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(PRESSABLE) !== null;
}
