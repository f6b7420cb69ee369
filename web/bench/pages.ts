import type { Page } from "playwright-core";
import type { World } from "../e2e/browser";
import { read } from "../e2e/browser";
import type { Agent, Bead, UsageReport } from "../src/api/types";

/** Names and numbers, of the page and of the API. */
export type Totals = Record<string, number>;

/** A page as the benchmark sees it. */
export interface BenchPage {
  id: string;
  path: string;
  /** What shows that data is there. */
  row: string;
  /** All that repeats; there must not be many, however long the list is. */
  rows: string;
  /** The field that is typed into, if there is one. */
  field?: string;
  typed: string;
  /** The sums that the page shows. */
  shown: (page: Page) => Promise<Totals>;
  /** The same by the API. */
  told: (here: World) => Promise<Totals>;
}

const STATUSES = ["open", "in-progress", "review", "done"];

/** The number in a text such as `1,000 agents`. */
export function numberIn(text: string | null | undefined): number {
  const digits = /\d[\d,.\u202f\u00a0 ]*/.exec(text ?? "")?.[0].replace(/\D/g, "");
  return digits ? Number(digits) : Number.NaN;
}

/** Reads a list to its end. */
async function all<T>(here: World, path: string, filter: object = {}): Promise<T[]> {
  const found: T[] = [];
  const fields = new URLSearchParams({ limit: "1000", filter: JSON.stringify(filter) });
  for (;;) {
    const page = await read<{
      items: T[];
      pagination: { cursor?: string | null; hasMore: boolean };
    }>(here, `${path}?${fields}`);
    found.push(...page.items);
    if (!page.pagination.hasMore || !page.pagination.cursor) return found;
    fields.set("cursor", page.pagination.cursor);
  }
}

const beads = (here: World) => all<Bead>(here, "/api/v1/beads", { status: STATUSES });

function tally<T>(items: readonly T[], nameOf: (item: T) => string): Totals {
  const sums: Totals = {};
  for (const item of items) sums[nameOf(item)] = (sums[nameOf(item)] ?? 0) + 1;
  return sums;
}

const heading = (page: Page) => page.locator("main h1").locator("xpath=..").innerText();

export const PAGES: readonly BenchPage[] = [
  {
    id: "agents",
    path: "/agents",
    row: "[data-agent]",
    rows: "main [data-agent]",
    field: "main input:not([type=checkbox])",
    typed: "worker-9",
    // The page by teams says how many there are of each state.
    shown: async (page) => {
      await page
        .getByRole("button", { name: "Teams" })
        .or(page.getByRole("radio", { name: "Teams" }))
        .first()
        .click();
      const text = await page.locator("main section h2").first().innerText();
      await page
        .getByRole("button", { name: "Cards" })
        .or(page.getByRole("radio", { name: "Cards" }))
        .first()
        .click();
      const parts = text.split(":").slice(1).join(":").split(",");
      const views = parts.map((part) => [part.replace(/[\d\s]+/, "").trim(), numberIn(part)]);
      return { all: numberIn(await heading(page)), ...Object.fromEntries(views) };
    },
    told: async (here) => {
      const agents = await all<Agent>(here, "/api/v1/agents");
      const names: Record<string, string> = {
        waiting: "waiting for you",
        offline: "ended",
        initializing: "starting",
        spawning: "starting",
      };
      const nameOf = ({ lifecycleState, view }: Agent) =>
        names[lifecycleState] ?? names[view] ?? view;
      return { all: agents.length, ...tally(agents, nameOf) };
    },
  },
  {
    id: "beads",
    path: "/beads",
    row: "main [data-row]",
    rows: "main [role=row]",
    field: "main [role=combobox]",
    typed: "login",
    shown: async (page) => {
      const sums: Totals = { all: numberIn(await heading(page)) };
      const field = page.locator("main [role=combobox]").first();
      for (const query of [...STATUSES.map((status) => `status:${status}`), "priority:high"]) {
        await field.fill(query);
        await page.waitForTimeout(300);
        sums[query] = numberIn(await heading(page));
      }
      await field.fill("");
      return sums;
    },
    told: async (here) => {
      const found = await beads(here);
      const sums: Totals = { all: found.length };
      for (const status of STATUSES) {
        sums[`status:${status}`] = found.filter((bead) => bead.status === status).length;
      }
      sums["priority:high"] = found.filter(({ priority }) => priority === "high").length;
      return sums;
    },
  },
  {
    id: "convoys",
    path: "/convoys",
    row: "main [data-card]",
    rows: "main [data-card]",
    field: "main input:not([type=checkbox])",
    typed: "login",
    shown: async (page) =>
      Object.fromEntries(
        await page
          .locator("[data-column]")
          .evaluateAll((heads) =>
            heads.map((head) => [
              head.getAttribute("data-column") ?? "",
              Number(head.querySelector("[data-count]")?.textContent?.replace(/\D/g, "")),
            ]),
          ),
      ),
    told: async (here) => {
      const sums = tally(await beads(here), ({ status }) => status);
      return Object.fromEntries(STATUSES.map((status) => [status, sums[status] ?? 0]));
    },
  },
  {
    id: "home",
    path: "/",
    row: "main [data-row]",
    rows: "main [data-row]",
    field: "main section input",
    typed: "bead",
    // The newest event is in the first line.
    shown: async (page) => {
      // Somebody who reads further down is not disturbed; the newest are one click away.
      const fresh = page.getByRole("button", { name: /new events?$/ });
      if (await fresh.isVisible()) await fresh.click();
      await page.mouse.move(2, 2);
      await page.waitForTimeout(300);
      const text = await page.locator("main [data-row]").first().innerText();
      return { newest: Number(text.trim().split(/\s+/).at(-1)?.replace(/\D/g, "")) };
    },
    told: async (here) => {
      const { items } = await read<{ items: { sequence: number }[] }>(
        here,
        "/api/v1/events?limit=1",
      );
      return { newest: items[0]?.sequence ?? 0 };
    },
  },
  {
    id: "costs",
    path: "/costs",
    row: "main [data-total]",
    rows: "main [role=row]",
    typed: "",
    shown: async (page) => ({
      micros: Number(await page.locator("[data-total]").first().getAttribute("data-total")),
    }),
    told: async (here) => {
      const { total } = await read<UsageReport>(here, "/proxy/v1/usage?groupBy=model");
      return { micros: total.costMicros };
    },
  },
  {
    id: "review",
    path: "/review",
    row: "main [data-review]",
    rows: "main [data-review]",
    typed: "",
    shown: async (page) => ({ reviews: await page.locator("main [data-review]").count() }),
    told: async (here) => {
      const { items } = await read<{ items: unknown[] }>(here, "/api/v1/reviews?limit=100");
      return { reviews: items.length };
    },
  },
];
