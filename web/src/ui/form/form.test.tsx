import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useForm, useLeaveGuard } from "./form";

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
);

/** A form that is opened, as often as somebody comes back to it. */
function opened(draft: string | undefined, initial = { name: "", role: "viewer" }) {
  const done = vi.fn();
  const send = vi.fn(async (values: typeof initial) => values);
  const { result, unmount } = renderHook(() => useForm({ initial, draft, send, done }), {
    wrapper,
  });
  return { form: result, leave: unmount, done };
}

beforeEach(() => sessionStorage.clear());

describe("the draft of a form", () => {
  it("is there again when somebody comes back", () => {
    const { form, leave } = opened("invite");
    act(() => form.current.set("name", "Ann"));
    leave();
    const { form: again } = opened("invite");
    expect(again.current.values).toEqual({ name: "Ann", role: "viewer" });
    expect(again.current.isDirty).toBe(true);
  });

  it("keeps what was changed only, so that the rest may be newer", () => {
    const { form, leave } = opened("project.1");
    act(() => form.current.set("name", "Ann"));
    leave();
    const { form: again } = opened("project.1", { name: "", role: "admin" });
    expect(again.current.values).toEqual({ name: "Ann", role: "admin" });
  });

  it("keeps all that one click sets", () => {
    const { form, leave } = opened("budget");
    act(() => {
      form.current.set("name", "Ann");
      form.current.set("role", "admin");
    });
    leave();
    expect(opened("budget").form.current.values).toEqual({ name: "Ann", role: "admin" });
  });

  it("goes when it was sent, and when it was discarded", async () => {
    const { form, leave, done } = opened("key");
    act(() => form.current.set("name", "Ann"));
    act(() => void form.current.submit());
    await waitFor(() => expect(done).toHaveBeenCalled());
    leave();
    const { form: next, leave: leaveAgain } = opened("key");
    expect(next.current.isDirty).toBe(false);
    act(() => next.current.set("name", "Bob"));
    act(() => next.current.discard());
    leaveAgain();
    expect(opened("key").form.current.isDirty).toBe(false);
  });

  it("is not written where none is asked for: a secret stays in its field", () => {
    const { form } = opened(undefined);
    act(() => form.current.set("name", "sk-secret"));
    expect(JSON.stringify({ ...sessionStorage })).not.toContain("sk-secret");
  });

  it("that makes no sense is none", () => {
    sessionStorage.setItem("godel.draft.form.odd", '{"name":7,"gone":"x"}');
    expect(opened("odd").form.current.values).toEqual({ name: "", role: "viewer" });
    sessionStorage.setItem("godel.draft.form.odd", "{");
    expect(opened("odd").form.current.isDirty).toBe(false);
  });
});

it("S2 asks before a page with unsaved changes is left, and only then", () => {
  function Page({ isDirty }: { isDirty: boolean }) {
    useLeaveGuard(isDirty);
    return null;
  }
  const leave = () => {
    const event = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const { rerender, unmount } = render(<Page isDirty={false} />);
  expect(leave()).toBe(false);
  rerender(<Page isDirty />);
  expect(leave()).toBe(true);
  rerender(<Page isDirty={false} />);
  expect(leave()).toBe(false);
  rerender(<Page isDirty />);
  unmount();
  expect(leave()).toBe(false);
});
