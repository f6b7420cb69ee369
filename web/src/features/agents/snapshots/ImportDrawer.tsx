import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { upload } from "../../../api/client";
import { toast } from "../../../change/toasts";
import { FileDrop } from "../../../ui/FileDrop";
import { Choice } from "../../../ui/form/Choice";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { useForm } from "../../../ui/form/form";
import { shellWord, bytes as sizeText } from "../../../ui/format";
import { useProject } from "../../projects/queries";
import { sessionQueries } from "../session/queries";

/** All of it is checked before any of it is kept. */
const IMPORT_MS = 300_000;

/** Takes in a snapshot that this server or another one has exported. */
export function ImportDrawer({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const { projects, projectId } = useProject();
  const homes = projects.filter(({ repository }) => repository);
  const [only] = homes.length === 1 ? homes : [];
  const form = useForm({
    initial: { project: projectId ?? "" },
    send: async (values) => {
      const bytes = (await file?.arrayBuffer()) ?? new ArrayBuffer(0);
      const fields = new URLSearchParams({ projectId: values.project || (only?.id ?? "") });
      const content = { bytes, type: "application/octet-stream" } as const;
      return upload(`/api/v1/snapshots?${fields}`, content, IMPORT_MS);
    },
    done: ({ snapshot, changed }) => {
      client.invalidateQueries({ queryKey: sessionQueries.snapshots.queryKey });
      const detail = changed.join(" ");
      toast({ title: `The snapshot of ${snapshot.agent} is here`, ...(detail && { detail }) });
      onDone();
    },
  });
  const target = form.values.project || only?.id;
  const name = projects.find(({ id }) => id === target)?.name;
  return (
    <FormDrawer
      title="Import a snapshot"
      act="Import it"
      onClose={onClose}
      form={{ ...form, isDirty: file !== undefined }}
      can="agent:create:own"
      refused={whyNot(file, target)}
      error={form.error ?? undefined}
      cli={`godel agent import ${shellWord(file?.name ?? "FILE")}${name ? ` --project ${shellWord(name)}` : ""}`}
    >
      <p>
        A file brings no rights: an agent that worked without walls has walls here, and hosts that
        it could reach have to be allowed again.
      </p>
      <FileDrop
        label="A file of an exported snapshot"
        accept=".godel,application/octet-stream"
        chosen={file && `${file.name}, ${sizeText(file.size)}`}
        onChoose={setFile}
      />
      {homes.length !== 1 && (
        <Choice
          label="Project whose repository it belongs to"
          value={form.values.project}
          options={[["", "Choose"], ...homes.map(({ id, name }) => [id, name] as const)]}
          onChange={(next) => form.set("project", next)}
        />
      )}
    </FormDrawer>
  );
}

function whyNot(file: File | undefined, project: string | undefined): string | undefined {
  if (!file) return "Choose a file first.";
  return project ? undefined : "Choose the project first.";
}
