import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { need, type World } from "./browser";

const run = promisify(execFile);
/** How long a server may take until it says where it is. */
const START_WITHIN_MS = 20_000;

/** A server that a journey may kill and start again, on data of its own. */
export class OwnServer {
  readonly #program = need("GODEL_TEST_GODEL_BIN");
  readonly #folder: string;
  /** Variables of the server and of commands, in addition to those of the tests. */
  readonly env: Record<string, string> = {};
  #process: ChildProcess | undefined;
  #address = "127.0.0.1:0";

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** A folder that goes away with the server. */
  get folder(): string {
    return this.#folder;
  }

  static async create(): Promise<OwnServer> {
    return new OwnServer(await mkdtemp(join(tmpdir(), "godel-e2e-")));
  }

  /** Starts it, the next time at the same address. */
  async start(): Promise<World> {
    const listen = ["--listen", this.#address];
    const child = spawn(this.#program, ["up", "--json", "--data", this.#data, ...listen], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, ...this.env },
    });
    this.#process = child;
    const { url, loginLink } = JSON.parse(await firstLine(child, "godel up"));
    this.#address = new URL(url).host;
    const key = await readFile(join(this.#data, "owner.key"), "utf8");
    return { url, loginUrl: loginLink, key: key.trim() };
  }

  /** Ends it as a crash does: it gets no chance to say goodbye. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    await end(child);
  }

  /** Runs a client command, as a person would, and returns what it printed. */
  async cli(...words: string[]): Promise<string> {
    const env = { ...process.env, ...this.env };
    return (await run(this.#program, [...words, "--data", this.#data], { env })).stdout;
  }

  /** Runs a client command that reads something. */
  async cliWith(input: string, ...words: string[]): Promise<void> {
    const child = spawn(this.#program, [...words, "--data", this.#data], {
      stdio: ["pipe", "ignore", "inherit"],
      env: { ...process.env, ...this.env },
    });
    child.stdin?.end(input);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    if (code !== 0) throw new Error(`godel ${words.join(" ")} ended with ${code}`);
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }
}

/** Ends a process at once and waits until it is gone. */
export async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** The first line that a program prints: where it is. */
export function firstLine(process: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${name} ${why}`));
    const timer = setTimeout(() => fail("did not say where it is"), START_WITHIN_MS);
    process.once("error", (error) => fail(`could not be run: ${error.message}`));
    process.once("exit", (code) => fail(`ended with ${code}`));
    if (!process.stdout) return fail("has no output");
    createInterface(process.stdout).once("line", (line) => {
      clearTimeout(timer);
      resolve(line);
    });
  });
}
