import { shellWord } from "../../ui/format";
import { nameOf, nameOfUrl } from "./steps";

/** How a repository comes to be that is not there yet. */
export type MakeKind = "clone" | "new";

/** What people say about it. */
export type Place = Record<"url" | "folder" | "name", string>;

export const NO_PLACE: Place = { url: "", folder: "", name: "" };

/** The name of its project, unless another one is given. */
export function nameOfMade(kind: MakeKind, { url, folder }: Place): string {
  return nameOf(folder) || (kind === "clone" ? nameOfUrl(url) : "");
}

/** What the server is asked for. */
export function makeOf(
  kind: MakeKind,
  { url, folder }: Place,
): { clone?: string; folder?: string } {
  return {
    ...(kind === "clone" && { clone: url.trim() }),
    ...(folder.trim() !== "" && { folder: folder.trim() }),
  };
}

/** The same on the command line, the project with it. */
export function makeCli(kind: MakeKind, place: Place): string {
  const name = shellWord(place.name.trim() || nameOfMade(kind, place) || "NAME");
  const folder = place.folder.trim();
  const command = `godel project create ${name}`;
  if (kind === "new") return `${command} --new ${shellWord(folder || "DIR")}`;
  const into = folder === "" ? "" : ` --folder ${shellWord(folder)}`;
  return `${command} --clone ${shellWord(place.url.trim() || "URL")}${into}`;
}
