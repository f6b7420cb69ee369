import { ShortId } from "./ShortId";
import { Time } from "./Time";

/** A time as programs write it, a uuid, or the id of a commit. */
const PARTS =
  /(\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{40}\b)/;

/** What the server tells in a line of text; times and ids in it look as they do everywhere. */
export function Told({ text }: { text: string }) {
  // Between two parts that were found there is always one that was not, maybe an empty one.
  return text.split(PARTS).map((part, at) => {
    if (at % 2 === 0) return part;
    const isTime = part.includes("T");
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not change places
    return isTime ? <Time key={at} at={part} /> : <ShortId key={at} id={part} />;
  });
}
