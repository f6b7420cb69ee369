import { useQueryClient } from "@tanstack/react-query";
import { put } from "../../api/client";
import { toast } from "../../change/toasts";
import { SecretField, TextField } from "../../ui/Field";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError, useForm } from "../../ui/form/form";
import { settingsQueries } from "./queries";

/** Sets the key of a provider, or replaces it. What is typed goes to the server and stays there. */
export function SecretDrawer({ name, onClose }: { name: string | undefined; onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    initial: { name: name ?? "", value: "" },
    send: ({ name, value }) =>
      put(`/api/v1/secrets/${encodeURIComponent(name.trim())}`, { value: value.trim() }),
    done: (secret) => {
      client.invalidateQueries({ queryKey: settingsQueries.secrets.queryKey });
      toast({ title: `${secret.name} is set` });
      onClose();
    },
  });
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, { name: /name/i, value: /secret|value/i });
  const isReady = values.name.trim() !== "" && values.value.trim() !== "";
  return (
    <FormDrawer
      title={name ? `Replace ${name}` : "Set a key"}
      act={name ? "Replace the key" : "Set the key"}
      onClose={onClose}
      form={form}
      can="secret:update:team"
      refused={isReady ? undefined : "A key has a name and a value."}
      error={rest}
      cli={`godel secret set ${values.name.trim() || "NAME"}`}
    >
      {!name && (
        <TextField
          label="Name"
          value={values.name}
          autoFocus
          autoComplete="off"
          placeholder="anthropic"
          error={fields.name}
          note="The name of a provider, such as anthropic, openai, or openai-2 for a second key."
          onChange={(event) => set("name", event.target.value)}
        />
      )}
      <SecretField
        label="Key"
        value={values.value}
        autoComplete="off"
        error={fields.value}
        note="Requests under way end with the old key, new ones take this one."
        onChange={(event) => set("value", event.target.value)}
      />
    </FormDrawer>
  );
}
