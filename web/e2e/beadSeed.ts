import type { Page } from "playwright-core";
import type { SeededServer } from "./seed";

/** Makes a bead by a command and returns its id. */
export async function makeBead(seeded: SeededServer, ...words: string[]): Promise<string> {
  return (await seeded.json<{ id: string }>("bead", "create", ...words)).id;
}

/** A bead as the server has it. */
export function readBead(seeded: SeededServer, id: string) {
  return seeded.json<{
    status: string;
    rank?: string;
    agent?: string;
    title: string;
    priority: string;
  }>("bead", "show", id);
}

/** Waits until the server says so of a bead. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("it did not come to be");
}

/** Puts a text into what has the focus as a paste does. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((value) => {
    const data = new DataTransfer();
    data.setData("text", value);
    data.setData("text/plain", value);
    const event = new ClipboardEvent("paste", {
      clipboardData: data,
      bubbles: true,
      cancelable: true,
    });
    document.activeElement?.dispatchEvent(event);
  }, text);
}
