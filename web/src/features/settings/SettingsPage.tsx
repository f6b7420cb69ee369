import { type ComponentType, useEffect, useRef } from "react";
import { useAction } from "../../actions/actions";
import { FILTER } from "../../actions/common";
import type { PageProps } from "../../pages";
import { Link } from "../../router/Link";
import { useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { EmptyFilter } from "../../ui/Empty";
import { Icon } from "../../ui/Icon";
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
import { SECTIONS, type SectionId } from "./sections";
import { TransferSection } from "./TransferSection";
import { TokensSection } from "./tokens/TokensSection";

const VIEWS: Record<SectionId, ComponentType> = {
  projects: ProjectsSection,
  runtimes: RuntimesSection,
  sandbox: SandboxSection,
  roles: AgentRolesSection,
  providers: ProvidersSection,
  routing: RoutingSection,
  models: ModelsSection,
  budgets: BudgetsSection,
  people: PeopleSection,
  keys: KeysSection,
  tokens: TokensSection,
  session: SessionSection,
  notifications: NotificationsSection,
  audit: AuditSection,
  transfer: TransferSection,
  keyboard: KeyboardSection,
  appearance: AppearanceSection,
  about: AboutSection,
};

/** Everything that is set rather than done; each section has an address of its own. */
export function Page({ rest }: PageProps) {
  const current = SECTIONS.find(({ id }) => id === rest[0]) ?? SECTIONS[0];
  const [text = "", setText] = useParam("q");
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
  const View = VIEWS[current.id];
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
            <EmptyFilter what="settings" onClear={() => setText(undefined)} />
          ) : (
            <ul>
              {found.map(({ id, title, icon }) => (
                <li key={id}>
                  <Link
                    // What was looked for stays while one goes through what was found.
                    to={`/settings/${id}${text === "" ? "" : `?${new URLSearchParams({ q: text })}`}`}
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
            <View />
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
