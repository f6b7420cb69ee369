import { describe, expect, it, vi } from "vitest";
import { takeLoginToken } from "./loginLink";

function page(hash: string) {
  const replaceState = vi.fn();
  return {
    location: { hash, pathname: "/dashboard/", search: "?events=agent%3A*" },
    history: { replaceState },
  };
}

describe("the login link", () => {
  it("gives the token and takes it off the address bar", () => {
    const link = page("#token=abc.DEF-123_x%2F");
    expect(takeLoginToken(link)).toBe("abc.DEF-123_x/");
    expect(link.history.replaceState).toHaveBeenCalledWith(
      null,
      "",
      "/dashboard/?events=agent%3A*",
    );
  });

  it("leaves other fragments alone", () => {
    const link = page("#events-title");
    expect(takeLoginToken(link)).toBeUndefined();
    expect(link.history.replaceState).not.toHaveBeenCalled();
  });

  it("removes an empty token without using it", () => {
    const link = page("#token=");
    expect(takeLoginToken(link)).toBeUndefined();
    expect(link.history.replaceState).toHaveBeenCalled();
  });
});
