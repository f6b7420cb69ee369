import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { account, chooseTheme, visitor } from "../e2e/browser";
import type { Bench } from "./measure";

const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };

/** Keeps pictures of every page with a full store, in dark and on a telephone; if a folder is named. */
export async function keepPictures(bench: Bench): Promise<void> {
  const folder = process.env.GODEL_TEST_SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  const { browser, here, seeded, state, say } = bench;
  for (const [size, viewport] of Object.entries(SIZES)) {
    const { page } = await visitor(browser, { storageState: state, viewport });
    await chooseTheme(page, "dark");
    for (const [name, path] of Object.entries(placesOf(seeded))) {
      await page.goto(`${here.url}/dashboard${path}`);
      await account(page).waitFor();
      await page.waitForTimeout(2_500);
      await page.screenshot({ path: join(folder, `full-${name}-dark-${size}.png`) });
    }
    await page.context().close();
  }
  say(`pictures are in ${folder}`);
}

function placesOf({ longReview, talker, open }: Bench["seeded"]): Record<string, string> {
  return {
    home: "/",
    inbox: "/inbox",
    agents: "/agents",
    "agents-table": "/agents?view=table",
    agent: `/agents/${talker}`,
    session: `/agents/${talker}?tab=session`,
    convoys: "/convoys",
    beads: "/beads",
    bead: `/beads?peek=${open[0]}`,
    review: "/review",
    "review-long": `/review/${longReview}`,
    landing: "/landing",
    queue: "/queue",
    costs: "/costs",
    settings: "/settings",
    welcome: "/welcome",
  };
}
