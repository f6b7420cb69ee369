import { useEffect, useEffectEvent } from "react";
import type { GodelEvent } from "../../api/types";
import { useHub } from "../../realtime/live";
import { navigate } from "../../router/router";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { useStored } from "../../ui/useStored";
import { asked } from "./asked";

const STORED = "inbox.desktop";

/** Turns notices of the desktop on and off; the browser asks the person first. */
export function DesktopSwitch() {
  const [isOn, setOn] = useStored(STORED, false);
  if (typeof Notification === "undefined") return null;
  const isDenied = Notification.permission === "denied";
  const toggle = async () => {
    if (isOn) return setOn(false);
    setOn((await Notification.requestPermission()) === "granted");
  };
  return (
    <Button
      look="quiet"
      size="small"
      aria-pressed={isOn && !isDenied}
      title={isDenied ? "The browser does not allow notices from this page" : undefined}
      disabled={isDenied}
      onClick={toggle}
    >
      <Icon name="bell" size={15} />
      Desktop notices {isOn && !isDenied ? "on" : "off"}
    </Button>
  );
}

/** What a notice of the desktop says about an event, if it is worth one. */
export function noticeOf(event: Pick<GodelEvent, "type" | "payload" | "metadata">) {
  const told = asked(event);
  return (
    told && {
      tag: told.notice,
      title: `Godel: ${told.title.toLowerCase()}`,
      body: told.text,
      place: told.id === undefined ? "/inbox" : `/inbox?notice=${encodeURIComponent(told.id)}`,
    }
  );
}

/** Tells the desktop what waits, once per incident, if the person wants that. */
export function useDesktopNotices(): void {
  const hub = useHub();
  const tell = useEffectEvent((events: readonly GodelEvent[]) => {
    const notices = events.flatMap((event) => noticeOf(event) ?? []);
    // Most events are worth no notice, and to look whether it is wanted holds up the page: the browser has to ask.
    if (notices.length === 0 || !isWanted()) return;
    for (const told of notices) {
      // The tag makes a second notice about the same incident replace the first.
      const shown = new Notification(told.title, { body: told.body, tag: told.tag });
      shown.onclick = () => {
        window.focus();
        navigate(told.place);
      };
    }
  });
  useEffect(() => hub.read((told) => told.type === "events" && tell(told.fresh)), [hub]);
}

function isWanted(): boolean {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return false;
  try {
    return localStorage.getItem(`godel.${STORED}`) === "true" && !document.hasFocus();
  } catch {
    return false;
  }
}
