import { post } from "../../../api/client";
import type { AgentTokenMade } from "../../../api/types";
import { Choice } from "../../../ui/form/Choice";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { FormField } from "../../../ui/form/FormField";
import { placeError, useForm } from "../../../ui/form/form";
import { microsOf } from "../../budgets/budgets";
import { useProject } from "../../projects/queries";
import { createCli, EMPTY_TOKEN, MAY_CREATE, type TokenValues, tokenOf } from "./tokens";

const ENDS = [
  ["", "Never"],
  ["8h", "In 8 hours"],
  ["1d", "In a day"],
  ["7d", "In 7 days"],
  ["30d", "In 30 days"],
  ["90d", "In 90 days"],
] as const;

interface TokenDrawerProps {
  onClose: () => void;
  onMade: (made: AgentTokenMade) => void;
}

/** Makes a token by which an agent or an SDK asks models through this server. */
export function TokenDrawer({ onClose, onMade }: TokenDrawerProps) {
  const { projects } = useProject();
  const form = useForm<TokenValues, AgentTokenMade>({
    draft: "token",
    initial: EMPTY_TOKEN,
    send: (values) => post("/api/v1/agent-tokens", tokenOf(values)),
    done: onMade,
  });
  const { values, set } = form;
  const { fields, rest } = placeError<keyof TokenValues>(form.error, {
    models: /models/i,
    budget: /budget/i,
    project: /project/i,
    agent: /agent|bead|convoy/i,
    name: /name/i,
  });
  const isBudgetBad = values.budget.trim() !== "" && microsOf(values.budget) === undefined;
  const faults = { ...fields, ...(isBudgetBad && { budget: "Write dollars, such as 5." }) };
  const props = { form, faults };
  return (
    <FormDrawer
      title="Create a token"
      act="Create the token"
      onClose={onClose}
      form={form}
      can={MAY_CREATE}
      refused={whyNot(values.name, isBudgetBad)}
      error={rest}
      cli={createCli(values, projects.find(({ id }) => id === values.project)?.name)}
    >
      <FormField {...props} name="name" label="Name" placeholder="laptop" autoFocus />
      <Choice
        label="It ends"
        value={values.ends}
        options={ENDS}
        onChange={(next) => set("ends", next)}
      />
      <FormField
        {...props}
        name="budget"
        label="It may spend in all, in dollars"
        note="Nothing means no limit."
      />
      <FormField
        {...props}
        name="models"
        label="Only these models"
        placeholder="claude-*, gpt-*"
        note="With blanks or commas between them; nothing means all."
      />
      <Choice
        label="Works for the project"
        value={values.project}
        options={[["", "None"], ...projects.map(({ id, name }) => [id, name] as const)]}
        onChange={(next) => set("project", next)}
        note="Its limits and budgets count."
      />
      <FormField {...props} name="agent" label="Works as the agent" placeholder="builder-1" />
      <FormField {...props} name="bead" label="Works on the bead" />
      <FormField {...props} name="convoy" label="Works on the convoy" />
    </FormDrawer>
  );
}

function whyNot(name: string, isBudgetBad: boolean): string | undefined {
  if (name.trim() === "") return "Say a name first.";
  return isBudgetBad ? "The budget is no number of dollars." : undefined;
}
