import { get } from "node:http";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, constants as zlib } from "node:zlib";
import { describe, expect, it } from "vitest";
import { world } from "./browser";

interface Got {
  status: number | undefined;
  coding: string | undefined;
  vary: string | undefined;
  body: Buffer;
}

/** Asks for a file and takes the bytes as they are sent, which no browser shows. */
function sent(path: string, accept: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const url = `${world().url}${path}`;
    const asked = get(url, { headers: { "Accept-Encoding": accept } }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part);
      const { "content-encoding": coding, vary } = answer.headers;
      resolve({ status: answer.statusCode, coding, vary, body: Buffer.concat(parts) });
    });
    asked.on("error", reject);
  });
}

describe("the files of the pages", () => {
  it("come as the build has compressed them, to who takes that", async () => {
    const page = await sent("/dashboard/", "identity");
    const names = [...page.body.toString().matchAll(/"(\/dashboard\/assets\/[^"]+\.js)"/g)];
    expect(names.length).toBeGreaterThan(0);
    for (const [, name = ""] of names) {
      const plain = await sent(name, "identity");
      expect([plain.coding, plain.vary]).toEqual([undefined, "accept-encoding"]);
      if (plain.body.length < 1_024) continue;
      const br = await sent(name, "gzip, deflate, br, zstd");
      expect([br.coding, br.vary]).toEqual(["br", "accept-encoding"]);
      expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
      // As well as can be, which nobody does while a browser waits.
      const hint = { [zlib.BROTLI_PARAM_SIZE_HINT]: plain.body.length };
      expect(br.body.length).toBe(brotliCompressSync(plain.body, { params: hint }).length);
      const gzip = await sent(name, "gzip, br;q=0");
      expect(gzip.coding).toBe("gzip");
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      expect((await sent(`${name}.br`, "identity")).status).toBe(404);
    }
  });
});
