import {
  type ComponentProps,
  type KeyboardEvent,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Binding, boundActions, useBoundActions } from "../actions/actions";
import { keysOf } from "../actions/keymap";
import { useIsOnline } from "../realtime/live";
import { refusal } from "../roles/permissions";
import { useSession } from "../roles/session";
import { Icon } from "../ui/Icon";
import { KeyCaps } from "../ui/KeyCaps";
import { useModal } from "../ui/useModal";
import type { Step } from "./asking";
import { score } from "./fuzzy";
import styles from "./Palette.module.css";
import { recentLines, useRecent } from "./recent";
import { type PaletteItem, useFoundThings } from "./sources";

/** So many lines are drawn; who needs more types more. */
const MOST_SHOWN = 40;
/** The head of what can be done only here. */
const THIS_PAGE = "This page";
/** Below this, every file of a review would match. */
const MIN_CHARS = 2;

interface PaletteProps {
  /** The first question, if an action asks for more. */
  asked?: Step | undefined;
  onClose: () => void;
}

/** Everything that can be done and found, by typing. */
export function Palette({ asked, onClose }: PaletteProps) {
  const dialog = useModal();
  const [typed, setTyped] = useState("");
  const [path, setPath] = useState<Step[]>(asked ? [asked] : []);
  const [at, setAt] = useState(0);
  const [inside, setInside] = useState<readonly PaletteItem[]>([]);
  const { recent, remember } = useRecent();
  const id = useId();
  const items = useItems(typed, path.at(-1)?.items, recent, inside);

  const type = (text: string) => {
    setTyped(text);
    setInside(insideActions(text));
    setAt(0);
  };
  const choose = (item: PaletteItem | undefined) => {
    if (!item || item.disabled !== undefined) return;
    if (item.steps) {
      setPath([...path, { id: item.id, title: item.title, items: item.steps() }]);
      return type("");
    }
    remember(item);
    onClose();
    item.run?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Backspace" && typed === "") return setPath(path.slice(0, -1));
    const to = stepOf(event.key, at, items.length - 1);
    if (to === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (to === undefined) choose(items[at]);
    else setAt(to);
  };
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label="Command palette"
      onClose={onClose}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.inner}>
        <div className={styles.search}>
          <Icon name="search" size={16} />
          <Path steps={path} />
          <SearchInput
            value={typed}
            aria-controls={id}
            aria-activedescendant={items[at] ? `${id}-${at}` : undefined}
            onKeyDown={onKeyDown}
            onChange={(event) => type(event.target.value)}
          />
        </div>
        <div id={id} role="listbox" aria-label="Results" className={styles.list}>
          {items.map((item, index) => (
            <Line
              key={item.id}
              id={`${id}-${index}`}
              item={item}
              head={item.group === items[index - 1]?.group ? undefined : item.group}
              isAt={index === at}
              onPoint={() => setAt(index)}
              onChoose={() => choose(item)}
            />
          ))}
        </div>
        {items.length === 0 && <Nothing />}
      </div>
    </dialog>
  );
}

/** Where an arrow key leads to; after the last comes the first. */
function stepOf(key: string, at: number, last: number): number | undefined {
  return { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[key];
}

function Path({ steps }: { steps: readonly Step[] }) {
  return steps.map(({ id, title }) => (
    <span key={id} className={styles.step}>
      {title}
    </span>
  ));
}

function SearchInput(props: ComponentProps<"input">) {
  return (
    <input
      role="combobox"
      aria-label="What do you want to do?"
      aria-expanded="true"
      placeholder="What do you want to do?"
      autoComplete="off"
      spellCheck={false}
      // biome-ignore lint/a11y/noAutofocus: the palette was opened to type
      autoFocus
      {...props}
    />
  );
}

function Nothing() {
  return (
    <p className={styles.nothing} role="status">
      Nothing matches.
    </p>
  );
}

interface LineProps {
  id: string;
  item: PaletteItem;
  head: string | undefined;
  isAt: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

function Line({ id, item, head, isAt, onPoint, onChoose }: LineProps) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isAt) line.current?.scrollIntoView?.({ block: "nearest" });
  }, [isAt]);
  return (
    <>
      {head && (
        <p className={styles.head} role="presentation">
          {head}
        </p>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input above */}
      <div
        ref={line}
        id={id}
        role="option"
        aria-selected={isAt}
        aria-disabled={item.disabled !== undefined || undefined}
        className={styles.line}
        onPointerMove={onPoint}
        onClick={onChoose}
      >
        <span className={styles.sign}>{item.icon && <Icon name={item.icon} size={15} />}</span>
        <span className={styles.title}>{item.title}</span>
        <span className={styles.note}>{item.disabled ?? item.note}</span>
        {item.keys && <KeyCaps keys={item.keys} />}
        {item.steps && <Icon name="chevron" size={13} />}
      </div>
    </>
  );
}

