import { Guarded } from "../../roles/Guarded";
import { useSession } from "../../roles/session";
import { Button } from "../../ui/Button";
import { Facts } from "../../ui/Facts";
import { actorName, useLogout } from "../session/queries";
import { Section } from "./Section";
import styles from "./Section.module.css";
import { saveUser } from "./userExport";

/** Who is logged in here, and until when. */
export function SessionSection() {
  const session = useSession();
  const logout = useLogout();
  const scopes = session.scopes ?? [];
  const name = actorName(session);
  return (
    <Section
      title="Your session"
      lead="This login, in this browser. Setting a new password ends all others."
      acts={
        <div className={styles.acts}>
          <Guarded
            can="account:read:own"
            cli={`godel user export ${name} > ${name}.json`}
            onClick={() => saveUser({ id: session.userId, name })}
          >
            Export what is known of you
          </Guarded>
          <Button onClick={() => logout.mutate()} disabled={logout.isPending}>
            Sign out
          </Button>
        </div>
      }
    >
      <Facts
        facts={[
          ["Name", name],
          ["Role", session.role],
          ["Tenant", session.tenant.name],
          ["Narrowed to", scopes.length > 0 ? scopes.join(", ") : "nothing, all that the role may"],
          ["Ends", session.expiresAt ? { at: session.expiresAt } : "when you sign out"],
        ]}
      />
    </Section>
  );
}
