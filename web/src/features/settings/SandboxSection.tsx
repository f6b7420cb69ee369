import { Badge } from "../../ui/Status";
import { Line, Lines, Section } from "./Section";

/** The walls that there are, the strongest first; the server's own words are in `godel agent spawn --help`. */
const PROFILES = [
  {
    name: "read-only",
    about: "Files can be read and not changed. Connections go to Godel only.",
  },
  {
    name: "workspace",
    about: "Files of its own worktree can be changed. Connections go to Godel only.",
  },
  {
    name: "workspace+net",
    about: "The same, and connections to hosts that were allowed by name (--allow).",
  },
  {
    name: "none",
    about: "No walls at all: the agent may do what the server may. It must be asked for by name.",
  },
] as const;

/** The walls around agents. */
export function SandboxSection() {
  return (
    <Section
      title="Sandbox profiles"
      lead="The walls around an agent: files, processes, network, environment, memory and time. Each agent, role and convoy says which."
    >
      <Lines label="Sandbox profiles">
        {PROFILES.map(({ name, about }) => (
          <Line
            key={name}
            id={`profile ${name}`}
            title={name}
            note={about}
            state={
              name === "workspace" ? (
                <Badge>unless said otherwise</Badge>
              ) : name === "none" ? (
                <Badge tone="warn" icon="alert">
                  no walls
                </Badge>
              ) : undefined
            }
          />
        ))}
      </Lines>
    </Section>
  );
}
