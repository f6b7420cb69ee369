import { renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { DEVELOPER } from "../../tests/fakeServer";
import { useNotAsked } from "./asked";
import { SessionProvider } from "./session";

it("G14 an approval is answered by those whom it asks, by name or role, or by everybody", () => {
  const { result } = renderHook(useNotAsked, {
    wrapper: ({ children }) => <SessionProvider value={DEVELOPER}>{children}</SessionProvider>,
  });
  const notAsked = result.current;
  for (const by of [undefined, [], ["user:ann"], ["bob", "ann"], ["role:developer"]]) {
    expect(notAsked(by), String(by)).toBeUndefined();
  }
  expect(notAsked(["user:bob", "role:admin"])).toBe(
    "This is not yours to answer: it asks bob or the role admin.",
  );
  expect(notAsked(["user:annabel"])).toBeDefined();
});
