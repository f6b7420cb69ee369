import { defineAction, useAction } from "../../actions/actions";
import { Guarded } from "../../roles/Guarded";
import { navigate } from "../../router/router";
import { Icon } from "../../ui/Icon";
import styles from "./AskButton.module.css";

export const ASK = defineAction({
  id: "intents.ask",
  scope: "global",
  title: "What do you want?",
  keys: ["w"],
  icon: "message",
  can: "agent:create:own",
});

/** Opens the box for a wish, with words that were typed elsewhere already. */
export function ask(text = ""): void {
  navigate(`/?${new URLSearchParams({ ask: text || "1" })}`);
}

/** The way to the box for a wish, on every page and in the palette. */
export function AskButton() {
  useAction(ASK, () => ask(), { cli: 'godel do "…"' });
  return (
    <span className={styles.box}>
      <Guarded look="solid" size="small" can={ASK.can} cli={'godel do "…"'} onClick={() => ask()}>
        <Icon name="plus" size={14} />
        Ask
      </Guarded>
    </span>
  );
}
