import { describe, expect, it } from "vitest";
import { isLeaving, type Press, pasted, typedBy } from "./keys";

const press = (key: string, held: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  ...held,
});
const USUAL = { applicationKeys: false, bracketedPaste: false };

describe("keys in a shell", () => {
  it("are told as terminals tell them", () => {
    const typed = (key: string, held?: Partial<Press>) => typedBy(press(key, held), USUAL);
    expect(typed("Enter")).toBe("\r");
    expect(typed("Backspace")).toBe("\x7f");
    expect(typed("Tab", { shiftKey: true })).toBe("\x1b[Z");
    expect(typed("c", { ctrlKey: true })).toBe("\x03");
    expect(typed("k", { ctrlKey: true })).toBe("\x0b");
    expect(typed(" ", { ctrlKey: true })).toBe("\0");
    expect(typed("b", { altKey: true })).toBe("\x1bb");
    expect(typed("ArrowUp")).toBe("\x1b[A");
    expect(typed("ArrowLeft", { ctrlKey: true })).toBe("\x1b[1;5D");
    expect(typed("Delete")).toBe("\x1b[3~");
    expect(typed("F1")).toBe("\x1bOP");
    expect(typed("F12")).toBe("\x1b[24~");
    expect(typedBy(press("ArrowUp"), { ...USUAL, applicationKeys: true })).toBe("\x1bOA");
  });

  it("are the browser's where text is written, copied or pasted", () => {
    expect(typedBy(press("a"), USUAL)).toBeUndefined();
    expect(typedBy(press("é"), USUAL)).toBeUndefined();
    expect(typedBy(press("v", { ctrlKey: true }), USUAL)).toBeUndefined();
    expect(typedBy(press("C", { ctrlKey: true, shiftKey: true }), USUAL)).toBeUndefined();
    expect(typedBy(press("c", { metaKey: true }), USUAL)).toBeUndefined();
    expect(typedBy(press("Shift"), USUAL)).toBeUndefined();
    expect(isLeaving(press("]", { ctrlKey: true }))).toBe(true);
    expect(isLeaving(press("]"))).toBe(false);
  });

  it("a paste stays a paste", () => {
    expect(pasted("a\nb\r\n", USUAL)).toBe("a\rb\r");
    const marked = pasted("a\x1b[201~rm\n", { ...USUAL, bracketedPaste: true });
    expect(marked).toBe("\x1b[200~arm\r\x1b[201~");
  });
});
