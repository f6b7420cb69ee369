import type { Session } from "./types";

/**
 * What proves to the server that a change comes from this page, and for whom it was given.
 *
 * It is kept in memory only: a reload asks `/auth/me` anyway.
 */
interface Proof {
  token: string | undefined;
  owner: string;
}

let proof: Proof | undefined;

/** Returns the header of a change; without a token the server says that it needs one. */
export function csrfHeader(): Record<string, string> {
  return proof?.token ? { "X-Godel-Csrf": proof.token } : {};
}

/** Takes the token out of who is logged in. */
export function keepCsrf(session: Session): void {
  proof = { token: session.csrfToken ?? undefined, owner: ownerOf(session) };
}

export function forgetCsrf(): void {
  proof = undefined;
}

/** Tells whether the page shows somebody else: another tab may have logged in meanwhile. */
export function isSomebodyElse(session: Session): boolean {
  return proof !== undefined && proof.owner !== ownerOf(session);
}

function ownerOf({ tenant, userId }: Session): string {
  return `${tenant.id} ${userId}`;
}
