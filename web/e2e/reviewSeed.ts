import { execFile } from "node:child_process";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { World } from "./browser";
import { OwnServer } from "./server";

const run = promisify(execFile);

/** Fails if something is broken, or if two things are there that do not go together. */
const CHECK = `#!/bin/sh
[ ! -e broken ] || { echo broken is there; exit 1; }
[ ! -e left ] || [ ! -e right ] || { echo left and right do not go together; exit 1; }
`;

/** So many lines, each with its number. */
export const lines = (count: number, word = "line") =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}`);
export const text = (all: readonly string[]) => `${all.join("\n")}\n`;

/** A program with words of every kind. */
export const GREETER = `import { open } from "./door";

// Greets whoever comes in.
export function greet(name) {
  const door = open("front", 1);
  return "Hello " + name;
}

export function leave(name) {
  return "Bye " + name;
}
`;

/** What a bead does to the files of the repository. */
export interface Work {
  /** Files and what they say; nothing takes a file away. */
  files?: Record<string, string | Buffer | undefined>;
  /** Files that become executable. */
  runs?: readonly string[];
  renames?: Record<string, string>;
}

/** A real server with a repository whose beads are worked on by hand, as git lets anybody do. */
export class ReviewServer {
  readonly server: OwnServer;
  readonly repository: string;

  private constructor(server: OwnServer) {
    this.server = server;
    this.repository = join(server.folder, "app");
  }

  static async start(
    settings: string,
    files: Record<string, string | Buffer>,
  ): Promise<{ own: ReviewServer; here: World }> {
    const own = new ReviewServer(await OwnServer.create());
    try {
      await own.#prepare({ "godel.toml": settings, "check.sh": CHECK, ...files });
      const here = await own.server.start();
      await own.godel("project", "create", "app", "--repository", ".");
      return { own, here };
    } catch (error) {
      await own.remove();
      throw error;
    }
  }

  /** Runs `godel` in the repository and returns what it printed. */
  godel(...words: string[]): Promise<string> {
    return this.server.cli("-C", this.repository, ...words);
  }

  /** The same, read as JSON. */
  async json<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.godel(...words, "--json"));
  }

  /** Makes a bead and its work, and brings it to review. */
  async work(title: string, work: Work): Promise<string> {
    const { id } = await this.json<{ id: string }>("bead", "create", title);
    await this.#commit(id, work, ["-b", `bead/${id}`], "main");
    await this.godel("bead", "status", id, "review");
    return id;
  }

  /** Goes on with the work of a bead, as an agent does that pushes again. */
  async push(bead: string, work: Work): Promise<void> {
    await this.#commit(bead, work, [], `bead/${bead}`);
    // A comment is the smallest thing that tells everybody to look again.
    await this.godel("bead", "comment", bead, "Pushed again");
  }

  async git(...words: string[]): Promise<string> {
    return (await run("git", ["-C", this.repository, ...words])).stdout.trim();
  }

  remove(): Promise<void> {
    return this.server.remove();
  }

  async #prepare(files: Record<string, string | Buffer>): Promise<void> {
    await mkdir(this.repository, { recursive: true });
    await writeAll(this.repository, files);
    await this.git("init", "-q", "-b", "main");
    await this.git("config", "user.name", "Ann");
    await this.git("config", "user.email", "ann@example.org");
    await this.git("add", "-A");
    await this.git("commit", "-q", "-m", "The beginning");
  }

  async #commit(bead: string, work: Work, branch: string[], base: string): Promise<void> {
    const tree = join(this.server.folder, `by-hand-${bead}`);
    await this.git("worktree", "add", "-q", ...branch, tree, base);
    const git = (...words: string[]) => run("git", ["-C", tree, ...words]);
    for (const [from, to] of Object.entries(work.renames ?? {})) await git("mv", from, to);
    await writeAll(tree, work.files ?? {});
    for (const path of work.runs ?? []) await chmod(join(tree, path), 0o755);
    await git("add", "-A");
    await git("commit", "-q", "-m", `work on ${bead}`);
    await this.git("worktree", "remove", "--force", tree);
  }
}

async function writeAll(
  folder: string,
  files: Record<string, string | Buffer | undefined>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    if (content === undefined) await rm(file);
    else await writeFile(file, content);
  }
}
