import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api/client";
import { ConfirmHost, confirm } from "./confirm";
import { Toaster } from "./Toaster";
import { useChange } from "./useChange";

const KEY = ["word"];

function Page({ send, undo }: { send: () => Promise<string>; undo?: () => Promise<unknown> }) {
  const { data } = useQuery({ queryKey: KEY, queryFn: () => "old", initialData: "old" });
  const change = useChange<string, string>({
    what: () => "Change the word",
    send,
    expect: (cache, next) => cache.update<string>(KEY, () => next),
    ...(undo && { undo: () => undo() }),
  });
  return (
    <>
      <p>The word is {data}</p>
      <button type="button" onClick={() => change.mutate("new")}>
        Change
      </button>
      <Toaster />
    </>
  );
}

function show(page: React.ReactNode) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  render(<QueryClientProvider client={client}>{page}</QueryClientProvider>);
  return userEvent.setup();
}

describe("a change", () => {
  it("G5 shows at once, and goes back with the reason and a retry if it is refused", async () => {
    let refuse = true;
    let answer: () => void = () => {};
    const send = () =>
      new Promise<string>((resolve, reject) => {
        answer = () =>
          refuse
            ? reject(new ApiError(409, { code: "agent_state", message: "the agent has ended" }))
            : resolve("new");
      });
    const user = show(<Page send={send} />);
    await user.click(screen.getByRole("button", { name: "Change" }));
    expect(await screen.findByText("The word is new")).toBeTruthy();
    answer();
    expect(await screen.findByText("The word is old")).toBeTruthy();
    expect((await screen.findByRole("alert")).textContent).toContain("The agent has ended.");
    refuse = false;
    await user.click(screen.getByRole("button", { name: "Retry" }));
    answer();
    expect(await screen.findByText("The word is new")).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });

  it("G6 can be taken back from its message", async () => {
    let isBack = false;
    const undo = async () => {
      isBack = true;
    };
    const user = show(<Page send={async () => "new"} undo={undo} />);
    await user.click(screen.getByRole("button", { name: "Change" }));
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() => expect(isBack).toBe(true));
  });
});

describe("a question", () => {
  it("is answered by typing the name", async () => {
    const user = show(<ConfirmHost />);
    const answer = confirm({ title: "Delete?", body: "All of it.", word: "blue", act: "Delete" });
    const button = await screen.findByRole<HTMLButtonElement>("button", { name: "Delete" });
    expect(button.disabled).toBe(true);
    await user.type(screen.getByLabelText("Type blue to go on"), "blue");
    expect(button.disabled).toBe(false);
    await user.click(button);
    expect(await answer).toBe(true);
  });
});
