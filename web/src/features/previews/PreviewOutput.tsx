import { useQuery } from "@tanstack/react-query";
import type { Preview } from "../../api/types";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Disclosure } from "../../ui/Disclosure";
import { Loaded } from "../../ui/Loaded";
import { SkeletonRows } from "../../ui/Skeleton";
import styles from "./PreviewPanel.module.css";
import { previewQueries, useReadAgain } from "./queries";
import { isRunning, plainText } from "./target";

/** What the command of a preview printed, for who asks. */
export function PreviewOutput({ preview }: { preview: Preview }) {
  return (
    <Disclosure label="What it printed">
      <Printed preview={preview} />
    </Disclosure>
  );
}

function Printed({ preview }: { preview: Preview }) {
  const query = useQuery(previewQueries.one(preview.id));
  const readAgain = useReadAgain();
  return (
    <div className={styles.printed}>
      <p className={styles.soft}>
        of <code>{preview.command}</code>
      </p>
      <Loaded query={query} what="The output" skeleton={<SkeletonRows rows={2} />}>
        {({ output }) => {
          const text = plainText(output);
          if (text === "") return <p className={styles.soft}>It has printed nothing.</p>;
          return (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
            <pre className={styles.output} tabIndex={0}>
              {text}
            </pre>
          );
        }}
      </Loaded>
      {isRunning(preview) && (
        <div className={styles.acts}>
          <Button size="small" onClick={() => readAgain(preview)}>
            Read again
          </Button>
        </div>
      )}
      <Cli command={`godel preview show ${preview.id}`} />
    </div>
  );
}
