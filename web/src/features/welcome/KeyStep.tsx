import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { put } from "../../api/client";
import type { ProviderTest, Secret } from "../../api/types";
import { toast } from "../../change/toasts";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { SecretField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { placeError, useForm } from "../../ui/form/form";
import { Loaded } from "../../ui/Loaded";
import { ErrorNotice, Notice } from "../../ui/Notice";
import { SkeletonRows } from "../../ui/Skeleton";
import { Verdicts } from "../settings/ProvidersSection";
import { settingsQueries } from "../settings/queries";
import { AgentPrograms } from "./AgentPrograms";
import type { Diagnosis } from "./doctor";
import styles from "./WelcomePage.module.css";

interface KeyStepProps {
  tests: UseQueryResult<{ items: ProviderTest[] }>;
  /** Why this person may not try keys. */
  denied: string | undefined;
  /** What is on this machine; nothing for who may not look. */
  doctor: UseQueryResult<Diagnosis> | undefined;
  onDone: () => void;
}

/** Which agents and keys there are, whether they work right now, and a place for another key. */
export function KeyStep({ tests, denied, doctor, onDone }: KeyStepProps) {
  if (denied !== undefined) return <Notice tone="plain">{denied}</Notice>;
  const works = tests.data?.items.some((one) => one.works) ?? false;
  const tryAgain = () => tests.refetch();
  const acts = (
    <>
      <Guarded
        can="secret:execute:team"
        cli="godel provider test"
        refused={tests.isFetching ? "It is being tried." : undefined}
        onClick={tryAgain}
      >
        {tests.isFetching ? "Trying" : "Try again"}
      </Guarded>
      <Button look={works ? "solid" : "quiet"} onClick={onDone}>
        {works ? "Go on" : "Skip this step"}
      </Button>
    </>
  );
  return (
    <>
      {doctor && <AgentPrograms doctor={doctor} hasKey={works} />}
      <p className={styles.part}>Keys of providers</p>
      <Loaded query={tests} what="The keys" skeleton={<SkeletonRows rows={1} height={54} />}>
        {({ items }) => <Verdicts tests={items} />}
      </Loaded>
      {works ? (
        <div className={styles.acts}>{acts}</div>
      ) : (
        <KeyForm onSet={tryAgain}>{acts}</KeyForm>
      )}
    </>
  );
}

function KeyForm({ onSet, children }: { onSet: () => void; children: ReactNode }) {
  const { data } = useQuery(settingsQueries.providers);
  const providers = (data?.items ?? []).map(({ provider }) => provider);
  const nameIn = (values: { name: string }) => values.name || (providers[0] ?? "");
  const form = useForm<{ name: string; value: string }, Secret>({
    initial: { name: "", value: "" },
    send: (values) =>
      put(`/api/v1/secrets/${encodeURIComponent(nameIn(values))}`, {
        value: values.value.trim(),
      }),
    done: (secret) => {
      form.set("value", "");
      toast({ title: `${secret.name} is set` });
      onSet();
    },
  });
  const { values, set } = form;
  const name = nameIn(values);
  const { fields, rest } = placeError(form.error, { value: /secret|value|key/i });
  const isReady = name !== "" && values.value.trim() !== "";
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) form.submit();
      }}
    >
      <Choice
        label="Provider"
        value={name}
        options={providers.map((one) => [one, one])}
        onChange={(next) => set("name", next)}
      />
      <SecretField
        label="Key"
        value={values.value}
        autoComplete="off"
        note="It is encrypted on the server and never shown again. Agents never see it."
        error={fields.value}
        onChange={(event) => set("value", event.target.value)}
      />
      {rest && <ErrorNotice error={rest} />}
      <div className={styles.acts}>
        <Guarded
          look="solid"
          type="submit"
          can="secret:update:team"
          refused={isReady ? undefined : "Paste a key first."}
          cli={`godel secret set ${name}`}
        >
          {form.isSending ? "Setting" : "Set and try it"}
        </Guarded>
        {children}
      </div>
    </form>
  );
}
