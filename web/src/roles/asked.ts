import { useSession } from "./session";

/** Tells why the person cannot answer an approval: it may ask only some, by name or by role. */
export function useNotAsked(): (by: readonly string[] | undefined) => string | undefined {
  const { actor, role } = useSession();
  const names = [actor, actor.replace(/^user:/, ""), `role:${role}`];
  return (by = []) => {
    if (by.length === 0 || by.some((one) => names.includes(one))) return undefined;
    return `This is not yours to answer: it asks ${by.map(inWords).join(" or ")}.`;
  };
}

function inWords(one: string): string {
  return one.startsWith("role:") ? `the role ${one.slice(5)}` : one.replace(/^user:/, "");
}
