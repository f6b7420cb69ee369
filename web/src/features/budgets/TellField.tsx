import { useId, useState } from "react";
import type { User } from "../../api/types";
import { useRefusal } from "../../roles/session";
import { TextField } from "../../ui/Field";
import { Checks } from "../../ui/form/Checks";
import { Choice } from "../../ui/form/Choice";
import { plural } from "../../ui/format";
import { chosenOf, toldOf, type Values } from "./budgetForm";
import { TOLD_MOST } from "./budgets";
import styles from "./TellField.module.css";

/** With more people than that, one is found faster by name. */
const FIND_FROM = 10;

interface TellFieldProps {
  values: Values;
  set: (name: "told" | "tell", value: string) => void;
  people: readonly User[] | undefined;
  error: string | undefined;
}

/** Who hears of a budget: everybody who may know of it, or a few that are named. */
export function TellField({ values, set, people, error }: TellFieldProps) {
  const id = useId();
  return (
    <div className={styles.group}>
      <Choice
        label="Who is told"
        value={values.told}
        options={[
          ["all", "Everybody who may know of it"],
          ["some", "Chosen people"],
        ]}
        onChange={(told) => set("told", told)}
        note="At the warning, and when the limit is reached: in the inbox."
      />
      {values.told === "some" && (
        <People values={values} set={set} people={people} wrong={error && id} />
      )}
      {error !== undefined && (
        <p id={id} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function People({
  values,
  set,
  people,
  wrong,
}: Pick<TellFieldProps, "values" | "set" | "people"> & { wrong: string | undefined }) {
  const id = useId();
  const [wanted, setWanted] = useState("");
  const denied = useRefusal("user:read:team");
  const chosen = chosenOf(values);
  if (denied !== undefined) {
    return <p className={styles.note}>{`${plural(chosen.length, "person")} chosen. ${denied}`}</p>;
  }
  const told = toldOf(values, people);
  const isFull = told.length >= TOLD_MOST;
  const offered = (people ?? []).filter((one) => isOffered(one, chosen));
  const found = offered.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      {offered.length > FIND_FROM && (
        <TextField
          label="Find a person"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      <Checks
        label="People who are told"
        options={found.map((person) => [person.id, person.name] as const)}
        chosen={chosen}
        onChange={(next) => set("tell", next.join(" "))}
        isFull={isFull}
        describedBy={[`${id}-note`, wrong].filter(Boolean).join(" ")}
      />
      <p id={`${id}-note`} className={styles.note}>
        {isFull
          ? `More than ${TOLD_MOST} people cannot be told.`
          : `${told.length} of at most ${TOLD_MOST} chosen.`}
        {people && told.length < chosen.length && " Who is not here any more is left out."}
      </p>
    </>
  );
}

/** Nobody reads the inbox of an account that is closed; who was chosen can still be taken out. */
function isOffered({ id, status }: User, chosen: readonly string[]): boolean {
  return chosen.includes(id) || !["disabled", "erased"].includes(status);
}
