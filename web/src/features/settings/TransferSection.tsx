import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post } from "../../api/client";
import type { SettingsChange, SettingsDocument } from "../../api/types";
import { toast } from "../../change/toasts";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { Empty } from "../../ui/Empty";
import { FileDrop } from "../../ui/FileDrop";
import { fieldText } from "../../ui/fieldText";
import { plural } from "../../ui/format";
import { ErrorNotice, Notice } from "../../ui/Notice";
import { Badge } from "../../ui/Status";
import { saveAs } from "../../ui/saveAs";
import { Group, Line, Lines, Section } from "./Section";

const PATH = "/api/v1/settings";
/** The server takes no larger body. */
const MOST_BYTES = 1_000_000;

interface Chosen {
  name: string;
  settings: SettingsDocument;
}

/** Settings as one file, out and in again; what would change is shown first. */
export function TransferSection() {
  const save = useMutation({
    mutationFn: () => get(PATH),
    onSuccess: (settings) => {
      const text = `${JSON.stringify(settings, null, 2)}\n`;
      saveAs("godel-settings.json", new Blob([text], { type: "application/json" }));
    },
  });
  const denied = useRefusal("config:update:team");
  return (
    <Section
      title="Export and import"
      lead="Projects with their limits, and budgets, as one file for another server. Keys, people and folders stay here."
      acts={
        <Guarded
          look="solid"
          can="config:read:team"
          cli="godel settings export > settings.json"
          onClick={() => save.mutate()}
          refused={save.isPending ? "It is being written." : undefined}
        >
          Export
        </Guarded>
      }
    >
      {save.error && <ErrorNotice error={save.error} />}
      <Group title="Import">
        {denied === undefined ? <Import /> : <Empty icon="lock" why={denied} />}
      </Group>
    </Section>
  );
}

function Import() {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<Chosen>();
  const [unreadable, setUnreadable] = useState<Error>();
  const plan = useMutation({
    mutationFn: ({ settings }: Chosen) => post(`${PATH}/import`, { settings, dryRun: true }),
  });
  const take = useMutation({
    mutationFn: ({ settings }: Chosen) => post(`${PATH}/import`, { settings }),
    onSuccess: ({ changes }) => {
      // Limits and budgets are shown on many pages.
      client.invalidateQueries();
      toast({ title: `${plural(changes.length, "change")} made` });
      setChosen(undefined);
      plan.reset();
    },
    // What was made before something failed is no longer to be made.
    onError: () => chosen && plan.mutate(chosen),
  });
  const choose = async (file: File) => {
    setChosen(undefined);
    plan.reset();
    take.reset();
    try {
      const next = { name: file.name, settings: await readSettings(file) };
      setUnreadable(undefined);
      setChosen(next);
      plan.mutate(next);
    } catch (error) {
      setUnreadable(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const error = unreadable ?? take.error ?? plan.error;
  return (
    <>
      <FileDrop
        label="A file of settings"
        accept=".json,application/json"
        chosen={chosen?.name}
        onChoose={choose}
      />
      {error && <ErrorNotice error={error} />}
      {plan.isPending && <p role="status">Looking at what would change…</p>}
      {plan.data && <Plan changes={plan.data.changes} />}
      {chosen && plan.data && plan.data.changes.length > 0 && (
        <div>
          <Guarded
            look="solid"
            can="config:update:team"
            cli={`godel settings import ${chosen.name} --yes`}
            onClick={() => take.mutate(chosen)}
            refused={take.isPending ? "The changes are being made." : undefined}
          >
            Make {plural(plan.data.changes.length, "change")}
          </Guarded>
        </div>
      )}
    </>
  );
}

/** What would be different, field by field. */
export function Plan({ changes }: { changes: readonly SettingsChange[] }) {
  if (changes.length === 0) {
    return <Notice tone="plain">Nothing would change: all of it is so already.</Notice>;
  }
  return (
    <Lines label="What would change">
      {changes.map((change) => (
        <Line
          key={`${change.kind} ${change.name}`}
          id={`change ${change.name}`}
          title={change.name}
          note={change.fields.map(fieldText).join("; ")}
          state={<Badge tone={change.isNew ? "ok" : "warn"}>{stateOf(change)}</Badge>}
        />
      ))}
    </Lines>
  );
}

const stateOf = ({ isNew, kind }: SettingsChange) => `${isNew ? "new" : "changed"} ${kind}`;

/** Reads a file of settings; what it means is for the server to judge. */
export async function readSettings(file: Blob): Promise<SettingsDocument> {
  if (file.size > MOST_BYTES) throw new Error("The file is too large to be settings.");
  try {
    const read: unknown = JSON.parse(await file.text());
    if (typeof read === "object" && read !== null && "format" in read) {
      return read as SettingsDocument;
    }
  } catch {
    // Told below: it is not what was meant.
  }
  throw new Error("This is no file of settings; Export writes one.");
}
