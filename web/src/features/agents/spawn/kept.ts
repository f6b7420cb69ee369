import { useStored } from "../../../ui/useStored";
import type { SpawnForm } from "./form";

/** What stays the same from one agent to the next. */
export const KEPT = ["role", "harness", "model", "runtime", "sandbox", "budget"] as const;

/** What this browser fills in for the next agent. */
export const useKept = () => useStored<Partial<SpawnForm>>("spawn", {});
