import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import styles from "./App.module.css";
import { LoginPage } from "./features/session/LoginPage";
import { takeLoginToken } from "./features/session/loginLink";
import { offerLoginToken, sessionQuery } from "./features/session/queries";
import { HomePage } from "./routes/HomePage";
import { Button } from "./ui/Button";
import { Logo } from "./ui/Logo";
import { ErrorNotice } from "./ui/Notice";

/** Shows the dashboard to who is logged in, the way in to everyone else. */
export function App() {
  const { data: door, error, isFetching, refetch } = useQuery(sessionQuery);
  useLateLoginLink();

  if (door?.session && !door.refusal) {
    return <HomePage key={door.session.tenant.id} session={door.session} />;
  }
  if (door) return <LoginPage door={door} />;
  return (
    <main className={styles.splash} aria-busy={isFetching}>
      <Logo size={34} />
      {error && !isFetching && (
        <>
          <ErrorNotice error={error} />
          <Button onClick={() => refetch()}>Try again</Button>
        </>
      )}
    </main>
  );
}

/** A login link pasted into a page that is open already changes only the fragment. */
function useLateLoginLink(): void {
  const client = useQueryClient();
  useEffect(() => {
    const onHash = () => {
      const token = takeLoginToken(window);
      if (!token) return;
      offerLoginToken(token);
      client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, [client]);
}
