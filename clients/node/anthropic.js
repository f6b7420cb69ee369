// Checks of the Anthropic SDK.

import assert from "node:assert/strict";

import Anthropic from "@anthropic-ai/sdk";

import {
  base, CALLS, CITY, has, model, PIXEL_BASE64, PIXEL_SEEN, prompt, refused, RESULTS, run, same,
  TITLE, TITLED, token, TOLD, USAGE, waits,
} from "./checks.js";

const client = new Anthropic({ baseURL: base, apiKey: token, maxRetries: 0 });
const user = (content) => [{ role: "user", content }];
const ask = (content, further) => ({
  model, max_tokens: 2000, messages: user(content), ...further,
});

function textOf(message) {
  const texts = message.content.filter((block) => block.type === "text");
  return texts.map((block) => block.text).join("");
}

/** A round of parallel calls; with thinking, the signature must come back as it was. */
async function toolRound(streams, thinks) {
  const messages = user(prompt(CALLS));
  const tools = Object.keys(RESULTS).map((name) => ({ name, input_schema: CITY }));
  const thinking = thinks ? { type: "enabled", budget_tokens: 1024 } : undefined;
  const say = () => {
    const body = { model, max_tokens: 2000, messages, tools, thinking };
    return streams ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const first = await say();
  same(first.stop_reason, "tool_use");
  const calls = first.content.filter((block) => block.type === "tool_use");
  same(calls.map((call) => call.name), Object.keys(RESULTS));
  same(calls[0].input, { city: "Rome" });
  if (thinks) assert.ok(first.content[0].signature, "no signed thinking came");
  messages.push({ role: "assistant", content: first.content });
  const results = calls.map((call) => ({
    type: "tool_result", tool_use_id: call.id, content: RESULTS[call.name],
  }));
  messages.push({ role: "user", content: results });
  same(textOf(await say()), TOLD);
}

await run("anthropic-js", {
  async text() {
    const answer = await client.messages.create(ask(`hello ${USAGE}`));
    has(textOf(answer), "You said: hello");
    const { usage } = answer;
    same([usage.input_tokens, usage.output_tokens], [100, 7]);
    same([usage.cache_read_input_tokens, usage.cache_creation_input_tokens], [40, 20]);
  },
  async stream() {
    const stream = client.messages.stream(ask(`[[words 40]] ${USAGE}`));
    let text = "";
    stream.on("text", (piece) => {
      text += piece;
    });
    const final = await stream.finalMessage();
    same(text.trim().split(/\s+/).length, 40);
    same([final.usage.input_tokens, final.usage.output_tokens], [100, 7]);
  },
  tools: () => toolRound(false, false),
  tools_stream: () => toolRound(true, false),
  thinking_tools: () => toolRound(false, true),
  thinking_tools_stream: () => toolRound(true, true),
  async structured() {
    const format = { type: "json_schema", schema: TITLE };
    const answer = await client.messages.create(ask("a title", { output_config: { format } }));
    same(JSON.parse(textOf(answer)), TITLED);
  },
  async image() {
    const source = { type: "base64", media_type: "image/png", data: PIXEL_BASE64 };
    const parts = [{ type: "image", source }, { type: "text", text: "what is it" }];
    has(textOf(await client.messages.create(ask(parts))), PIXEL_SEEN);
  },
  async count_tokens() {
    const count = await client.messages.countTokens({ model, messages: user("hello") });
    assert.ok(count.input_tokens > 0, "no tokens were counted");
  },
  async models() {
    const names = [];
    for await (const entry of client.models.list()) names.push(entry.id);
    assert.ok(names.includes(model), `${model} is not among ${names}`);
  },
  async refused_key() {
    const stranger = client.withOptions({ apiKey: "not-a-key" });
    await refused(() => stranger.messages.create(ask("hi")), 401);
  },
  async rate_limit() {
    const body = ask(prompt("[[fault 429 retry-after=1 times=1]]"));
    const error = await refused(() => client.messages.create(body), 429);
    same(error.headers.get("retry-after"), "1");
    const again = () => client.messages.create(body, { maxRetries: 1 });
    has(textOf(await waits(again, 0.9)), "You said");
  },
});
