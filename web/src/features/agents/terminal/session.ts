import { ApiError, get } from "../../../api/client";
import type { Agent } from "../../../api/types";
import { count } from "../../../ui/format";
import { AttachSocket, type AttachState } from "./attachSocket";
import { Screen } from "./screen";

/** So many of the newest bytes can be downloaded. */
const MOST_RAW = 8 * 1024 * 1024;
const ENCODER = new TextEncoder();
const AT_WORK = ["executing", "waiting", "completing"];

/** What is drawn: it is another object whenever something changed. */
export interface Shown extends AttachState {
  screen: Screen;
}

/** The shell of one agent in this page: its connection, its screen, and who draws them. */
export class ShellSession {
  readonly #agent: Pick<Agent, "id" | "label">;
  readonly #socket: AttachSocket;
  readonly #listeners = new Set<() => void>();
  #screen = new Screen(80, 24);
  /** What the page has room for. */
  #room = { columns: 80, rows: 24 };
  /** How large the shell is; nothing while there is none. */
  #shell: { columns: number; rows: number } | undefined;
  #raw: Uint8Array[] = [];
  #rawLength = 0;
  #shown: Shown;
  #frame: number | undefined;
  #hadControl = false;

  constructor(agent: Pick<Agent, "id" | "label">) {
    this.#agent = agent;
    this.#socket = new AttachSocket({
      url: attachUrl(window.location, agent.id),
      size: () => this.#room,
      onBytes: (bytes) => this.#show(bytes),
      onDropped: (many) => this.#screen.gap(`${count(many)} bytes are no longer kept`),
      onSize: (columns, rows) => this.#sized({ columns, rows }),
      onFresh: () => this.#begin(),
      onChange: () => this.#changed(),
      whyRefused: (wanted) => this.#whyRefused(wanted),
    });
    this.#shown = { ...this.#socket.state, screen: this.#screen };
  }

  get socket(): AttachSocket {
    return this.#socket;
  }

  get shown(): Shown {
    return this.#shown;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** All bytes of this shell that came, the newest if they are many. */
  raw(): Blob {
    return new Blob(this.#raw as BlobPart[], { type: "application/octet-stream" });
  }

  get modes() {
    return this.#screen.modes;
  }

  typeText(text: string): void {
    if (text !== "") this.#socket.type(ENCODER.encode(text));
  }

  /** Has room for another size; the shell is told by who has control, and others see it as it is. */
  fit(columns: number, rows: number): void {
    if (columns === this.#room.columns && rows === this.#room.rows) return;
    this.#room = { columns, rows };
    this.#socket.resize();
    this.#laidOut();
  }

  #sized(size: { columns: number; rows: number }): void {
    this.#shell = size;
    this.#laidOut();
  }

  /** Lines are broken where the shell breaks them, whatever this page has room for. */
  #laidOut(): void {
    const { columns, rows } = this.#socket.state.hasControl
      ? this.#room
      : (this.#shell ?? this.#room);
    if (columns === this.#screen.columns && rows === this.#screen.rows) return;
    this.#screen.resize(columns, rows);
    this.#changed();
  }

  #begin(): void {
    const { columns, rows } = this.#screen;
    this.#screen = new Screen(columns, rows);
    this.#raw = [];
    this.#rawLength = 0;
  }

  #show(bytes: Uint8Array): void {
    this.#screen.write(bytes);
    this.#raw.push(bytes);
    this.#rawLength += bytes.length;
    while (this.#rawLength > MOST_RAW) this.#rawLength -= this.#raw.shift()?.length ?? 0;
    // Only who has control answers; what was asked before is answered already.
    const answers = this.#screen.takeAnswers();
    if (this.#socket.state.hasControl) this.typeText(answers);
    this.#changed();
  }

  /** Drawn at most once per frame, however fast bytes come. */
  #changed(): void {
    const { link, hasControl } = this.#socket.state;
    if (link.phase === "none" || link.phase === "over") this.#shell = undefined;
    if (hasControl !== this.#hadControl) {
      this.#hadControl = hasControl;
      this.#laidOut();
    }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#shown = { ...this.#socket.state, screen: this.#screen };
      for (const tell of this.#listeners) tell();
    });
  }

  async #whyRefused(wanted: "look" | "open"): Promise<string | undefined> {
    try {
      const { lifecycleState } = await get(`/api/v1/agents/${this.#agent.id}`);
      const { label } = this.#agent;
      if (AT_WORK.includes(lifecycleState)) {
        // A browser is not told why; the command is.
        return wanted === "look"
          ? `Nobody has opened a shell at ${label}.`
          : `The server opened no shell at ${label}; the command below says why.`;
      }
      return `${label} is ${lifecycleState}, so there is no shell to look at.`;
    } catch (error) {
      const isThere = error instanceof ApiError && error.status >= 400 && error.status < 500;
      return isThere ? error.message : undefined;
    }
  }
}

function attachUrl({ protocol, host }: Location, id: string): string {
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}/api/v1/agents/${id}/attach`;
}
