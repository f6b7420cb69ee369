import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import type { Bead, Convoy } from "../../../api/types";
import { classes } from "../../../ui/classes";
import { Icon } from "../../../ui/Icon";
import { type Completion, complete } from "./complete";
import type { QueryError } from "./parse";
import styles from "./QueryBox.module.css";

interface QueryBoxProps {
  value: string;
  onChange: (value: string) => void;
  errors: readonly QueryError[];
  /** What names are completed from. */
  beads: readonly Bead[];
  convoys: readonly Convoy[];
  ref?: Ref<{ focus: () => void }>;
}

/** A line to ask for beads; it completes words, and says under a word what is wrong with it. */
export function QueryBox(props: QueryBoxProps) {
  const { value, onChange, ref } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => input.current?.focus() }));
  const { shown, chosen, told, look, leave, write, take, onKeyDown } = useWriting(props, input);
  const [error] = told;
  return (
    <div className={styles.box}>
      <Icon name="search" size={14} />
      <div className={styles.field}>
        <Marks value={value} errors={told} />
        <input
          ref={input}
          role="combobox"
          aria-label="Ask for beads"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          placeholder="status:open agent:none updated:<2d or words"
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={(event) => write(event.target.value)}
          onClick={look}
          onKeyUp={(event) => /^(Arrow(Left|Right)|Home|End)$/.test(event.key) && look()}
          onBlur={leave}
          onKeyDown={onKeyDown}
        />
        {error && (
          <p id={`${id}-error`} className={styles.error} role="status">
            <span className={styles.pad} aria-hidden="true">
              {value.slice(0, error.start)}
            </span>
            <span>{error.message}</span>
          </p>
        )}
      </div>
      {value !== "" && (
        <button
          type="button"
          className={styles.clear}
          aria-label="Clear the query"
          onClick={() => onChange("")}
        >
          <Icon name="clear" size={13} />
        </button>
      )}
      <Ways id={id} options={shown} chosen={chosen} onTake={take} />
    </div>
  );
}

/** Where the cursor is, how one can go on there, and what is wrong elsewhere. */
function useWriting(
  { value, onChange, errors, beads, convoys }: QueryBoxProps,
  input: RefObject<HTMLInputElement | null>,
) {
  const [caret, setCaret] = useState<number>();
  const [chosen, setChosen] = useState(-1);
  const [isWriting, setWriting] = useState(false);
  const { from, to, options } = complete(value, caret ?? value.length, { beads, convoys });
  const shown = caret === undefined ? [] : options;
  const told = isWriting && caret !== undefined ? errorsBeside(errors, caret) : errors;
  const look = () => {
    setCaret(input.current?.selectionStart ?? undefined);
    setChosen(-1);
  };
  const leave = () => {
    setCaret(undefined);
    setWriting(false);
  };
  const write = (text: string) => {
    onChange(text);
    setWriting(true);
    look();
  };
  const take = ({ text }: Completion) => {
    const isField = text.endsWith(":");
    const next = `${value.slice(0, from)}${text}${isField ? "" : " "}${value.slice(to).trimStart()}`;
    onChange(next);
    const at = from + text.length + (isField ? 0 : 1);
    // The new text has to be there before the cursor can be put into it.
    requestAnimationFrame(() => {
      input.current?.setSelectionRange(at, at);
      look();
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const option = shown[chosen] ?? (event.key === "Tab" ? shown[0] : undefined);
    const isTab = event.key === "Tab" && !event.shiftKey && value !== "";
    if (event.key === "ArrowDown" && shown.length > 0) setChosen((chosen + 1) % shown.length);
    else if (event.key === "ArrowUp" && shown.length > 0) {
      setChosen((chosen - 1 + shown.length) % shown.length);
    } else if ((event.key === "Enter" || isTab) && option) take(option);
    else if (event.key === "Enter") leave();
    else if (event.key === "Escape") {
      if (shown.length > 0) setCaret(undefined);
      else if (value === "") input.current?.blur();
      else onChange("");
    } else return;
    event.preventDefault();
  };
  return { shown, chosen, told, look, leave, write, take, onKeyDown };
}

interface WaysProps {
  id: string;
  options: readonly Completion[];
  chosen: number;
  onTake: (option: Completion) => void;
}

function Ways({ id, options, chosen, onTake }: WaysProps) {
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label="Ways to go on"
      className={classes(styles.list, options.length === 0 && styles.none)}
    >
      {options.map((option, at) => (
        <div
          key={option.text}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === chosen}
          className={styles.option}
          // The box must keep the focus, so this comes before the click.
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(option);
          }}
        >
          <code>{option.text}</code>
          {option.hint && <span className={styles.hint}>{option.hint}</span>}
        </div>
      ))}
    </div>
  );
}

/** A word that is still being written is not judged, unless no letter can mend it. */
function errorsBeside(errors: readonly QueryError[], caret: number): readonly QueryError[] {
  return errors.filter(({ start, end, isFinal }) => isFinal || caret < start || caret > end);
}

/** The same text under the line, with waves under words that are wrong. */
function Marks({ value, errors }: { value: string; errors: readonly QueryError[] }) {
  let from = 0;
  const parts = errors.map((error) => {
    const before = value.slice(from, error.start);
    from = error.end;
    return { before, word: value.slice(error.start, error.end), at: error.start };
  });
  return (
    <div className={styles.marks} aria-hidden="true">
      {parts.map(({ before, word, at }) => (
        <span key={at}>
          {before}
          <span className={styles.wrong}>{word}</span>
        </span>
      ))}
    </div>
  );
}
