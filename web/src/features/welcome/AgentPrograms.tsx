import type { UseQueryResult } from "@tanstack/react-query";
import { Loaded } from "../../ui/Loaded";
import { asSentences } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge, Status } from "../../ui/Status";
import { CheckStatus } from "../settings/RuntimesSection";
import { Line, Lines } from "../settings/Section";
import { type Diagnosis, programsIn } from "./doctor";
import styles from "./WelcomePage.module.css";

interface AgentProgramsProps {
  doctor: UseQueryResult<Diagnosis>;
  /** Whether models can be asked already. */
  hasKey: boolean;
}

/** Who can do the work on this machine: Godel's own agent, and the programs of others that were found. */
export function AgentPrograms({ doctor, hasKey }: AgentProgramsProps) {
  return (
    <Loaded query={doctor} what="The agents" skeleton={<SkeletonRows rows={1} height={54} />}>
      {({ tests }) => <Programs tests={tests} hasKey={hasKey} />}
    </Loaded>
  );
}

interface ProgramsProps {
  tests: Diagnosis["tests"];
  hasKey: boolean;
}

function Programs({ tests, hasKey }: ProgramsProps) {
  const { found, besides } = programsIn({ tests });
  return (
    <>
      <p className={styles.part}>Agents on this machine</p>
      <Lines label="Agents on this machine">
        <Line
          id="agent native"
          title="native"
          note="Godel's own agent; it needs nothing but a key."
          state={<Badge icon="check">built in</Badge>}
        />
        {found.map(({ name, version }) => (
          <Line
            key={name}
            id={`agent ${name}`}
            title={name}
            note={`Version ${version}.`}
            state={
              <Status tone="ok" icon="check">
                Found
              </Status>
            }
          />
        ))}
        {besides && (
          <Line
            id="agents besides"
            title="Programs of others"
            note={asSentences(besides.message, besides.hint)}
            state={<CheckStatus status={besides.status} />}
          />
        )}
      </Lines>
      {/* An agent has a token for Godel only, so that budgets hold and no key leaves the server. */}
      {!hasKey && (
        <p className={styles.soft}>
          {found.length > 0
            ? "All of them ask models through Godel. A login of such a program is not passed on, so a key is needed here."
            : "Every agent asks models through Godel, so a key is needed here."}
        </p>
      )}
    </>
  );
}
