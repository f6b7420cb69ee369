import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Project } from "../../api/types";
import { toast } from "../../change/toasts";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { placeError, useForm } from "../../ui/form/form";
import { ErrorNotice } from "../../ui/Notice";
import { projectsQuery } from "../projects/queries";
import { nameOf } from "./steps";
import styles from "./WelcomePage.module.css";

interface RepositoryStepProps {
  project: Project | undefined;
  onDone: () => void;
}

/** A project is a git repository on the server. */
export function RepositoryStep({ project, onDone }: RepositoryStepProps) {
  if (!project?.repository) return <RepositoryForm />;
  return (
    <>
      <p>
        <strong>{project.name}</strong> works in <code>{project.repository}</code>.
      </p>
      <div className={styles.acts}>
        <Button onClick={onDone}>Go on</Button>
      </div>
    </>
  );
}

function RepositoryForm() {
  const client = useQueryClient();
  const form = useForm<{ repository: string; name: string }, Project>({
    initial: { repository: "", name: "" },
    draft: "welcome.repository",
    send: ({ repository, name }) =>
      post("/api/v1/projects", {
        name: name.trim() || nameOf(repository),
        repository: repository.trim(),
      }),
    done: async (made) => {
      toast({ title: `${made.name} is added` });
      await client.invalidateQueries({ queryKey: projectsQuery.queryKey });
      setParams({ project: made.id, step: undefined });
    },
  });
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, {
    repository: /repository|path|git/i,
    name: /name|called|taken/i,
  });
  const name = values.name.trim() || nameOf(values.repository);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (name !== "") form.submit();
      }}
    >
      <TextField
        label="Path of the repository"
        value={values.repository}
        placeholder="/home/ann/app"
        autoComplete="off"
        note="The absolute path of a git repository on the server. Agents work in worktrees beside it, never in it."
        error={fields.repository}
        onChange={(event) => set("repository", event.target.value)}
      />
      <TextField
        label="Name of the project"
        value={values.name}
        placeholder={nameOf(values.repository) || "app"}
        autoComplete="off"
        error={fields.name}
        onChange={(event) => set("name", event.target.value)}
      />
      {rest && <ErrorNotice error={rest} />}
      <div className={styles.acts}>
        <Guarded
          look="solid"
          type="submit"
          can="project:create:team"
          refused={values.repository.trim() === "" ? "Say where the repository is." : undefined}
          cli={`godel project create ${name || "NAME"} --repository ${values.repository.trim() || "PATH"}`}
        >
          {form.isSending ? "Adding" : "Add the repository"}
        </Guarded>
      </div>
    </form>
  );
}
