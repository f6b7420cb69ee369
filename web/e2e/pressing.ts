import type { Page, Request } from "playwright-core";
import { go, type Place } from "./places";

/** What is not pressed: it ends the journey, starts work that takes long, or changes only what is seen. */
const NOT_PRESSED = `^(${[
  ...["Sign out", "Close", "Cancel", "Dismiss", "Skip", "Start", "Spawn", "Plan it"],
  ...["Copy", "Refresh", "Search", "Export", "Download", "CSV", "Raw", "Open the", "Show", "Go to"],
  ...[
    "Ask",
    "Retry",
    "Undo",
    "Account",
    "Menu",
    "Project: ",
    "Appearance",
    "Views",
    "Columns",
    "Clear",
    "Limit of",
  ],
  ...["Change the key", "Unfold", "\\d+ \\w+$"],
].join("|")})`;

/** Letters that move, look or lead elsewhere, and those that ask for something new. */
const NOT_A_KEY = "cgjkvwx";
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
/** Every other letter, alone and with Shift: on each page some of them do something. */
const KEYS = [
  ...LETTERS.filter((key) => !NOT_A_KEY.includes(key)),
  ...LETTERS.map((key) => key.toUpperCase()),
];

export interface Pressed {
  /** Answers of the server with 403, each with the click that it followed. */
  refused: string[];
  /** How many things were pressed. */
  count: number;
}

/** Presses all there is to press on a place and what that opens, and notes what the server refuses. */
export class Presser {
  readonly pressed: Pressed = { refused: [], count: 0 };
  readonly #page: Page;
  /** What was pressed already on a page: its tabs and panels have the same buttons around them. */
  readonly #known = new Set<string>();
  #last = "";
  readonly #open = new Set<Request>();

  constructor(page: Page) {
    this.#page = page;
    const isAsked = (url: string) => /\/(api|proxy)\/v1\//.test(url);
    page.on("request", (request) => {
      if (isAsked(request.url())) this.#open.add(request);
    });
    const onEnd = (request: Request) => this.#open.delete(request);
    page.on("requestfinished", onEnd);
    page.on("requestfailed", onEnd);
    page.on("response", (response) => {
      if (response.status() !== 403) return;
      const request = response.request();
      const path = new URL(request.url()).pathname;
      this.pressed.refused.push(`${request.method()} ${path} after ${this.#last}`);
    });
  }

  /** How many questions have no answer yet. */
  get waiting(): number {
    return this.#open.size;
  }

