import type { Agent, Bead, Preview } from "../../api/types";
import { shellWord } from "../../ui/format";

/** Whose app is looked at: that of an agent, or that of a bead. */
export interface Target {
  /** Tells it from all others; drafts are kept by it. */
  key: string;
  /** What it is called on the command line. */
  name: string;
  /** What the server is asked for. */
  asked: { agent: string } | { bead: string; project?: string };
  isOf: (preview: Preview) => boolean;
}

/** The files of an agent, as it works. */
export function ofAgent({ id, label }: Pick<Agent, "id" | "label">): Target {
  return {
    key: `agent.${id}`,
    name: label,
    asked: { agent: id },
    isOf: (preview) => preview.agentId === id,
  };
}

/** A bead, as far as a preview needs to know it. */
export type ShownBead = Pick<Bead, "id"> & Partial<Pick<Bead, "projectId">>;

/**
 * The work on a bead: that of its agent while there is one, else its last commit. What the agents of
 * attempts make is theirs, and shown with each of them.
 */
export function ofBead({ id, projectId }: ShownBead, attempts: readonly string[] = []): Target {
  return {
    key: `bead.${id}`,
    name: id,
    asked: { bead: id, ...(projectId !== undefined && { project: projectId }) },
    isOf: (preview) =>
      preview.bead === id &&
      (projectId === undefined || preview.project === projectId) &&
      !attempts.includes(preview.agentId ?? ""),
  };
}

/** The preview to show: the one that runs, else the last one. */
export function shownOf(previews: readonly Preview[], target: Target): Preview | undefined {
  const own = previews.filter(target.isOf);
  return own.find(isRunning) ?? own[0];
}

export function isRunning({ state }: Pick<Preview, "state">): boolean {
  return state !== "ended";
}

/** The same on the command line. */
export function startCli({ name }: Target, command: string): string {
  const text = command.trim();
  return `godel preview start ${name}${text === "" ? "" : ` -- ${shellWord(text)}`}`;
}

/** Where the app is, as its link says. Always on the server's own machine. */
export function addressOf({ port }: Pick<Preview, "port">): string {
  return `http://127.0.0.1:${port}`;
}

/** Whether the dashboard was opened on the machine of the server, so that its ports are here, too. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/** What brings a port of the server's machine to that of the reader. */
export function tunnelOf({ port }: Pick<Preview, "port">, hostname: string): string {
  return `ssh -L ${port}:127.0.0.1:${port} ${hostname.replace(/^\[|\]$/g, "")}`;
}

/** What a terminal would take for colours and moves of its cursor. */
const CODES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, "g");

/** What a command printed, as plain lines. */
export function plainText(output: string): string {
  return output.replace(CODES, "").replace(/\r+\n/g, "\n").replaceAll("\r", "\n").trimEnd();
}

/** The last line that says something. */
export function lastLine(output: string): string {
  return plainText(output).split("\n").at(-1)?.trim() ?? "";
}
