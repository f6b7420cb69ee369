import type { Project, RepositoryJob } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { ErrorNotice } from "../../ui/Notice";
import { Status } from "../../ui/Status";
import { type MakeKind, makeCli, nameOfMade, type Place } from "./repository";
import { MAY_MAKE, useMakeRepository } from "./useMakeRepository";
import styles from "./WelcomePage.module.css";

interface MakeRepositoryProps {
  kind: MakeKind;
  onAdded: (made: Project) => void;
}

/** A repository that the server clones or begins; it goes on there if one leaves. */
export function MakeRepository({ kind, onAdded }: MakeRepositoryProps) {
  const make = useMakeRepository(kind, onAdded);
  const { values, set, fields: faults, job } = make;
  const isClone = kind === "clone";
  const place = (isClone ? values.url : values.folder).trim();
  const missing = isClone ? "Say what is to be cloned." : "Say which folder is to be made.";
  const busy = make.isBusy ? "It is being made." : undefined;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        make.submit();
      }}
    >
      {isClone && <UrlField values={values} set={set} error={faults.url} />}
      <TextField
        label={isClone ? "Into this folder" : "Folder of the new repository"}
        value={values.folder}
        placeholder={isClone ? `${nameOfMade(kind, values) || "app"} at home` : "/home/ann/app"}
        autoComplete="off"
        readOnly={make.isBusy}
        note={
          isClone
            ? "An absolute path on the server. Without one it is a folder in the home of the user that the server runs as."
            : "An absolute path on the server. It is made, with git in it and a first commit; a folder that is empty will do."
        }
        error={faults.folder}
        onChange={(event) => set("folder", event.target.value)}
      />
      <TextField
        label="Name of the project"
        value={values.name}
        placeholder={nameOfMade(kind, values) || "app"}
        autoComplete="off"
        error={faults.name}
        onChange={(event) => set("name", event.target.value)}
      />
      {make.rest && <ErrorNotice error={make.rest} />}
      {job?.state === "working" && <Working job={job} onLook={make.look} />}
      {job?.state === "ready" && (
        <p>
          <Status tone="ok" icon="check">
            Ready
          </Status>{" "}
          in <code>{job.folder}</code>
        </p>
      )}
      <div className={styles.acts}>
        <Guarded
          look="solid"
          type="submit"
          can={MAY_MAKE}
          refused={busy ?? (place === "" && job?.state !== "ready" ? missing : undefined)}
          cli={makeCli(kind, values)}
        >
          {wordFor(isClone, make.isBusy, job)}
        </Guarded>
      </div>
    </form>
  );
}

function wordFor(isClone: boolean, isBusy: boolean, job: RepositoryJob | undefined): string {
  if (job?.state === "ready") return isBusy ? "Adding" : "Add the project";
  if (isClone) return isBusy ? "Cloning" : "Clone it";
  return isBusy ? "Making" : "Make it";
}

interface UrlFieldProps {
  values: Place;
  set: (name: keyof Place, value: string) => void;
  error: string | undefined;
}

function UrlField({ values, set, error }: UrlFieldProps) {
  return (
    <TextField
      label="URL of the repository"
      value={values.url}
      placeholder="https://example.org/acme/app.git"
      autoComplete="off"
      note="As git takes it, without a password: the server uses the keys and helpers that its user has."
      error={error}
      onChange={(event) => set("url", event.target.value)}
    />
  );
}

/** How far it is; the end is heard by itself. */
function Working({ job, onLook }: { job: RepositoryJob; onLook: () => void }) {
  return (
    <div className={styles.offer}>
      <p aria-live="polite">
        <Status tone="info" icon="clock">
          {job.kind === "clone" ? "Cloning" : "Making"}
        </Status>{" "}
        <code>{job.progress || job.folder}</code>
      </p>
      <Button size="small" onClick={onLook}>
        Look again
      </Button>
    </div>
  );
}
