import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, remove } from "../../api/client";
import { serverTimestamp } from "../../api/clock";
import { type Listing, list } from "../../api/list";
import type { Key, Secret, User } from "../../api/types";
import { useChange } from "../../change/useChange";
import { onLive } from "../../realtime/rules";
import { plural } from "../../ui/format";
import { usersQuery } from "../costs/queries";

/** So many acts are enough for a page; a narrower filter finds the rest. */
const MOST_ACTS = 500;

/** No event tells of files on the server or of what others do, so whoever looks reads it again. */
export const ASKED_ANEW = { staleTime: 0 } as const;

export const settingsQueries = {
  keys: queryOptions({ queryKey: ["keys"], queryFn: () => list("/api/v1/keys") }),
  secrets: queryOptions({
    queryKey: ["secrets"],
    queryFn: () => get("/api/v1/secrets"),
  }),
  providers: queryOptions({
    queryKey: ["providers"],
    queryFn: () => get("/proxy/v1/providers"),
  }),
  routing: queryOptions({
    queryKey: ["routing"],
    queryFn: () => get("/proxy/v1/routing"),
    ...ASKED_ANEW,
  }),
  runtimes: queryOptions({
    queryKey: ["runtimes"],
    queryFn: () => get("/api/v1/runtimes"),
    ...ASKED_ANEW,
  }),
  audit: (filter: { action?: string; result?: string; since?: string; until?: string }) =>
    queryOptions({
      queryKey: ["audit", filter],
      queryFn: () => list("/api/v1/audit", { filter, most: MOST_ACTS }),
      ...ASKED_ANEW,
    }),
  verdict: queryOptions({
    queryKey: ["audit-verdict"],
    queryFn: () => get("/api/v1/audit/verify"),
    enabled: false,
  }),
};

/** The server says that it takes half a minute at most. */
const CHECKING_MS = 40_000;

/** Does on the server what `godel doctor` does: tries whether agents can work in a runtime right now. */
export function testRuntime(name: string) {
  return post(`/api/v1/runtimes/${encodeURIComponent(name)}/test`, undefined, CHECKING_MS);
}

onLive({ on: "key:*", invalidate: () => [settingsQueries.keys.queryKey] });
onLive({ on: "secret:*", invalidate: () => [settingsQueries.secrets.queryKey] });
onLive({ on: "provider:*", invalidate: () => [settingsQueries.providers.queryKey] });

const userPath = (id: string) => `/api/v1/users/${encodeURIComponent(id)}` as const;

function expectUser(id: string, change: Partial<User>) {
  return (listing: Listing<User>): Listing<User> => ({
    ...listing,
    items: listing.items.map((user) => (user.id === id ? { ...user, ...change } : user)),
  });
}

/** Gives somebody another role, at once; the old one comes back on undo. */
export function useSetRole() {
  return useChange<{ user: User; role: string }, User>({
    what: ({ user, role }) => `Make ${user.name} ${role}`,
    send: ({ user, role }) => patch(userPath(user.id), { role }),
    expect: (cache, { user, role }) =>
      cache.update(usersQuery.queryKey, expectUser(user.id, { role })),
    settle: () => [usersQuery.queryKey],
    done: ({ user, role }) => `${user.name} is ${role} now`,
    undo: ({ user }) => patch(userPath(user.id), { role: user.role }),
  });
}

/** In which projects somebody works from now on; none stands for all, also those to come. */
export interface Workplace {
  user: User;
  projects: readonly string[];
}

/** Says in which projects somebody works, at once; those before come back on undo. */
export function useSetProjects() {
  return useChange<Workplace, User>({
    what: ({ user }) => `Choose the projects of ${user.name}`,
    send: ({ user, projects }) => patch(userPath(user.id), { projects: [...projects] }),
    expect: (cache, { user, projects }) =>
      cache.update(usersQuery.queryKey, expectUser(user.id, { projects: [...projects] })),
    settle: () => [usersQuery.queryKey],
    done: ({ user, projects }) =>
      `${user.name} works in ${projects.length === 0 ? "all projects" : plural(projects.length, "project")} now`,
    undo: ({ user }) => patch(userPath(user.id), { projects: user.projects }),
  });
}

/** Closes or opens an account. */
export function useDisableUser() {
  return useChange<{ user: User; disabled: boolean }, User>({
    what: ({ user, disabled }) => `${disabled ? "Disable" : "Enable"} ${user.name}`,
    send: ({ user, disabled }) => patch(userPath(user.id), { disabled }),
    expect: (cache, { user, disabled }) =>
      cache.update(
        usersQuery.queryKey,
        expectUser(user.id, { status: disabled ? "disabled" : "active" }),
      ),
    settle: () => [usersQuery.queryKey],
    done: ({ user, disabled }) => `${user.name} is ${disabled ? "disabled" : "enabled"} now`,
  });
}

/** Erases somebody for good. */
export function useEraseUser() {
  return useChange<User, void>({
    what: (user) => `Erase ${user.name}`,
    send: (user) => remove(userPath(user.id)),
    expect: (cache, user) =>
      cache.update<Listing<User>>(usersQuery.queryKey, (listing) => ({
        ...listing,
        items: listing.items.filter(({ id }) => id !== user.id),
      })),
    settle: () => [usersQuery.queryKey],
    done: (user) => `${user.name} is erased`,
  });
}

/** Ends a key for good. */
export function useRevokeKey() {
  return useChange<Key, void>({
    what: (key) => `Revoke ${key.name}`,
    send: (key) => remove(`/api/v1/keys/${encodeURIComponent(key.id)}`),
    expect: (cache, key) =>
      cache.update<Listing<Key>>(settingsQueries.keys.queryKey, (listing) => ({
        ...listing,
        items: listing.items.map((one) =>
          one.id === key.id ? { ...one, revokedAt: serverTimestamp() } : one,
        ),
      })),
    settle: () => [settingsQueries.keys.queryKey],
    done: (key) => `${key.name} works no more`,
  });
}

/** Forgets a secret for good. */
export function useRemoveSecret() {
  return useChange<Secret, void>({
    what: (secret) => `Remove ${secret.name}`,
    send: (secret) => remove(`/api/v1/secrets/${encodeURIComponent(secret.name)}`),
    expect: (cache, secret) =>
      cache.update<{ items: Secret[] }>(settingsQueries.secrets.queryKey, ({ items }) => ({
        items: items.filter(({ name }) => name !== secret.name),
      })),
    settle: () => [settingsQueries.secrets.queryKey],
    done: (secret) => `${secret.name} is removed`,
  });
}
