import { type ComponentType, useEffect, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import type { PageProps } from "../../pages";
import { Link } from "../../router/Link";
import { Boundary } from "../../ui/Boundary";
import { EmptyFilter } from "../../ui/Empty";
import { Icon, type IconName } from "../../ui/Icon";
import { FilterBox, PageHead } from "../../ui/PageHead";
import { BudgetList } from "../budgets/BudgetList";
import { AboutSection } from "./AboutSection";
import { AgentRolesSection } from "./AgentRolesSection";
import { AppearanceSection } from "./AppearanceSection";
import { AuditSection } from "./AuditSection";
import { KeyboardSection } from "./KeyboardSection";
import { KeysSection } from "./KeysSection";
import { ModelsSection } from "./ModelsSection";
import { NotificationsSection } from "./NotificationsSection";
import { PeopleSection } from "./PeopleSection";
import { ProjectsSection } from "./ProjectsSection";
import { ProvidersSection } from "./ProvidersSection";
import { RoutingSection } from "./RoutingSection";
import { RuntimesSection } from "./RuntimesSection";
import { SandboxSection } from "./SandboxSection";
import { Section } from "./Section";
import { SessionSection } from "./SessionSection";
import styles from "./SettingsPage.module.css";
import { TransferSection } from "./TransferSection";

interface SectionSpec {
  id: string;
  title: string;
  icon: IconName;
  /** More words by which it is found. */
  words: string;
  View: ComponentType;
}

const SECTIONS: readonly SectionSpec[] = [
  {
    id: "projects",
    title: "Projects",
    icon: "branch",
    words: "repository limits create rate agents memory",
    View: ProjectsSection,
  },
  {
    id: "runtimes",
    title: "Runtimes",
    icon: "terminal",
    words: "sandbox worktree gvisor walls bubblewrap isolation doctor test",
    View: RuntimesSection,
  },
  {
    id: "sandbox",
    title: "Sandbox profiles",
    icon: "stop",
    words: "walls read-only workspace net none isolation",
    View: SandboxSection,
  },
  {
    id: "roles",
    title: "Agent roles",
    icon: "agents",
    words: "coordinator worker reviewer refinery monitor prompt custom",
    View: AgentRolesSection,
  },
  {
    id: "providers",
    title: "Providers and keys",
    icon: "lock",
    words: "secret anthropic openai google api key test",
    View: ProvidersSection,
  },
  {
    id: "routing",
    title: "Routing",
    icon: "fork",
    words: "order fallback alias hedge cost latency cache proxy.toml",
    View: RoutingSection,
  },
  {
    id: "models",
    title: "Models",
    icon: "agents",
    words: "usage tokens price",
    View: ModelsSection,
  },
  {
    id: "budgets",
    title: "Budgets",
    icon: "costs",
    words: "money limit warn stop month day",
    View: BudgetsSection,
  },
  {
    id: "people",
    title: "People and roles",
    icon: "person",
    words: "user invite admin operator developer viewer remove disable",
    View: PeopleSection,
  },
  {
    id: "keys",
    title: "API keys",
    icon: "terminal",
    words: "token scope revoke rotate expire program",
    View: KeysSection,
  },
  {
    id: "session",
    title: "Your session",
    icon: "clock",
    words: "login sign out password",
    View: SessionSection,
  },
  {
    id: "notifications",
    title: "Notifications",
    icon: "bell",
    words: "desktop bell inbox notice",
    View: NotificationsSection,
  },
  {
    id: "audit",
    title: "Audit",
    icon: "review",
    words: "record who did what verify chain denied",
    View: AuditSection,
  },
  {
    id: "transfer",
    title: "Export and import",
    icon: "up",
    words: "settings file json backup move copy download upload",
    View: TransferSection,
  },
  {
    id: "keyboard",
    title: "Keyboard",
    icon: "table",
    words: "shortcut keys remap",
    View: KeyboardSection,
  },
  {
    id: "appearance",
    title: "Appearance",
    icon: "sun",
    words: "theme dark light",
    View: AppearanceSection,
  },
  { id: "about", title: "About", icon: "home", words: "version health server", View: AboutSection },
];

/** Everything that is set rather than done; each section has an address of its own. */
export function Page({ rest }: PageProps) {
  const current = SECTIONS.find(({ id }) => id === rest[0]) ?? SECTIONS[0];
  const [text, setText] = useState("");
  const box = useRef<HTMLInputElement>(null);
  const nav = useRef<HTMLElement>(null);
  const id = current?.id;
  // On a narrow screen the sections are one line, and the current one may be outside of it.
  useEffect(() => {
    if (id === undefined) return;
    const link = nav.current?.querySelector("[aria-current]");
    link?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [id]);
  useAction(FILTER, () => box.current?.focus(), { title: "Find a setting" });
  const found = SECTIONS.filter(({ title, words }) =>
    `${title} ${words}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  if (!current) return null;
  return (
    <>
      <PageHead
        title="Settings"
        tools={
          <FilterBox
            ref={box}
            label="Find a setting"
            placeholder="Find a setting"
            value={text}
            onChange={setText}
          />
        }
      />
      <div className={styles.body}>
        <nav ref={nav} className={styles.nav} aria-label="Settings">
          {found.length === 0 ? (
            <EmptyFilter what="settings" onClear={() => setText("")} />
          ) : (
            <ul>
              {found.map(({ id, title, icon }) => (
                <li key={id}>
                  <Link
                    to={`/settings/${id}`}
                    className={styles.link}
                    aria-current={id === current.id ? "page" : undefined}
                  >
                    <Icon name={icon} size={15} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </nav>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
        <section className={styles.content} tabIndex={0} aria-label={current.title}>
          <Boundary key={current.id} what={current.title}>
            <current.View />
          </Boundary>
        </section>
      </div>
    </>
  );
}

function BudgetsSection() {
  return (
    <Section
      title="Budgets"
      lead="A budget holds before money is spent: what would cost more is refused."
    >
      <BudgetList />
    </Section>
  );
}
