import { type FormEvent, useState } from "react";
import { ApiError } from "../../api/client";
import type { Session } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { SecretField } from "../../ui/Field";
import { ErrorNotice, Notice } from "../../ui/Notice";
import { actorName, useSetPassword } from "../session/queries";
import styles from "./PasswordDialog.module.css";

const MIN_CHARS = 12;

function isCurrentNeeded(error: Error): boolean {
  return error instanceof ApiError && error.code === "current_password_needed";
}

/** Sets the own password: with it one can sign in without a link or a key. */
export function PasswordDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const change = useSetPassword();
  // Only the server knows whether there is one; it is asked for when it is needed.
  const [hasCurrent, setHasCurrent] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [password, current] = [fields.get("password"), fields.get("current")];
    if (typeof password !== "string" || change.isPending) return;
    const request =
      typeof current === "string" ? { password, currentPassword: current } : { password };
    change.mutate(request, { onError: (error) => isCurrentNeeded(error) && setHasCurrent(true) });
  };
  if (change.isSuccess) {
    return (
      <Dialog title="Set password" onClose={onClose}>
        <div className={styles.form}>
          <Notice tone="plain">Your password is set. Your other sessions have ended.</Notice>
          <div className={styles.acts}>
            <Button look="solid" onClick={onClose}>
              Close
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Set password" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        {/* Tells a password manager whose password this is. */}
        <input hidden readOnly name="username" autoComplete="username" value={actorName(session)} />
        <SecretField
          label="New password"
          name="password"
          autoComplete="new-password"
          minLength={MIN_CHARS}
          maxLength={1024}
          required
          note={`${MIN_CHARS} characters or more. Your other sessions will end.`}
        />
        {hasCurrent && (
          <SecretField
            label="Current password"
            name="current"
            autoComplete="current-password"
            maxLength={1024}
            required
            autoFocus
            note="Your account has a password already. Forgotten? An admin can send you a new link."
          />
        )}
        {change.error && !isCurrentNeeded(change.error) && <ErrorNotice error={change.error} />}
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="solid" type="submit" disabled={change.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
