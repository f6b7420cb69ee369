import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../actions/actions";
import type { Preview } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useForeignRefusal, useSession } from "../../roles/session";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Icon } from "../../ui/Icon";
import { PREVIEW } from "./actions";
import styles from "./PreviewPanel.module.css";
import { named, type PreviewProps } from "./props";
import { previewQueries, useReadAgain, useStopPreview } from "./queries";
import { addressOf, isLoopback, lastLine, tunnelOf } from "./target";

interface RunningProps extends Omit<PreviewProps, "foreign"> {
  preview: Preview;
}

/** A preview that starts or is there: where it is, or how far, and how it is stopped. */
export function RunningPreview({ preview, target, name }: RunningProps) {
  const stop = useStopPreview();
  const foreign = useForeignPreview(preview);
  const cli = `godel preview stop ${preview.id}`;
  const stopIt = () => stop.mutate(preview);
  useAction(PREVIEW.stop, stopIt, {
    title: `${PREVIEW.stop.title} of ${target.name}`,
    cli,
    disabled: foreign,
    when: name === undefined,
  });
  return (
    <>
      {preview.state === "ready" ? (
        <Place preview={preview} name={name} />
      ) : (
        <SoFar preview={preview} name={name} />
      )}
      <div className={styles.acts}>
        <Guarded
          size="small"
          can={PREVIEW.stop.can}
          refused={foreign}
          cli={cli}
          onClick={stopIt}
          {...named("Stop", name)}
        >
          <Icon name="stop" size={14} />
          Stop
        </Guarded>
      </div>
    </>
  );
}

/** Why it is not to be stopped: some may stop only what they started. */
function useForeignPreview({ startedBy }: Preview): string | undefined {
  const { actor } = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  const person = (name: string) => name.replace(/^user:/, "");
  return refusedOf({ name: "The preview", isOwn: person(startedBy) === person(actor) });
}

type PlaceProps = Pick<RunningProps, "preview" | "name">;

/** A link, or, where the ports of the server are not those of the reader, the way to one. */
function Place({ preview, name }: PlaceProps) {
  const { hostname } = window.location;
  const link = (
    <a
      className={styles.open}
      href={`${addressOf(preview)}/`}
      target="_blank"
      rel="noopener noreferrer"
      {...named(`Open ${addressOf(preview)}`, name)}
    >
      <Icon name="open" size={14} />
      Open {addressOf(preview)}
    </a>
  );
  if (isLoopback(hostname)) return <div>{link}</div>;
  return (
    <>
      <p className={styles.soft}>
        It listens on the server's own machine only. Run this on yours and leave it open, then the
        link works:
      </p>
      <Cli command={tunnelOf(preview, hostname)} />
      <div>{link}</div>
    </>
  );
}

/** What its command printed last. */
function SoFar({ preview, name }: PlaceProps) {
  const { data } = useQuery(previewQueries.one(preview.id));
  const readAgain = useReadAgain();
  const line = lastLine(data?.output ?? "");
  return (
    <p className={styles.line}>
      <span className={styles.last}>{line || "It has printed nothing yet."}</span>
      <Button
        size="small"
        look="quiet"
        onClick={() => readAgain(preview)}
        {...named("Look again", name)}
      >
        Look again
      </Button>
    </p>
  );
}