/** What is listed: the context first, then all actions, then what was found. */
function useItems(
  typed: string,
  step: readonly PaletteItem[] | undefined,
  recent: ReturnType<typeof useRecent>["recent"],
  inside: readonly PaletteItem[],
): PaletteItem[] {
  const actions = useActionItems();
  const things = useFoundThings(step ? "" : typed);
  return useMemo(() => {
    const pool = step ?? [...actions, ...things, ...inside];
    if (typed.trim() === "") {
      // Among the answers to a question only those are of use.
      const isKnown = ({ id }: { id: string }) => pool.some((item) => item.id === id);
      const used = recentLines(step ? recent.filter(isKnown) : recent, pool);
      return withRecent(pool, used).slice(0, MOST_SHOWN);
    }
    const ranked = pool.flatMap((item) => {
      const points = score(typed, `${item.title} ${item.note ?? ""} ${item.also ?? ""}`);
      return points === undefined ? [] : [{ item, points }];
    });
    ranked.sort((a, b) => b.points - a.points);
    return byGroup(ranked.slice(0, MOST_SHOWN).map(({ item }) => item));
  }, [typed, step, actions, things, inside, recent]);
}

/** What belongs to the page that one is on comes first, then what was used lately, then the rest. */
function withRecent(pool: readonly PaletteItem[], used: readonly PaletteItem[]): PaletteItem[] {
  const here = pool.filter(({ group }) => group === THIS_PAGE);
  const first = new Set(here.map(({ id }) => id));
  const recent = used.filter(({ id }) => !first.has(id));
  for (const { id } of recent) first.add(id);
  return [...here, ...recent, ...pool.filter(({ id }) => !first.has(id))];
}

/** What actions of this page would ask for next, such as the files of a review: found without asking. */
function insideActions(typed: string): PaletteItem[] {
  if (typed.trim().length < MIN_CHARS) return [];
  return boundActions().flatMap(({ spec, disabled, steps }) =>
    spec.scope !== "global" && disabled === undefined ? (steps?.() ?? []) : [],
  );
}

/** Keeps groups together, in the order of their best line. */
function byGroup(items: PaletteItem[]): PaletteItem[] {
  const groups = [...new Set(items.map((item) => item.group))];
  return groups.flatMap((group) => items.filter((item) => item.group === group));
}

function useActionItems(): PaletteItem[] {
  const bound = useBoundActions();
  const session = useSession();
  const isOnline = useIsOnline();
  return useMemo(() => {
    const denied = ({ spec, disabled }: Binding) =>
      (spec.can && refusal(session, spec.can)) ??
      (spec.destructive && !isOnline ? "Waits for the connection" : disabled);
    return bound
      .filter(({ spec }) => !spec.hidden)
      .toSorted((a, b) => rank(a) - rank(b))
      .map((binding) => ({
        id: binding.spec.id,
        group: groupOf(binding),
        title: binding.title ?? binding.spec.title,
        note: binding.cli,
        icon: binding.spec.icon,
        keys: keysOf(binding.spec)[0],
        disabled: denied(binding),
        run: binding.run,
        ...(binding.steps && { steps: binding.steps }),
      }));
  }, [bound, session, isOnline]);
}

function rank({ spec }: Binding): number {
  if (spec.scope !== "global") return 0;
  return spec.id.startsWith("go.") ? 2 : 1;
}

function groupOf({ spec }: Binding): string {
  if (spec.scope !== "global") return THIS_PAGE;
  return spec.id.startsWith("go.") ? "Go to" : "Actions";
}
