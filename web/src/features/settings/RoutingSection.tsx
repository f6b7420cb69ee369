import { useQuery } from "@tanstack/react-query";
import type { Routing } from "../../api/types";
import { plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { settingsQueries } from "./queries";
import { Group, Line, Lines, Section } from "./Section";

const CHOICES: Record<string, string> = {
  order: "In this order",
  cost: "The cheapest first",
  latency: "The quickest first",
};

/** How requests to models find their way. */
export function RoutingSection() {
  const query = useQuery(settingsQueries.routing);
  return (
    <Section
      title="Routing"
      lead="How requests to models find their way, as the server does it right now. It is said in proxy.toml on the server, which is read again when it changes."
      acts={<Badge icon="lock">managed by file</Badge>}
    >
      <Loaded query={query} what="The routing" skeleton={<SkeletonRows rows={4} height={54} />}>
        {(routing) => <Ways routing={routing} />}
      </Loaded>
    </Section>
  );
}

function Ways({ routing }: { routing: Routing }) {
  const { order, aliases, fallbacks, hedges } = routing;
  return (
    <>
      <Lines label="The choice">
        <Line
          id="order"
          title={CHOICES[routing.prefer] ?? routing.prefer}
          note={order.join(", ")}
          state={plural(order.length, "provider")}
        />
        <Line
          id="patience"
          title={`A request is tried up to ${plural(routing.attempts, "time")}`}
          note={`A provider has ${routing.firstByteSeconds} s for its first byte, and a stream may be silent for ${routing.idleSeconds} s.`}
        />
        <Line
          id="cache"
          title="Kept answers"
          note={
            routing.cacheSeconds == null
              ? "No answer is given twice."
              : `Who asks for it gets the same answer again for ${routing.cacheSeconds} s.`
          }
          state={routing.cacheSeconds == null ? "off" : "on"}
        />
      </Lines>
      {aliases.length > 0 && <Named title="Other names" entries={aliases} />}
      {fallbacks.length > 0 && <Named title="If a model cannot be had" entries={fallbacks} />}
      {hedges.length > 0 && (
        <Group title="Asked twice if slow">
          <Lines label="Asked twice if slow">
            {hedges.map(({ model, afterMs }) => (
              <Line
                key={model}
                id={`hedge ${model}`}
                title={model}
                note={`A second provider is asked after ${afterMs} ms without a word.`}
              />
            ))}
          </Lines>
        </Group>
      )}
    </>
  );
}

function Named({ title, entries }: { title: string; entries: Routing["aliases"] }) {
  return (
    <Group title={title}>
      <Lines label={title}>
        {entries.map(({ name, models }) => (
          <Line key={name} id={`${title} ${name}`} title={name} note={models.join(", then ")} />
        ))}
      </Lines>
    </Group>
  );
}
