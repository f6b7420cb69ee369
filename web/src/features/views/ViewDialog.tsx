import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId } from "react";
import type { View } from "../../api/types";
import { toast } from "../../change/toasts";
import { useRefusal } from "../../roles/session";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { placeError, useForm } from "../../ui/form/form";
import { ErrorNotice } from "../../ui/Notice";
import { hasMoreThanQuery, saveCli } from "./address";
import { changeView, saveView, viewsQuery } from "./queries";
import styles from "./ViewDialog.module.css";

interface ViewDialogProps {
  page: string;
  /** What is kept. */
  query: string;
  /** The view that gets another name; a new one unless given. */
  view?: View | undefined;
  onDone: (view: View) => void;
  onClose: () => void;
}

/** Asks what a view is called, and who has it. */
export function ViewDialog({ page, query, view, onDone, onClose }: ViewDialogProps) {
  const client = useQueryClient();
  const form = useForm({
    initial: { name: view?.name ?? "", shared: view?.shared ? "yes" : "" },
    send: ({ name, shared }) => {
      const wanted = { page, name: name.trim(), query, shared: shared !== "" };
      return view ? changeView(view.id, wanted) : saveView(wanted);
    },
    done: (saved) => {
      client.setQueryData(viewsQuery.queryKey, (before) => before && putView(before, saved));
      client.invalidateQueries({ queryKey: viewsQuery.queryKey });
      toast({
        title: view ? `It is called “${saved.name}” now` : `The view “${saved.name}” is kept`,
      });
      onDone(saved);
      onClose();
    },
  });
  const { values, set } = form;
  const name = values.name.trim();
  const { fields, rest } = placeError(form.error, { name: /name|view|character/i });
  const cli = view ? undefined : saveCli(page, { name, query, shared: values.shared !== "" });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name !== "") form.submit();
  };
  return (
    <Dialog title={view ? `Rename “${view.name}”` : "Save this view"} onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="Name"
          value={values.name}
          maxLength={80}
          autoComplete="off"
          autoFocus
          error={fields.name}
          onChange={(event) => set("name", event.target.value)}
        />
        <Share
          isShared={values.shared !== ""}
          onChange={(isShared) => set("shared", isShared ? "yes" : "")}
        />
        {rest && <ErrorNotice error={rest} />}
        {cli && (
          <div className={styles.cli}>
            <Cli command={cli} />
            {hasMoreThanQuery(query) && (
              <p className={styles.note}>The command keeps the query, not how it is shown.</p>
            )}
          </div>
        )}
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="solid" type="submit" disabled={name === "" || form.isSending}>
            {view ? "Rename" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Whether everybody has it; who may not share finds the reason below. */
function Share({
  isShared,
  onChange,
}: {
  isShared: boolean;
  onChange: (isShared: boolean) => void;
}) {
  const id = useId();
  const denied = useRefusal("bead:create:own");
  return (
    <div>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={isShared}
          disabled={denied !== undefined && !isShared}
          aria-describedby={denied === undefined ? undefined : id}
          onChange={(event) => onChange(event.target.checked)}
        />
        Share with everybody
      </label>
      {denied !== undefined && (
        <p id={id} className={styles.note}>
          {denied}
        </p>
      )}
    </div>
  );
}

function putView({ items }: { items: View[] }, view: View): { items: View[] } {
  return { items: [...items.filter(({ id }) => id !== view.id), view] };
}