  /** Goes through a place; `writes` also fills what can be written in, and sends it by its keys. */
  async through(place: Place, { writes }: { writes: boolean }): Promise<void> {
    await this.#arrive(place, false);
    if (writes) {
      this.#last = `${place.name}: keys`;
      await this.#page.evaluate(writeEverywhere);
    }
    await this.#page.evaluate(chooseEverywhere);
    const page = place.path.split(/[/?]/)[1] ?? "";
    for (const name of await this.#page.evaluate(namesOfEnabled, NOT_PRESSED)) {
      // Lines that differ only in a number or an id have the same buttons.
      const alike = `${page} ${name.replace(/[\w-]*\d[\w-]*/g, "#")}`;
      if (this.#known.has(alike)) continue;
      this.#known.add(alike);
      this.pressed.count += 1;
      await this.#press(place, name);
    }
    await this.#pressKeys(place);
  }

  /** Presses the keys of a page, once for its list and once for one thing of it. */
  async #pressKeys(place: Place): Promise<void> {
    const [path = ""] = place.path.split("?");
    const alike = `keys of ${path.split("/", 2)[1]} ${path.split("/").length}`;
    if (this.#known.has(alike)) return;
    this.#known.add(alike);
    for (const key of KEYS) {
      this.#last = `${place.name}: key ${key}`;
      // A key may lead elsewhere, as those do that take over or open.
      if (new URL(this.#page.url()).pathname !== `/dashboard${path}`) {
        await this.#arrive(place, false);
      }
      await this.#page.evaluate(pressKey, { key, not: NOT_PRESSED });
    }
  }

  async #press(place: Place, name: string): Promise<void> {
    this.#last = `${place.name}: ${name}`;
    const what = { name, not: NOT_PRESSED };
    if (await this.#page.evaluate(pressThrough, what)) return;
    // The click before led away from it, or took it away.
    await this.#arrive(place, true);
    await this.#page.evaluate(pressThrough, what);
  }

  async #arrive(place: Place, isThere: boolean): Promise<void> {
    const page = this.#page;
    // From elsewhere: what was opened on it by a click is closed then.
    if (isThere) await go(page, { name: "about", path: "/settings/about", sees: "" });
    await go(page, place);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.locator('main [data-shows="loading"]').first().waitFor({ state: "detached" });
  }
}

// What follows runs in the page, each by itself: a click through the browser takes as long as fifty here.

/** The names of what can be pressed; what only changes how something is looked at is left out. */
function namesOfEnabled(not: string): string[] {
  const skipped = new RegExp(not, "i");
  const looks =
    "[role=tab], [aria-pressed], [aria-expanded]:not([aria-haspopup]), [role=columnheader] *, [title^='Copy '], [data-card] > *, nav *";
  const buttons = document.querySelectorAll<HTMLElement>(
    "button:not([aria-disabled=true], :disabled)",
  );
  return [...buttons]
    .filter((button) => !button.matches(looks) && button.checkVisibility())
    .map((button) => (button.ariaLabel ?? button.textContent ?? "").trim())
    .filter((name) => name !== "" && !skipped.test(name));
}

/**
 * Presses the first enabled button of that name; if that opens a menu, each enabled line of it; and
 * says yes to what a click asks. False if there is no such button.
 */
async function pressThrough({ name, not }: { name: string; not: string }): Promise<boolean> {
  const skipped = new RegExp(not, "i");
  const enabled = ":not([aria-disabled=true], :disabled)";
  const all = (words: string) => [...document.querySelectorAll<HTMLElement>(words)];
  const settle = () => new Promise((next) => setTimeout(next, 15));
  const press = async () => {
    const named = all(`button${enabled}`).find(
      (one) => (one.ariaLabel ?? one.textContent ?? "").trim() === name,
    );
    named?.click();
    await settle();
    return named !== undefined;
  };
  const agree = async () => {
    const asked = [...document.querySelectorAll("dialog[open]")].at(-1);
    const yes = [...(asked?.querySelectorAll("button") ?? [])].at(-1);
    if (yes?.matches(enabled) && !skipped.test(yes.textContent ?? "")) {
      yes.click();
      await settle();
    }
    for (const menu of all("[role=menu]")) {
      menu.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    }
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    await settle();
  };

  if (!(await press())) return false;
  for (let at = 0; ; at += 1) {
    if (at > 0 && all("[role=menu]").length === 0) await press();
    const lines = all(`[role=menu] [role^=menuitem]${enabled}:not([aria-label^='Copy '])`);
    lines[at]?.click();
    await settle();
    await agree();
    if (lines[at] === undefined) return true;
  }
}

/** Presses a key with the cursor in a list if there is one, and says yes to what that asks. */
async function pressKey({ key, not }: { key: string; not: string }): Promise<void> {
  const settle = () => new Promise((next) => setTimeout(next, 15));
  const press = async (one: string) => {
    const isShifted = /[A-Z]/.test(one);
    const keys = { key: one, shiftKey: isShifted, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", keys));
    await settle();
  };
  if (!document.querySelector("[data-cursor]")) await press("j");
  await press(key);
  const asked = [...document.querySelectorAll("dialog[open]")].at(-1);
  const yes = [...(asked?.querySelectorAll("button") ?? [])].at(-1);
  const isOn = yes?.matches(":not([aria-disabled=true], :disabled)");
  if (yes && isOn && !new RegExp(not, "i").test(yes.textContent ?? "")) yes.click();
  await settle();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  await settle();
}

/** Writes into every text of the page and sends it as keys do: Enter, and Ctrl+Enter. */
async function writeEverywhere(): Promise<void> {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "textarea, form input:not([type=checkbox], [type=radio], [type=search], [type=file])",
  );
  for (const field of fields) {
    if (field.readOnly || field.disabled || !field.checkVisibility()) continue;
    // React hears of a value only if it is set past React.
    const proto = Object.getPrototypeOf(field);
    Object.getOwnPropertyDescriptor(proto, "value")?.set?.call(field, "words");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((next) => setTimeout(next, 10));
    for (const ctrlKey of [false, true]) {
      const keys = { key: "Enter", ctrlKey, bubbles: true, cancelable: true };
      field.dispatchEvent(new KeyboardEvent("keydown", keys));
    }
    await new Promise((next) => setTimeout(next, 10));
  }
}

/** Chooses another line in every choice, and the first row of a table for what can be done to many. */
async function chooseEverywhere(): Promise<void> {
  for (const choice of document.querySelectorAll<HTMLSelectElement>("main select, dialog select")) {
    if (choice.disabled || choice.ariaDisabled === "true" || choice.options.length < 2) continue;
    const before = choice.selectedIndex;
    for (const at of [before === 0 ? 1 : 0, before]) {
      choice.selectedIndex = at;
      choice.dispatchEvent(new Event("change", { bubbles: true }));
      await new Promise((next) => setTimeout(next, 10));
    }
  }
  document.querySelector<HTMLElement>("[role=grid] [role=row] input[type=checkbox]")?.click();
  await new Promise((next) => setTimeout(next, 15));
}
