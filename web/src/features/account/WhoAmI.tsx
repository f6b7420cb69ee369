import type { Session } from "../../api/types";
import { Facts } from "../../ui/Facts";
import { actorName } from "../session/queries";

/** In whose name this page acts. */
export function WhoAmI({ session }: { session: Session }) {
  const { role, tenant, expiresAt } = session;
  return (
    <Facts
      facts={[
        ["Signed in as", actorName(session)],
        ["Role", role],
        ["Tenant", tenant.name],
        ...(expiresAt ? [["Until", { at: expiresAt }] as const] : []),
      ]}
    />
  );
}
