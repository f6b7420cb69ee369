import type { Project, User } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import styles from "../../ui/DialogForm.module.css";
import { Checks } from "../../ui/form/Checks";
import { Choice } from "../../ui/form/Choice";
import { shellWord, shortId } from "../../ui/format";
import { listIn } from "../../ui/typed";
import { useDraft } from "../../ui/useDraft";
import { useProject } from "../projects/queries";
import { useSetProjects } from "./queries";

type Named = Pick<Project, "id" | "name">;
/** The first word of what is chosen; ids follow. */
const ALL = "all";
const SOME = "some";

interface UserProjectsProps {
  user: User;
  onClose: () => void;
}

/** Asks whether somebody works in all projects, or in which. */
export function UserProjects({ user, onClose }: UserProjectsProps) {
  const { projects } = useProject();
  const before = saidOf(user.projects);
  const [said, setSaid, clear] = useDraft(`user.${user.id}.projects`, before);
  const [which = ALL, ...ids] = listIn(said);
  // One that is gone since is refused by the server, and nobody can work in it.
  const known = ids.filter((id) => projects.some((project) => project.id === id));
  const wanted = which === ALL ? [] : known;
  const change = useSetProjects();
  const refused = whyNot(which, wanted, before);
  const save = () => {
    if (refused !== undefined) return;
    change.mutate({ user, projects: wanted });
    clear();
    onClose();
  };
  return (
    <Dialog title={`Projects of ${user.name}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Choice
          label="Works in"
          value={which}
          options={[
            [ALL, "All projects, also those to come"],
            [SOME, "Chosen projects"],
          ]}
          onChange={(next) => setSaid([next, ...ids].join(" "))}
          note="What is in another project is not there for them."
        />
        {which === SOME && (
          <Checks
            label={`Projects in which ${user.name} works`}
            options={projects.map(({ id, name }) => [id, name] as const)}
            chosen={known}
            onChange={(chosen) => setSaid([SOME, ...chosen].join(" "))}
          />
        )}
        <Cli command={cliOf(user, wanted, projects)} />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded look="solid" type="submit" side="above" can="user:update:team" refused={refused}>
            Save
          </Guarded>
        </div>
      </form>
    </Dialog>
  );
}

/** Where somebody works, for the line that is about them. */
export function placesOf({ projects }: Pick<User, "projects">, known: readonly Named[]): string {
  return projects.length === 0 ? "all projects" : namesOf(projects, known).join(", ");
}

function namesOf(projects: readonly string[], known: readonly Named[]): string[] {
  return projects.map((id) => known.find((one) => one.id === id)?.name ?? shortId(id));
}

function saidOf(projects: readonly string[]): string {
  return projects.length === 0 ? ALL : [SOME, ...projects].join(" ");
}

function whyNot(which: string, wanted: readonly string[], before: string): string | undefined {
  if (which === SOME && wanted.length === 0) return "Choose a project, or say all of them.";
  const isSame = saidOf(wanted.toSorted()) === saidOf(listIn(before).slice(1).toSorted());
  return isSame ? "Nothing was changed." : undefined;
}

/** The same on the command line. */
function cliOf({ name }: User, wanted: readonly string[], known: readonly Named[]): string {
  const names = namesOf(wanted, known).map(shellWord).join(",");
  return `godel user project ${shellWord(name)} ${names ? `--set ${names}` : "--all"}`;
}
