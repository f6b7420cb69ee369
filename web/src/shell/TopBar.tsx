import { useAction } from "../actions/actions";
import { AccountMenu } from "../features/account/AccountMenu";
import { InboxBell } from "../features/inbox/InboxBell";
import { AskButton } from "../features/intents/AskButton";
import { useProject } from "../features/projects/queries";
import { useSession } from "../roles/session";
import { setTheme, THEMES, useTheme } from "../theme/theme";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { KeyCaps } from "../ui/KeyCaps";
import { Menu } from "../ui/Menu";
import { PROJECT } from "./actions";
import { ConnectionBadge } from "./ConnectionBadge";
import styles from "./TopBar.module.css";

interface TopBarProps {
  isNavOpen: boolean;
  onNav: () => void;
  onPalette: () => void;
  onKeys: () => void;
}

/** Which project, is it live, find anything, who am I. */
export function TopBar({ isNavOpen, onNav, onPalette, onKeys }: TopBarProps) {
  const session = useSession();
  return (
    <header className={styles.bar}>
      <Button
        look="quiet"
        isIcon
        className={styles.nav}
        aria-label="Pages"
        aria-expanded={isNavOpen}
        aria-controls="pages"
        onClick={onNav}
      >
        <Icon name="menu" size={17} />
      </Button>
      <ProjectSwitcher />
      <div className={styles.right}>
        <ConnectionBadge />
        <AskButton />
        <button
          type="button"
          className={styles.palette}
          // Without room for the words there is only a sign.
          aria-label="Search or do"
          onClick={onPalette}
        >
          <Icon name="search" size={14} />
          <span className={styles.hint}>Search or do</span>
          <KeyCaps keys="mod+k" />
        </button>
        <InboxBell />
        <ThemeMenu onKeys={onKeys} />
        <AccountMenu session={session} />
      </div>
    </header>
  );
}

function ProjectSwitcher() {
  const { projects, project, select } = useProject();
  const choices = [undefined, ...projects].map((one) => ({
    id: one?.id ?? "all",
    title: one?.name ?? "All projects",
    isChosen: one?.id === project?.id,
    run: () => select(one?.id),
  }));
  useAction(PROJECT, () => {}, {
    steps: () => choices.map((choice) => ({ ...choice, group: "Projects", icon: "branch" })),
  });
  return (
    <Menu
      label={`Project: ${project?.name ?? "all"}`}
      align="left"
      button={
        <>
          <Icon name="branch" size={15} />
          <span className={styles.project}>{project?.name ?? "All projects"}</span>
          <Icon name="down" size={13} />
        </>
      }
      items={choices}
    />
  );
}

const THEME_TITLES = { system: "As the system", light: "Light", dark: "Dark" } as const;

function ThemeMenu({ onKeys }: { onKeys: () => void }) {
  const theme = useTheme();
  return (
    <div className={styles.theme}>
      <Menu
        label="Appearance and keys"
        button={<Icon name={theme === "dark" ? "moon" : "sun"} size={16} />}
        items={[
          ...THEMES.map((one) => ({
            id: one,
            title: THEME_TITLES[one],
            isChosen: one === theme,
            run: () => setTheme(one),
          })),
          { id: "keys", title: "Show all keys", icon: "table", keys: "?", run: onKeys },
        ]}
      />
    </div>
  );
}
