import { setParams, useParams } from "../../router/router";

/** What can be looked at beside the list; what comes first lies over what comes later. */
const KINDS = ["task", "worker", "run", "workflow"] as const;

type PeekKind = (typeof KINDS)[number];

interface PeekOptions {
  /** What stays open below, and shows again when this is closed. */
  over?: PeekKind;
  /** Other fields of the address that change with it. */
  also?: Readonly<Record<string, string | undefined>>;
}

/** Opens one panel; the others close, or the one that was asked for would lie below them unseen. */
export function peekAt(kind: PeekKind, id: string, { over, also }: PeekOptions = {}): void {
  const closed = KINDS.filter((one) => one !== over).map((one) => [one, undefined]);
  setParams({ ...also, ...Object.fromEntries(closed), [kind]: id });
}

/** The panel that is seen, and how it is closed; undefined if there is none. */
export function usePeek(): { kind: PeekKind; id: string; close: () => void } | undefined {
  const params = useParams();
  for (const kind of KINDS) {
    const id = params.get(kind);
    if (id !== null) return { kind, id, close: () => setParams({ [kind]: undefined }) };
  }
  return undefined;
}
