import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import styles from "./App.module.css";
import { DevicePage } from "./features/device/DevicePage";
import { isDevicePath } from "./features/device/deviceLink";
import { LoginPage } from "./features/session/LoginPage";
import { takeLoginToken } from "./features/session/loginLink";
import { offerLoginToken, sessionQuery } from "./features/session/queries";
import { Shell } from "./shell/Shell";
import { Boundary } from "./ui/Boundary";
import { Button } from "./ui/Button";
import { Logo } from "./ui/Logo";
import { ErrorNotice } from "./ui/Notice";

const DEVICE_PURPOSE = "Sign in first. Then you can let the program in, or not.";

/** Shows the dashboard to who is logged in, the way in to everyone else. */
export function App() {
  const { data: door, error, isFetching, refetch } = useQuery(sessionQuery);
  useLateLoginLink();

  const isDevice = isDevicePath(window.location.pathname);
  if (door?.session && !door.refusal) {
    const { session } = door;
    if (isDevice) return <DevicePage session={session} />;
    // What one person has seen must not stay for the next one.
    return (
      <Boundary key={`${session.tenant.id} ${session.userId}`} what="The dashboard">
        <Shell session={session} />
      </Boundary>
    );
  }
  if (door) return <LoginPage door={door} purpose={isDevice ? DEVICE_PURPOSE : undefined} />;
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
