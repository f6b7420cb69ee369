import type { Browser, Page } from "playwright-core";
import type { Invitation } from "../src/api/types";
import { account, visitor, type World } from "./browser";

/** Somebody new with a role, signed in by an invitation, at a place below `/dashboard`. */
export async function somebody(
  browser: Browser,
  { url, key }: World,
  { name, role, place }: { name: string; role: string; place: string },
): Promise<Page> {
  const response = await fetch(`${url}/api/v1/users`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify({ name, role }),
  });
  const { data } = (await response.json()) as { data: Invitation };
  const { page } = await visitor(browser);
  await page.goto(`${url}${data.linkPath}`);
  await account(page).waitFor();
  await page.goto(`${url}/dashboard${place}`);
  return page;
}
