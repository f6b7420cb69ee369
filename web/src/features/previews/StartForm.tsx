import { useState } from "react";
import { useAction } from "../../actions/actions";
import type { Preview } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { Icon } from "../../ui/Icon";
import { asSentences } from "../../ui/Sentence";
import { useDraft } from "../../ui/useDraft";
import { PREVIEW } from "./actions";
import styles from "./PreviewPanel.module.css";
import { named, type PreviewProps } from "./props";
import { asksForCommand, useStartPreview } from "./queries";
import { startCli } from "./target";

interface StartFormProps extends PreviewProps {
  /** The preview that ended. */
  last: Preview | undefined;
}

/** Starts it: by what the project says, or, if nobody knows how, by what is written here. */
export function StartForm({ target, name, foreign, last }: StartFormProps) {
  const [command, setCommand] = useDraft(`preview.${target.key}`);
  const [isTelling, setTelling] = useState(false);
  const start = useStartPreview(target);
  const told = asksForCommand(start.error) ? start.error : undefined;
  const isAsked = told !== undefined || isTelling || command !== "";
  const isMissing = told !== undefined && command.trim() === "";
  const busy = start.isPending ? "It is being started." : undefined;
  const refused = foreign ?? busy ?? (isMissing ? "Write how it is started first." : undefined);
  const cli = startCli(target, command);
  const title = last ? "Start again" : PREVIEW.start.title;
  useAction(PREVIEW.start, () => start.mutate(command), {
    title: `${PREVIEW.start.title} of ${target.name}`,
    cli,
    disabled: refused,
    when: name === undefined,
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate(command);
      }}
    >
      {isAsked && (
        <TextField
          label="How the app is started"
          value={command}
          placeholder="npm run dev -- --port $PORT"
          autoComplete="off"
          note="A shell command. It has to listen on PORT of HOST; both are set for it."
          error={told && asSentences(told.message, told.hint).replaceAll("`", "")}
          onChange={(event) => setCommand(event.target.value)}
        />
      )}
      <div className={styles.acts}>
        <Guarded
          type="submit"
          size="small"
          can={PREVIEW.start.can}
          refused={refused}
          cli={cli}
          {...named(title, name)}
        >
          <Icon name={last ? "refresh" : "play"} size={14} />
          {start.isPending ? "Starting" : title}
        </Guarded>
        {last && !isAsked && (
          <Button
            size="small"
            look="quiet"
            onClick={() => setTelling(true)}
            {...named("Another command", name)}
          >
            Another command
          </Button>
        )}
      </div>
    </form>
  );
}
