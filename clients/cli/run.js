// Lets one agent program do a piece of work, and judges it by what it says and by what it did.
//
//   node run.js --cli claude --base URL --token TOKEN --model MODEL --modules node_modules --work DIR
//
// The program gets an empty home, a git repository, and no environment but the base URL and the
// token. It is told to write a file with its shell. Prints one line of JSON.
// With `--expect failure` it must not succeed, and must show what `--message` says.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import claude from "./claude.js";
import codex from "./codex.js";
import gemini from "./gemini.js";
import opencode from "./opencode.js";
import pi from "./pi.js";

const CLIS = { claude, codex, gemini, opencode, pi };
// The slowest needs about 45 s on two cores.
const LIMIT_SECONDS = 120;
const TOLD = "scripted-was-here";
const SHOWN_CHARACTERS = 3000;

const { values } = parseArgs({
  options: {
    cli: { type: "string" },
    // How it talks: some programs know several dialects or ways to name a provider.
    as: { type: "string", default: "" },
    base: { type: "string" },
    token: { type: "string" },
    model: { type: "string" },
    modules: { type: "string" },
    work: { type: "string" },
    expect: { type: "string", default: "success" },
    message: { type: "string", default: "" },
    // More for the script, such as a fault.
    further: { type: "string", default: "" },
  },
});

/** Prepares an empty home and an empty repository. */
function rooms(work) {
  const home = resolve(work, "home");
  const repository = resolve(work, "repository");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  mkdirSync(repository, { recursive: true });
  spawnSync("git", ["init", "--quiet", repository]);
  return { home, repository };
}

/** The Node that came along, or the one that runs this. */
function nodeOf(modules) {
  const own = resolve(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
  return existsSync(own) ? own : process.execPath;
}

/** Runs a command to its end; its input is closed. */
function perform({ command, environment, folder }) {
  return new Promise((done) => {
    const [program, ...rest] = command;
    const child = spawn(program, rest, {
      cwd: folder,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let [said, complained, late] = ["", "", false];
    child.stdout.on("data", (data) => (said += data));
    child.stderr.on("data", (data) => (complained += data));
    // What the program started itself goes too.
    const kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended in this very moment.
      }
    };
    const timer = setTimeout(() => {
      late = true;
      kill();
    }, LIMIT_SECONDS * 1000);
    child.on("error", (error) => (complained += error));
    child.on("close", (code) => {
      clearTimeout(timer);
      kill();
      done({ code, said, complained, late });
    });
  });
}

function events(said) {
  return said.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

async function check() {
  const cli = CLIS[values.cli];
  if (!cli) throw new Error(`there is no client called ${values.cli}`);
  const { home, repository } = rooms(values.work);
  const plan = cli.plan({
    as: values.as,
    base: values.base.replace(/\/$/, ""),
    token: values.token,
    model: values.model,
    prompt: `[[shell echo ${TOLD} > probe.txt && cat probe.txt]] ${values.further}`.trim(),
    node: nodeOf(values.modules),
    modules: resolve(values.modules),
    home,
    repository,
  });
  for (const [path, text] of Object.entries(plan.files ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":");
  const bare = { HOME: home, PATH: path, TERM: "dumb", LANG: "C.UTF-8", TMPDIR: resolve(values.work) };
  const environment = { ...bare, ...plan.environment };
  const { code, said, complained, late } = await perform({
    command: plan.command, environment, folder: repository,
  });
  const shown = `${said}\n${complained}`.slice(-SHOWN_CHARACTERS);
  if (late) throw new Error(`it did not end in ${LIMIT_SECONDS} s: ${shown}`);
  const complaint = cli.judge(events(said), code);
  if (values.expect === "failure") {
    if (!complaint) throw new Error(`it did not fail: ${shown}`);
    if (!shown.includes(values.message)) throw new Error(`it shows no reason: ${shown}`);
    return;
  }
  if (complaint) throw new Error(`${complaint}: ${shown}`);
  const probe = join(repository, "probe.txt");
  if (!existsSync(probe)) throw new Error(`it wrote no file: ${shown}`);
  if (readFileSync(probe, "utf8").trim() !== TOLD) throw new Error("the file has another text");
  const answer = cli.answer(events(said)) ?? "";
  if (!answer.includes("The tool said") || !answer.includes(TOLD)) {
    throw new Error(`the last answer does not quote the tool: ${shown}`);
  }
}

const started = performance.now();
const what = values.expect === "failure" ? "failure" : "tool round";
const name = `${values.cli}${values.as && ` (${values.as})`}: ${what}`;
const detail = await check().then(() => "", (error) => String(error.message ?? error));
const seconds = ((performance.now() - started) / 1000).toFixed(1);
const line = { name, ok: detail === "", detail: detail || `${seconds} s` };
console.log(JSON.stringify(line));
process.exitCode = line.ok ? 0 : 1;
