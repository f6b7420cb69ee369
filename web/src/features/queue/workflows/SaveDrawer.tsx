import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Workflow } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { Button } from "../../../ui/Button";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { plural } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import panel from "../../../ui/Panel.module.css";
import { SkeletonRows } from "../../../ui/Skeleton";
import { useDraft } from "../../../ui/useDraft";
import { peekAt } from "../peek";
import { checkSource, problemsOf, saveSource, workflowQuery } from "./queries";
import { SourceBox } from "./SourceBox";
import { useForeignWorkflow } from "./useForeignWorkflow";
import styles from "./workflows.module.css";

interface SaveDrawerProps {
  /** The workflow that is changed; a new one if none is named. */
  name?: string | undefined;
  onClose: () => void;
}

/** Stores a workflow, or another text for one. */
export function SaveDrawer({ name, onClose }: SaveDrawerProps) {
  const query = useQuery({ ...workflowQuery(name ?? ""), enabled: name !== undefined });
  if (name === undefined) return <SaveForm onClose={onClose} />;
  return (
    <Loaded query={query} what="The workflow" skeleton={<SkeletonRows rows={1} />}>
      {(workflow) => <SaveForm workflow={workflow} onClose={onClose} />}
    </Loaded>
  );
}

function SaveForm({ workflow, onClose }: { workflow?: Workflow; onClose: () => void }) {
  const client = useQueryClient();
  const known = workflow?.source ?? "";
  const [source, setSource, clear] = useDraft(`workflow.${workflow?.name ?? ""}`, known);
  // What was said about a text says nothing about another one.
  const [checked, setChecked] = useState<string>();
  const check = useMutation({ mutationFn: checkSource, onMutate: setChecked });
  const save = useMutation({
    mutationFn: (text: string) => saveSource(text, workflow?.name),
    onMutate: (text) => {
      check.reset();
      setChecked(text);
    },
    onSuccess: (saved) => {
      clear();
      client.invalidateQueries({ queryKey: ["workflows"] });
      client.invalidateQueries({ queryKey: ["workflow"] });
      toast({ title: `${saved.name} is stored` });
      onClose();
      peekAt("workflow", saved.name, { also: { flows: "stored" } });
    },
  });
  const foreign = useForeignWorkflow();
  const isAbout = checked === source;
  const error = isAbout ? (check.error ?? save.error) : null;
  const hasProblems = problemsOf(error).problems.length > 0;
  const discard = () => {
    clear();
    onClose();
  };
  return (
    <FormDrawer
      title={workflow ? `Change ${workflow.name}` : "Save a workflow"}
      act="Save the workflow"
      onClose={discard}
      form={{
        submit: () => save.mutate(source),
        isDirty: source !== known,
        isSending: save.isPending,
      }}
      can={workflow ? "workflow:update:own" : "workflow:create:own"}
      refused={(workflow && foreign(workflow)) ?? whyNot(source, known)}
      error={hasProblems ? undefined : (error ?? undefined)}
      cli="godel workflow save FILE"
    >
      <SourceBox value={source} onChange={setSource} error={error} />
      <div className={panel.line}>
        <Button
          size="small"
          disabled={source.trim() === "" || check.isPending}
          onClick={() => check.mutate(source)}
        >
          Check it
        </Button>
        {isAbout && check.data && (
          <span role="status" className={styles.fine}>
            It is understood: {check.data.name}, {plural(check.data.steps.length, "step")} in{" "}
            {plural(Math.max(0, ...check.data.steps.map(({ wave }) => wave)), "wave")}.
          </span>
        )}
      </div>
    </FormDrawer>
  );
}

function whyNot(source: string, known: string): string | undefined {
  if (source.trim() === "") return "Write a workflow first.";
  return source === known ? "Nothing is changed yet." : undefined;
}
