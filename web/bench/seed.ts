import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { World } from "../e2e/browser";
import { read } from "../e2e/browser";
import { KEY, SeededServer } from "../e2e/seed";
import type { Agent, Bead } from "../src/api/types";
import { call } from "./load";
import type { Options } from "./options";

const run = promisify(execFile);

/** What is in the store, by what the benchmark does with it. */
export interface Seeded {
  /** Beads that are changed under load. */
  open: string[];
  /** Agents that wait for their turn or are paused; they change places under load. */
  waiting: { id: string; isPaused: boolean }[];
  /** The bead with the long file in review. */
  longReview: string;
  /** The agent with the long session. */
  talker: string;
}

/** Agents at work at once; the others wait, are paused or over. */
const AT_WORK = 4;
const AT_ONCE = 16;
const REVIEWS = 12;
const LONG_FILE = 5_000;
const CONVOYS = 12;
const CONVOY_BEADS = 40;
const SUBJECTS = ["login", "costs", "queue", "review", "search", "docs"];
/** A session with two nodes for each call: what was asked for and what came of it. */
const TALK = { steps: 50, calls: 20, nodes: 2_000 };
const TALK_WITHIN_MS = 120_000;

export type Say = (text: string) => void;

/** A real server with a full store; all of it is made by commands and through the API. */
export async function seed(options: Options, say: Say) {
  process.env.GODEL_AGENTS_MAX ??= String(AT_WORK);
  // The limits are those of one caller; here one caller stands for many.
  process.env.GODEL_RATE_PER_MINUTE ??= "10000000";
  process.env.GODEL_RATE_BURST ??= "1000000";
  const { seeded: server, here } = await SeededServer.bare();
  try {
    return { server, here, seeded: await fill(server, here, options, say) };
  } catch (error) {
    await server.remove();
    throw error;
  }
}

async function fill(server: SeededServer, here: World, options: Options, say: Say) {
  say(`importing ${options.beads} beads`);
  const file = join(server.server.folder, "beads.jsonl");
  await writeFile(file, beadLines(options.beads));
  await server.godel("import", "beads", file);
  await server.server.cliWith(KEY, "secret", "set", "anthropic");
  await server.godel("project", "create", "app", "--repository", ".");
  const beads = await readOpen(here);
  const ids = beads.map(({ id }) => id);
  say(`making ${CONVOYS} convoys`);
  for (let at = 0; at < CONVOYS; at += 1) {
    const own = ids.slice(at * CONVOY_BEADS, (at + 1) * CONVOY_BEADS);
    await done(call(here, "POST", "/api/v1/convoys", { name: `Convoy ${at + 1}`, beads: own }));
  }
  say(`making ${REVIEWS} reviews, one with a file of ${LONG_FILE} lines`);
  const [longReview = ""] = await makeReviews(server, ids.slice(-REVIEWS));
  const talker = await beginTalk(here, ids.at(-REVIEWS - 1) ?? "");
  const waiting = await spawnAll(
    here,
    ids.slice(CONVOYS * CONVOY_BEADS, -REVIEWS - 1),
    options.agents,
    say,
  );
  await untilLong(here, talker, say);
  return {
    open: ids.slice(0, -REVIEWS - 1),
    waiting,
    longReview,
    talker: talker.id,
  } satisfies Seeded;
}

/** Beads as bd exports them: two fifths closed, a fifth blocked by another. */
function beadLines(many: number): string {
  const lines = Array.from({ length: many }, (_, at) => {
    const id = `app-${String(at).padStart(6, "0")}`;
    const day = String(1 + (at % 15)).padStart(2, "0");
    const created = `2026-11-${day}T10:${String(at % 60).padStart(2, "0")}:00Z`;
    const subject = SUBJECTS[at % SUBJECTS.length];
    return JSON.stringify({
      id,
      title: `Bead ${at}: make the ${subject} better`,
      description: `What is to be done about the ${subject}. `.repeat(10),
      status: at % 5 < 2 ? "closed" : "open",
      priority: at % 4,
      issue_type: ["task", "bug", "feature", "chore"][at % 4],
      created_at: created,
      updated_at: created,
      labels: at % 3 === 0 ? ["web"] : [],
      ...(at % 5 === 4 && {
        dependencies: [
          {
            issue_id: id,
            depends_on_id: `app-${String(at - 1).padStart(6, "0")}`,
            type: "blocks",
            created_at: created,
            created_by: "ann",
          },
        ],
      }),
    });
  });
  return `${lines.join("\n")}\n`;
}

