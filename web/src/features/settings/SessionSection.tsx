import { useSession } from "../../roles/session";
import { Button } from "../../ui/Button";
import { Facts } from "../../ui/Facts";
import { shortTime } from "../../ui/format";
import { actorName, useLogout } from "../session/queries";
import { Section } from "./Section";

/** Who is logged in here, and until when. */
export function SessionSection() {
  const session = useSession();
  const logout = useLogout();
  const scopes = session.scopes ?? [];
  return (
    <Section
      title="Your session"
      lead="This login, in this browser. Setting a new password ends all others."
      acts={
        <Button onClick={() => logout.mutate()} disabled={logout.isPending}>
          Sign out
        </Button>
      }
    >
      <Facts
        facts={[
          ["Name", actorName(session)],
          ["Role", session.role],
          ["Tenant", session.tenant.name],
          ["Narrowed to", scopes.length > 0 ? scopes.join(", ") : "nothing, all that the role may"],
          ["Ends", session.expiresAt ? shortTime(session.expiresAt) : "when you sign out"],
        ]}
      />
    </Section>
  );
}
