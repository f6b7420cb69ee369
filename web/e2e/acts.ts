import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { read, type World } from "./browser";

/** The lines of a list, as the server has it. */
export async function itemsOf<T>(here: World, path: string): Promise<T[]> {
  return (await read<{ items: T[] }>(here, path)).items;
}

/** Opens the menu of a button and chooses a line of it. */
export async function fromMenu(page: Page, button: string | RegExp, line: RegExp): Promise<void> {
  await page
    .getByRole("button", { name: button, ...(typeof button === "string" && { exact: true }) })
    .click();
  const item = page.getByRole("menuitem", { name: line });
  // Where one of the lines is chosen, all of them are choices.
  await item
    .or(page.getByRole("menuitemradio", { name: line }))
    .first()
    .click();
}

/** The button that takes back what a message tells of. */
export function undoOf(page: Page, told: RegExp) {
  return page.getByRole("status").filter({ hasText: told }).getByRole("button", { name: "Undo" });
}

/** The file that a click gives. */
export async function fileOf(
  page: Page,
  click: () => Promise<void>,
): Promise<{ name: string; bytes: Buffer; text: string }> {
  const [file] = await Promise.all([page.waitForEvent("download"), click()]);
  const bytes = await readFile(await file.path());
  return { name: file.suggestedFilename(), bytes, text: bytes.toString("utf8") };
}