/** Open beads that wait on nothing, so that agents may begin them. */
async function readOpen(here: World): Promise<Bead[]> {
  const found: Bead[] = [];
  const fields = new URLSearchParams({ limit: "1000", filter: '{"status":"open"}' });
  for (;;) {
    const page = await read<{
      items: Bead[];
      pagination: { cursor?: string | null; hasMore: boolean };
    }>(here, `/api/v1/beads?${fields}`);
    found.push(...page.items);
    if (!page.pagination.hasMore || !page.pagination.cursor) break;
    fields.set("cursor", page.pagination.cursor);
  }
  return found.filter(({ links }) => links.length === 0);
}

/** Brings beads to review with work that was done by hand; that of the first is a long file. */
async function makeReviews(server: SeededServer, beads: readonly string[]): Promise<string[]> {
  const git = (...words: string[]) => run("git", ["-C", server.repository, ...words]);
  for (const [at, bead] of beads.entries()) {
    const tree = join(server.server.folder, `by-hand-${bead}`);
    await git("worktree", "add", "-q", "-b", `bead/${bead}`, tree, "main");
    await mkdir(join(tree, "src"), { recursive: true });
    const lines = Array.from({ length: at === 0 ? LONG_FILE : 20 }, (_, line) => lineOfCode(line));
    await writeFile(join(tree, "src", `work-${at}.ts`), `${lines.join("\n")}\n`);
    await run("git", ["-C", tree, "add", "-A"]);
    await run("git", ["-C", tree, "commit", "-q", "-m", `work on ${bead}`]);
    await git("worktree", "remove", "--force", tree);
    await server.godel("bead", "status", bead, "review");
  }
  return [...beads];
}

function lineOfCode(line: number): string {
  if (line % 20 === 0) return `/** Step ${line / 20}: what it does, and why. */`;
  if (line % 20 === 19) return "";
  return `export const value${line} = compute(${line}, "a text of line ${line}") + ${line % 7};`;
}

/** Lets one agent make many calls, so that its session is long. */
async function beginTalk(here: World, bead: string): Promise<Agent> {
  // An agent that does the same again and again is stopped, so each call is another one.
  const steps = Array.from({ length: TALK.steps }, (_, step) =>
    Array.from({ length: TALK.calls }, (_, at) => `[[shell : ${step * TALK.calls + at}]]`).join(""),
  );
  return spawn(here, { bead, task: `${steps.join("[[then]]")}[[then]][[say done]]` });
}

/** Waits until the session is long; if that takes too long it is measured as it is. */
async function untilLong(here: World, { id, sessionId }: Agent, say: Say): Promise<void> {
  const deadline = Date.now() + TALK_WITHIN_MS;
  for (let nodes = 0; nodes < TALK.nodes && Date.now() < deadline; ) {
    const { lifecycleState } = await read<Agent>(here, `/api/v1/agents/${id}`);
    const page = await read<{ items: unknown[]; next?: number | null }>(
      here,
      `/api/v1/sessions/${sessionId}/nodes?from=${nodes}&limit=500`,
    ).catch(() => ({ items: [] }));
    nodes += page.items.length;
    if (page.items.length === 500) continue;
    say(`the long session has ${nodes} nodes`);
    if (["completed", "failed", "killed", "waiting"].includes(lifecycleState)) return;
    await new Promise((go) => setTimeout(go, 5_000));
  }
}

/** Spawns agents: a few work, of the others a fifth is ended again and a fifth is paused. */
async function spawnAll(here: World, beads: readonly string[], many: number, say: Say) {
  for (const bead of beads.slice(0, AT_WORK)) {
    await spawn(here, { bead, task: "[[shell sleep 3000]]" });
  }
  const waiting: Seeded["waiting"] = [];
  const one = async (at: number) => {
    const bead = beads[at % beads.length] ?? "";
    const { id } = await spawn(here, { bead, task: "Do what it says" });
    if (at % 200 === 0) say(`${at} of ${many} agents`);
    if (at % 5 === 0) {
      await done(call(here, "POST", `/api/v1/agents/${id}/kill`));
      return;
    }
    const isPaused = at % 5 === 1;
    if (isPaused) await done(call(here, "POST", `/api/v1/agents/${id}/pause`));
    waiting.push({ id, isPaused });
  };
  // The one with the long session is there already.
  const queue = Array.from({ length: many - 1 - AT_WORK }, (_, at) => at + AT_WORK);
  const worker = async () => {
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) await one(at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return waiting;
}

async function spawn(here: World, body: object): Promise<Agent> {
  const response = await done(call(here, "POST", "/api/v1/agents", body));
  return ((await response.json()) as { data: Agent }).data;
}

async function done(asked: Promise<Response>): Promise<Response> {
  const response = await asked;
  if (!response.ok) throw new Error(`${response.url}: ${await response.text()}`);
  return response;
}
