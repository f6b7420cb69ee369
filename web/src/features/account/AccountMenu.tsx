import { useRef, useState } from "react";
import type { Session } from "../../api/types";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { ErrorNotice } from "../../ui/Notice";
import { useDismiss } from "../../ui/useDismiss";
import { actorName, useLogout } from "../session/queries";
import styles from "./AccountMenu.module.css";
import { PasswordDialog } from "./PasswordDialog";
import { WhoAmI } from "./WhoAmI";

/** Who I am, and what I can do about it. */
export function AccountMenu({ session }: { session: Session }) {
  const [open, setOpen] = useState<"menu" | "password">();
  const box = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  useDismiss(box, toggle, open === "menu", () => setOpen(undefined));
  const name = actorName(session);
  const closePassword = () => {
    setOpen(undefined);
    // The button that opened it is gone with the menu.
    toggle.current?.focus();
  };
  return (
    <div className={styles.box} ref={box}>
      <Button
        ref={toggle}
        look="quiet"
        className={styles.toggle}
        aria-label={`Account: ${name}`}
        aria-expanded={open === "menu"}
        onClick={() => setOpen(open === "menu" ? undefined : "menu")}
      >
        <Icon name="person" size={17} />
        <span className={styles.name}>{name}</span>
      </Button>
      {open === "menu" && <Panel session={session} onPassword={() => setOpen("password")} />}
      {open === "password" && <PasswordDialog session={session} onClose={closePassword} />}
    </div>
  );
}

function Panel({ session, onPassword }: { session: Session; onPassword: () => void }) {
  const logout = useLogout();
  return (
    <section className={styles.panel} aria-label="Account">
      <WhoAmI session={session} />
      {logout.error && <ErrorNotice error={logout.error} />}
      <div className={styles.acts}>
        <Button onClick={onPassword}>Set password</Button>
        <Button disabled={logout.isPending} onClick={() => logout.mutate()}>
          Sign out
        </Button>
      </div>
    </section>
  );
}
