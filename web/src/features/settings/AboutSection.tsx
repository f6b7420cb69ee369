import { useQuery } from "@tanstack/react-query";
import { Cli } from "../../ui/Cli";
import { Facts } from "../../ui/Facts";
import { HealthPanel } from "../health/HealthPanel";
import { healthQuery } from "../health/queries";
import { Section } from "./Section";

/** Which server this is, and how it is. */
export function AboutSection() {
  const { data } = useQuery(healthQuery);
  return (
    <Section title="About" lead="Which server this is, and how it is.">
      <HealthPanel />
      <Facts
        facts={[
          ["Version", data?.version ?? "not known yet"],
          ["Address", window.location.origin],
        ]}
      />
      <p>
        <a href="/docs">API reference</a>
      </p>
      <Cli command="godel doctor" />
    </Section>
  );
}
