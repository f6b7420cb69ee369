import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { components } from "../src/api/schema.gen";
import { account, barriers, openBrowser, picture, signOut, visitor, type World } from "./browser";
import { OwnServer } from "./server";

type Schemas = components["schemas"];

const PASSWORD = "a long password for a test";

/** A server of its own: setting a password ends all other logins of the owner. */
describe("an account", () => {
  let server: OwnServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    server = await OwnServer.create();
    here = await server.start();
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  async function signIn(password: string): Promise<void> {
    await page.getByLabel("Name", { exact: true }).fill("owner");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  /** What a program does: it asks without any cookie. */
  async function ask<T>(path: string, body: object): Promise<{ status: number; data?: T }> {
    const response = await fetch(`${here.url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const { data } = (await response.json()) as { data?: T };
    return { status: response.status, ...(data && { data }) };
  }

  async function startProgram(name: string): Promise<Schemas["DeviceStart"]> {
    const { data } = await ask<Schemas["DeviceStart"]>("/auth/device", { name });
    if (!data) throw new Error("the program may not wait");
    return data;
  }

  const askForKey = ({ deviceCode }: Schemas["DeviceStart"]) =>
    ask<Schemas["DeviceAnswer"]>("/auth/device/token", { deviceCode });

  it("the menu says who I am and sets a password", async () => {
    await page.goto(here.loginUrl);
    await account(page).click();
    const menu = page.getByRole("region", { name: "Account" });
    await menu.getByText("admin", { exact: true }).waitFor();
    await picture(page, "account-menu");
    await menu.getByRole("button", { name: "Set password" }).click();
    const dialog = page.getByRole("dialog", { name: "Set password" });
    await dialog.getByLabel("New password", { exact: true }).fill("too short");
    await dialog.getByRole("button", { name: "Save" }).click();
    expect(await dialog.locator("input:invalid").count()).toBe(1);
    await dialog.getByLabel("New password", { exact: true }).fill(PASSWORD);
    await picture(page, "account-password");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Your password is set.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await account(page).evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it("a wrong password is refused, the right one is not", async () => {
    await signOut(page);
    await signIn("not the password");
    await page.getByRole("alert").getByText("Name or password are wrong.").waitFor();
    await picture(page, "password-refused");
    await signIn(PASSWORD);
    await account(page).waitFor();
    await page.reload();
    await account(page).waitFor();
  });

  it("a program is let in, and its key works", async () => {
    const program = await startProgram("e2e laptop");
    expect(await askForKey(program)).toMatchObject({ data: { status: "waiting" } });
    await page.goto(`${here.url}${program.verificationPath}?code=${program.userCode}`);
    const code = page.getByLabel("Code", { exact: true });
    await code.waitFor();
    expect(await code.inputValue()).toBe(program.userCode);
    expect(page.url()).toBe(`${here.url}/dashboard/device`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("e2e laptop", { exact: true }).waitFor();
    await picture(page, "device-question");
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Approved" }).waitFor();
    await picture(page, "device-approved");
    const { data } = await askForKey(program);
    expect(data?.status).toBe("approved");
    const me = await fetch(`${here.url}/auth/me`, { headers: { "X-API-Key": data?.key ?? "" } });
    expect(me.status).toBe(200);
  });

  it("an unknown code does not end the session, and a refused program gets nothing", async () => {
    await page.getByRole("button", { name: "Enter another code" }).click();
    await page.getByLabel("Code", { exact: true }).fill("ZZZZ-ZZZZ");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").getByText("No program waits with this code").waitFor();
    const program = await startProgram("e2e stranger");
    await page.getByLabel("Code", { exact: true }).fill(program.userCode.toLowerCase());
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByRole("heading", { name: "Refused" }).waitFor();
    expect(await askForKey(program)).toMatchObject({ status: 403 });
  });

  it("who is not logged in logs in first, and the code is still there", async () => {
    const program = await startProgram("e2e phone");
    await page.context().clearCookies();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${here.url}/dashboard/device?code=${program.userCode}`);
    await page.getByText("Sign in first.").waitFor();
    await picture(page, "device-login");
    await signIn(PASSWORD);
    const code = page.getByLabel("Code", { exact: true });
    await code.waitFor();
    expect(await code.inputValue()).toBe(program.userCode);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await picture(page, "device-narrow", true);
  });

  it("a tab whose login was replaced by a new one goes on by itself", async () => {
    const other = await page.context().newPage();
    await other.goto(`${here.url}/dashboard/`);
    await signOut(other);
    await other.getByLabel("Name", { exact: true }).fill("owner");
    await other.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await account(other).waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Approved" }).waitFor();
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
