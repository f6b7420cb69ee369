// Checks of the OpenAI SDK: chat completions and Responses.

import assert from "node:assert/strict";

import OpenAI from "openai";

import {
  base, CALLS, CITY, has, model, PIXEL_BASE64, PIXEL_SEEN, prompt, refused, RESULTS, run, same,
  TITLE, TITLED, token, TOLD, USAGE, waits,
} from "./checks.js";

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: token, maxRetries: 0 });
const image = `data:image/png;base64,${PIXEL_BASE64}`;
const user = (content) => [{ role: "user", content }];
const chat = (content, further) => ({ model, messages: user(content), ...further });
const words = (text) => text.trim().split(/\s+/).length;

async function chatTools(streams) {
  const tools = Object.keys(RESULTS).map((name) => ({
    type: "function",
    function: { name, parameters: CITY },
  }));
  const messages = user(prompt(CALLS));
  const ask = async () => {
    const body = { model, messages, tools };
    const completion = streams
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    return completion.choices[0].message;
  };
  const first = await ask();
  same(first.tool_calls.map((call) => call.function.name), Object.keys(RESULTS));
  same(JSON.parse(first.tool_calls[0].function.arguments), { city: "Rome" });
  messages.push(first);
  for (const call of first.tool_calls) {
    messages.push({ role: "tool", tool_call_id: call.id, content: RESULTS[call.function.name] });
  }
  same((await ask()).content, TOLD);
}

/** A round with encrypted reasoning, which must come back as it was. */
async function responsesTools(streams) {
  const tools = Object.keys(RESULTS).map((name) => ({
    type: "function", name, parameters: CITY, strict: false,
  }));
  const input = user(prompt(CALLS));
  const ask = () => {
    const body = {
      model, input, tools, store: false, reasoning: { effort: "low" },
      include: ["reasoning.encrypted_content"],
    };
    return streams
      ? client.responses.stream(body).finalResponse()
      : client.responses.create(body);
  };
  const first = await ask();
  const calls = first.output.filter((item) => item.type === "function_call");
  same(calls.map((call) => call.name), Object.keys(RESULTS));
  assert.ok(first.output.find((item) => item.type === "reasoning")?.encrypted_content);
  for (const { parsed_arguments, ...item } of first.output) input.push(item);
  for (const { call_id, name } of calls) {
    input.push({ type: "function_call_output", call_id, output: RESULTS[name] });
  }
  same((await ask()).output_text, TOLD);
}

await run("openai-js", {
  async chat_text() {
    const answer = await client.chat.completions.create(chat(`hello ${USAGE}`));
    has(answer.choices[0].message.content, "You said: hello");
    same(answer.choices[0].finish_reason, "stop");
    same([answer.usage.prompt_tokens, answer.usage.completion_tokens], [160, 7]);
  },
  async chat_stream() {
    const stream = await client.chat.completions.create(
      chat(`[[words 40]] ${USAGE}`, { stream: true, stream_options: { include_usage: true } }),
    );
    let text = "";
    let usage;
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      text += chunk.choices[0]?.delta.content ?? "";
    }
    same(words(text), 40);
    same([usage.prompt_tokens, usage.completion_tokens], [160, 7]);
  },
  chat_tools: () => chatTools(false),
  chat_tools_stream: () => chatTools(true),
  async chat_structured() {
    const json_schema = { name: "title", schema: TITLE, strict: true };
    const answer = await client.chat.completions.create(
      chat("a title", { response_format: { type: "json_schema", json_schema } }),
    );
    same(JSON.parse(answer.choices[0].message.content), TITLED);
  },
  async chat_image() {
    const parts = [
      { type: "text", text: "what is it" },
      { type: "image_url", image_url: { url: image } },
    ];
    const answer = await client.chat.completions.create(chat(parts));
    has(answer.choices[0].message.content, PIXEL_SEEN);
  },
  async responses_text() {
    const answer = await client.responses.create({ model, input: `hello ${USAGE}` });
    has(answer.output_text, "You said: hello");
    same([answer.usage.input_tokens, answer.usage.output_tokens], [160, 7]);
  },
  async responses_stream() {
    const stream = client.responses.stream({ model, input: `[[words 40]] ${USAGE}` });
    let last = -1;
    let text = "";
    for await (const event of stream) {
      assert.ok(event.sequence_number > last, "sequence_number does not rise");
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    same(words(text), 40);
    same((await stream.finalResponse()).usage.input_tokens, 160);
  },
  responses_tools: () => responsesTools(false),
  responses_tools_stream: () => responsesTools(true),
  async responses_structured() {
    const format = { type: "json_schema", name: "title", schema: TITLE, strict: true };
    const answer = await client.responses.create({ model, input: "a title", text: { format } });
    same(JSON.parse(answer.output_text), TITLED);
  },
  async responses_image() {
    const parts = [
      { type: "input_text", text: "what is it" },
      { type: "input_image", image_url: image, detail: "auto" },
    ];
    has((await client.responses.create({ model, input: user(parts) })).output_text, PIXEL_SEEN);
  },
  async models() {
    const names = [];
    for await (const entry of client.models.list()) names.push(entry.id);
    assert.ok(names.includes(model), `${model} is not among ${names}`);
  },
  async refused_key() {
    const stranger = client.withOptions({ apiKey: "not-a-key" });
    await refused(() => stranger.chat.completions.create(chat("hi")), 401);
  },
  async rate_limit() {
    const body = chat(prompt("[[fault 429 retry-after=1 times=1]]"));
    const error = await refused(() => client.chat.completions.create(body), 429);
    same(error.headers.get("retry-after"), "1");
    const again = () => client.chat.completions.create(body, { maxRetries: 1 });
    has((await waits(again, 0.9)).choices[0].message.content, "You said");
  },
});
