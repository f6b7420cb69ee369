import { type FormEvent, useState } from "react";
import type { Agent, Talk, TalkChange } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Dialog } from "../../../ui/Dialog";
import { TextField } from "../../../ui/Field";
import { shellWord } from "../../../ui/format";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { useDraft } from "../../../ui/useDraft";
import styles from "../MessageDialog.module.css";
import { useForeignAgent } from "../useForeignAgent";
import { viewOf } from "../views";
import { busyWith, useTalkVerb } from "./queries";

const MAY = "session:update:own";

/** What can be done with the whole conversation. */
export function SessionMenu({ agent, talk }: { agent: Agent; talk: Talk }) {
  const [dialog, setDialog] = useState<"save" | "compact">();
  const resume = useTalkVerb("resume");
  const archive = useTalkVerb("archive");
  const foreign = useForeignAgent()(agent);
  const refused = foreign ?? busyWith(agent);
  const isOver = talk.status === "archived" ? "It is put away already." : undefined;
  const line = (id: string, rest: Omit<MenuItem, "id" | "cli" | "can">): MenuItem => ({
    id,
    can: MAY,
    cli: `godel session ${id} ${agent.label}${id === "save" ? " NAME" : ""}`,
    ...rest,
  });
  const putAway = async () => {
    const isSure = await confirm({
      title: `Put the session of ${agent.label} away?`,
      body: "It can be read, but nobody goes on with it.",
      act: "Put it away",
      cli: `godel session archive ${agent.label}`,
    });
    if (isSure) archive.mutate({ agent });
  };
  return (
    <>
      <Menu
        label="Do something with the session"
        button="Session"
        look="line"
        size="small"
        items={[
          line("save", {
            title: "Save where it stands",
            icon: "archive",
            refused,
            run: () => setDialog("save"),
          }),
          line("compact", {
            title: "Make it shorter",
            icon: "columns",
            refused,
            run: () => setDialog("compact"),
          }),
          line("resume", {
            title: "Go on with it",
            icon: "play",
            refused: foreign ?? whyNotResume(agent),
            run: () => resume.mutate({ agent }),
          }),
          line("archive", {
            title: "Put it away",
            icon: "archive",
            destructive: true,
            refused: foreign ?? isOver ?? refused,
            run: putAway,
          }),
        ]}
      />
      {dialog && <WordDialog verb={dialog} agent={agent} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function whyNotResume(agent: Agent): string | undefined {
  if (agent.lifecycleState === "failed" || viewOf(agent) === "paused") return undefined;
  return `${agent.label} is neither paused nor has it failed.`;
}

interface Words {
  title: string;
  about: string;
  label: string;
  act: string;
  /** What is sent of the word that was asked for. */
  bodyOf: (word: string) => TalkChange;
  isNeeded: boolean;
}

const WORDS: Record<"save" | "compact", Words> = {
  save: {
    title: "Save where it stands",
    about: "The end of the conversation gets a name, to come back to it.",
    label: "Name of the save point",
    act: "Save it",
    bodyOf: (name) => ({ name }),
    isNeeded: true,
  },
  compact: {
    title: "Make the session shorter",
    about: "The model is told a summary instead of all that was said; nothing is deleted.",
    label: "What stands for what is left out",
    act: "Make it shorter",
    bodyOf: (summary) => ({ summary }),
    isNeeded: false,
  },
};

/** Asks for a name, or for what stands for the rest. */
function WordDialog({
  verb,
  agent,
  onClose,
}: {
  verb: keyof typeof WORDS;
  agent: Agent;
  onClose: () => void;
}) {
  const name = `session.${agent.id}.${verb}`;
  const [text, setText, clear] = useDraft(name);
  const change = useTalkVerb(verb);
  const { title, about, label, act, bodyOf, isNeeded } = WORDS[verb];
  const word = text.trim();
  const isSpaced = isNeeded && /\s/.test(word);
  const isReady = !isNeeded || (word !== "" && !isSpaced);
  const flag = verb === "compact" ? " --summary" : "";
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    change.mutate({
      agent,
      ...(word !== "" && { body: bodyOf(word), draft: { name, text: word } }),
    });
    clear();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={send}>
        <p>{about}</p>
        <TextField
          label={label}
          value={text}
          placeholder={isNeeded ? "before-refactoring" : "found by rule"}
          maxLength={isNeeded ? 100 : undefined}
          autoFocus
          error={isSpaced ? "A name has no spaces." : undefined}
          onChange={(event) => setText(event.target.value)}
        />
        <Cli
          command={`godel session ${verb} ${agent.label}${word === "" && !isNeeded ? "" : `${flag} ${shellWord(word || "NAME")}`}`}
        />
        <div className={styles.acts}>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="solid" type="submit" disabled={!isReady}>
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
