import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../tests/fakeAgent";
import { fakeServer, ok, SESSION } from "../../../../tests/fakeServer";
import { makeEvent } from "../../../../tests/fakeWire";
import type { AgentLine, GodelEvent } from "../../../api/types";
import { newQueryClient } from "../../../queryClient";
import { SessionProvider } from "../../../roles/session";
import { Context } from "../detail/Context";
import { AgentToday, SpendWithToday } from "./AgentToday";
import { ContextGauge } from "./ContextGauge";
import { withNews } from "./queries";
import {
  contextIn,
  contextOf,
  fullnessOf,
  historyOf,
  MOST_STEPS,
  shortCount,
  tokensOf,
} from "./usage";

const usage = (input: number, more = {}) => ({ usage: { input, ...more } });
const line = (seq: number, type: string, payload: object) =>
  ({ seq, at: "2026-11-15T10:00:00Z", type, payload }) as AgentLine;
const said = (sequence: number, agentId: string, tokens: number): GodelEvent => ({
  ...makeEvent(sequence, "agent:context", { used: tokens, most: null }),
  metadata: { agentId },
});
const used = (sequence: number, agentId: string, input: number): GodelEvent => ({
  ...makeEvent(sequence, "agent:usage", usage(input)),
  metadata: { agentId },
});

