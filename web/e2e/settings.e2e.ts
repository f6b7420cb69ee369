import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  AgentRole,
  AuditVerdict,
  Budget,
  Invitation,
  Key,
  Project,
  Routing,
  RuntimeInfo,
  Secret,
  SettingsDocument,
  User,
} from "../src/api/types";
import { fileOf, fromMenu, undoOf } from "./acts";
import { account, badge, openBrowser, picture, read, signIn, visitor, type World } from "./browser";
import { SpendingServer } from "./spending";

interface Listed<T> {
  items: T[];
}

describe("settings", () => {
  let spending: SpendingServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    ({ spending, here } = await SpendingServer.start());
    await spending.spend(here);
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
    await signIn(page, here, "/settings");
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await spending?.remove();
  });

  const open = async (section: string) => {
    await page
      .getByRole("navigation", { name: "Settings" })
      .getByRole("link", { name: section })
      .click();
    await page.getByRole("region", { name: section }).waitFor();
  };
  const line = (id: string) => page.locator(`[data-line="${id}"]`);
  const menu = (button: RegExp, item: RegExp) => fromMenu(page, button, item);

  it("S1 each section has an address, and a reload comes back to it", async () => {
    const nav = page.getByRole("navigation", { name: "Settings" });
    await nav.getByRole("link").first().waitFor();
    await expect.poll(() => nav.getByRole("link").count()).toBe(18);
    await open("Audit");
    expect(page.url()).toContain("/settings/audit");
    await page.reload();
    await page.getByRole("grid", { name: "Acts" }).waitFor();
    await page.getByLabel("Find a setting").fill("theme");
    await nav.getByRole("link").nth(1).waitFor({ state: "detached" });
    await expect.poll(() => nav.getByRole("link").allTextContents()).toEqual(["Appearance"]);
    await page.getByLabel("Find a setting").fill("");
  });

  it("S1 routing, roles, walls and notices are told as the server has them", async () => {
    await open("Routing");
    const routing = await read<Routing>(here, "/proxy/v1/routing");
    await line("order").getByText(routing.order.join(", ")).waitFor();
    await line("patience").getByText(`up to ${routing.attempts} times`).waitFor();
    await page.getByText("managed by file").waitFor();
    await open("Agent roles");
    const { items } = await read<Listed<AgentRole>>(here, "/api/v1/roles");
    expect(items.length).toBeGreaterThan(4);
    for (const { name } of items) await line(`role ${name}`).waitFor();
    await line("role worker").getByText("What it is told first").click();
    await line("role worker").locator("pre").waitFor();
    await open("Sandbox profiles");
    await line("profile workspace").getByText("unless said otherwise").waitFor();
    await open("Notifications");
    await line("desktop")
      .getByRole("button", { name: /Desktop notices/ })
      .waitFor();
  });

  it("G15 a section is found in the palette by what it is about", async () => {
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Command palette" });
    await palette.getByRole("combobox").fill("hedge");
    await palette.getByRole("option", { name: /Routing/ }).click();
    await page.getByRole("region", { name: "Routing" }).waitFor();
    expect(page.url()).toContain("/settings/routing");
  });

  it("S2 a project is made, what the server refuses is told at its field", async () => {
    await open("Projects");
    await page.getByText("There is no project yet.").waitFor();
    await page.getByRole("button", { name: "Create a project" }).click();
    const form = page.getByRole("dialog", { name: "Create a project" });
    await form.getByLabel("Name", { exact: true }).fill("web");
    await form.getByLabel("Repository").fill("relative");
    await form.getByRole("button", { name: "Create the project" }).click();
    await form.getByText(/A repository must be the absolute path/).waitFor();
    await expect
      .poll(() => form.getByLabel("Repository").getAttribute("aria-invalid"))
      .toBe("true");
    await picture(page, "settings-project-form");
    await form.getByLabel("Repository").fill("");
    await form.getByLabel("Budget of a month, in dollars").fill("50");
    await form.getByText("godel project create web --budget 50/month").waitFor();
    await form.getByRole("button", { name: "Create the project" }).click();
    await line("web").getByText("$50.00 a month").waitFor();
  });

  it("S2 changes are listed before they are saved, and a form does not go without asking", async () => {
    await menu(/^Do something with the project web/, /^Change/);
    const form = page.getByRole("dialog", { name: "Change web" });
    await form.getByLabel("Agents at the same time").fill("4");
    const changes = form.getByRole("region", { name: "What will be different" });
    await expect.poll(() => changes.locator("dl > div").count()).toBe(1);
    await page.keyboard.press("Escape");
    await form.getByText("What you wrote is not saved.").waitFor();
    await form.getByRole("button", { name: "Go on writing" }).click();
    await expect.poll(() => form.getByLabel("Agents at the same time").inputValue()).toBe("4");
    await form.getByRole("button", { name: "Save the changes" }).click();
    await line("web").getByText("4 agents").waitFor();
    const { items } = await read<Listed<Project>>(here, "/api/v1/projects");
    expect(items[0]?.limits.maxAgents).toBe(4);
    expect(items[0]?.limits.monthlyBudgetMicros).toBe(50_000_000);
    await picture(page, "settings-projects");
  });

  it("S1 a key of a provider is written, never shown, and known by its last four", async () => {
    await open("Providers and keys");
    await line("anthropic").waitFor();
    await page.getByRole("button", { name: "Set a key" }).click();
    const form = page.getByRole("dialog", { name: "Set a key" });
    await form.getByLabel("Name", { exact: true }).fill("openai");
    await form.getByLabel("Key", { exact: true }).fill("sk-a-long-enough-test-key-9876");
    await form.getByRole("button", { name: "Set the key" }).click();
    const { items } = await waitFor(
      () => read<Listed<Secret>>(here, "/api/v1/secrets"),
      ({ items }) => items.length === 2,
    );
    const four = items.find(({ name }) => name === "openai")?.lastFour;
    expect(four).toBe("9876");
    await line("openai").getByText("••••9876").waitFor();
    expect(await page.content()).not.toContain("long-enough-test-key");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await line("test anthropic").getByText("Works").waitFor();
    await picture(page, "settings-providers");
    await menu(/^Do something with the key openai/, /^Remove/);
    const question = page.getByRole("dialog", { name: "Remove openai?" });
    await question.getByLabel("Type openai to go on").fill("openai");
    await question.getByRole("button", { name: "Remove it" }).click();
    await line("openai").waitFor({ state: "detached" });
  });

  it("S1 the models are those that were asked", async () => {
    await open("Models");
    await line("claude-opus-4-8")
      .getByText(/3 requests/)
      .waitFor();
    await expect.poll(() => page.locator("[data-line]").count()).toBe(3);
  });

  it("S1 somebody is invited by a link that is shown once, gets another role, and is erased", async () => {
    await open("People and roles");
    await page.getByRole("button", { name: "Invite somebody" }).click();
    const form = page.getByRole("dialog", { name: "Invite somebody" });
    await form.getByLabel("Name").fill("owner");
    await form.getByRole("button", { name: "Make the link" }).click();
    await form.getByText(/Another user is called "owner"/).waitFor();
    await form.getByLabel("Name").fill("ann");
    await form.getByLabel("Role").selectOption("viewer");
    await form.getByRole("button", { name: "Make the link" }).click();
    const once = page.getByRole("dialog", { name: "The link for ann" });
    await once.getByText(/\/dashboard\/#token=/).waitFor();
    await picture(page, "settings-link");
    await once.getByRole("button", { name: "I have kept it" }).click();
    await page.getByLabel("Role of ann").selectOption("operator");
    await page.getByText("ann is operator now").waitFor();
    await picture(page, "settings-people");
    await page.getByRole("button", { name: "Undo" }).click();
    await waitFor(
      () => read<Listed<User>>(here, "/api/v1/users"),
      ({ items }) => items.some(({ name, role }) => name === "ann" && role === "viewer"),
    );
    await page.getByRole("button", { name: "Do something with owner" }).click();
    const erase = page.getByRole("menuitem", { name: /^Erase/ });
    await expect.poll(() => erase.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
    await menu(/^Do something with ann/, /^Erase/);
    const question = page.getByRole("dialog", { name: "Erase ann?" });
    await question.getByLabel("Type ann to go on").fill("ann");
    await question.getByRole("button", { name: "Erase ann" }).click();
    await line("ann").waitFor({ state: "detached" });
  });

  it("G12 somebody works in the projects that are chosen, and in all again after Undo", async () => {
    await fetch(`${here.url}/api/v1/users`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": here.key },
      body: JSON.stringify({ name: "pat", role: "developer" }),
    });
    await open("People and roles");
    await line("pat").getByText("works in all projects").waitFor();
    await menu(/^Do something with pat/, /^Choose projects/);
    const dialog = page.getByRole("dialog", { name: "Projects of pat" });
    await dialog.getByLabel("Works in").selectOption("some");
    await dialog.getByLabel("web", { exact: true }).check();
    await dialog.getByText("godel user project pat --set web").waitFor();
    await picture(page, "settings-user-projects");
    await dialog.getByRole("button", { name: "Save" }).click();
    await line("pat").getByText("works in web").waitFor();
    const places = async () =>
      (await read<Listed<User>>(here, "/api/v1/users")).items.find(({ name }) => name === "pat")
        ?.projects.length;
    await expect.poll(places).toBe(1);
    await undoOf(page, /^pat works in 1 project now/).click();
    await line("pat").getByText("works in all projects").waitFor();
    await expect.poll(places).toBe(0);
  });

  it("S1 a key is shown once, works, and is revoked", async () => {
    await open("API keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    const form = page.getByRole("dialog", { name: "Create a key" });
    await form.getByLabel("Name").fill("ci");
    await form.getByLabel("Narrowed to").fill("nonsense");
    await form.getByRole("button", { name: "Create the key" }).click();
    await form.getByText(/is not a permission/).waitFor();
    await form.getByLabel("Narrowed to").fill("event:read:team");
    await form.getByText("godel key create ci --scope event:read:team --expires 90d").waitFor();
    await form.getByRole("button", { name: "Create the key" }).click();
    const once = page.getByRole("dialog", { name: "The key ci" });
    const key = await once.locator("code").textContent();
    const mine = { ...here, key: key ?? "" };
    await read(mine, "/api/v1/events?limit=1");
    await once.getByRole("button", { name: "I have kept it" }).click();
    await line("ci")
      .getByText(/only event:read:team/)
      .waitFor();
    expect(await page.content()).not.toContain(key);
    await picture(page, "settings-keys");
    await menu(/^Do something with the key ci/, /^Revoke/);
    await page
      .getByRole("dialog", { name: "Revoke ci?" })
      .getByRole("button", { name: "Revoke it" })
      .click();
    await line("ci").getByText("revoked", { exact: true }).waitFor();
    await waitFor(
      () => read<Listed<Key>>(here, "/api/v1/keys"),
      ({ items }) => items.some(({ name, revokedAt }) => name === "ci" && Boolean(revokedAt)),
    );
    // It is seen to be revoked a moment before whoever revoked it is told, and from then on it opens nothing.
    const tried = () => read(mine, "/api/v1/events?limit=1").catch(String);
    await expect.poll(tried).toContain("401");
  });

  it("S1 the record is queried and verified", async () => {
    await open("Audit");
    const verdict = await read<AuditVerdict>(here, "/api/v1/audit/verify");
    expect(verdict.whole).toBe(true);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/^The record is whole: \d+ rows/).waitFor();
    await page.getByLabel("Filter by what was done").fill("user:erase");
    const grid = page.getByRole("grid", { name: "Acts" });
    await waitFor(
      () => grid.getByRole("row").count(),
      (rows) => rows === 2,
    );
    await picture(page, "settings-audit");
    await page.getByLabel("Result").selectOption("denied");
    await page.getByText("No acts match the filter.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).last().click();
    await grid.getByRole("row").nth(2).waitFor();
  });

  it("S2 the record is narrowed to days, also in the address", async () => {
    await open("Audit");
    const grid = page.getByRole("grid", { name: "Acts" });
    await grid.getByRole("row").nth(2).waitFor();
    await page.getByLabel("Since").selectOption("days");
    await page.getByLabel("To", { exact: true }).fill("2020-01-02");
    await page.getByText("No acts match the filter.").waitFor();
    await page.getByLabel("To", { exact: true }).fill("2099-01-01");
    await page.getByLabel("From", { exact: true }).fill("2020-01-02");
    await grid.getByRole("row").nth(2).waitFor();
    await page.reload();
    await grid.getByRole("row").nth(2).waitFor();
    expect(await page.getByLabel("From", { exact: true }).inputValue()).toBe("2020-01-02");
    await picture(page, "settings-audit-days");
    await page.getByLabel("Since").selectOption("");
  });

  it("S1 a runtime is tried, and says what the server's doctor says", async () => {
    await open("Runtimes");
    const { items } = await read<{ items: RuntimeInfo[] }>(here, "/api/v1/runtimes");
    expect(items.map(({ name }) => name)).toEqual(["worktree", "gvisor"]);
    for (const { name, offered } of items) {
      const part = page.getByRole("region", { name, exact: true });
      await part.getByText(offered ? "offered" : "not offered here", { exact: true }).waitFor();
      await part.getByRole("button", { name: "Test" }).click();
      const found = part.getByRole("list", { name: `What the test of ${name} found` });
      await found.waitFor({ timeout: 60_000 });
      for (const check of ["git", "walls", "offered", "harnesses"]) {
        await found.locator(`[data-line="check ${check}"]`).waitFor();
      }
      const works = found.locator('[data-line="check git"]').getByText("Works", { exact: true });
      await works.waitFor();
    }
    await picture(page, "settings-runtimes");
  });

  it("S2 settings are written to a file without secrets, and taken in after a look", async () => {
    await open("Export and import");
    const { text } = await fileOf(page, () => page.getByRole("button", { name: "Export" }).click());
    const settings: SettingsDocument = JSON.parse(text);
    expect(settings.format).toBe("godel-settings/1");
    expect(text).not.toContain("sk-");
    const file = (budgets: SettingsDocument["budgets"]) => ({
      name: "settings.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ ...settings, budgets })),
    });
    const input = page.getByLabel(/A file of settings/);
    await input.setInputFiles(file(settings.budgets));
    await page.getByText("Nothing would change: all of it is so already.").waitFor();
    const cap = { scope: "tenant", period: "total", capMicros: 123_456_789, warnPercent: 70 };
    await input.setInputFiles(file([cap]));
    await page.getByText(/^capMicros: 123456789; .*warnPercent: 70$/).waitFor();
    const caps = async () =>
      (await read<{ items: Budget[] }>(here, "/api/v1/budgets")).items.map(
        ({ capMicros }) => capMicros,
      );
    expect(await caps()).not.toContain(123_456_789);
    await picture(page, "settings-import");
    await page.getByRole("button", { name: "Make 1 change" }).click();
    await page.getByText("1 change made").waitFor();
    expect(await caps()).toContain(123_456_789);
  });

  it("S1 a key of the keyboard is changed, works, and is reset", async () => {
    await open("Keyboard");
    await line("go.home").waitFor();
    await page
      .getByRole("button", { name: "Change the key of Home" })
      .or(line("go.home").getByRole("button", { name: /^Change/ }))
      .first()
      .click();
    await page.keyboard.press("g");
    await page.keyboard.press("x");
    await line("go.home").getByText("yours").waitFor();
    await picture(page, "settings-keyboard");
    await page.keyboard.press("g");
    await page.keyboard.press("x");
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.goBack();
    await line("go.home")
      .getByRole("button", { name: /^Reset/ })
      .click();
    await line("go.home").getByText("yours").waitFor({ state: "detached" });
  });

  it("S1 a theme is chosen, and the server says its version", async () => {
    await open("Appearance");
    await page.getByRole("button", { name: "Dark", exact: true }).click();
    await expect.poll(() => page.evaluate(() => document.documentElement.className)).toBe("dark");
    await picture(page, "settings-appearance");
    await page.getByRole("button", { name: "As the system" }).click();
    await open("About");
    await page
      .getByText(/^\d+\.\d+\.\d+/)
      .first()
      .waitFor();
    await picture(page, "settings-about");
    await open("Your session");
    await page.getByText("default").last().waitFor();
  });

  it("G14 who may not sees why, and nothing that fails", async () => {
    const response = await fetch(`${here.url}/api/v1/users`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": here.key },
      body: JSON.stringify({ name: "vic", role: "viewer" }),
    });
    const { data } = (await response.json()) as { data: Invitation };
    const { page: own } = await visitor(browser);
    await own.goto(`${here.url}${data.linkPath}`);
    await account(own).waitFor();
    await own.goto(`${here.url}/dashboard/settings/people`);
    await own
      .getByText(/^Your role viewer does not allow this/)
      .last()
      .waitFor();
    const invite = own.getByRole("button", { name: "Invite somebody" });
    await expect.poll(() => invite.getAttribute("aria-disabled")).toBe("true");
    await picture(own, "settings-refused");
    await own.context().close();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});

/** Reads until it is as expected. */
async function waitFor<T>(get: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const value = await get();
    if (isThere(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value).slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
