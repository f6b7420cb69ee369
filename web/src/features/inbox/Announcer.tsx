import { useEffect, useEffectEvent, useState } from "react";
import type { GodelEvent } from "../../api/types";
import { useHub } from "../../realtime/live";
import { asked } from "./asked";

/**
 * Tells a screen reader at once, on every page, that a person is needed. It is always there:
 * a region that comes together with its text is not read out.
 */
export function Announcer() {
  const hub = useHub();
  const [text, setText] = useState("");
  const hear = useEffectEvent((events: readonly GodelEvent[]) => {
    const told = wordsFor(events);
    if (told !== undefined) setText(told);
  });
  useEffect(() => hub.read((told) => told.type === "events" && hear(told.fresh)), [hub]);
  return (
    <p className="visually-hidden" aria-live="assertive" aria-atomic="true" data-announces>
      {text}
    </p>
  );
}

/** One sentence for all that came at once: the newest in full, the others counted. */
export function wordsFor(events: readonly GodelEvent[]): string | undefined {
  const found = events.flatMap((event) => asked(event) ?? []);
  const last = found.at(-1);
  if (!last) return undefined;
  const who = last.agent ?? "Something";
  const others = found.length > 1 ? ` ${found.length - 1} more came with it.` : "";
  return `${who} needs you. ${last.title}: ${last.text}${others}`;
}
