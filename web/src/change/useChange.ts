import {
  type QueryClient,
  type QueryKey,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { ApiError } from "../api/client";
import { asSentence } from "../ui/Sentence";
import { type Draft, forgetDraft, returnDraft } from "../ui/useDraft";
import { toast, undoToast } from "./toasts";

/** The cache during a change: whatever is changed through it can be taken back. */
export class Rehearsal {
  readonly #client: QueryClient;
  readonly #before = new Map<string, { key: QueryKey; data: unknown }>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Changes every cached answer whose key begins with `key`. */
  update<T>(key: QueryKey, change: (data: T) => T): void {
    for (const [found, data] of this.#client.getQueriesData<T>({ queryKey: key })) {
      if (data === undefined) continue;
      const name = JSON.stringify(found);
      if (!this.#before.has(name)) this.#before.set(name, { key: found, data });
      this.#client.setQueryData<T>(found, change(data));
    }
  }

  /** Puts everything back, and asks the server again: it may have changed meanwhile. */
  undo(): void {
    for (const { key, data } of this.#before.values()) {
      this.#client.setQueryData(key, data);
      this.#client.invalidateQueries({ queryKey: key, exact: true });
    }
  }

  /** The keys that were touched. */
  get keys(): QueryKey[] {
    return [...this.#before.values()].map(({ key }) => key);
  }
}

export interface Change<Input, Output> {
  /** What is done, for messages: `Pause worker-1`. */
  what: (input: Input) => string;
  send: (input: Input) => Promise<Output>;
  /** What the page shows at once, before the server has answered. */
  expect?: (cache: Rehearsal, input: Input) => void;
  /** Queries that are asked again when the server has answered. */
  settle?: (input: Input, output: Output | undefined) => readonly QueryKey[];
  /** What was written for it: it is a draft again when the server refuses, and none once it was done. */
  draftOf?: (input: Input) => Draft | undefined;
  /** What is told when it was done; nothing unless given. */
  done?: (input: Input, output: Output) => string | undefined;
  /** How it is taken back; offered for eight seconds. */
  undo?: (input: Input, output: Output) => Promise<unknown>;
  /** Whether it can be taken back this time; always unless given. */
  canUndo?: (input: Input, output: Output) => boolean;
}

/**
 * A change that shows at once. If the server refuses, the page goes back to how it was, and a
 * message gives the server's reason and a way to try again.
 */
export function useChange<Input, Output>(
  change: Change<Input, Output>,
): UseMutationResult<Output, Error, Input, Rehearsal> {
  const client = useQueryClient();
  const askAgain = (keys: readonly QueryKey[]) => {
    for (const queryKey of keys) client.invalidateQueries({ queryKey });
  };
  const mutation = useMutation<Output, Error, Input, Rehearsal>({
    mutationFn: change.send,
    onMutate: (input) => {
      const rehearsal = new Rehearsal(client);
      change.expect?.(rehearsal, input);
      // An answer that is still on its way would overwrite what was just changed.
      for (const queryKey of rehearsal.keys) client.cancelQueries({ queryKey, exact: true });
      return rehearsal;
    },
    onError: (error, input, rehearsal) => {
      rehearsal?.undo();
      const draft = change.draftOf?.(input);
      if (draft) returnDraft(draft);
      tellRefusal(change.what(input), error, () => mutation.mutate(input));
    },
    onSuccess: (output, input) => {
      const draft = change.draftOf?.(input);
      if (draft) forgetDraft(draft);
      const { undo } = change;
      const title = change.done?.(input, output);
      if (undo && change.canUndo?.(input, output) !== false) {
        const takeBack = async () => {
          try {
            await undo(input, output);
          } catch (error) {
            tellRefusal(`Undo: ${change.what(input)}`, asError(error), takeBack);
          }
          askAgain(change.settle?.(input, output) ?? []);
        };
        undoToast(title ?? change.what(input), takeBack);
      } else if (title !== undefined) toast({ title });
    },
    onSettled: (output, _error, input) => askAgain(change.settle?.(input, output) ?? []),
  });
  return mutation;
}

/** Says what was not done, why, and lets a person try again. */
export function tellRefusal(what: string, error: Error, retry: () => void): void {
  const hint = error instanceof ApiError ? error.hint : undefined;
  const detail = [error.message, hint].filter((text) => text !== undefined).map(asSentence);
  toast({
    tone: "bad",
    title: `Not done: ${what}`,
    detail: detail.join(" ").replaceAll("`", ""),
    action: { label: "Retry", run: retry },
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
