import { openBrowser, signIn, visitor } from "../e2e/browser";
import { measureMachine } from "./machine";
import { type Bench, measurePage } from "./measure";
import { parseOptions } from "./options";
import { PAGES } from "./pages";
import { keepPictures } from "./pictures";
import { exitCodeOf, jsonOf, type Row, tableOf } from "./report";
import { type Say, seed } from "./seed";
import { measureSingles } from "./single";

const EXTRA = "single";

/** Fills a store, measures the pages, and says whether the bars are met. */
export async function main(words: readonly string[]): Promise<number> {
  const known = [...PAGES.map(({ id }) => id), EXTRA];
  const options = parseOptions(words, known);
  const begun = Date.now();
  const say: Say = (text) =>
    process.stderr.write(`${((Date.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${text}\n`);
  const { server, here, seeded } = await seed(options, say);
  const browser = await openBrowser();
  const rows: Row[] = [];
  try {
    const { page } = await visitor(browser);
    await signIn(page, here);
    const state = await page.context().storageState();
    await page.context().close();
    const bench: Bench = { browser, here, seeded, options, state, say };
    rows.push(...(await measureMachine(bench)));
    for (const of of PAGES.filter(({ id }) => options.pages.includes(id))) {
      rows.push(...(await orUnknown(of.id, say, () => measurePage(bench, of))));
    }
    if (options.pages.includes(EXTRA)) {
      rows.push(...(await orUnknown(EXTRA, say, () => measureSingles(bench))));
    }
    process.stdout.write(
      `${options.json ? jsonOf(rows, { ...options, browser: browser.version() }) : tableOf(rows)}\n`,
    );
    await keepPictures(bench);
  } finally {
    await browser.close();
    await server.remove();
  }
  return exitCodeOf(rows);
}

/** What breaks while it is measured is not measured; the others still are. */
async function orUnknown(part: string, say: Say, measure: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await measure();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`${part} could not be measured: ${why}`);
    const row: Row = {
      part,
      what: "could not be measured",
      value: undefined,
      unit: "",
      exactly: 0,
    };
    return [row];
  }
}
