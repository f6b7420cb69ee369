import type { NewIntent, Project } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { ErrorNotice } from "../../ui/Notice";
import { ASK } from "../intents/AskButton";
import { useIntentSteps } from "../intents/queries";
import { wishCli } from "../intents/wish";
import styles from "./WelcomePage.module.css";

/** Small, harmless and sensible in any repository; the rules make one bead of it, and cost nothing. */
const SAMPLE: NewIntent = {
  text: "Describe this repository in a new file NOTES.md, in at most ten lines: what it is for, where to begin.",
  rules: true,
};

/** A first change for who has no wish: it is planned like any other, so its price comes before its start. */
export function Sample({ project }: { project: Project }) {
  const { plan } = useIntentSteps();
  const run = () =>
    plan.mutate(
      { ...SAMPLE, projectId: project.id },
      { onSuccess: ({ id }) => setParams({ project: project.id, intent: id }) },
    );
  return (
    <>
      <div className={styles.offer}>
        <p>
          <strong>Nothing in mind?</strong> Let an agent describe <strong>{project.name}</strong> in
          ten lines, in a new file <code>NOTES.md</code>, in a worktree of its own. First you see
          what it may cost; nothing runs before you press Start. The change waits for your review,
          unless a <code>godel.toml</code> lets work land without one.
        </p>
        <Guarded
          align="end"
          can={ASK.can}
          cli={wishCli(SAMPLE)}
          refused={plan.isPending ? "It is being planned." : undefined}
          onClick={run}
        >
          {plan.isPending ? "Planning…" : "Try it with a sample"}
        </Guarded>
      </div>
      {plan.error && <ErrorNotice error={plan.error} />}
    </>
  );
}
