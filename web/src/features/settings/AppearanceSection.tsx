import { setTheme, THEMES, useTheme } from "../../theme/theme";
import { Segmented } from "../../ui/Tabs";
import { Line, Lines, Section } from "./Section";

const TITLES = { system: "As the system", light: "Light", dark: "Dark" } as const;

/** How the dashboard looks in this browser. */
export function AppearanceSection() {
  const theme = useTheme();
  return (
    <Section title="Appearance" lead="It counts for this browser, at once.">
      <Lines label="Appearance">
        <Line
          id="theme"
          title="Theme"
          note="As the system follows day and night of your device."
          state={
            <Segmented
              label="Theme"
              options={THEMES.map((id) => ({ id, title: TITLES[id] }))}
              value={theme}
              onChange={setTheme}
            />
          }
        />
      </Lines>
    </Section>
  );
}
