import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import type { Session } from "../api/types";
import { AccountMenu } from "../features/account/AccountMenu";
import { ConnectionBadge } from "../features/events/ConnectionBadge";
import { EventsPanel } from "../features/events/EventsPanel";
import { useEventStream } from "../features/events/useEventStream";
import { HealthPanel } from "../features/health/HealthPanel";
import { healthQuery } from "../features/health/queries";
import { sessionQuery } from "../features/session/queries";
import { patternFromInput } from "../realtime/pattern";
import { Logo } from "../ui/Logo";
import { useSearchParam } from "../ui/useSearchParam";
import styles from "./HomePage.module.css";

/** The first page: is the server well, and what is happening. */
export function HomePage({ session }: { session: Session }) {
  const [param, setParam] = useSearchParam("events");
  const pattern = patternFromInput(param ?? "") ?? "*";
  const setPattern = useCallback(
    (next: string) => setParam(next === "*" ? undefined : next),
    [setParam],
  );
  const stream = useEventStream(pattern);
  useRecheck(stream.connection.phase);
  return (
    <div className={styles.page}>
      <a href="#events-title" className={styles.skip}>
        Skip to the events
      </a>
      <TopBar session={session}>
        <ConnectionBadge connection={stream.connection} onRetry={stream.retryNow} />
      </TopBar>
      <main className={styles.main}>
        <h1 className="visually-hidden">Home</h1>
        <HealthPanel />
        <EventsPanel stream={stream} pattern={pattern} onPattern={setPattern} />
      </main>
    </div>
  );
}

function TopBar({ session, children }: { session: Session; children: React.ReactNode }) {
  return (
    <header className={styles.bar}>
      <span className={styles.brand}>
        <Logo />
        <span className={styles.name}>Godel</span>
      </span>
      <span className={styles.tenant}>{session.tenant.name}</span>
      <div className={styles.right}>
        {children}
        <nav className={styles.links} aria-label="More">
          <a href="/docs">API</a>
        </nav>
        <AccountMenu session={session} />
      </div>
    </header>
  );
}

/** A lost connection may mean a lost session; a new one may mean a new server. */
function useRecheck(phase: string): void {
  const client = useQueryClient();
  useEffect(() => {
    if (phase === "reconnecting" || phase === "offline") {
      client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    }
    if (phase !== "connecting") client.invalidateQueries({ queryKey: healthQuery.queryKey });
  }, [phase, client]);
}
