import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent, Letter } from "../../../api/types";
import { ToastsHere } from "../../../change/Toaster";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Drawer } from "../../../ui/Drawer";
import { Empty } from "../../../ui/Empty";
import { Loaded } from "../../../ui/Loaded";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge, PartialBadge } from "../../../ui/Status";
import { Time } from "../../../ui/Time";
import { LetterForm } from "./LetterForm";
import styles from "./Letters.module.css";
import { lettersQuery, nameIn } from "./letters";

interface LetterDrawerProps {
  /** Whose letters they are; those of the reader without it. */
  agent?: Agent | undefined;
  onClose: () => void;
}

/** Letters to an agent or to the reader, and a way to write one. */
export function LetterDrawer({ agent, onClose }: LetterDrawerProps) {
  const query = useQuery(lettersQuery(agent?.label));
  const [to, setTo] = useState("");
  const command = agent ? `godel mail list --agent ${agent.label}` : "godel mail list";
  return (
    <Drawer title={agent ? `Letters to ${agent.label}` : "Letters to you"} onClose={onClose}>
      <div className={styles.stack}>
        {agent ? (
          <LetterForm key={agent.label} agent={agent} to={agent.label} />
        ) : (
          <LetterForm to={to} onTo={setTo} />
        )}
        <Loaded query={query} what="The letters" skeleton={<SkeletonRows rows={4} height={64} />}>
          {({ items, isCut }) =>
            items.length === 0 ? (
              <Empty
                icon="message"
                why={`Nobody has written to ${agent?.label ?? "you"} yet.`}
                cli={command}
              />
            ) : (
              <>
                {isCut && <PartialBadge kind="limited" why={`Only the newest ${items.length}`} />}
                <ul className={styles.list} aria-label="Letters">
                  {items.map((letter) => (
                    <OneLetter
                      key={letter.id}
                      letter={letter}
                      // Only agents say when they have read one.
                      isUnread={agent !== undefined && !letter.read}
                      {...(!agent && { onAnswer: () => setTo(nameIn(letter.from)) })}
                    />
                  ))}
                </ul>
                <Cli command={command} />
              </>
            )
          }
        </Loaded>
        <ToastsHere />
      </div>
    </Drawer>
  );
}

interface OneLetterProps {
  letter: Letter;
  isUnread: boolean;
  onAnswer?: () => void;
}

function OneLetter({ letter, isUnread, onAnswer }: OneLetterProps) {
  const from = nameIn(letter.from);
  return (
    <li className={styles.letter} data-letter={letter.id}>
      <p className={styles.head}>
        <strong>{from}</strong>
        <Time at={letter.sentAt} />
        {isUnread && <Badge tone="info">not read yet</Badge>}
        {onAnswer && (
          <Button look="quiet" size="small" aria-label={`Answer ${from}`} onClick={onAnswer}>
            Answer
          </Button>
        )}
      </p>
      <p className={styles.text}>{letter.text}</p>
    </li>
  );
}
