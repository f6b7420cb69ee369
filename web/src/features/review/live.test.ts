import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { makeEvent } from "../../../tests/fakeWire";
import { RuleRunner } from "../../realtime/rules";
import { diffKey, reviewKey } from "./queries";

afterEach(() => vi.useRealTimers());

it("R4 an agent that pushes makes an open review be read again, and no other", () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  const isOld = (key: readonly unknown[]) => client.getQueryState(key)?.isInvalidated;
  const mine = [reviewKey("app-1"), diffKey("app-1")];
  for (const key of [...mine, diffKey("app-2")]) client.setQueryData(key, {});
  const runner = new RuleRunner(client);
  runner.apply([{ ...makeEvent(1, "agent:commit"), metadata: { beadId: "app-1" } }]);
  expect(mine.map(isOld)).toEqual([true, true]);
  expect(isOld(diffKey("app-2"))).toBe(false);
  runner.stop();
});
