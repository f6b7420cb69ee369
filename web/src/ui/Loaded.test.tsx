import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api/client";
import { Loaded } from "./Loaded";

const FAILED = new Error("the disk is full");

function show(data: string | undefined, error: Error | null, isFetching = false) {
  const query = { data, error, isFetching, refetch: (async () => {}) as never };
  render(
    <Loaded query={query} what="The agents" skeleton={<i>bones</i>}>
      {(text) => <b>{text}</b>}
    </Loaded>,
  );
}

describe("G10 data that are not the whole truth", () => {
  it("stay when they could not be read again, and say that they are old", () => {
    show("three agents", FAILED);
    expect(screen.getByText("three agents")).toBeDefined();
    expect(screen.getByText("Not up to date")).toBeDefined();
  });

  it("are not called old while they are being read", () => {
    show("three agents", FAILED, true);
    expect(screen.queryByText("Not up to date")).toBeNull();
  });

  it("that the reader may not see say so, and offer no other try", () => {
    show(
      undefined,
      new ApiError(403, { code: "forbidden", message: "your role does not allow it" }),
    );
    expect(screen.getByText("Not for your role")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Retry" })).toBeNull();
  });

  it("that failed otherwise can be tried again", () => {
    show(undefined, FAILED);
    expect(screen.getByRole("button", { name: "Retry" })).toBeDefined();
  });
});
