import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { AgentTokenMade } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { useParam } from "../../../router/router";
import { Empty } from "../../../ui/Empty";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Once } from "../Once";
import { Section } from "../Section";
import { TokenDrawer } from "./TokenDrawer";
import { TokenList } from "./TokenList";
import { MAY_CREATE, tokensQuery } from "./tokens";

/** Tokens by which agents and SDKs ask models. */
export function TokensSection() {
  const denied = useRefusal(MAY_CREATE);
  const query = useQuery({ ...tokensQuery, enabled: denied === undefined });
  const client = useQueryClient();
  const [open, setOpen] = useParam("new");
  const [made, setMade] = useState<AgentTokenMade>();
  const create = (title: string) => (
    <Guarded
      look="solid"
      can={MAY_CREATE}
      cli="godel token create NAME"
      onClick={() => setOpen("token")}
    >
      {title}
    </Guarded>
  );
  return (
    <Section
      title="Agent tokens"
      lead="An agent or an SDK shows a token to ask models through this server, on your budget. Agents that Godel starts have one already."
      acts={create("Create a token")}
    >
      {denied !== undefined ? (
        <Empty icon="lock" why={denied} />
      ) : (
        <Loaded query={query} what="The tokens" skeleton={<SkeletonRows />}>
          {({ items, isCut }) =>
            items.length === 0 ? (
              <Empty
                icon="agents"
                why="There is no token yet."
                action={create("Create the first token")}
                cli="godel token create laptop --budget 5 --expires 8h"
              />
            ) : (
              <TokenList tokens={items} isCut={isCut} />
            )
          }
        </Loaded>
      )}
      {open === "token" && (
        <TokenDrawer
          onClose={() => setOpen(undefined)}
          onMade={(token) => {
            setOpen(undefined);
            setMade(token);
            client.invalidateQueries({ queryKey: tokensQuery.queryKey });
          }}
        />
      )}
      {made?.token && (
        <Once
          title={`The token ${made.name}`}
          text={`It is shown now and never again. Use it as the API key of an agent or an SDK, with ${window.location.origin}/proxy as the base URL.`}
          value={made.token}
          onClose={() => setMade(undefined)}
        />
      )}
    </Section>
  );
}
