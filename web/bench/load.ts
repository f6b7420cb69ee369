import type { World } from "../e2e/browser";
import type { Seeded } from "./seed";

/** What a load came to. */
export interface Loaded {
  seconds: number;
  /** Events that the server recorded meanwhile, by its own count. */
  events: number;
  refused: number;
  /** Changes of beads among them. */
  beads: number;
}

/** One change of something real, and how many events it makes. */
interface Deed {
  events: number;
  run: () => Promise<boolean>;
}

const TICK_MS = 20;
const COUNT_MS = 500;
/** So many requests wait for an answer at most; a server that is slower gets less. */
const MOST_AT_ONCE = 64;
/** Writes of beads that wait at most; when there are more, events are published in their place. */
const BEADS_AT_ONCE = 16;
const PRIORITIES = ["critical", "high", "medium", "low"];

/** Calls the API as the owner; true if it was done. */
export async function call(
  { url, key }: World,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** The number of the newest event. */
export async function headOf(world: World): Promise<number> {
  const response = await call(world, "GET", "/api/v1/events?limit=1");
  const { data } = (await response.json()) as { data: { items: { sequence: number }[] } };
  return data.items[0]?.sequence ?? 0;
}

/** Changes beads and agents all over the tenant, `rate` events a second, until it is stopped. */
export class Load {
  readonly #world: World;
  readonly #seeded: Seeded;
  readonly #rate: number;
  readonly #running = new Set<Promise<void>>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #counter: ReturnType<typeof setInterval> | undefined;
  #begun = 0;
  #head = 0;
  #made = 0;
  #deeds = 0;
  #refused = 0;
  #beadsNow = 0;
  #beads = 0;

  constructor(world: World, seeded: Seeded, rate: number) {
    this.#world = world;
    this.#seeded = seeded;
    this.#rate = rate;
  }

  async start(): Promise<void> {
    this.#head = await headOf(this.#world);
    this.#begun = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#counter = setInterval(() => void this.#count(), COUNT_MS);
  }

  /** Not every change makes the events that were expected of it, so the server's own count is what counts. */
  async #count(): Promise<void> {
    const head = await headOf(this.#world).catch(() => undefined);
    if (head !== undefined) this.#made = head - this.#head + this.#running.size;
  }

  /** Ends it, waits for the last answers, and says what it came to. */
  async stop(): Promise<Loaded> {
    clearInterval(this.#timer);
    clearInterval(this.#counter);
    const seconds = (performance.now() - this.#begun) / 1_000;
    await Promise.all(this.#running);
    const events = (await headOf(this.#world)) - this.#head;
    return { seconds, events, refused: this.#refused, beads: this.#beads };
  }

  #tick(): void {
    const due = ((performance.now() - this.#begun) / 1_000) * this.#rate;
    while (this.#made < due && this.#running.size < MOST_AT_ONCE) {
      const deed = this.#next();
      this.#made += deed.events;
      const running: Promise<void> = deed
        .run()
        .catch(() => false)
        .then((isDone) => {
          if (!isDone) this.#refused += 1;
          this.#running.delete(running);
        });
      this.#running.add(running);
    }
  }

  /** In turns: half are changes of beads, a quarter what agents say, the rest what is done to agents. */
  #next(): Deed {
    this.#deeds += 1;
    // A turn that publishes stands in for what the server cannot write any faster.
    const turn = this.#beadsNow < BEADS_AT_ONCE ? this.#deeds : this.#deeds * 8 + 4;
    const bead = this.#seeded.open[(turn * 37) % this.#seeded.open.length] ?? "";
    const agent = this.#seeded.waiting[(turn * 13) % this.#seeded.waiting.length];
    switch (turn % 8) {
      case 0:
        return this.#send("POST", `/api/v1/beads/${bead}/comments`, { text: `Note ${turn}` });
      case 1:
      case 5:
        return this.#send("PATCH", `/api/v1/beads/${bead}`, {
          priority: PRIORITIES[Math.floor(turn / 8) % PRIORITIES.length],
          labels: [`round-${turn % 7}`],
        });
      case 2:
        return this.#send("POST", `/api/v1/beads/${bead}/move`, {
          status: turn % 16 === 2 ? "in-progress" : "open",
        });
      case 3:
        return this.#pauseOrResume(agent);
      case 6:
        return this.#send("POST", "/api/v1/events", {
          type: "deploy:step",
          payload: { step: turn, text: "pushed an image" },
        });
      default:
        return this.#send("POST", "/api/v1/events", {
          type: "agent:text",
          payload: { text: `step ${turn}` },
          ...(agent && { metadata: { refs: { agentId: agent.id } } }),
        });
    }
  }

  #pauseOrResume(agent: { id: string; isPaused: boolean } | undefined): Deed {
    if (!agent) return this.#send("POST", "/api/v1/events", { type: "deploy:step" });
    const verb = agent.isPaused ? "resume" : "pause";
    agent.isPaused = !agent.isPaused;
    return { ...this.#send("POST", `/api/v1/agents/${agent.id}/${verb}`), events: 2 };
  }

  #send(method: string, path: string, body?: object): Deed {
    return {
      events: 1,
      run: async () => {
        const isBead = path.includes("/beads/");
        if (isBead) this.#beadsNow += 1;
        try {
          const response = await call(this.#world, method, path, body);
          await response.arrayBuffer();
          if (isBead && response.ok) this.#beads += 1;
          return response.ok;
        } finally {
          if (isBead) this.#beadsNow -= 1;
        }
      },
    };
  }
}
