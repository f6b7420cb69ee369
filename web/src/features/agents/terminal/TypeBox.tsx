import type { KeyboardEvent, RefObject } from "react";
import { isLeaving, pasted, typedBy } from "./keys";
import type { ShellSession } from "./session";
import styles from "./TypeBox.module.css";

interface TypeBoxProps {
  session: ShellSession;
  label: string;
  field: RefObject<HTMLTextAreaElement | null>;
  onLeave: () => void;
}

/** Hears what is typed for the shell. It is a real field, so that keyboards on glass and IMEs work. */
export function TypeBox({ session, label, field, onLeave }: TypeBoxProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (isLeaving(event)) {
      event.preventDefault();
      onLeave();
      return;
    }
    const typed = typedBy(event, session.modes);
    if (typed === undefined) return;
    event.preventDefault();
    session.typeText(typed);
  };
  const send = (box: HTMLTextAreaElement) => {
    session.typeText(box.value.replace(/\r?\n/g, "\r"));
    box.value = "";
  };
  return (
    <textarea
      ref={field}
      className={styles.field}
      aria-label={label}
      autoCapitalize="off"
      autoComplete="off"
      autoCorrect="off"
      spellCheck={false}
      rows={1}
      onKeyDown={onKeyDown}
      onInput={(event) => {
        if (!(event.nativeEvent as InputEvent).isComposing) send(event.currentTarget);
      }}
      onCompositionEnd={(event) => send(event.currentTarget)}
      onPaste={(event) => {
        event.preventDefault();
        session.typeText(pasted(event.clipboardData.getData("text/plain"), session.modes));
      }}
    />
  );
}
