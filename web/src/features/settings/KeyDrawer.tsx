import { post } from "../../api/client";
import { serverNow } from "../../api/clock";
import type { KeyMade } from "../../api/types";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError, useForm } from "../../ui/form/form";
import { wordsIn } from "../../ui/typed";

const DAY_MS = 86_400_000;
const ENDS = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

interface KeyDrawerProps {
  onClose: () => void;
  onMade: (made: KeyMade) => void;
}

/** Makes a key for a program. */
export function KeyDrawer({ onClose, onMade }: KeyDrawerProps) {
  const form = useForm({
    draft: "key",
    initial: { name: "", scopes: "", days: "90" },
    send: ({ name, scopes, days }) =>
      post("/api/v1/keys", {
        name: name.trim(),
        scopes: wordsIn(scopes),
        ...(days !== "" && {
          expiresAt: new Date(serverNow() + Number(days) * DAY_MS).toISOString(),
        }),
      }),
    done: onMade,
  });
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, {
    scopes: /permission|scope/i,
    name: /name/i,
  });
  const name = values.name.trim();
  const words = wordsIn(values.scopes).map((scope) => ` --scope ${scope}`);
  const ends = values.days === "" ? "" : ` --expires ${values.days}d`;
  return (
    <FormDrawer
      title="Create a key"
      act="Create the key"
      onClose={onClose}
      onDiscard={form.discard}
      onSubmit={form.submit}
      isDirty={form.isDirty}
      isSending={form.isSending}
      refused={name === "" ? "Say a name first." : undefined}
      error={rest}
      cli={`godel key create ${name || "NAME"}${words.join("")}${ends}`}
    >
      <TextField
        label="Name"
        value={values.name}
        autoFocus
        autoComplete="off"
        placeholder="ci"
        error={fields.name}
        onChange={(event) => set("name", event.target.value)}
      />
      <TextField
        label="Narrowed to"
        value={values.scopes}
        placeholder="event:read:team"
        error={fields.scopes}
        note="Permissions with blanks between them; nothing means all that you may do."
        onChange={(event) => set("scopes", event.target.value)}
      />
      <Choice
        label="It ends"
        value={values.days}
        options={ENDS}
        onChange={(days) => set("days", days)}
      />
    </FormDrawer>
  );
}
