import { useQueryClient } from "@tanstack/react-query";
import { memo, Suspense, useEffect, useState } from "react";
import { useAction } from "../actions/actions";
import { useKeys } from "../actions/listener";
import type { Session } from "../api/types";
import { ConfirmHost } from "../change/confirm";
import { Toaster } from "../change/Toaster";
import { healthQuery } from "../features/health/queries";
import { Announcer } from "../features/inbox/Announcer";
import { sessionQuery } from "../features/session/queries";
import { PAGES } from "../pages";
import { type Step, useAsked } from "../palette/asking";
import { Palette } from "../palette/Palette";
import { LiveProvider, useLive } from "../realtime/live";
import { SessionProvider } from "../roles/session";
import { restOf } from "../router/match";
import { navigate, usePlace } from "../router/router";
import { setTheme, THEMES } from "../theme/theme";
import { Boundary } from "../ui/Boundary";
import { Empty } from "../ui/Empty";
import { LinkButton } from "../ui/LinkButton";
import { SkeletonRows } from "../ui/Skeleton";
import { KEYS, PALETTE, pageActions, THEME } from "./actions";
import { EstopBanner } from "./EstopBanner";
import { KeySheet } from "./KeySheet";
import { PendingHint } from "./PendingHint";
import { ReconnectBanner } from "./ReconnectBanner";
import styles from "./Shell.module.css";
import { SideNav } from "./SideNav";
import { TopBar } from "./TopBar";

/** Everything around the pages, for who is logged in. */
export function Shell({ session }: { session: Session }) {
  return (
    <SessionProvider value={session}>
      <LiveProvider>
        <Frame />
      </LiveProvider>
    </SessionProvider>
  );
}

function Frame() {
  const [open, setOpen] = useState<"palette" | "keys">();
  const [isNavOpen, setNavOpen] = useState(false);
  const [asked, setAsked] = useState<Step>();
  const close = () => {
    setOpen(undefined);
    setAsked(undefined);
  };
  useKeys();
  useAsked((step) => {
    setAsked(step);
    setOpen("palette");
  });
  useRecheck();
  usePrefetch();
  useAction(PALETTE, () => setOpen("palette"));
  useAction(KEYS, () => setOpen("keys"));
  for (const [theme, spec] of THEMES.map((theme) => [theme, THEME[theme]] as const)) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useAction(spec, () => setTheme(theme));
  }
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <SideNav isOpen={isNavOpen} onClose={() => setNavOpen(false)} />
      <div className={styles.page}>
        <TopBar
          isNavOpen={isNavOpen}
          onNav={() => setNavOpen(!isNavOpen)}
          onPalette={() => setOpen("palette")}
          onKeys={() => setOpen("keys")}
        />
        <EstopBanner />
        <ReconnectBanner />
        <main id="main" className={styles.main} tabIndex={-1}>
          <CurrentPage />
        </main>
      </div>
      {PAGES.map((page) => (
        <GoTo key={page.id} id={page.id} path={page.path} />
      ))}
      {open === "palette" && <Palette asked={asked} onClose={close} />}
      {open === "keys" && <KeySheet onClose={close} />}
      <PendingHint />
      <ConfirmHost />
      <Toaster />
      <Announcer />
    </div>
  );
}

/** What opens over the page, such as the palette, does not draw the page again. */
const CurrentPage = memo(function CurrentPage() {
  const { path } = usePlace();
  const page = PAGES.find((one) => restOf(path, one.path) !== undefined);
  const title = page?.title;
  useEffect(() => {
    document.title = title ? `${title} · Godel` : "Godel";
    document.getElementById("main")?.scrollTo?.({ top: 0 });
  }, [title]);
  if (!page) {
    return (
      <Empty
        icon="search"
        why={
          <>
            There is no page <code>{path}</code>.
          </>
        }
        action={<LinkButton to="/">Go home</LinkButton>}
      />
    );
  }
  const { View } = page;
  return (
    <Boundary key={page.id} what={`The page ${page.title}`}>
      <Suspense fallback={<SkeletonRows />}>
        <View rest={restOf(path, page.path) ?? []} />
      </Suspense>
    </Boundary>
  );
});

/** The key and the line of the palette that lead to a page. */
function GoTo({ id, path }: { id: string; path: string }) {
  const spec = pageActions.get(id);
  if (!spec) throw new Error(`the page ${id} has no action`);
  useAction(spec, () => navigate(path));
  return null;
}

/** A lost connection may mean a lost session; a new one may mean a new server. */
function useRecheck(): void {
  const client = useQueryClient();
  const { phase } = useLive().connection;
  useEffect(() => {
    if (phase === "reconnecting" || phase === "offline") {
      client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    }
    if (phase !== "connecting") client.invalidateQueries({ queryKey: healthQuery.queryKey });
  }, [phase, client]);
}

/** Fetches the code of all pages when there is time, so that going there works without a network. */
function usePrefetch(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const page of PAGES) page.load().catch(() => {});
    }, 2_000);
    return () => clearTimeout(timer);
  }, []);
}
