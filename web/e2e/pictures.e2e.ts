import { crc32, deflateSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badge, openBrowser, picture, signIn, visitor, type World } from "./browser";
import { ReviewServer } from "./reviewSeed";

/** A grey square as a PNG file. */
function square(side: number, grey: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 8;
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(side, grey)]);
  const lines = deflateSync(Buffer.concat(Array.from({ length: side }, () => line)));
  const magic = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const parts = [chunk("IHDR", head), chunk("IDAT", lines), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([magic, ...parts]);
}

describe("pictures in a review", () => {
  let own: ReviewServer;
  let here: World;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let bead: string;

  beforeAll(async () => {
    ({ own, here } = await ReviewServer.start(`[project]\nreview = "person"\n`, {
      "logo.png": square(48, 30),
      "gone.png": square(24, 60),
    }));
    bead = await own.work("Paint the logo", {
      files: {
        "logo.png": square(96, 200),
        "new.png": square(32, 90),
        "gone.png": undefined,
        "lies.png": Buffer.from([0, 1, 2, 0]),
      },
    });
    browser = await openBrowser();
    ({ page, problems } = await visitor(browser, { viewport: { width: 1440, height: 900 } }));
    await signIn(page, here, `/review/${bead}`);
    await badge(page, "Live").waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await own?.remove();
  });

  const file = (path: string) => page.locator(`[data-file="${path}"]`);
  const captions = (path: string) => file(path).locator("figcaption").allInnerTexts();

  it("R2 a picture is shown before and after", async () => {
    const shown = file("logo.png").locator("img");
    await expect
      .poll(() =>
        shown.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth)),
      )
      .toEqual([48, 96]);
    await expect
      .poll(() => captions("logo.png"))
      .toEqual([
        expect.stringMatching(/^Before, 48 × 48, \d+ B$/),
        expect.stringMatching(/^After, 96 × 96, \d+ B$/),
      ]);
    await picture(page, "review-picture");
  });

  it("R2 what is new or gone has one side, and what is no picture says so", async () => {
    await expect
      .poll(() => captions("new.png"))
      .toEqual([expect.stringMatching(/^After, 32 × 32/)]);
    await expect.poll(() => captions("gone.png")).toEqual([expect.stringMatching(/^Before, 24/)]);
    await file("lies.png")
      .getByText(/^This one cannot be shown/)
      .waitFor();
    expect(await file("lies.png").locator("img").count()).toBe(0);
  });

  it("R2 a picture that was pushed again is the new one", async () => {
    await own.push(bead, { files: { "logo.png": square(64, 10) } });
    await expect.poll(async () => (await captions("logo.png"))[1]).toMatch(/^After, 64 × 64/);
  });

  it("nothing on the way broke a script or the content policy", () => {
    expect(problems).toEqual([]);
  });
});
