import { type FormEvent, type Ref, useId } from "react";
import type { Notice } from "../../api/types";
import { PAGES } from "../../pages";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { Link } from "../../router/Link";
import { classes } from "../../ui/classes";
import { shellWord } from "../../ui/format";
import { ShortId } from "../../ui/ShortId";
import { Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { useDraft } from "../../ui/useDraft";
import { canRestart, isAsking, kindOf, needsVerdict, placeOf, rightFor, whose } from "./kinds";
import styles from "./NoticeCard.module.css";
import { draftOf, useAnswer, useRestart } from "./queries";
import { useForeignNotice } from "./useForeignNotice";

interface NoticeCardProps {
  notice: Notice;
  /** Where the agent is known anyway, its name is left out. */
  isOwn?: boolean;
  isAt?: boolean;
  /** The answer box, for a key that goes there. */
  box?: Ref<HTMLTextAreaElement> | undefined;
}

/** Something that needs a person, with all it takes to answer it. */
export function NoticeCard({ notice, isOwn = false, isAt = false, box }: NoticeCardProps) {
  const answer = useAnswer();
  const { title, tone, icon, aside } = kindOf(notice);
  const isOpen = notice.state === "open";
  const foreign = useForeignNotice()(notice);
  const name = whose(notice);
  const place = placeOf(notice);
  const send = (text?: string) => {
    if (answer.isPending) return;
    answer.mutate(text === undefined ? { notice } : { notice, answer: text });
  };
  return (
    <article
      className={classes(styles.card, styles[tone])}
      aria-label={`${title}${name ? ` of ${name}` : ""}`}
      data-notice={notice.id}
      data-cursor={isAt || undefined}
    >
      <header className={styles.head}>
        <Status tone={tone} icon={icon}>
          {title}
        </Status>
        {!isOwn && name && place && <Link to={place}>{name}</Link>}
        {notice.bead && <ShortId id={notice.bead} />}
        <span className={styles.when}>
          <Time at={notice.createdAt} />
        </span>
      </header>
      <p className={styles.text}>{notice.text}</p>
      {isOpen ? (
        <>
          {notice.choices.length > 0 && (
            <div className={styles.acts}>
              {notice.choices.map((choice) => (
                <Guarded
                  key={choice}
                  size="small"
                  look="solid"
                  can={rightFor(notice)}
                  refused={foreign}
                  cli={cliOf(notice, choice)}
                  onClick={() => send(choice)}
                >
                  {choice}
                </Guarded>
              ))}
            </div>
          )}
          {isAsking(notice) && (
            <AnswerBox notice={notice} foreign={foreign} aside={aside} box={box} onSend={send} />
          )}
          {!isAsking(notice) && !needsVerdict(notice) && (
            <WaysOn notice={notice} foreign={foreign} aside={aside} onAside={() => send()} />
          )}
        </>
      ) : (
        <p className={styles.answer}>
          {notice.answer ? `Answered: ${notice.answer}` : "Closed without an answer"}
        </p>
      )}
    </article>
  );
}

interface AnswerProps {
  notice: Notice;
  /** Why it is not for this person to answer. */
  foreign: string | undefined;
  aside: string;
}

/** What can be done about a notice that nobody waits for an answer to. */
function WaysOn({ notice, foreign, aside, onAside }: AnswerProps & { onAside: () => void }) {
  const restart = useRestart();
  const hasReview = notice.kind === "review" && PAGES.some((page) => page.id === "review");
  return (
    <div className={styles.acts}>
      {canRestart(notice) && (
        <Guarded
          size="small"
          look="solid"
          can={rightFor(notice)}
          refused={foreign}
          cli={`godel agent restart ${notice.agent}`}
          onClick={() => restart.mutate(notice)}
        >
          Restart {notice.agent}
        </Guarded>
      )}
      {hasReview && notice.bead && (
        <Link to={`/review/${encodeURIComponent(notice.bead)}`}>Open the review</Link>
      )}
      {notice.budgetId && <Link to={placeOf(notice) ?? "/costs"}>Raise the budget</Link>}
      {notice.pool && <Link to={placeOf(notice) ?? "/queue"}>Look at the dead letters</Link>}
      <Guarded
        size="small"
        look="quiet"
        can={rightFor(notice)}
        refused={foreign}
        cli={`godel inbox decline ${notice.id}`}
        onClick={onAside}
      >
        {aside}
      </Guarded>
    </div>
  );
}

interface AnswerBoxProps extends AnswerProps {
  box?: Ref<HTMLTextAreaElement> | undefined;
  onSend: (text?: string) => void;
}

function AnswerBox({ notice, foreign, aside, box, onSend }: AnswerBoxProps) {
  const [text, setText] = useDraft(draftOf(notice));
  const id = useId();
  const answer = text.trim();
  const denied = useRefusal(rightFor(notice)) ?? foreign;
  const refused = denied ?? (answer === "" ? "Write an answer first." : undefined);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (refused !== undefined) return;
    onSend(answer);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor={id} className="visually-hidden">
        Answer in your own words
      </label>
      <textarea
        ref={box}
        id={id}
        rows={1}
        className={styles.box}
        placeholder={notice.choices.length > 0 ? "Or in your own words" : "Tell it what to do"}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey) submit(event);
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <Guarded
        size="small"
        align="end"
        type="submit"
        can={rightFor(notice)}
        refused={refused}
        cli={cliOf(notice, answer)}
      >
        Answer
      </Guarded>
      <Guarded
        size="small"
        align="end"
        look="quiet"
        can={rightFor(notice)}
        refused={foreign}
        cli={`godel inbox decline ${notice.id}`}
        onClick={() => onSend()}
      >
        {aside}
      </Guarded>
    </form>
  );
}

/** The same on the command line. */
export function cliOf(notice: Pick<Notice, "id">, answer: string): string {
  return `godel inbox answer ${notice.id} ${shellWord(answer)}`;
}
