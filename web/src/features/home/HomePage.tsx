import { useCallback } from "react";
import { patternFromInput } from "../../realtime/pattern";
import { useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { EventsPanel } from "../events/EventsPanel";
import { useEventStream } from "../events/useEventStream";
import { HealthPanel } from "../health/HealthPanel";
import { IntentBox } from "../intents/IntentBox";
import { Invitation } from "../welcome/Invitation";
import styles from "./HomePage.module.css";

/** The first page: is the server well, and what is happening. */
export function Page() {
  const [param, setParam] = useParam("events");
  const pattern = patternFromInput(param ?? "") ?? "*";
  const setPattern = useCallback(
    (next: string) => setParam(next === "*" ? undefined : next),
    [setParam],
  );
  const [trace, setTrace] = useParam("trace");
  const stream = useEventStream(pattern, trace);
  return (
    <div className={styles.page}>
      <h1 className="visually-hidden">Home</h1>
      <Boundary what="The invitation">
        <Invitation />
      </Boundary>
      <Boundary what="The box for a wish">
        <IntentBox />
      </Boundary>
      <Boundary what="The health of the server">
        <HealthPanel />
      </Boundary>
      <Boundary what="The events">
        <EventsPanel
          stream={stream}
          pattern={pattern}
          onPattern={setPattern}
          trace={trace}
          onAll={() => setTrace(undefined)}
        />
      </Boundary>
    </div>
  );
}
