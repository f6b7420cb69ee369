import type { Page } from "playwright-core";
import { go, type Place } from "./places";

/** What is not pressed: it ends the journey, starts work that takes long, or only reads. */
const NOT_PRESSED =
  "^(Sign out|Close|Cancel|Copy|Dismiss|Refresh|Search|Account|Skip|Export|Download|CSV|Start|Spawn|Plan it|Open the|Menu)";

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
  #last = "";
  #open = 0;

  constructor(page: Page) {
    this.#page = page;
    const isAsked = (url: string) => /\/(api|proxy)\/v1\//.test(url);
    page.on("request", (request) => {
      if (isAsked(request.url())) this.#open += 1;
    });
    for (const end of ["requestfinished", "requestfailed"] as const) {
      page.on(end, (request) => {
        if (isAsked(request.url())) this.#open -= 1;
      });
    }
    page.on("response", (response) => {
      if (response.status() !== 403) return;
      const request = response.request();
      const path = new URL(request.url()).pathname;
      this.pressed.refused.push(`${request.method()} ${path} after ${this.#last}`);
    });
  }

  /** How many questions have no answer yet. */
  get waiting(): number {
    return this.#open;
  }

  /** Goes through a place; `writes` also fills what can be written in, and sends it by its keys. */
  async through(place: Place, { writes }: { writes: boolean }): Promise<void> {
    await this.#arrive(place);
    if (writes) {
      this.#last = `${place.name}: keys`;
      await this.#page.evaluate(writeEverywhere);
    }
    await this.#page.evaluate(chooseEverywhere);
    const names = await this.#page.evaluate(namesOfEnabled, NOT_PRESSED);
    for (const name of names) await this.#press(place, name);
    this.pressed.count += names.length;
  }

  async #press(place: Place, name: string): Promise<void> {
    this.#last = `${place.name}: ${name}`;
    if (!(await this.#page.evaluate(pressNamed, name))) {
      // The click before led away from it, or took it away.
      await this.#arrive(place);
      if (!(await this.#page.evaluate(pressNamed, name))) return;
    }
    for (let line = 0; await this.#page.evaluate(pressLine, { line, name }); line += 1) {
      this.#last = `${place.name}: ${name}, line ${line + 1}`;
      await this.#page.evaluate(agreeAndClose, NOT_PRESSED);
    }
    await this.#page.evaluate(agreeAndClose, NOT_PRESSED);
  }

  async #arrive(place: Place): Promise<void> {
    const page = this.#page;
    // From elsewhere: what was opened on it by a click is closed then.
    await go(page, { name: "about", path: "/settings/about", sees: "" });
    await go(page, place);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.locator('main [data-shows="loading"]').first().waitFor({ state: "detached" });
  }
}

// What follows runs in the page, each by itself: a click through the browser takes as long as fifty here.

/** The names of what can be pressed; of lines that differ only in a number or an id, one. */
function namesOfEnabled(not: string): string[] {
  const skipped = new RegExp(not, "i");
  const buttons = document.querySelectorAll<HTMLElement>(
    "button:not([aria-disabled=true], :disabled, [role=tab])",
  );
  const found = new Map<string, string>();
  for (const button of buttons) {
    const name = (button.ariaLabel ?? button.textContent ?? "").trim();
    if (name === "" || button.title.startsWith("Copy ") || skipped.test(name)) continue;
    if (button.dataset.row !== undefined || !button.checkVisibility()) continue;
    const alike = name.replace(/[\w-]*\d[\w-]*/g, "#");
    if (!found.has(alike)) found.set(alike, name);
  }
  return [...found.values()];
}

/** Presses the first enabled button of that name, and lets the page answer. */
async function pressNamed(name: string): Promise<boolean> {
  const all = document.querySelectorAll<HTMLElement>("button:not([aria-disabled=true], :disabled)");
  const named = [...all].find((one) => (one.ariaLabel ?? one.textContent ?? "").trim() === name);
  named?.click();
  await new Promise((next) => setTimeout(next, 25));
  return named !== undefined;
}

/** Presses the next enabled line of the menu that a button opens; false if there is none. */
async function pressLine({ line, name }: { line: number; name: string }): Promise<boolean> {
  const settle = () => new Promise((next) => setTimeout(next, 25));
  if (document.querySelector("[role=menu]") === null) {
    if (line === 0) return false;
    const all = document.querySelectorAll<HTMLElement>("button[aria-haspopup=menu]");
    const named = [...all].find((one) => (one.ariaLabel ?? one.textContent ?? "").trim() === name);
    named?.click();
    await settle();
  }
  const lines = document.querySelectorAll<HTMLElement>(
    "[role=menu] [role^=menuitem]:not([aria-disabled=true], [aria-label^='Copy '])",
  );
  lines[line]?.click();
  await settle();
  return lines[line] !== undefined;
}

/** Says yes to what a click asks, and closes what is still open. */
async function agreeAndClose(not: string): Promise<void> {
  const skipped = new RegExp(not, "i");
  const settle = () => new Promise((next) => setTimeout(next, 25));
  const dialog = [...document.querySelectorAll("dialog")].at(-1);
  const yes = [...(dialog?.querySelectorAll<HTMLElement>("button") ?? [])].at(-1);
  if (yes && yes.ariaDisabled !== "true" && !skipped.test(yes.textContent ?? "")) {
    yes.click();
    await settle();
  }
  const escape = () =>
    new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
  for (const open of document.querySelectorAll("[role=menu]")) open.dispatchEvent(escape());
  for (const open of document.querySelectorAll("dialog")) open.close();
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
  await new Promise((next) => setTimeout(next, 25));
}