describe("the context of an agent", () => {
  it("is all input of a request, from a cache or not", () => {
    const tokens = tokensOf(
      usage(10, { cacheRead: 200, cacheWrite5m: 3, cacheWrite1h: 4, output: 50, reasoning: 20 }),
    );
    expect(tokens).toEqual({ fresh: 10, cached: 200, written: 7, output: 50 });
    expect(tokens && contextOf(tokens)).toBe(217);
  });

  it("what tells no tokens is none", () => {
    for (const payload of [undefined, {}, { usage: null }, usage(0), { usage: { input: "9" } }]) {
      expect(tokensOf(payload)).toBeUndefined();
    }
  });

  it("keeps the newest requests of a log, and when it was made shorter", () => {
    const lines = Array.from({ length: 60 }, (_, at) => line(at + 1, "agent:usage", usage(at + 1)));
    const { steps, compactions } = historyOf([
      ...lines,
      line(61, "agent:compacted", { summary: "All of it" }),
      line(62, "agent:text", { text: "no" }),
    ]);
    expect(steps).toHaveLength(MOST_STEPS);
    expect(steps[0]?.tokens.fresh).toBe(11);
    expect(compactions.map(({ summary }) => summary)).toEqual(["All of it"]);
  });

  it("the newest event of an agent counts", () => {
    const known = withNews(new Map(), [
      used(1, "a1", 10),
      used(2, "a2", 20),
      said(3, "a2", 5),
      used(4, "a1", 30),
      used(5, "a2", 900),
      said(6, "a2", 0),
    ]);
    const of = (harness: string, id: string) => contextIn({ harness }, known.get(id) ?? {});
    // What claude used is of a whole turn; what it had in mind it says beside that.
    expect([of("pi", "a1"), of("claude", "a2"), of("codex", "a1")]).toEqual([
      { tokens: 30 },
      { tokens: 5 },
      undefined,
    ]);
    expect([of("claude", "a1"), of("pi", "a3")]).toEqual([undefined, undefined]);
  });

  it("large numbers are short", () => {
    expect([950, 1_000, 12_345, 999_949, 999_950, 1_250_000].map(shortCount)).toEqual([
      "950",
      "1k",
      "12.3k",
      "999.9k",
      "1M",
      "1.3M",
    ]);
  });

  it("is full when it is, and warns before; without a size there is no part of it", () => {
    const told = (context: number, most?: number | null) => {
      const full = fullnessOf(context, most);
      return full && [full.percent, full.warning];
    };
    expect(told(12_345, 200_000)).toEqual([6, undefined]);
    expect(told(159_999, 200_000)).toEqual([79, undefined]);
    expect(told(160_000, 200_000)).toEqual([80, "nearly full"]);
    expect(told(199_999, 200_000)).toEqual([99, "nearly full"]);
    expect(told(200_000, 200_000)).toEqual([100, "full"]);
    expect(told(300_000, 200_000)).toEqual([150, "full"]);
    expect(fullnessOf(1, 200_000)?.text).toBe("<1%");
    expect(fullnessOf(0, 200_000)?.text).toBe("0%");
    for (const most of [undefined, null, 0]) expect(told(1, most)).toBeUndefined();
  });

  it("A2 the gauge tells percent, warns in words, and says why there is none", () => {
    const of = (contextTokens: number | null, context = 170_000, more = {}) => (
      <ContextGauge agent={fakeAgent({ contextTokens })} context={{ tokens: context, ...more }} />
    );
    const { rerender } = render(of(1_000_000));
    const meter = () => screen.queryByRole("meter", { name: "Context" });
    expect(meter()?.getAttribute("aria-valuetext")).toBe("17% of 1M tokens");
    screen.getByTitle(/^Its last request had 170,000 tokens .* claude-opus-4-8 takes 1,000,000\.$/);
    expect(screen.queryByText("nearly full")).toBeNull();
    rerender(of(200_000));
    expect(meter()?.getAttribute("aria-valuetext")).toBe("85% of 200k tokens, nearly full");
    screen.getByText("nearly full");
    rerender(of(200_000, 200_000));
    screen.getByText("full");
    rerender(of(null));
    expect(meter()).toBeNull();
    // What no list knows the agent may know itself; the list of the server comes first.
    rerender(of(null, 170_000, { most: 850_000 }));
    expect(meter()?.getAttribute("aria-valuetext")).toBe("20% of 850k tokens");
    rerender(of(1_000_000, 170_000, { most: 850_000 }));
    expect(meter()?.getAttribute("aria-valuetext")).toBe("17% of 1M tokens");
    rerender(of(null));
    screen.getByTitle(/How much claude-opus-4-8 takes is not known: the list of models does not/);
  });

  const show = (node: React.ReactNode) =>
    render(
      <QueryClientProvider client={newQueryClient()}>
        <SessionProvider value={SESSION}>{node}</SessionProvider>
      </QueryClientProvider>,
    );

  it("A2 a card tells the context and the cost of today; what is not known is not there", async () => {
    const day = new Date().toISOString().slice(0, 10);
    const filter = encodeURIComponent('{"type":["agent:usage","agent:context"]}');
    const calls = fakeServer({
      [`GET /api/v1/events?limit=100&filter=${filter}`]: () =>
        ok({
          items: [
            used(9, "a1", 12_345),
            said(8, "a2", 30_400),
            used(7, "a2", 500),
            used(6, "a1", 1),
            used(5, "a5", 700),
          ],
          pagination: { hasMore: false },
        }),
      [`GET /proxy/v1/usage?from=${day}&to=${day}&groupBy=agent`]: () =>
        ok({ rows: [{ group: { agent: "a1" }, costMicros: 340_000 }] }),
      "GET /api/v1/agents/a3/logs?before=9007199254740991&limit=60": () =>
        ok({ items: [line(1, "agent:usage", usage(7_500)), line(2, "agent:text", {})], next: 3 }),
    });
    show(
      <>
        <AgentToday agent={fakeAgent()} />
        <AgentToday agent={fakeAgent({ id: "a2", harness: "claude" })} />
        <AgentToday agent={fakeAgent({ id: "a3" })} />
        <AgentToday agent={fakeAgent({ id: "a4", status: "completed" })} />
        <AgentToday agent={fakeAgent({ id: "a5", harness: "codex" })} />
      </>,
    );
    await screen.findByText("Context 12.3k tokens");
    // The newest events say nothing of it, so its own log is asked.
    await screen.findByText("Context 7.5k tokens");
    await screen.findByText("$0.3400 today");
    screen.getByText("Context 30.4k tokens");
    expect(screen.getAllByText("$0.00 today")).toHaveLength(4);
    // What codex tells is of a whole turn, and of who has ended nobody asks.
    expect(screen.getAllByText(/tokens$/)).toHaveLength(3);
    expect(calls).toHaveLength(3);
  });

  it("A2 what was spent today is told apart in the bar of the budget", async () => {
    const day = new Date().toISOString().slice(0, 10);
    fakeServer({
      [`GET /proxy/v1/usage?from=${day}&to=${day}&groupBy=agent`]: () =>
        ok({ rows: [{ group: { agent: "a1" }, costMicros: 1_000_000 }] }),
    });
    show(<SpendWithToday agent={fakeAgent({ spentMicros: 3_000_000 })} />);
    const bar = screen.getByRole("meter", { name: "Budget" });
    expect(bar.getAttribute("aria-valuetext")).toBe("$3.00 of $5.00");
    await expect
      .poll(() => bar.getAttribute("aria-valuetext"))
      .toBe("$3.00 of $5.00, $1.00 of it today");
    const widths = [...bar.querySelectorAll("span")].map(({ style }) => style.width);
    expect(widths.map((width) => Math.round(Number.parseFloat(width)))).toEqual([40, 20]);
  });

  it("A5 the tab tells the last request by kind, how it grew, and when it was made shorter", async () => {
    fakeServer({
      "GET /api/v1/agents/a1/logs?before=9007199254740991&limit=500": () =>
        ok({
          items: [
            line(1, "agent:usage", usage(90_000)),
            line(2, "agent:compacted", { summary: "<b>All</b> of it" }),
            line(3, "agent:usage", usage(1_000, { cacheRead: 3_000, output: 20 })),
          ],
          next: 3,
        }),
    });
    const { container } = show(<Context agent={fakeAgent()} />);
    await screen.findByText(/of context in its last request/);
    const kinds = [...container.querySelectorAll("[data-kind]")].map((one) => one.textContent);
    expect(kinds).toEqual(["From a cache3,000", "Written to a cache0", "Fresh1,000", "Output20"]);
    screen.getByRole("img", { name: /^Tokens of the last 2 requests: from 90,000 to 4,000/ });
    expect(container.querySelectorAll("[data-step]")).toHaveLength(2);
    expect(container.querySelectorAll("line")).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "What stands for it" }));
    screen.getByText("<b>All</b> of it");
    screen.getByText(/^How much claude-opus-4-8 takes is not known/);
  });

  it("A5 the tab tells how full the model is", async () => {
    fakeServer({
      "GET /api/v1/agents/a1/logs?before=9007199254740991&limit=500": () =>
        ok({ items: [line(1, "agent:usage", usage(190_000))], next: 1 }),
    });
    show(<Context agent={fakeAgent({ contextTokens: 200_000 })} />);
    const meter = await screen.findByRole("meter", { name: "Context" });
    expect(meter.getAttribute("aria-valuenow")).toBe("95");
    screen.getByText(/^95% of the 200,000 tokens that claude-opus-4-8 takes/);
    screen.getByText(": nearly full");
  });

  it("A5 the tab tells what claude has in mind apart from what its turn used", async () => {
    fakeServer({
      "GET /api/v1/agents/a1/logs?before=9007199254740991&limit=500": () =>
        ok({
          items: [
            line(1, "agent:context", { used: 91_012, most: null }),
            line(2, "agent:usage", usage(182_017, { output: 20 })),
          ],
          next: 2,
        }),
    });
    show(<Context agent={fakeAgent({ harness: "claude", contextTokens: 200_000 })} />);
    await screen.findByText("91,012");
    screen.getByText(/^45% of the 200,000 tokens/);
    screen.getByText(/tokens of input in its last turn/);
    expect(screen.queryByText(/tells only what a whole turn used/)).toBeNull();
  });

  it("A5 the tab says so when an agent tells only whole turns", async () => {
    fakeServer({
      "GET /api/v1/agents/a1/logs?before=9007199254740991&limit=500": () =>
        ok({ items: [line(1, "agent:usage", usage(4_000, { output: 20 }))], next: 1 }),
    });
    show(<Context agent={fakeAgent({ harness: "codex" })} />);
    await screen.findByText(/of input in its last turn/);
    screen.getByText(/codex tells only what a whole turn used/);
    screen.getByRole("img", { name: /^Tokens of the last 1 turn: from 4,000 to 4,000/ });
  });
});
