import { useQuery } from "@tanstack/react-query";
import type { AgentRole } from "../../api/types";
import { Loaded } from "../../ui/Loaded";
import { asSentence } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { agentQueries } from "../agents/queries";
import styles from "./AgentRolesSection.module.css";
import { ASKED_ANEW } from "./queries";
import { Line, Lines, Section } from "./Section";

/** What agents can be, and what each is told first. */
export function AgentRolesSection() {
  const query = useQuery({ ...agentQueries.roles, ...ASKED_ANEW });
  return (
    <Section
      title="Agent roles"
      lead="What agents can be. Your own are files in .godel/roles of a repository: prompt, tools, permissions, model and walls."
      acts={<Badge icon="lock">managed by file</Badge>}
    >
      <Loaded query={query} what="The roles" skeleton={<SkeletonRows rows={5} height={54} />}>
        {(items) => (
          <Lines label="Agent roles">
            {items.map((role) => (
              <Line
                key={role.name}
                id={`role ${role.name}`}
                title={role.name}
                note={<Told role={role} />}
                state={role.builtIn ? <Badge>built in</Badge> : <Badge>yours</Badge>}
              />
            ))}
          </Lines>
        )}
      </Loaded>
    </Section>
  );
}

function Told({ role }: { role: AgentRole }) {
  const own = [
    role.harness && `harness ${role.harness}`,
    role.model && `model ${role.model}`,
    role.sandbox && `walls ${role.sandbox}`,
  ].filter(Boolean);
  return (
    <>
      {asSentence(role.description)} {own.length > 0 && asSentence(own.join(", "))}
      <details>
        <summary>What it is told first</summary>
        <pre className={styles.prompt}>{role.prompt}</pre>
      </details>
    </>
  );
}
