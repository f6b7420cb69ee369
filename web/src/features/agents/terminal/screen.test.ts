import { describe, expect, it } from "vitest";
import { Screen } from "./screen";
import { coloursOf, PLAIN, rgb } from "./style";

const ENCODER = new TextEncoder();

/** A screen that was shown something. */
function shown(text: string, columns = 20, rows = 4, past = 100): Screen {
  const screen = new Screen(columns, rows, past);
  screen.write(ENCODER.encode(text));
  return screen;
}

const rowsOf = (screen: Screen) =>
  screen.lines.slice(-screen.rows).map((row) => row.chars.join("").trimEnd());

describe("a screen", () => {
  it("shows lines, and keeps what scrolls away", () => {
    const screen = shown("one\r\ntwo\r\nthree\r\nfour\r\nfive", 20, 3);
    expect(rowsOf(screen)).toEqual(["three", "four", "five"]);
    expect(screen.text()).toBe("one\ntwo\nthree\nfour\nfive");
    expect(screen.cursor).toEqual({ line: 4, column: 4, isShown: true });
  });

  it("keeps no more than it may", () => {
    const screen = shown("", 20, 2, 100);
    for (let at = 0; at < 2_000; at += 1) screen.writeText(`${at}\r\n`);
    expect(screen.lines.length).toBeLessThanOrEqual(100 + 512 + 2);
    expect(rowsOf(screen)).toEqual(["1999", ""]);
  });

  it("wraps at the edge only when something follows", () => {
    expect(rowsOf(shown("12345", 5, 3))).toEqual(["12345", "", ""]);
    expect(rowsOf(shown("12345\r\n6", 5, 3))).toEqual(["12345", "6", ""]);
    expect(rowsOf(shown("123456", 5, 3))).toEqual(["12345", "6", ""]);
    expect(rowsOf(shown("\x1b[?7l123456", 5, 3))).toEqual(["12346", "", ""]);
  });

  it("reads characters that came in two pieces, and sequences too", () => {
    const bytes = ENCODER.encode("a\x1b[31mé\x1b[0m✓b");
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const screen = new Screen(10, 2);
      screen.write(bytes.slice(0, cut));
      screen.write(bytes.slice(cut));
      expect(screen.text()).toBe("aé✓b");
      expect(screen.lines[0]?.styles[1]).toEqual({ fg: 1 });
      expect(screen.lines[0]?.styles[2]).toBe(PLAIN);
    }
  });

  it("knows colours and marks", () => {
    const styleOf = (codes: string) => shown(`\x1b[${codes}mx`).lines[0]?.styles[0];
    expect(styleOf("1;32")).toEqual({ bold: true, fg: 2 });
    expect(styleOf("97;44")).toEqual({ fg: 15, bg: 4 });
    expect(styleOf("38;5;208")).toEqual({ fg: 208 });
    expect(styleOf("48;2;1;2;3")).toEqual({ bg: rgb(1, 2, 3) });
    expect(styleOf("38:2::1:2:3")).toEqual({ fg: rgb(1, 2, 3) });
    expect(styleOf("1;4;22;24")).toBe(PLAIN);
    expect(styleOf("31;")).toBe(PLAIN);
  });

  it("shows the prompt of bash as it is, with its title left out", () => {
    const screen = shown(
      "\x1b[?2004h\x1b]0;root@host: /work\x07\x1b[01;32mroot@host\x1b[00m:\x1b[01;34m/work\x1b[00m# ls\r\n\x1b[?2004l\r\x1b[0m\x1b[01;34msrc\x1b[0m  a.txt\r\n",
      40,
    );
    expect(rowsOf(screen)).toEqual(["root@host:/work# ls", "src  a.txt", "", ""]);
    expect(screen.modes.bracketedPaste).toBe(false);
    expect(screen.lines[1]?.styles[0]).toEqual({ bold: true, fg: 4 });
  });

  it("deletes what readline deletes", () => {
    // "echo hi", two times backspace, home, an insertion, end.
    expect(rowsOf(shown("$ echo hi\b \b\b \b"))[0]).toBe("$ echo");
    expect(rowsOf(shown("$ abc\b\b\b\x1b[1@x"))[0]).toBe("$ xabc");
    expect(rowsOf(shown("$ abc\b\b\x1b[1P"))[0]).toBe("$ ac");
    expect(rowsOf(shown("$ abcdef\r$ \x1b[K"))[0]).toBe("$");
    expect(rowsOf(shown("abc\x1b[2X\x1b[2G\x1b[1X"))[0]).toBe("a c");
  });

  it("draws progress over the same line", () => {
    expect(rowsOf(shown("10%\r 50%\r100%"))[0]).toBe("100%");
    expect(rowsOf(shown("a\r\nb\r\n\x1b[2A\x1b[2Kc"))).toEqual(["c", "b", "", ""]);
  });

  it("clears, and what was cleared can still be read above", () => {
    const screen = shown("one\r\ntwo\x1b[H\x1b[2Jthree");
    expect(rowsOf(screen)).toEqual(["three", "", "", ""]);
    expect(screen.text()).toBe("one\ntwo\nthree");
    screen.writeText("\x1b[3J");
    expect(screen.text()).toBe("three");
    expect(rowsOf(shown("abc\r\ndef\x1b[1;2H\x1b[J"))).toEqual(["a", "", "", ""]);
  });

  it("scrolls a part of itself as pagers do", () => {
    const screen = shown("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n", 10, 4);
    expect(rowsOf(screen)).toEqual(["1", "3", "", "4"]);
    screen.writeText("\x1b[2;1H\x1bM");
    expect(rowsOf(screen)).toEqual(["1", "", "3", "4"]);
    screen.writeText("\x1b[r\x1b[2;1H\x1b[M");
    expect(rowsOf(screen)).toEqual(["1", "3", "4", ""]);
    screen.writeText("\x1b[L");
    expect(rowsOf(screen)).toEqual(["1", "", "3", "4"]);
  });

  it("has a second screen for editors, and comes back from it", () => {
    const screen = shown("$ vi\x1b[?1049h\x1b[?25l\x1b[H~ file");
    expect(rowsOf(screen)[0]).toBe("~ file");
    expect(screen.cursor.isShown).toBe(false);
    screen.writeText("\r\n1\r\n2\r\n3\r\n4\r\n5");
    expect(screen.lines.length).toBe(4);
    screen.writeText("\x1b[?25h\x1b[?1049l");
    expect(rowsOf(screen)[0]).toBe("$ vi");
    expect(screen.cursor).toEqual({ line: 0, column: 4, isShown: true });
  });

  it("gives wide characters two places and marks none", () => {
    const screen = shown("日本e\u0301x", 5, 2);
    expect(screen.text()).toBe("日本e\u0301\nx");
    expect(shown("日\x1b[1Gx", 5, 2).text()).toBe("x");
    expect(shown("\x1b(0lqk\x1b(B.", 9, 2).text()).toBe("┌─┐.");
  });

  it("answers what programs ask, once", () => {
    const screen = shown("ab\x1b[6n\x1b[5n\x1b[c");
    expect(screen.takeAnswers()).toBe("\x1b[1;3R\x1b[0n\x1b[?6c");
    expect(screen.takeAnswers()).toBe("");
  });

  it("gets lower and higher without losing a line", () => {
    const screen = shown("1\r\n2\r\n3\r\n4", 10, 4);
    screen.resize(10, 2);
    expect(rowsOf(screen)).toEqual(["3", "4"]);
    screen.resize(10, 5);
    expect(rowsOf(screen)).toEqual(["1", "2", "3", "4", ""]);
    expect(screen.cursor.line).toBe(3);
    const fresh = shown("$ ", 10, 4);
    fresh.resize(10, 2);
    expect(fresh.lines.length).toBe(2);
    expect(fresh.cursor.line).toBe(0);
  });

  it("lets nothing grow without end, and nothing break it", () => {
    const screen = shown(`\x1b]0;${"x".repeat(10_000)}\x07\x1b[${"9".repeat(5_000)}Aok`);
    expect(screen.text()).toBe("ok");
    let seed = 7;
    const noise = Uint8Array.from({ length: 50_000 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed >> 16;
    });
    const wild = new Screen(13, 5, 50);
    for (let at = 0; at < noise.length; at += 1_000) {
      wild.write(noise.slice(at, at + 1_000));
      wild.resize(5 + (at % 17), 2 + (at % 7));
    }
    expect(wild.lines.length).toBeGreaterThanOrEqual(wild.rows);
    expect(wild.cursor.line).toBeLessThan(wild.lines.length);
  });

  it("says where something is missing", () => {
    const screen = shown("abc\x1b[3", 30);
    screen.gap("12 bytes are no longer kept");
    screen.writeText("on");
    expect(screen.text()).toBe("abc\n12 bytes are no longer kept\non");
  });
});

describe("colours", () => {
  it("are readable whatever a program chose", () => {
    expect(coloursOf(PLAIN)).toEqual({});
    expect(coloursOf({ fg: 1 })).toEqual({ color: "rgb(255 143 134)" });
    const dark = coloursOf({ fg: rgb(0, 0, 60) });
    expect(dark.color).not.toBe("rgb(0 0 60)");
    expect(coloursOf({ inverse: true })).toEqual({
      color: "rgb(16 17 19)",
      backgroundColor: "rgb(238 237 234)",
    });
  });
});
