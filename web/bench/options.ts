/** What is measured, and how much of it. */
export interface Options {
  agents: number;
  beads: number;
  /** How long each page stands under load. */
  seconds: number;
  eventsPerSecond: number;
  /** Pages, by their names; all unless given. */
  pages: readonly string[];
  json: boolean;
}

const NUMBERS = { agents: 1_000, beads: 10_000, seconds: 60, rate: 50 };

export const USAGE = `usage: npm run bench -- [agents|beads|convoys|home|costs|review ...]
  --json          the same for programs
  --agents N      default ${NUMBERS.agents}
  --beads N       default ${NUMBERS.beads}
  --seconds N     under load, for each page; default ${NUMBERS.seconds}
  --rate N        events a second; default ${NUMBERS.rate}`;

/** Reads the command line; throws what is wrong with it. */
export function parseOptions(words: readonly string[], known: readonly string[]): Options {
  const numbers: Record<string, number> = { ...NUMBERS };
  const pages: string[] = [];
  let json = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const name = word.replace(/^--/, "");
    if (word === "--json") json = true;
    else if (word.startsWith("--") && name in numbers) {
      at += 1;
      const value = Number(words[at]);
      if (!Number.isInteger(value) || value < 1)
        throw new Error(`${word} needs a number\n${USAGE}`);
      numbers[name] = value;
    } else if (known.includes(word)) pages.push(word);
    else throw new Error(`${word} is not known\n${USAGE}`);
  }
  const { agents, beads, seconds, rate } = { ...NUMBERS, ...numbers };
  return {
    agents,
    beads,
    seconds,
    eventsPerSecond: rate,
    pages: pages.length ? pages : known,
    json,
  };
}
