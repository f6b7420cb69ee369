import { visitor } from "../e2e/browser";
import type { Bench } from "./measure";
import { forget, install, noted } from "./probe";
import type { Row } from "./report";

const FOR_MS = 5_000;

/** How even the frames of an empty page are: what a busy machine adds to all other numbers. */
export async function measureMachine({ browser, here }: Bench): Promise<Row[]> {
  const { page } = await visitor(browser);
  await install(page, "no-such-thing");
  await page.goto(`${here.url}/health/live`);
  await page.waitForTimeout(1_000);
  await forget(page);
  await page.waitForTimeout(FOR_MS);
  const { longestFrame, slowFrames, frames } = await noted(page, 0);
  await page.context().close();
  const note = `${slowFrames} of ${frames} over 50 ms`;
  return [
    {
      part: "machine",
      what: "longest frame of an empty page",
      value: longestFrame,
      unit: "ms",
      note,
    },
  ];
}
