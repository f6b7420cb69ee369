import type { Preview } from "../../api/types";
import { ShortId } from "../../ui/ShortId";
import { Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import styles from "./PreviewPanel.module.css";
import { isRunning } from "./target";

/** How a preview stands: read out when it changes, so it stays the same element for all states. */
export function PreviewHead({ preview }: { preview: Preview }) {
  return (
    <p className={styles.line}>
      <span aria-live="polite">
        <State preview={preview} />
      </span>
      {isRunning(preview) ? <WhatItShows preview={preview} /> : <HowItEnded preview={preview} />}
    </p>
  );
}

function State({ preview }: { preview: Preview }) {
  if (preview.state === "ready") {
    return (
      <Status tone="ok" icon="check">
        Running
      </Status>
    );
  }
  if (isRunning(preview)) {
    return (
      <Status tone="info" icon="clock">
        Starting
      </Status>
    );
  }
  return (
    <Status tone={isBad(preview) ? "bad" : "plain"} icon={isBad(preview) ? "cross" : "stop"}>
      Preview ended
    </Status>
  );
}

function isBad({ exitCode }: Preview): boolean {
  return typeof exitCode === "number" && exitCode !== 0;
}

function WhatItShows({ preview: { isLive, agent, commit, endsAt } }: { preview: Preview }) {
  return (
    <>
      {isLive && <span>live: the files of {agent ?? "its agent"}, as they change</span>}
      {!isLive && commit && (
        <span>
          of commit <ShortId id={commit} />
        </span>
      )}
      <span>
        ends <Time at={endsAt} />
      </span>
    </>
  );
}

function HowItEnded({ preview }: { preview: Preview }) {
  return (
    <>
      {isBad(preview) && <span>{`with code ${preview.exitCode}`}</span>}
      {preview.endedAt && <Time at={preview.endedAt} />}
    </>
  );
}
