import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { Project } from "../../api/types";
import { toast } from "../../change/toasts";
import { Guarded } from "../../roles/Guarded";
import { setParams, useChoice } from "../../router/router";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { placeError, useForm } from "../../ui/form/form";
import { shellWord } from "../../ui/format";
import { ErrorNotice } from "../../ui/Notice";
import { Segmented } from "../../ui/Tabs";
import { projectsQuery } from "../projects/queries";
import { MakeRepository } from "./MakeRepository";
import { nameOf } from "./steps";
import styles from "./WelcomePage.module.css";

interface RepositoryStepProps {
  project: Project | undefined;
  onDone: () => void;
}

const WAYS = [
  { id: "folder", title: "A folder" },
  { id: "clone", title: "A clone" },
  { id: "new", title: "A new one" },
] as const;
type Way = (typeof WAYS)[number]["id"];
const WORDS: readonly Way[] = WAYS.map(({ id }) => id);

/** A project is a git repository on the server: one that is there, a clone, or a new one. */
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
  const [way, setWay] = useChoice("way", WORDS, "folder");
  const added = useAdded();
  return (
    <>
      <div>
        <Segmented label="What the repository is" options={WAYS} value={way} onChange={setWay} />
      </div>
      {way === "folder" ? (
        <FolderForm onAdded={added} />
      ) : (
        <MakeRepository key={way} kind={way} onAdded={added} />
      )}
    </>
  );
}

/** What comes after a project was made: it is told, and the next step is open. */
function useAdded(): (made: Project) => Promise<void> {
  const client = useQueryClient();
  return async (made) => {
    toast({ title: `${made.name} is added` });
    await client.invalidateQueries({ queryKey: projectsQuery.queryKey });
    setParams({ project: made.id, step: undefined, way: undefined, making: undefined });
  };
}

function FolderForm({ onAdded }: { onAdded: (made: Project) => void }) {
  const form = useForm<{ repository: string; name: string }, Project>({
    initial: { repository: "", name: "" },
    draft: "welcome.repository",
    send: ({ repository, name }) =>
      post("/api/v1/projects", {
        name: name.trim() || nameOf(repository),
        repository: repository.trim(),
      }),
    done: onAdded,
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
          cli={`godel project create ${shellWord(name || "NAME")} --repository ${shellWord(values.repository.trim() || "PATH")}`}
        >
          {form.isSending ? "Adding" : "Add the repository"}
        </Guarded>
      </div>
    </form>
  );
}
