import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import { ApiError, post } from "../../api/client";
import type { Project, RepositoryJob } from "../../api/types";
import { useCan } from "../../roles/session";
import { useParam } from "../../router/router";
import { placeError, useFields } from "../../ui/form/form";
import { repositoryQuery } from "../projects/repositories";
import { type MakeKind, makeOf, NO_PLACE, nameOfMade, type Place } from "./repository";

/** What one must be allowed to have a repository made, and a project of it. */
export const MAY_MAKE = "project:create:team";

/**
 * Lets the server make a repository, and a project of it when it is there. The address holds which
 * one, so that a reload goes on with it; what was written stays until there is a project.
 */
export function useMakeRepository(kind: MakeKind, onAdded: (made: Project) => void) {
  const client = useQueryClient();
  const { values, set, discard } = useFields<Place>(`welcome.${kind}`, NO_PLACE);
  const [making, setMaking] = useParam("making");
  const query = useQuery({ ...repositoryQuery(making ?? ""), enabled: making !== undefined });
  // The other way may have one under way; that is shown there.
  const job = query.data?.kind === kind ? query.data : undefined;
  const begin = useMutation<RepositoryJob, Error, Place>({
    mutationFn: (place) => post("/api/v1/repositories", makeOf(kind, place)),
    onSuccess: (begun) => {
      client.setQueryData(repositoryQuery(begun.id).queryKey, begun);
      setMaking(begun.id);
    },
  });
  const adopt = useMutation<Project, Error, RepositoryJob>({
    mutationFn: ({ folder }) =>
      post("/api/v1/projects", {
        name: values.name.trim() || nameOfMade(kind, { ...values, folder }),
        repository: folder,
      }),
    onSuccess: (made) => {
      discard();
      onAdded(made);
    },
  });
  const ready = job?.state === "ready" ? job : undefined;
  useOnce(ready, adopt.mutate);
  const isBusy = begin.isPending || adopt.isPending || job?.state === "working";
  const submit = () => {
    if (isBusy) return;
    if (ready) adopt.mutate(ready);
    else begin.mutate(values);
  };
  // Who thinks of another place does not want the project of the one that is ready.
  const change = (name: keyof Place, value: string) => {
    set(name, value);
    if (!ready || name === "name") return;
    setMaking(undefined);
    adopt.reset();
  };
  const wrong = { begin: begin.error, adopt: adopt.error, lost: query.error };
  return {
    values,
    set: change,
    job,
    isBusy,
    /** What is wrong, at its field or about all of it. */
    ...(isBusy ? NOTHING_WRONG : faultsOf(kind, job, wrong)),
    look: () => query.refetch(),
    submit,
  };
}

/** Makes the project when its repository is ready, once, for who may. */
function useOnce(ready: RepositoryJob | undefined, adopt: (ready: RepositoryJob) => void): void {
  const isAllowed = useCan(MAY_MAKE);
  const last = useRef<string>(undefined);
  const start = useEffectEvent((job: RepositoryJob) => {
    if (!isAllowed || last.current === job.id) return;
    last.current = job.id;
    adopt(job);
  });
  useEffect(() => {
    if (ready) start(ready);
  }, [ready]);
}

interface Faults {
  fields: Partial<Place>;
  rest: Error | undefined;
}

const NOTHING_WRONG: Faults = { fields: {}, rest: undefined };
const FOLDER = /folder (is|exists)|not empty|choose a folder/i;

/** What was refused or failed last. */
function faultsOf(
  kind: MakeKind,
  job: RepositoryJob | undefined,
  { begin, adopt, lost }: Record<"begin" | "adopt" | "lost", Error | null>,
): Faults {
  if (adopt) return placeError(adopt, { name: /name|called|taken/i });
  if (!begin && job?.state !== "failed") return { fields: {}, rest: lost ?? undefined };
  const error = begin ?? failure(job);
  // That the server has too much to do is about no field.
  if (error instanceof ApiError && error.status === 429) return { fields: {}, rest: error };
  return kind === "clone"
    ? placeError(error, { folder: FOLDER, url: /./ })
    : placeError(error, { folder: /./ });
}

/** That it failed, as an answer of the server would say it. */
function failure(job: RepositoryJob | undefined): ApiError {
  return new ApiError(400, { code: "repository", message: job?.why ?? "it could not be made" });
}
