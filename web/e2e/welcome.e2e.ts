import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Budget, Project } from "../src/api/types";
import { itemsOf } from "./acts";
import {
  badge,
  barriers,
  cutOff,
  eachTheme,
  openBrowser,
  picture,
  read,
  signIn,
  visitor,
  type World,
} from "./browser";
import { KEY, SeededServer } from "./seed";

const run = promisify(execFile);
/** The provider follows what stands in the brackets: it plans one bead, and does its work. */
const PLAN = {
  title: "Say hello",
  beads: [
    {
      key: "hello",
      title: "Write hello.txt",
      description: "[[work hello.txt hello from an agent]]",
      type: "task",
      needs: [],
      role: "worker",
      size: "small",
    },
  ],
};
const WISH = `Write a file that says hello [[json ${JSON.stringify(PLAN)}]]`;
/** The sample has no brackets, so they are added on its way. */
const SCRIPT = "[[work NOTES.md a project for samples]]";
/** What a machine without gVisor says. */
const WITHOUT_RUNSC = {
  name: "gvisor",
  ok: false,
  checks: [
    { name: "gvisor", status: "fail", message: "it is not on the PATH", hint: "install runsc" },
  ],
};

describe("X5 the setup", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare({ claude: "9.9.9" }));
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const step = () => page.locator('[aria-current="step"]');
  const at = (title: string) => step().getByRole("button", { name: title }).waitFor();

  it("X5 whoever has no project is led to it, or says not now", async () => {
    const { page: other } = await visitor(browser);
    await signIn(other, here, "/");
    const card = other.getByRole("region", { name: "Set up Godel" });
    await card.getByText("There is no project yet.").waitFor();
    await picture(other, "welcome-invitation");
    await card.getByRole("button", { name: "Not now" }).click();
    await card.waitFor({ state: "detached" });
    await other.reload();
    await badge(other, "Live").waitFor();
    expect(await card.count()).toBe(0);
    await other.context().close();
    await page.getByRole("link", { name: "Set it up" }).click();
    await at("Add a repository");
    await picture(page, "welcome-repository");
  });

  it("X5 a path that is no repository is refused at its field, a right one goes on", async () => {
    const path = page.getByLabel("Path of the repository");
    await path.fill("/nowhere/at/all");
    await page.getByRole("button", { name: "Add the repository" }).click();
    await expect.poll(() => path.getAttribute("aria-invalid")).toBe("true");
    await path.fill(seeded.repository);
    await page.getByRole("button", { name: "Add the repository" }).click();
    await at("Give Godel a key");
    const { items } = await read<{ items: { name: string; repository: string }[] }>(
      here,
      "/api/v1/projects",
    );
    expect(items.map(({ name, repository }) => [name, repository])).toEqual([
      ["app", seeded.repository],
    ]);
  });

  it("X5 the agents of this machine are shown, and that a login of theirs is no key", async () => {
    const agents = page.getByRole("list", { name: "Agents on this machine" });
    await agents.getByText("built in").waitFor();
    const claude = agents.locator('[data-line="agent claude"]');
    await claude.getByText("Version 9.9.9.").waitFor();
    await claude.getByText("Found").waitFor();
    await page.getByText(/A login of such a program is not passed on/).waitFor();
  });

  it("X5 a key is tried at once, and a wrong one says why", async () => {
    await page.getByText("There is no key of any provider, so nothing was tried.").waitFor();
    await page.getByLabel("Provider").selectOption("anthropic");
    const key = page.getByLabel("Key", { exact: true });
    await key.fill("sk-wrong");
    await page.getByRole("button", { name: "Set and try it" }).click();
    await page.getByText("Does not work").waitFor();
    await picture(page, "welcome-key");
    await key.fill(KEY);
    await page.getByRole("button", { name: "Set and try it" }).click();
    await at("Say what it may cost");
    const done = page.getByRole("list", { name: "Steps of the setup" }).getByText("Done");
    await expect.poll(() => done.count()).toBe(3);
  });

  it("X5 the runtimes are tried, the strongest that works is recommended, and it is kept", async () => {
    // It works on this machine, so it is done without a word; whoever wants to know opens it.
    await page
      .getByRole("button", { name: /See where agents work .* is recommended Done/ })
      .click();
    const places = page.getByRole("list", { name: "Where agents can work" });
    const { items } = await read<{ items: { name: string; offered: boolean }[] }>(
      here,
      "/api/v1/runtimes",
    );
    const best = items.filter(({ offered }) => offered).at(-1)?.name ?? "";
    expect(await places.getByText("Recommended").count()).toBe(1);
    const line = places.locator(`[data-line="runtime ${best}"]`);
    await line.getByText("Recommended").waitFor();
    await picture(page, "welcome-runtime");
    const tried = page.waitForResponse((one) => one.url().endsWith(`/runtimes/${best}/test`));
    await page.getByRole("button", { name: "Check again" }).click();
    expect((await tried).ok()).toBe(true);
    await line.getByText("Works").waitFor();
    if (best !== "worktree") {
      await page.getByRole("button", { name: `Choose ${best} when I spawn` }).click();
      await page.getByText(/is filled in when you spawn an agent/).waitFor();
    }
    await page.getByRole("button", { name: "Go on" }).click();
    await at("Say what it may cost");
  });

  it("X5 a reload goes on where the server says, and a budget is set", async () => {
    await page.goto(`${here.url}/dashboard/welcome`);
    await at("Say what it may cost");
    const amount = page.getByLabel("Hard stop, in dollars");
    // Whoever only goes on pays no more than that in a day.
    expect(await amount.inputValue()).toBe("5");
    await amount.fill("much");
    await page.getByText("Write dollars, such as 50 or 2.50.").waitFor();
    await amount.fill("5");
    await picture(page, "welcome-budget");
    await page.getByRole("button", { name: "Set the budget" }).click();
    await at("Get a first change");
    const { items } = await read<{ items: Budget[] }>(here, "/api/v1/budgets");
    expect(items.map(({ scope, period, capMicros }) => [scope, period, capMicros])).toEqual([
      ["tenant", "daily", 5_000_000],
    ]);
  });

  it("X5 a sample says what it costs, is done in a worktree and ends at its review", async () => {
    await page.route("**/api/v1/intents", (route, request) => {
      if (request.method() !== "POST") return route.fallback();
      const { text, ...rest } = request.postDataJSON();
      return route.fallback({ postData: JSON.stringify({ ...rest, text: `${text} ${SCRIPT}` }) });
    });
    const offer = page.getByRole("button", { name: "Try it with a sample" });
    await offer.waitFor();
    await picture(page, "welcome-sample");
    await offer.click();
    const plan = page.getByRole("article", { name: "A plan" });
    await plan.getByText("planned by rules").waitFor();
    await plan.getByText(/about \$/).waitFor();
    expect(await offer.count()).toBe(0);
    await page.unroute("**/api/v1/intents");
    await page.goto(`${here.url}/dashboard/welcome`);
    await plan.getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: "Started" }).waitFor({ timeout: 30_000 });
    await page.getByRole("link", { name: "Review the change" }).click({ timeout: 90_000 });
    await page.waitForURL(/\/dashboard\/review\//);
    await page.getByText("a project for samples").first().waitFor();
    await picture(page, "welcome-sample-review");
    // The branch is as it was: the work is in a worktree until somebody approves.
    expect(await seeded.git("ls-files")).not.toContain("NOTES.md");
  }, 180_000);

  it("X5 a first wish becomes a change that is reviewed", async () => {
    await page.goto(`${here.url}/dashboard/welcome`);
    await page.getByRole("textbox", { name: "What do you want?" }).fill(WISH);
    await page.getByRole("button", { name: "Plan it" }).click();
    const plan = page.getByRole("article", { name: "A plan" });
    await plan.waitFor();
    await page.goto(`${here.url}/dashboard/welcome`);
    // The plan was left and is found again.
    await plan.getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: "Started" }).waitFor({ timeout: 30_000 });
    // The review of the sample waits, too; this one is offered.
    await page.getByText(/^Write hello.txt waits for your review\./).waitFor({ timeout: 90_000 });
    await picture(page, "welcome-ready");
    await page.getByRole("link", { name: "Review the change" }).click();
    await page.waitForURL(/\/dashboard\/review\//);
    await page.getByText("hello from an agent").first().waitFor();
    await picture(page, "welcome-review");
  }, 180_000);

  it("G18 nothing keeps people out of it, in either theme", async () => {
    await eachTheme(browser, here, "/welcome?step=key", async (own, theme) => {
      await own.getByRole("list", { name: "What the test found" }).getByText("Works").waitFor();
      await own.getByRole("list", { name: "Agents on this machine" }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await picture(own, `welcome-key-${theme}`);
      await own.getByRole("button", { name: "See where agents work" }).click();
      await own.getByRole("list", { name: "Where agents can work" }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await own.route("**/runtimes/gvisor/test", (route) =>
        route.fulfill({ json: { success: true, data: WITHOUT_RUNSC } }),
      );
      await own.getByRole("button", { name: "Check again" }).click();
      await own.getByText(/It is not on the PATH\. Install runsc\./).waitFor();
      await own.getByText(/and agents use it unless you say otherwise/).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await picture(own, `welcome-runtime-${theme}`);
      // What a convoy may spend is no budget of all.
      await own.getByRole("button", { name: "Say what it may cost $5.00 a day Done" }).waitFor();
      await own.getByRole("button", { name: "Get a first change" }).click();
      await own.getByRole("link", { name: "Review the change" }).waitFor();
      expect(await barriers(own), theme).toEqual([]);
      await picture(own, `welcome-${theme}`);
      await own.getByRole("button", { name: "Skip the setup" }).click();
      await own.waitForURL(/\/dashboard\/(\?|$)/);
    });
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

describe("C2 a repository that is not on the server yet", () => {
  let seeded: SeededServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ seeded, here } = await SeededServer.bare());
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/welcome");
    await badge(page, "Live").waitFor();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await seeded?.remove();
  });

  const inFolder = (name: string) => join(seeded.server.folder, name);
  const way = (title: string) => page.getByRole("button", { name: title, exact: true });
  const projects = async () =>
    (await itemsOf<Project>(here, "/api/v1/projects")).map(({ name, repository }) => [
      name,
      repository,
    ]);
  const at = (title: string) =>
    page.locator('[aria-current="step"]').getByRole("button", { name: title }).waitFor();
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const param = (name: string) => new URL(page.url()).searchParams.get(name);

  it("C2 there are three ways, and the address keeps the one that was chosen", async () => {
    await at("Add a repository");
    await field("Path of the repository").waitFor();
    await way("A new one").click();
    await field("Folder of the new repository").waitFor();
    expect(await barriers(page)).toEqual([]);
    await picture(page, "welcome-new");
    await way("A clone").click();
    await page.reload();
    await field("URL of the repository").waitFor();
    expect(await way("A clone").getAttribute("aria-pressed")).toBe("true");
    expect(await barriers(page)).toEqual([]);
    await picture(page, "welcome-clone");
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await cutOff(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("C2 what cannot be cloned is refused at its field, and a folder with something in it", async () => {
    const full = inFolder("full");
    await mkdir(full);
    await writeFile(join(full, "notes.txt"), "not git's\n");
    await field("URL of the repository").fill("https://ann:secret@example.org/shop.git");
    await page.getByRole("button", { name: "Clone it" }).click();
    await expect
      .poll(() => field("URL of the repository").getAttribute("aria-invalid"))
      .toBe("true");
    await field("URL of the repository").fill(`file://${await bareCopy()}`);
    await field("Into this folder").fill(full);
    await page.getByRole("button", { name: "Clone it" }).click();
    await expect.poll(() => field("Into this folder").getAttribute("aria-invalid")).toBe("true");
    await picture(page, "welcome-clone-refused");
    expect(await projects()).toEqual([]);
  });

  it("C2 a clone that fails says why, and is tried again", async () => {
    await field("URL of the repository").fill(`file://${inFolder("nowhere.git")}`);
    await field("Into this folder").fill(inFolder("shop"));
    await page.getByRole("button", { name: "Clone it" }).click();
    await page.locator("main").getByRole("alert").first().waitFor();
    await page.getByRole("button", { name: "Clone it" }).waitFor();
    await picture(page, "welcome-clone-failed");
    expect(await projects()).toEqual([]);
  });

  it("C2 a repository is cloned, and the setup goes on with it", async () => {
    const url = `file://${inFolder("shop.git")}`;
    await field("URL of the repository").fill(url);
    const command = `godel project create shop --clone ${url} --folder ${inFolder("shop")}`;
    await page.getByText(command, { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Clone it" }).click();
    await at("Give Godel a key");
    expect(await projects()).toEqual([["shop", inFolder("shop")]]);
    expect(existsSync(join(inFolder("shop"), "README.md"))).toBe(true);
    expect([param("way"), param("making")]).toEqual([null, null]);
  });

  it("C2 a new one is begun, and a reload meanwhile changes nothing", async () => {
    await seeded.godel("project", "delete", "shop", "--yes");
    await page.goto(`${here.url}/dashboard/welcome?way=new`);
    await field("Folder of the new repository").fill(inFolder("fresh"));
    await field("Name of the project").fill("Fresh start");
    // The page learns that it is ready only after the reload.
    await page.route("**/api/v1/projects", (route, request) =>
      request.method() === "POST" ? route.abort() : route.fallback(),
    );
    await page.getByRole("button", { name: "Make it" }).click();
    await expect.poll(() => param("making")).not.toBeNull();
    await page.unroute("**/api/v1/projects");
    await page.reload();
    await at("Give Godel a key");
    expect(await projects()).toEqual([["Fresh start", inFolder("fresh")]]);
    const git = async (...words: string[]) =>
      (await run("git", ["-C", inFolder("fresh"), ...words])).stdout.trim();
    expect(await git("branch", "--show-current")).toBe("main");
    expect(await git("rev-list", "--count", "HEAD")).toBe("1");
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });

  /** A repository that others clone. */
  async function bareCopy(): Promise<string> {
    const to = inFolder("shop.git");
    await run("git", ["clone", "-q", "--bare", seeded.repository, to]);
    return to;
  }
});
