import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../actions/actions";
import { ESTOP, MAY_STOP } from "../features/estop/actions";
import { EstopDialog } from "../features/estop/EstopDialog";
import { estopQuery, standstillQuery, useResumeAll, useStopAll } from "../features/estop/queries";
import { Guarded } from "../roles/Guarded";
import { Icon } from "../ui/Icon";
import { asSentence } from "../ui/Sentence";
import { Time } from "../ui/Time";
import styles from "./ReconnectBanner.module.css";

/** Says since when and why everything stands still, and lets it go on; the palette stops it. */
export function EstopBanner() {
  const { data } = useQuery(estopQuery);
  const isStopped = data?.stopped === true;
  const [isAsking, setAsking] = useState(false);
  const stop = useStopAll();
  const resume = useResumeAll();
  const goOn = () => resume.mutate();
  useAction(ESTOP.stop, () => setAsking(true), {
    cli: "godel estop",
    disabled: isStopped ? "Everything stands still already." : undefined,
  });
  useAction(ESTOP.resume, goOn, { cli: "godel resume", when: isStopped });
  return (
    <>
      {isStopped && (
        <section className={styles.banner} data-tone="bad" aria-label="Emergency stop">
          <Icon name="stop" size={15} />
          <p role="alert">
            Everything stands still.{" "}
            {data.reason ? asSentence(data.reason) : "No reason was given."}
          </p>
          <Since />
          <Guarded size="small" align="end" can={MAY_STOP} cli="godel resume" onClick={goOn}>
            Resume
          </Guarded>
        </section>
      )}
      {isAsking && (
        <EstopDialog
          onClose={() => setAsking(false)}
          onStop={(reason) => {
            setAsking(false);
            stop.mutate(reason);
          }}
        />
      )}
    </>
  );
}

function Since() {
  const { data } = useQuery(standstillQuery);
  if (!data) return null;
  return (
    <span className={styles.next}>
      Stopped <Time at={data.at} />
      {data.by && ` by ${data.by}`}
    </span>
  );
}
