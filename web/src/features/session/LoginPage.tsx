import { Button } from "../../ui/Button";
import { CardPage } from "../../ui/CardPage";
import { Disclosure } from "../../ui/Disclosure";
import { ErrorNotice, Notice } from "../../ui/Notice";
import { KeyForm, PasswordForm } from "./LoginForms";
import { actorName, type Door, useKeepSession, useLogin } from "./queries";

/** The way in, when no login link did it already; `purpose` says what waits behind it. */
export function LoginPage({ door, purpose }: { door: Door; purpose?: string | undefined }) {
  const login = useLogin();
  const keepSession = useKeepSession();
  const error = login.error ?? (login.isIdle ? door.refusal : undefined);
  const kept = door.refusal && door.session;
  const form = { isBusy: login.isPending, error: login.error, onLogin: login.mutate };
  return (
    <CardPage
      title="Sign in to Godel"
      lead={
        <>
          Open the login link that <code>godel up</code> prints, or sign in with your password.
        </>
      }
      links={
        <>
          <a href="/docs">API reference</a>
          <a href="/health">Health</a>
        </>
      }
    >
      {error && <ErrorNotice error={error} />}
      {door.ended && !error && (
        <Notice tone="plain">Your session has ended. Sign in again to go on.</Notice>
      )}
      {purpose && !door.ended && !error && <Notice tone="plain">{purpose}</Notice>}
      {kept && (
        <Button look="line" onClick={() => keepSession(kept)}>
          Go on as {actorName(kept)}
        </Button>
      )}
      <PasswordForm {...form} />
      <Disclosure label="Use an API key instead">
        <KeyForm {...form} />
      </Disclosure>
    </CardPage>
  );
}
