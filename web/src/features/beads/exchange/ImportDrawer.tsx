import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ImportedBeads } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { FileDrop } from "../../../ui/FileDrop";
import { fieldText } from "../../../ui/fieldText";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { count, bytes as sizeText } from "../../../ui/format";
import { ShortId } from "../../../ui/ShortId";
import { PartialBadge } from "../../../ui/Status";
import { useTarget } from "../../projects/useTarget";
import { BEAD_LISTS } from "../queries";
import {
  actOf,
  type ChosenFile,
  importBeads,
  importCli,
  MAY_IMPORT,
  readChosen,
  tellCounts,
} from "./exchange";
import styles from "./ImportDrawer.module.css";

/** Takes beads from a file, after it has shown what that would change. */
export function ImportDrawer({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [file, setFile] = useState<ChosenFile>();
  const [unreadable, setUnreadable] = useState<Error>();
  const { project, choice, needsProject } = useTarget();
  const plan = useMutation({
    mutationFn: (chosen: ChosenFile) => importBeads(chosen, project, { dryRun: true }),
  });
  const { mutate: rehearse } = plan;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another project is another plan
  useEffect(() => {
    if (file && !needsProject) rehearse(file);
  }, [file, project, needsProject, rehearse]);
  const take = useMutation({
    mutationFn: (chosen: ChosenFile) => importBeads(chosen, project, { dryRun: false }),
    onSuccess: (done) => {
      client.invalidateQueries({ queryKey: BEAD_LISTS });
      toast({ title: "The beads are imported", detail: tellCounts(done) });
      onClose();
    },
  });
  const choose = async (chosen: File) => {
    take.reset();
    plan.reset();
    setFile(undefined);
    try {
      setFile(await readChosen(chosen));
      setUnreadable(undefined);
    } catch (error) {
      setUnreadable(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return (
    <FormDrawer
      title="Import beads"
      act={actOf(plan.data)}
      onClose={onClose}
      form={{
        submit: () => file && take.mutate(file),
        isDirty: false,
        isSending: take.isPending,
      }}
      can={MAY_IMPORT}
      destructive
      refused={whyNot(file, needsProject, plan.data)}
      error={unreadable ?? plan.error ?? take.error ?? undefined}
      cli={importCli(file?.name)}
    >
      {choice}
      <FileDrop
        label="A file of beads, one JSON object a line"
        accept=".jsonl,.ndjson,application/x-ndjson"
        chosen={file && `${file.name}, ${sizeText(file.bytes.byteLength)}`}
        onChoose={choose}
      />
      {plan.isPending && <p role="status">Looking at what would change…</p>}
      {plan.data && <Plan plan={plan.data} />}
    </FormDrawer>
  );
}

function whyNot(
  file: ChosenFile | undefined,
  needsProject: boolean,
  plan: ImportedBeads | undefined,
): string | undefined {
  if (needsProject) return "Choose a project first.";
  if (!file) return "Choose a file first.";
  if (!plan) return "It is not known yet what would change.";
  return plan.created + plan.updated === 0 ? "Nothing would change." : undefined;
}

/** What would come and what would change, in the order of the file. */
function Plan({ plan }: { plan: ImportedBeads }) {
  const all = plan.created + plan.updated;
  return (
    <section className={styles.plan} aria-label="What would change">
      <p role="status">
        {tellCounts(plan)}{" "}
        {plan.changes.length < all && (
          <PartialBadge
            kind="limited"
            why={`Only the first ${count(plan.changes.length)} are listed`}
          />
        )}
      </p>
      {all > 0 && (
        <ul className={styles.changes}>
          {plan.changes.map(({ id, title, isNew, fields }) => (
            <li key={id} data-change={isNew ? "new" : "changed"}>
              <span className={styles.sign} aria-hidden>
                {isNew ? "+" : "~"}
              </span>
              <span className="visually-hidden">{isNew ? "New:" : "Changed:"}</span>
              <span className={styles.title}>{title}</span>
              <ShortId id={id} isWhole />
              {!isNew && (
                <ul className={styles.fields}>
                  {fields.map((field) => (
                    <li key={field.name}>{fieldText(field)}</li>
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
