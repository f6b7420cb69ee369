import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import { serverNow } from "../../api/clock";
import type { Key, KeyMade } from "../../api/types";
import { confirm } from "../../change/confirm";
import { tellRefusal } from "../../change/useChange";
import { Guarded } from "../../roles/Guarded";
import { useCan, useSession } from "../../roles/session";
import { useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { useTitles } from "../costs/useSpend";
import { KeyDrawer } from "./KeyDrawer";
import { Once } from "./Once";
import { settingsQueries, useRevokeKey } from "./queries";
import { Line, Lines, Section } from "./Section";

/** Keys for programs. */
export function KeysSection() {
  const query = useQuery(settingsQueries.keys);
  const client = useQueryClient();
  const [open, setOpen] = useParam("new");
  const [made, setMade] = useState<KeyMade>();
  const show = (key: KeyMade) => {
    setMade(key);
    client.invalidateQueries({ queryKey: settingsQueries.keys.queryKey });
  };
  const create = (title: string) => (
    <Guarded
      look="solid"
      can="key:create:own"
      cli="godel key create NAME"
      onClick={() => setOpen("key")}
    >
      {title}
    </Guarded>
  );
  return (
    <Section
      title="API keys"
      lead="A program shows a key to act in your name. It can be narrowed, and never may more than you."
      acts={create("Create a key")}
    >
      <Loaded query={query} what="The keys" skeleton={<SkeletonRows rows={3} height={54} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              icon="terminal"
              why="There is no key yet."
              action={create("Create the first key")}
              cli="godel key create ci"
            />
          ) : (
            <Lines label="API keys">
              {items.toSorted(liveFirst).map((key) => (
                <KeyLine key={key.id} apiKey={key} onMade={show} />
              ))}
            </Lines>
          )
        }
      </Loaded>
      {open === "key" && (
        <KeyDrawer
          onClose={() => setOpen(undefined)}
          onMade={(key) => {
            setOpen(undefined);
            show(key);
          }}
        />
      )}
      {made?.key && (
        <Once
          title={`The key ${made.name}`}
          text="It is shown now and never again. Keep it where only your program reads it."
          value={made.key}
          onClose={() => setMade(undefined)}
        />
      )}
    </Section>
  );
}

function KeyLine({ apiKey, onMade }: { apiKey: Key; onMade: (made: KeyMade) => void }) {
  const revoke = useRevokeKey();
  const session = useSession();
  const isOwn = apiKey.userId === session.userId;
  const reach = isOwn ? "own" : "team";
  const canSeeAll = useCan("key:read:team");
  const titles = useTitles();
  const isOver = apiKey.revokedAt !== null && apiKey.revokedAt !== undefined;
  const ended = isOver ? `${apiKey.name} is revoked already.` : undefined;
  const rotate = async () => {
    const path = `/api/v1/keys/${encodeURIComponent(apiKey.id)}/rotate` as const;
    try {
      onMade(await post(path, {}));
    } catch (error) {
      tellRefusal(`Rotate ${apiKey.name}`, error as Error, rotate);
    }
  };
  return (
    <Line
      id={apiKey.name}
      title={apiKey.name}
      note={
        <>
          <code>{apiKey.prefix}…</code>
          {canSeeAll && `, of ${titles("user", apiKey.userId)}`}
          {apiKey.scopes.length > 0 && `, only ${apiKey.scopes.join(", ")}`}
          {apiKey.usedAt ? (
            <>
              , used <Time at={apiKey.usedAt} />
            </>
          ) : (
            ", never used"
          )}
        </>
      }
      state={<KeyState apiKey={apiKey} />}
      acts={
        <Menu
          label={`Do something with the key ${apiKey.name}`}
          size="small"
          items={[
            {
              id: "rotate",
              title: "Rotate",
              icon: "refresh",
              can: `key:create:${reach}`,
              refused: ended,
              cli: `godel key rotate ${apiKey.name}`,
              run: rotate,
            },
            {
              id: "revoke",
              title: "Revoke",
              icon: "trash",
              can: `key:delete:${reach}`,
              destructive: true,
              refused: ended,
              cli: `godel key revoke ${apiKey.name}`,
              run: async () => {
                if (await confirmRevoke(apiKey)) revoke.mutate(apiKey);
              },
            },
          ]}
        />
      }
    />
  );
}

function KeyState({ apiKey }: { apiKey: Key }) {
  if (apiKey.revokedAt) return <Badge tone="bad">revoked</Badge>;
  if (!apiKey.expiresAt) return <Badge tone="ok">works</Badge>;
  const isOver = Date.parse(apiKey.expiresAt) <= serverNow();
  return (
    <Badge tone={isOver ? "bad" : "ok"}>
      {isOver ? "ended" : "ends"} <Time at={apiKey.expiresAt} />
    </Badge>
  );
}

function confirmRevoke(key: Key): Promise<boolean> {
  return confirm({
    title: `Revoke ${key.name}?`,
    body: "Programs that show it are refused at once. It cannot be brought back.",
    act: "Revoke it",
    cli: `godel key revoke ${key.name}`,
  });
}

/** What works first, the newest first. */
function liveFirst(one: Key, other: Key): number {
  const over = (key: Key) => (key.revokedAt ? 1 : 0);
  return over(one) - over(other) || other.createdAt.localeCompare(one.createdAt);
}
