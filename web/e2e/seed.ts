import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { need, type World } from "./browser";
import { end, firstLine, OwnServer } from "./server";

const run = promisify(execFile);
/** The key that the provider with a script knows. */
export const KEY = "sk-scripted-e2e";
/** What the project says of its agents. */
export const SETTINGS = `[agents]\nmodel = "claude-opus-4-8"\n`;
/** How long an agent may take to get somewhere. */
const PATIENCE_MS = 120_000;

/** What is in a seeded store, by the names that tests use. */
export interface Seed {
  project: string;
  /** Open beads, in the order in which they were made. */
  beads: string[];
  convoy: string;
  /** The bead whose work waits for a review, and its agent. */
  inReview: { bead: string; agent: string };
  /** The bead whose work is in main. */
  landed: string;
  /** An agent that works until the test is over. */
  busy: string;
  /** An agent that has asked a person which colour to take: red or blue. */
  waiting: string;
}

/**
 * A real server with a project, beads, a convoy, agents, a bead in review and one that landed. All
 * of it is made by commands, as a person would; only the provider of models follows a script.
 */
export class SeededServer {
  readonly server: OwnServer;
  readonly repository: string;
  #provider: ChildProcess | undefined;

  private constructor(server: OwnServer) {
    this.server = server;
    this.repository = join(server.folder, "app");
  }

  static async start(): Promise<{ seeded: SeededServer; here: World; seed: Seed }> {
    const { seeded, here } = await SeededServer.bare();
    try {
      return { seeded, here, seed: await seeded.#fill() };
    } catch (error) {
      await seeded.remove();
      throw error;
    }
  }

  /**
   * The same with nothing in it: a repository and a provider are there, but nobody told the server.
   * Programs that it finds can be given, each with the version that it says.
   */
  static async bare(
    programs: Record<string, string> = {},
  ): Promise<{ seeded: SeededServer; here: World }> {
    const seeded = new SeededServer(await OwnServer.create());
    try {
      await seeded.#prepare();
      await seeded.#install(programs);
      return { seeded, here: await seeded.server.start() };
    } catch (error) {
      await seeded.remove();
      throw error;
    }
  }

  /** Tells the server of the provider's key and the repository. */
  async introduce(project = "app"): Promise<string> {
    await this.server.cliWith(KEY, "secret", "set", "anthropic");
    await this.godel("project", "create", project, "--repository", ".");
    return project;
  }

  /** Runs git in the repository and returns what it printed. */
  async git(...words: string[]): Promise<string> {
    return (await run("git", ["-C", this.repository, ...words])).stdout.trim();
  }

  /** Commits files on the branch of the repository. */
  async commit(files: Record<string, string>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await writeFile(join(this.repository, path), text);
    }
    await this.git("add", "-A");
    await this.git("commit", "-q", "-m", "The beginning");
  }

  /** Runs `godel` in the repository and returns what it printed. */
  godel(...words: string[]): Promise<string> {
    return this.server.cli("-C", this.repository, ...words);
  }

  /** The same, read as JSON. */
  async json<T>(...words: string[]): Promise<T> {
    return JSON.parse(await this.godel(...words, "--json"));
  }

  async remove(): Promise<void> {
    await this.server.remove();
    await end(this.#provider);
  }

  async #prepare(): Promise<void> {
    const provider = spawn(scripted(), ["--key", KEY, "--with-owner"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#provider = provider;
    const { url } = JSON.parse(await firstLine(provider, "godel-scripted"));
    const file = join(this.server.folder, "proxy.toml");
    await writeFile(file, `[providers.anthropic]\nanthropic = "${url}"\n`);
    this.server.env.GODEL_PROXY_FILE = file;
    await mkdir(this.repository, { recursive: true });
    await this.git("init", "-q", "-b", "main");
    await this.git("config", "user.name", "Ann");
    await this.git("config", "user.email", "ann@example.org");
    await this.commit({ "README.md": "A project.\n", "godel.toml": SETTINGS });
  }

  async #install(programs: Record<string, string>): Promise<void> {
    const folder = join(this.server.folder, "programs");
    await mkdir(folder);
    for (const [name, version] of Object.entries(programs)) {
      await writeFile(join(folder, name), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    }
    this.server.env.PATH = `${folder}:${process.env.PATH}`;
  }

  async #fill(): Promise<Seed> {
    const project = await this.introduce();
    const bead = async (...words: string[]) =>
      (await this.json<{ id: string }>("bead", "create", ...words)).id;
    const first = await bead("Fix the login form", "--type", "bug", "--priority", "high");
    const second = await bead("Add a page for costs", "--type", "feature");
    const third = await bead("Write the release notes", "--blocked-by", second);
    const { id: convoy } = await this.json<{ id: string }>(
      "convoy",
      "create",
      "Release 1.0",
      first,
      second,
      third,
    );
    const reviewed = await this.#spawn("Say hello [[work hello.txt hello from an agent]]");
    const landing = await this.#spawn("Say goodbye [[work goodbye.txt goodbye]]");
    const busy = await this.#spawn("Think for long [[shell sleep 600]]");
    const waiting = await this.#spawn(
      'Paint it [[call ask {"question":"Which colour?","choices":["red","blue"]}]]',
    );
    const inReview = { agent: reviewed, bead: await this.#until(reviewed, "completed") };
    const landed = await this.#until(landing, "completed");
    await this.godel("land", landed);
    await this.#until(busy, "executing");
    await this.#until(waiting, "waiting");
    return { project, beads: [first, second, third], convoy, inReview, landed, busy, waiting };
  }

  async #spawn(task: string): Promise<string> {
    return (await this.json<{ label: string }>("agent", "spawn", task)).label;
  }

  /** Waits until an agent is in a state, and returns its bead. */
  async #until(agent: string, state: string): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await this.json<{ lifecycleState: string; bead: string; lastError?: string }>(
        "agent",
        "show",
        agent,
      );
      if (found.lifecycleState === state) return found.bead;
      if (Date.now() > deadline || found.lifecycleState === "failed") {
        throw new Error(`${agent} is ${found.lifecycleState}: ${found.lastError ?? "no error"}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** The provider that follows a script; it is built beside `godel`. */
function scripted(): string {
  const beside = join(dirname(need("GODEL_TEST_GODEL_BIN")), "godel-scripted");
  return existsSync(beside) ? beside : "godel-scripted";
}
