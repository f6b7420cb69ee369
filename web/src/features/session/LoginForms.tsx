import { type FormEvent, useEffect, useRef } from "react";
import { ApiError } from "../../api/client";
import type { LoginRequest } from "../../api/types";
import { Button } from "../../ui/Button";
import { Disclosure } from "../../ui/Disclosure";
import { SecretField, TextField } from "../../ui/Field";
import styles from "./LoginForms.module.css";

interface LoginFormProps {
  isBusy: boolean;
  error: Error | null;
  onLogin: (request: LoginRequest) => void;
}

/**
 * Name and password. The fields are read when they are sent: some password managers fill them in
 * without telling the page. The key has a form of its own, so that no manager takes it for a
 * second password of this one.
 */
export function PasswordForm({ isBusy, error, onLogin }: LoginFormProps) {
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!(error instanceof ApiError) || error.code !== "wrong_password") return;
    password.current?.focus();
    password.current?.select();
  }, [error]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const name = textOf(fields, "username").trim();
    const secret = textOf(fields, "password");
    const tenant = textOf(fields, "tenant").trim();
    if (isBusy || name === "" || secret === "") return;
    onLogin({ name, password: secret, ...(tenant !== "" && { tenant }) });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField label="Name" name="username" autoComplete="username" maxLength={100} required />
      <SecretField
        ref={password}
        label="Password"
        name="password"
        autoComplete="current-password"
        maxLength={1024}
        required
      />
      <Disclosure label="Another tenant">
        <TextField
          label="Tenant"
          name="tenant"
          autoComplete="organization"
          maxLength={100}
          note="Leave it empty for the first one of this server."
        />
      </Disclosure>
      <Button look="solid" type="submit" className={styles.submit} disabled={isBusy}>
        {isBusy ? "Signing in" : "Sign in"}
      </Button>
    </form>
  );
}

/** An API key, such as the owner key of a server. */
export function KeyForm({ isBusy, onLogin }: LoginFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = textOf(new FormData(event.currentTarget), "key").trim();
    if (!isBusy && key !== "") onLogin({ key });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <SecretField
        label="API key"
        name="key"
        autoComplete="off"
        maxLength={200}
        required
        note="The owner key is in owner.key in the data directory."
      />
      <Button type="submit" className={styles.submit} disabled={isBusy}>
        {isBusy ? "Signing in" : "Sign in with the key"}
      </Button>
    </form>
  );
}

function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}
