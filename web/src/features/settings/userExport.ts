import { get } from "../../api/client";
import type { User } from "../../api/types";
import { tellRefusal } from "../../change/useChange";
import { saveAs } from "../../ui/saveAs";

/** Gives the reader all that the server knows of a person, as `godel user export` does. */
export async function saveUser(user: Pick<User, "id" | "name">): Promise<void> {
  try {
    const known = await get(`/api/v1/users/${encodeURIComponent(user.id)}/export`);
    const text = `${JSON.stringify(known, null, 2)}\n`;
    saveAs(`${user.name}.json`, new Blob([text], { type: "application/json" }));
  } catch (error) {
    tellRefusal(`Export ${user.name}`, error as Error, () => saveUser(user));
  }
}
