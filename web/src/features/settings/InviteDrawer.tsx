import { post } from "../../api/client";
import type { Invitation } from "../../api/types";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError, useForm } from "../../ui/form/form";
import { useProject } from "../projects/queries";
import { ROLES } from "./roles";

interface InviteDrawerProps {
  onClose: () => void;
  onInvited: (made: Invitation) => void;
}

/** Makes an account; whoever gets its link opens it. */
export function InviteDrawer({ onClose, onInvited }: InviteDrawerProps) {
  const { projects } = useProject();
  const form = useForm({
    draft: "invite",
    initial: { name: "", role: "developer", project: "" },
    send: ({ name, role, project }) =>
      post("/api/v1/users", {
        name: name.trim(),
        role,
        projects: project === "" ? [] : [project],
      }),
    done: onInvited,
  });
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, { name: /name|called/i });
  const name = values.name.trim();
  const project = projects.find(({ id }) => id === values.project)?.name;
  return (
    <FormDrawer
      title="Invite somebody"
      act="Make the link"
      onClose={onClose}
      form={form}
      can="user:create:team"
      refused={name === "" ? "Say a name first." : undefined}
      error={rest}
      cli={`godel user invite ${name || "NAME"} --role ${values.role}${project ? ` --project ${project}` : ""}`}
    >
      <TextField
        label="Name"
        value={values.name}
        autoFocus
        autoComplete="off"
        error={fields.name}
        onChange={(event) => set("name", event.target.value)}
      />
      <Choice
        label="Role"
        value={values.role}
        options={ROLES.map((role) => [role, role])}
        onChange={(role) => set("role", role)}
      />
      <Choice
        label="Works in"
        value={values.project}
        options={[["", "All projects"], ...projects.map(({ id, name }) => [id, name] as const)]}
        onChange={(id) => set("project", id)}
      />
    </FormDrawer>
  );
}
