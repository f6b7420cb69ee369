import { serverNow } from "../../api/clock";
import type { Bead } from "../../api/types";

/**
 * What proves the claims that were made on this page. It is shown once and kept for as long as the page is open: who
 * claimed a bead here can move it and give it back here.
 */
const tokens = new Map<string, string>();

/** Keeps what proves a claim. */
export function keepClaim(bead: Pick<Bead, "id">, token: string): void {
  tokens.set(bead.id, token);
}

/** Forgets a claim that is over. */
export function forgetClaim(bead: Pick<Bead, "id">): void {
  tokens.delete(bead.id);
}

/** Whether somebody holds a bead at this moment. */
export function isHeld({ lease }: Pick<Bead, "lease">): boolean {
  return lease ? Date.parse(lease.until) > serverNow() : false;
}

/** What to send along with a change of a bead that was claimed here; nothing if nobody holds it. */
export function proofOf(bead: Pick<Bead, "id" | "lease">): { token?: string } {
  const token = tokens.get(bead.id);
  return token !== undefined && isHeld(bead) ? { token } : {};
}
