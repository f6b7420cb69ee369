import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run, Workflow } from "../src/api/types";
import { fileOf, fromMenu } from "./acts";
import {
  badge,
  barriers,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { somebody } from "./people";
import { SpendingServer } from "./spending";

const WRONG = `name: release
inputs:
  branch: { type: string, default: main }
  count: { type: integer, required: true, description: how many }
steps:
  - id: build
    with: { branch: "{{ inputs.branch }}", count: "{{ inputs.count }}" }
  - id: test
    dependsOn: [bild]
`;
const RIGHT = WRONG.replace("[bild]", "[build]");

describe("stored workflows", () => {
  let spending: SpendingServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ spending, here } = await SpendingServer.start());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { colorScheme: "light" }));
    await signIn(page, here, "/queue?tab=workflows");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await spending?.remove();
  });

  const stored = async () => (await read<{ items: Workflow[] }>(here, "/api/v1/workflows")).items;
  const runs = async () => (await read<{ items: Run[] }>(here, "/api/v1/runs")).items;
  const line = (name: string) => page.locator(`[data-line="${name}"]`);
  const saving = () => page.getByRole("dialog", { name: "Save a workflow" });
  const text = () => saving().getByLabel("The workflow, as YAML or JSON");

  /** Looks at the page in both themes. */
  async function expectOpen(name: string): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page), `${name}, ${colorScheme}`).toEqual([]);
      await picture(page, `${name}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
  }

  it("G8 without a run the first thing to do is to run one", async () => {
    const empty = page.locator('main [data-shows="empty"]');
    await empty.getByText(/^No workflow was run yet/).waitFor();
    await empty.getByText("godel workflow run release.yaml").waitFor();
    await empty.getByRole("button", { name: "Run a workflow" }).click();
    const drawer = page.getByRole("dialog", { name: "Run a workflow" });
    await drawer.getByLabel("The workflow, as YAML or JSON").waitFor();
    await drawer.getByRole("button", { name: "Cancel" }).click();
    await drawer.waitFor({ state: "detached" });
  });

  it("a text is checked, and each mistake leads to its line and column", async () => {
    await page.getByRole("button", { name: "Save a workflow" }).first().click();
    await text().fill(WRONG);
    await saving().getByRole("button", { name: "Check it" }).click();
    const wrong = saving().getByRole("alert", { name: "Problems" });
    await wrong.getByText(/test depends on bild, which is not there/).waitFor();
    await expectOpen("workflows-problems");
    await wrong.getByRole("button", { name: "Go to line 9, column 17" }).click();
    const at = await text().evaluate((box) => (box as HTMLTextAreaElement).selectionStart);
    expect(WRONG.slice(at).startsWith("bild]")).toBe(true);
    await saving().getByRole("button", { name: "Save the workflow" }).click();
    await wrong.waitFor();
    expect(await stored()).toEqual([]);
  });

  it("what is understood is stored, and seen with its steps and its text", async () => {
    await text().fill(RIGHT);
    await saving().getByRole("button", { name: "Check it" }).click();
    await saving().getByText("It is understood: release, 2 steps in 2 waves.").waitFor();
    await saving().getByRole("button", { name: "Save the workflow" }).click();
    await saving().waitFor({ state: "detached" });
    await expect.poll(async () => (await stored()).map(({ name }) => name)).toEqual(["release"]);
    await line("release")
      .getByText(/^Version 1/)
      .waitFor();
    const panel = page.getByRole("complementary", { name: "One workflow" });
    await panel.locator('[data-step="test"]').getByText("wave 2, after build").waitFor();
    await panel.getByText("count: { type: integer").waitFor();
    await expectOpen("workflows-stored");
  });

  it("it is taken away as a drawing", async () => {
    for (const [title, ending, begins] of [
      ["Export as Mermaid", "mmd", /^(flowchart|graph)/],
      ["Export as DOT", "dot", /^digraph/],
    ] as const) {
      const { name, text } = await fileOf(page, () =>
        fromMenu(page, "Do something with the workflow release", new RegExp(`^${title}`)),
      );
      expect(name).toBe(`release.${ending}`);
      expect(text).toMatch(begins);
    }
  });

  it("it is run with what it is given, and its run opens", async () => {
    await line("release").getByRole("button", { name: "Run", exact: true }).click();
    const drawer = page.getByRole("dialog", { name: "Run release" });
    await drawer.getByText("How many. Integer, needed.").waitFor();
    const act = drawer.getByRole("button", { name: "Run it" });
    expect(await act.isDisabled()).toBe(true);
    await drawer.getByLabel("count", { exact: true }).fill("many");
    await drawer.getByText("Write a whole number.").waitFor();
    await drawer.getByLabel("count", { exact: true }).fill("3");
    await drawer.getByLabel("branch", { exact: true }).fill("next");
    await drawer
      .getByText("godel workflow run release --input branch=next --input count:=3")
      .waitFor();
    await expectOpen("workflows-run");
    await act.click();
    await page.getByRole("heading", { name: "release", exact: true }).waitFor();
    await page.locator('button[data-step="build"]').waitFor();
    const [run] = await runs();
    expect(page.url()).toContain(`/queue/runs/${run?.id}`);
    expect(run?.name).toBe("release");
    const whole = await read<Run>(here, `/api/v1/runs/${run?.id}`);
    expect(whole.inputs).toEqual({ branch: "next", count: 3 });
  });

  it("G14 who only looks sees them, and why nothing else can be done", async () => {
    const place = "/queue?tab=workflows&flows=stored";
    const own = await somebody(browser, here, { name: "vic", role: "viewer", place });
    for (const name of ["Run", "Run a workflow", "Save a workflow"]) {
      const button = own.getByRole("button", { name, exact: true }).first();
      await expect.poll(() => button.getAttribute("aria-disabled"), { message: name }).toBe("true");
    }
    await own.context().close();
  });

  it("G6 it is deleted after a question, can be taken back, and its runs stay", async () => {
    await page.getByRole("navigation", { name: "Way back" }).getByRole("link").click();
    await page.getByRole("button", { name: /^Stored/ }).click();
    const erase = async () => {
      await page.getByRole("button", { name: "Do something with the workflow release" }).click();
      await page.getByRole("menuitem", { name: /^Delete/ }).click();
      const question = page.getByRole("dialog", { name: "Delete release?" });
      await question.getByRole("button", { name: "Delete the workflow" }).click();
      await page.getByText(/^No workflow is stored yet/).waitFor();
      await expect.poll(async () => (await stored()).length).toBe(0);
    };
    await erase();
    await page.getByRole("button", { name: "Undo" }).click();
    await line("release").waitFor();
    await expect.poll(async () => (await stored()).length).toBe(1);
    await erase();
    expect(await runs()).toHaveLength(1);
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
