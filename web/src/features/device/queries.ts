import { useMutation } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { DeviceDecision } from "../../api/types";

/** Tells which program waits with a code; with `approve` it also answers the program. */
export function useDeviceDecision() {
  return useMutation({
    mutationFn: (decision: DeviceDecision) => post("/auth/device/decision", decision),
  });
}
