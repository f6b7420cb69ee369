import { useQuery } from "@tanstack/react-query";
import { Link } from "../../router/Link";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { projectsQuery } from "../projects/queries";
import styles from "./Invitation.module.css";
import { useSkipped } from "./skipped";

/** Leads to the setup while there is no project, unless somebody does not want that. */
export function Invitation() {
  const { data } = useQuery(projectsQuery);
  const [isSkipped, setSkipped] = useSkipped();
  if (isSkipped || !data || data.items.length > 0) return null;
  return (
    <section className={styles.card} aria-label="Set up Godel">
      <p className={styles.words}>
        <strong>There is no project yet.</strong> In five short steps an agent makes its first
        change for you.
      </p>
      <div className={styles.acts}>
        <Button look="quiet" size="small" onClick={() => setSkipped(true)}>
          Not now
        </Button>
        <Link to="/welcome" className={styles.go}>
          Set it up
          <Icon name="chevron" size={14} />
        </Link>
      </div>
    </section>
  );
}
