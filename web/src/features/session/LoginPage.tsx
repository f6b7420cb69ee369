import { type FormEvent, useId, useState } from "react";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Logo } from "../../ui/Logo";
import { ErrorNotice, Notice } from "../../ui/Notice";
import styles from "./LoginPage.module.css";
import { actorName, type Door, useKeepSession, useLogin } from "./queries";

/** The way in: with the owner key, when no login link did it already. */
export function LoginPage({ door }: { door: Door }) {
  const login = useLogin();
  const keepSession = useKeepSession();
  const error = login.error ?? (login.isIdle ? door.refusal : undefined);
  const kept = door.refusal && door.session;
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <Logo size={34} />
        <h1 className={styles.title}>Sign in to Godel</h1>
        <p className={styles.lead}>
          Open the login link that <code>godel up</code> prints, or paste the owner key.
        </p>
        {error && <ErrorNotice error={error} />}
        {door.ended && !error && (
          <Notice tone="plain">Your session has ended. Sign in again to go on.</Notice>
        )}
        {kept && (
          <Button look="line" onClick={() => keepSession(kept)}>
            Go on as {actorName(kept)}
          </Button>
        )}
        <KeyForm isBusy={login.isPending} onKey={login.mutate} />
      </div>
      <footer className={styles.foot}>
        <a href="/docs">API reference</a>
        <a href="/health">Health</a>
      </footer>
    </main>
  );
}

function KeyForm({ isBusy, onKey }: { isBusy: boolean; onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const [isShown, setShown] = useState(false);
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== "" && !isBusy) onKey(key.trim());
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor={id} className={styles.label}>
        Owner key
      </label>
      <div className={styles.field}>
        <input
          id={id}
          name="key"
          className={styles.input}
          type={isShown ? "text" : "password"}
          autoComplete="current-password"
          autoCapitalize="off"
          spellCheck={false}
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <button
          type="button"
          className={styles.eye}
          aria-pressed={isShown}
          aria-label="Show the key"
          onClick={() => setShown(!isShown)}
        >
          <Icon name="eye" size={18} />
        </button>
      </div>
      <Button look="solid" type="submit" className={styles.submit} disabled={isBusy}>
        {isBusy ? "Signing in" : "Sign in"}
      </Button>
    </form>
  );
}
