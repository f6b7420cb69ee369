import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, put } from "../../api/client";
import { logIn, logOut, whoAmI } from "../../api/session";
import type { LoginRequest, PasswordRequest, Session } from "../../api/types";

/** Who is here, and if nobody is, why. */
export interface Door {
  session: Session | null;
  /** A login link that the server did not accept. */
  refusal?: ApiError;
  /** The session was there before and is gone now. */
  ended?: boolean;
}

const SESSION_KEY = ["session"] as const;

let linkToken: string | undefined;

/** Keeps a token from a login link until the next look at the session spends it, once. */
export function offerLoginToken(token: string): void {
  linkToken = token;
}

/** The session: from a login link if there is one, else from the cookie. */
export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async ({ client }): Promise<Door> => {
    const token = linkToken;
    linkToken = undefined;
    if (token) return loginByLink(token);
    const before = client.getQueryData<Door>(SESSION_KEY);
    const session = await currentSession();
    return session || !before?.session ? { session } : { session, ended: true };
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (request: LoginRequest) => logIn(request),
    onSuccess: (session) => client.setQueryData<Door>(SESSION_KEY, { session }),
  });
}

export function useLogout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: logOut,
    onSuccess: () => client.setQueryData<Door>(SESSION_KEY, { session: null }),
  });
}

/** Sets the own password; the server ends all other logins of the account. */
export function useSetPassword() {
  return useMutation({
    mutationFn: (request: PasswordRequest) => put("/auth/password", request),
  });
}

/** Goes on with the session that was there before a login link failed. */
export function useKeepSession() {
  const client = useQueryClient();
  return (session: Session) => client.setQueryData<Door>(SESSION_KEY, { session });
}

/** Who acts, without the kind: `owner` for `user:owner`. */
export function actorName({ actor }: Session): string {
  return actor.slice(actor.indexOf(":") + 1);
}

async function loginByLink(token: string): Promise<Door> {
  try {
    return { session: await logIn({ token }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { session: await currentSession().catch(() => null), refusal: error };
  }
}

async function currentSession(): Promise<Session | null> {
  try {
    return await whoAmI();
  } catch (error) {
    if (error instanceof ApiError && error.isUnauthenticated) return null;
    throw error;
  }
}
