import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { LiveHub, type LiveState } from "./hub";
import { RuleRunner } from "./rules";

const Hub = createContext<LiveHub | undefined>(undefined);

/** Keeps the one live connection of the page, and the cache up to date by it. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [{ hub, runner }] = useState(() => {
    const runner = new RuleRunner(client);
    const hub = new LiveHub({
      url: eventsUrl(window.location),
      onEvents: (events) => runner.apply(events),
      onDoubt: () => runner.refetchAll(),
    });
    return { hub, runner };
  });
  useEffect(() => {
    hub.start();
    const stopHints = onComeback(() => hub.retryNow());
    return () => {
      stopHints();
      hub.stop();
      runner.stop();
    };
  }, [hub, runner]);
  return <Hub value={hub}>{children}</Hub>;
}

/** The live connection itself, for who reads the log. */
export function useHub(): LiveHub {
  const hub = useContext(Hub);
  if (!hub) throw new Error("there is no live connection around this component");
  return hub;
}

/** The state of the live connection. */
export function useLive(): LiveState {
  const hub = useHub();
  return useSyncExternalStore(hub.subscribe, () => hub.state);
}

/** False while the connection is lost: what cannot be taken back must wait until it is not. */
export function useIsOnline(): boolean {
  const hub = useContext(Hub);
  return useSyncExternalStore(
    hub?.subscribe ?? never,
    () => hub === undefined || hub.state.downSince === undefined,
  );
}

const never = () => () => {};

/** The WebSocket address of the server this page came from. */
export function eventsUrl(location: { protocol: string; host: string }): string {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/events`;
}

/** Calls back when the network or the reader returns: both are good moments to try again. */
function onComeback(act: () => void): () => void {
  const onVisible = () => document.visibilityState === "visible" && act();
  window.addEventListener("online", act);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    window.removeEventListener("online", act);
    document.removeEventListener("visibilitychange", onVisible);
  };
}
