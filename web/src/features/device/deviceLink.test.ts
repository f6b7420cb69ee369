import { describe, expect, it, vi } from "vitest";
import { isDevicePath, takeDeviceCode } from "./deviceLink";

function page(search: string, pathname = "/dashboard/device") {
  return {
    location: { hash: "#x", pathname, search },
    history: { replaceState: vi.fn() },
  };
}

describe("the device link", () => {
  it("gives the code and takes it off the address bar, and nothing else", () => {
    const link = page("?code=BCDF-GHJK&lang=en");
    expect(takeDeviceCode(link)).toBe("BCDF-GHJK");
    expect(link.history.replaceState).toHaveBeenCalledWith(null, "", "/dashboard/device?lang=en#x");
  });

  it("removes an empty code without using it", () => {
    const link = page("?code=");
    expect(takeDeviceCode(link)).toBeUndefined();
    expect(link.history.replaceState).toHaveBeenCalledWith(null, "", "/dashboard/device#x");
  });

  it.each([page(""), page("?code=BCDF-GHJK", "/dashboard/")])(
    "leaves other addresses alone",
    (link) => {
      expect(takeDeviceCode(link)).toBeUndefined();
      expect(link.history.replaceState).not.toHaveBeenCalled();
    },
  );

  it("knows its page", () => {
    expect(isDevicePath("/dashboard/device")).toBe(true);
    expect(isDevicePath("/dashboard/device/")).toBe(true);
    expect(isDevicePath("/dashboard/devices")).toBe(false);
    expect(isDevicePath("/dashboard/")).toBe(false);
  });
});
