import { post } from "../../api/client";
import { serverNow } from "../../api/clock";
import type { KeyMade } from "../../api/types";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { FormField } from "../../ui/form/FormField";
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
  const props = { form, faults: fields };
  const name = values.name.trim();
  const words = wordsIn(values.scopes).map((scope) => ` --scope ${scope}`);
  const ends = values.days === "" ? "" : ` --expires ${values.days}d`;
  return (
    <FormDrawer
      title="Create a key"
      act="Create the key"
      onClose={onClose}
      form={form}
      can="key:create:own"
      refused={name === "" ? "Say a name first." : undefined}
      error={rest}
      cli={`godel key create ${name || "NAME"}${words.join("")}${ends}`}
    >
      <FormField {...props} name="name" label="Name" placeholder="ci" autoFocus />
      <FormField
        {...props}
        name="scopes"
        label="Narrowed to"
        placeholder="event:read:team"
        note="Permissions with blanks between them; nothing means all that you may do."
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
