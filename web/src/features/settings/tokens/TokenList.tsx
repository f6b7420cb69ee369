import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { serverNow } from "../../../api/clock";
import type { AgentToken } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { useSession } from "../../../roles/session";
import { setParams, useParam } from "../../../router/router";
import { EmptyFilter } from "../../../ui/Empty";
import { plural, shellWord } from "../../../ui/format";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { FilterBox, Select } from "../../../ui/PageHead";
import { PartialBadge, Status } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { type Column, DataTable } from "../../../ui/table/DataTable";
import { agentQueries } from "../../agents/queries";
import { useTitles } from "../../costs/useSpend";
import styles from "../AuditSection.module.css";
import { MAY_CREATE, MAY_LEAD_ALL, purposeOf, stateOf, useRevokeToken } from "./tokens";

/** Tokens as rows, the newest first: those that work, or also those that have ended. */
export function TokenList({ tokens, isCut }: { tokens: readonly AgentToken[]; isCut: boolean }) {
  const [which = "", setWhich] = useParam("which");
  const [text = "", setText] = useParam("named");
  const [revoked, setRevoked] = useState<ReadonlySet<string>>(new Set());
  const columns = useTokenColumns((id) => setRevoked(new Set([...revoked, id])));
  const shown = useMemo(() => {
    const now = serverNow();
    const wanted = text.trim().toLowerCase();
    const isMeant = (token: AgentToken) =>
      // What the reader ended just now stays in sight and says so.
      (which === "all" || stateOf(token, now) === "works" || revoked.has(token.id)) &&
      `${token.name} ${token.prefix} ${token.agent ?? ""}`.toLowerCase().includes(wanted);
    return tokens.filter(isMeant).toReversed();
  }, [tokens, which, text, revoked]);
  return (
    <>
      <div className={styles.tools}>
        <FilterBox label="Filter the tokens" placeholder="Filter" value={text} onChange={setText} />
        <Select
          label="Which tokens"
          value={which}
          options={[
            ["", "Those that work"],
            ["all", "Also ended"],
          ]}
          onChange={setWhich}
        />
        <span>{plural(shown.length, "token")}</span>
        {isCut && <PartialBadge kind="limited" why={`Only the oldest ${tokens.length}`} />}
      </div>
      {shown.length === 0 ? (
        <EmptyFilter what="tokens" onClear={() => setParams({ which: "all", named: undefined })} />
      ) : (
        <div className={styles.box}>
          <DataTable
            label="Tokens"
            noun="token"
            columns={columns}
            rows={shown}
            keyOf={({ id }) => id}
          />
        </div>
      )}
    </>
  );
}

function useTokenColumns(onRevoked: (id: string) => void): readonly Column<AgentToken>[] {
  const titles = useTitles();
  const menuOf = useTokenMenu(onRevoked);
  // Whose token it is the server tells by an id; agents of one's own making have any name.
  const agents = useQuery(agentQueries.all()).data?.items ?? [];
  const labelOf = (key: string) => agents.find(({ id }) => id === key)?.label ?? key;
  const purpose = (token: AgentToken) =>
    purposeOf(token, (kind, id) => (kind === "agent" ? labelOf(id) : titles(kind, id)));
  return [
    {
      id: "name",
      title: "Token",
      width: "minmax(120px, 1fr)",
      sortBy: ({ name }) => name,
      cell: ({ name }) => <strong>{name}</strong>,
    },
    {
      id: "prefix",
      title: "Begins with",
      width: "132px",
      cell: ({ prefix }) => <code>{prefix}…</code>,
    },
    {
      id: "state",
      title: "State",
      width: "124px",
      sortBy: (token) => stateOf(token, serverNow()),
      cell: (token) => <TokenState token={token} />,
    },
    {
      id: "user",
      title: "Of",
      width: "80px",
      sortBy: ({ userId }) => titles("user", userId),
      cell: ({ userId }) => titles("user", userId),
    },
    {
      id: "for",
      title: "For",
      width: "minmax(160px, 2fr)",
      cell: (token) => <span title={purpose(token)}>{purpose(token)}</span>,
    },
    {
      id: "models",
      title: "Models",
      width: "minmax(80px, 1fr)",
      cell: ({ models }) => models.join(", ") || "all",
    },
    {
      id: "made",
      title: "Made",
      width: "84px",
      sortBy: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      id: "acts",
      title: "",
      width: "44px",
      cell: (token) => (
        <Menu
          label={`Do something with the token ${token.name}`}
          size="small"
          items={() => menuOf(token)}
        />
      ),
    },
  ];
}

function useTokenMenu(onRevoked: (id: string) => void): (token: AgentToken) => MenuItem[] {
  const revoke = useRevokeToken();
  const { userId } = useSession();
  return (token) => {
    const state = stateOf(token, serverNow());
    const cli = `godel token revoke ${shellWord(token.prefix)}`;
    return [
      {
        id: "revoke",
        title: "Revoke",
        icon: "trash",
        can: token.userId === userId ? MAY_CREATE : MAY_LEAD_ALL,
        destructive: true,
        refused: state === "works" ? undefined : `${token.name} works no more.`,
        cli,
        run: async () => {
          const isSure = await confirm({
            title: `Revoke ${token.name}?`,
            body: `Whoever shows it is refused at once${token.agent ? ", also its agent" : ""}. It cannot be brought back.`,
            act: "Revoke it",
            cli,
          });
          if (!isSure) return;
          onRevoked(token.id);
          revoke.mutate(token);
        },
      },
    ];
  };
}

function TokenState({ token }: { token: AgentToken }) {
  const state = stateOf(token, serverNow());
  if (state === "revoked") {
    return (
      <Status tone="bad" icon="cross">
        revoked
      </Status>
    );
  }
  const isOver = state === "ended";
  return (
    <Status tone={isOver ? "plain" : "ok"} icon={isOver ? "clock" : "check"}>
      {token.expiresAt ? (
        <>
          {isOver ? "ended" : "ends"} <Time at={token.expiresAt} />
        </>
      ) : (
        "works"
      )}
    </Status>
  );
}
