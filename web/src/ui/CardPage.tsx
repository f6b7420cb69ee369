import type { ReactNode, Ref } from "react";
import styles from "./CardPage.module.css";
import { Logo } from "./Logo";

interface CardPageProps {
  title: string;
  /** For a page that goes on to its next step: the focus moves to the new title. */
  titleRef?: Ref<HTMLHeadingElement>;
  lead?: ReactNode;
  links: ReactNode;
  children: ReactNode;
}

/** A page with one thing to do, in the middle of the screen. */
export function CardPage({ title, titleRef, lead, links, children }: CardPageProps) {
  return (
    <div className={styles.page}>
      <main className={styles.card}>
        <Logo size={34} />
        <h1 className={styles.title} ref={titleRef} tabIndex={titleRef ? -1 : undefined}>
          {title}
        </h1>
        {lead && <p className={styles.lead}>{lead}</p>}
        {children}
      </main>
      <footer className={styles.foot}>{links}</footer>
    </div>
  );
}
