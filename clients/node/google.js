// Checks of the Google Gen AI SDK.

import assert from "node:assert/strict";

import { GoogleGenAI } from "@google/genai";

import {
  base, CALLS, CITY, has, model, PIXEL_BASE64, PIXEL_SEEN, prompt, refused, RESULTS, run, same,
  TITLE, TITLED, token, TOLD, USAGE,
} from "./checks.js";

const connected = (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base } });
const { models: client } = connected(token);
const ask = (contents, config) => ({ model, contents, config });

/** A round of parallel calls; the thought signature must come back as it was. */
async function toolRound(streams) {
  const contents = [{ role: "user", parts: [{ text: prompt(CALLS) }] }];
  const functionDeclarations = Object.keys(RESULTS).map((name) => ({
    name, parametersJsonSchema: CITY,
  }));
  const say = async () => {
    const body = ask(contents, { tools: [{ functionDeclarations }] });
    const parts = [];
    if (streams) {
      for await (const chunk of await client.generateContentStream(body)) {
        parts.push(...chunk.candidates[0].content.parts);
      }
    } else {
      parts.push(...(await client.generateContent(body)).candidates[0].content.parts);
    }
    return parts;
  };
  const first = await say();
  const calls = first.flatMap((part) => part.functionCall ?? []);
  same(calls.map((call) => call.name), Object.keys(RESULTS));
  same(calls[0].args, { city: "Rome" });
  assert.ok(first[0].thoughtSignature, "no thought signature came");
  contents.push({ role: "model", parts: first });
  const parts = calls.map(({ id, name }) => ({
    functionResponse: { id, name, response: { output: RESULTS[name] } },
  }));
  contents.push({ role: "user", parts });
  same((await say()).map((part) => part.text ?? "").join(""), TOLD);
}

await run("google-genai-js", {
  async text() {
    const answer = await client.generateContent(ask(`hello ${USAGE}`));
    has(answer.text, "You said: hello");
    const usage = answer.usageMetadata;
    same([usage.cachedContentTokenCount, usage.candidatesTokenCount], [40, 4]);
    same(usage.thoughtsTokenCount, 3);
  },
  async stream() {
    let text = "";
    for await (const chunk of await client.generateContentStream(ask("[[words 40]]"))) {
      text += chunk.text ?? "";
    }
    same(text.trim().split(/\s+/).length, 40);
  },
  tools: () => toolRound(false),
  tools_stream: () => toolRound(true),
  async thinking() {
    const config = { thinkingConfig: { includeThoughts: true } };
    const answer = await client.generateContent(ask("hello", config));
    assert.ok(answer.candidates[0].content.parts.some((part) => part.thought));
  },
  async structured() {
    const config = { responseMimeType: "application/json", responseJsonSchema: TITLE };
    same(JSON.parse((await client.generateContent(ask("a title", config))).text), TITLED);
  },
  async image() {
    const inlineData = { mimeType: "image/png", data: PIXEL_BASE64 };
    const parts = [{ inlineData }, { text: "what is it" }];
    has((await client.generateContent(ask([{ role: "user", parts }]))).text, PIXEL_SEEN);
  },
  async count_tokens() {
    const count = await client.countTokens({ model, contents: "hello" });
    assert.ok(count.totalTokens > 0, "no tokens were counted");
  },
  async models() {
    const names = [];
    for await (const entry of await client.list()) names.push(entry.name);
    assert.ok(names.includes(`models/${model}`), `${model} is not among ${names}`);
  },
  async refused_key() {
    const { models: stranger } = connected("not-a-key");
    await refused(() => stranger.generateContent(ask("hi")), 401);
  },
  async rate_limit() {
    const body = ask(prompt("[[fault 429 retry-after=1 times=1]]"));
    const error = await refused(() => client.generateContent(body), 429);
    has(error.message, '"retryDelay":"1s"');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    has((await client.generateContent(body)).text, "You said");
  },
});
