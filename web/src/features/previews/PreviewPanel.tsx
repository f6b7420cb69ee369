import { useQuery } from "@tanstack/react-query";
import { type FocusEvent, useEffect, useRef } from "react";
import type { Preview } from "../../api/types";
import { Loaded } from "../../ui/Loaded";
import { asSentence } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { PreviewHead } from "./PreviewHead";
import { PreviewOutput } from "./PreviewOutput";
import styles from "./PreviewPanel.module.css";
import type { PreviewProps } from "./props";
import { previewQueries } from "./queries";
import { RunningPreview } from "./RunningPreview";
import { StartForm } from "./StartForm";
import { isRunning, shownOf } from "./target";

interface PanelProps extends PreviewProps {
  /** There is nothing to look at yet; only a preview that there is all the same is shown. */
  isIdle?: boolean;
}

/** The app that an agent works on, running: where it is, what it shows, and how it is started and stopped. */
export function PreviewPanel({ isIdle = false, ...props }: PanelProps) {
  const query = useQuery(previewQueries.all);
  if (isIdle && !query.data?.some(props.target.isOf)) return null;
  return (
    <Loaded query={query} what="The previews" skeleton={<SkeletonRows rows={1} height={28} />}>
      {(previews) => <Shown preview={shownOf(previews, props.target)} {...props} />}
    </Loaded>
  );
}

function Shown({ preview, foreign, ...props }: PreviewProps & { preview: Preview | undefined }) {
  const runs = preview !== undefined && isRunning(preview);
  const { ref, ...focus } = useKeptFocus(runs);
  const { name } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div
      ref={ref}
      role="group"
      tabIndex={-1}
      aria-label={name === undefined ? "Preview" : `Preview of ${name}`}
      className={styles.panel}
      data-preview={preview?.state ?? "none"}
      {...focus}
    >
      {preview && <PreviewHead preview={preview} />}
      {preview?.why && preview.state !== "ready" && (
        <p className={styles.soft}>{asSentence(preview.why)}</p>
      )}
      {runs ? (
        <RunningPreview preview={preview} {...props} />
      ) : (
        <StartForm last={preview} foreign={foreign} {...props} />
      )}
      {preview && <PreviewOutput key={preview.id} preview={preview} />}
    </div>
  );
}

/** Whoever pressed a button that goes by it stays in the panel, and presses no other one by mistake. */
function useKeptFocus(runs: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  const isInside = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with this the buttons change
  useEffect(() => {
    const panel = ref.current;
    if (isInside.current && !panel?.contains(document.activeElement)) panel?.focus();
  }, [runs]);
  return {
    ref,
    onFocus: () => {
      isInside.current = true;
    },
    // Not heard of what is taken away while it has the focus.
    onBlur: ({ relatedTarget }: FocusEvent) => {
      isInside.current = ref.current?.contains(relatedTarget) ?? false;
    },
  };
}
