import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PAGES } from "../src/pages";
import { read, type World } from "./browser";
import { type Seed, SeededServer } from "./seed";

/** Somewhere in the dashboard. */
export interface Place {
  name: string;
  /** Below `/dashboard`. */
  path: string;
  /** What is there when its data are. */
  sees: string;
  /** What the browser calls it. */
  title?: string;
}

/** What says that the data of a page are there; a page that is not named shows its heading. */
const SIGHTS: Record<string, string> = {
  home: "[data-row]",
  inbox: "text=Which colour?",
  agents: "[data-agent]",
  teams: "main [role=grid] [data-row]",
  convoys: "[data-card]",
  beads: "main [data-row]",
  review: "[data-review]",
  landing: "[data-landing]",
  queue: "[role=grid] [data-row]",
  costs: "main [role=grid] [role=row]",
  settings: "main [data-line], main [data-row]",
};

/** Every page of the navigation and of the palette: a new one is among them by itself. */
export const PLACES: readonly Place[] = PAGES.map(({ id, path, title }) => ({
  name: id,
  path,
  title,
  sees: SIGHTS[id] ?? "main h1",
}));

const WORKFLOW = `name: release
steps:
  - id: build
    pool: ci
    with: { command: make }
  - id: test
    pool: ci
    dependsOn: [build]
    with: { command: check }
  - id: agree
    dependsOn: [test]
    approval: { by: [role:admin], message: "Release?" }
`;

const TEAM = JSON.stringify({
  name: "review",
  strategy: "map-reduce",
  goal: "Find what is wrong in these files",
  items: ["a.rs", "b.rs"],
  roles: [{ name: "reviewer", pool: "ci" }],
  merge: { name: "editor", pool: "ci" },
  size: 2,
  budgetMicros: 5_000_000,
});

/** What is on a server on which no page is empty. */
export interface Full {
  seed: Seed;
  /** A run of a workflow. */
  run: string;
  /** The task of its first step. */
  task: string;
  team: string;
}

/** A server on which no page is empty. */
export async function fullServer(): Promise<Full & { seeded: SeededServer; here: World }> {
  const { seeded, here, seed } = await SeededServer.start();
  const file = join(seeded.server.folder, "release.yaml");
  await writeFile(file, WORKFLOW);
  await seeded.godel("workflow", "save", file);
  await seeded.godel("workflow", "run", "release");
  await seeded.server.cliWith(TEAM, "team", "create", "-");
  const first = async (path: string) =>
    (await read<{ items: { id: string }[] }>(here, `/api/v1/${path}`)).items[0]?.id ?? "";
  const [run, task, team] = [await first("runs"), await first("tasks"), await first("teams")];
  return { seeded, here, seed, run, task, team };
}

/** Goes to a place as a link does, without loading everything again. */
export async function go(page: Page, { path, title }: Place): Promise<void> {
  await page.evaluate((to) => {
    window.history.pushState(null, "", to);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, `/dashboard${path}`);
  // What the page before had may look the same.
  if (title) await page.waitForFunction((word) => document.title.startsWith(word), title);
}

/** Goes to a place and waits for what is there. */
export async function visit(page: Page, place: Place): Promise<void> {
  await go(page, place);
  await page.locator(place.sees).first().waitFor();
  await page.locator('main [data-shows="loading"]').first().waitFor({ state: "detached" });
}
