import { useMutation, useQuery } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { ProviderState, ProviderTest, Secret } from "../../api/types";
import { confirm } from "../../change/confirm";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { latency, plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { ErrorNotice } from "../../ui/Notice";
import { asSentences } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { settingsQueries, useRemoveSecret } from "./queries";
import { SecretDrawer } from "./SecretDrawer";
import { Group, Line, Lines, Section } from "./Section";
import styles from "./Section.module.css";

/** Who answers for models, and with which keys. */
export function ProvidersSection() {
  const [open, setOpen] = useParam("secret");
  const test = useMutation({
    mutationFn: () => post("/proxy/v1/providers/test", {}),
  });
  return (
    <Section
      title="Providers and keys"
      lead="Keys are encrypted, written once and never shown again; only their last four characters are."
      acts={
        <div className={styles.acts}>
          <Guarded
            can="secret:execute:team"
            cli="godel provider test"
            onClick={() => test.mutate()}
            refused={test.isPending ? "It is being tried." : undefined}
          >
            {test.isPending ? "Trying" : "Test"}
          </Guarded>
          <Guarded
            look="solid"
            can="secret:update:team"
            cli="godel secret set NAME"
            onClick={() => setOpen("new")}
          >
            Set a key
          </Guarded>
        </div>
      }
    >
      {test.error && <ErrorNotice error={test.error} />}
      {test.data && (
        <Group title="What the test found">
          <Verdicts tests={test.data.items} />
        </Group>
      )}
      <Group title="Keys">
        <Secrets onReplace={(name) => setOpen(name)} />
      </Group>
      <Group title="Providers, in the order in which they are asked">
        <Providers />
      </Group>
      {open !== undefined && (
        <SecretDrawer
          key={open}
          name={open === "new" ? undefined : open}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Section>
  );
}

function Providers() {
  const query = useQuery(settingsQueries.providers);
  return (
    <Loaded query={query} what="The providers" skeleton={<SkeletonRows rows={4} height={54} />}>
      {({ items }) => (
        <Lines label="Providers">
          {items.map((provider) => (
            <Line
              key={provider.provider}
              id={`provider ${provider.provider}`}
              title={provider.provider}
              note={noteOf(provider)}
              state={<ProviderBadge provider={provider} />}
            />
          ))}
        </Lines>
      )}
    </Loaded>
  );
}

function Secrets({ onReplace }: { onReplace: (name: string) => void }) {
  const denied = useRefusal("secret:read:team");
  const query = useQuery({ ...settingsQueries.secrets, enabled: denied === undefined });
  const remove = useRemoveSecret();
  if (denied !== undefined) return <Empty icon="lock" why={denied} />;
  return (
    <Loaded query={query} what="The keys" skeleton={<SkeletonRows rows={2} height={54} />}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            icon="lock"
            why="No key is set. One that is named after a provider is its key."
            action={
              <Guarded
                look="solid"
                can="secret:update:team"
                cli="godel secret set NAME"
                onClick={() => onReplace("new")}
              >
                Set the first key
              </Guarded>
            }
            cli="godel secret set anthropic"
          />
        ) : (
          <Lines label="Keys of providers">
            {items.map((secret) => (
              <Line
                key={secret.name}
                id={secret.name}
                title={secret.name}
                note={<SecretNote secret={secret} />}
                state={
                  <code title="The last four characters">
                    {secret.lastFour ? `••••${secret.lastFour}` : "••••••••"}
                  </code>
                }
                acts={
                  <Menu
                    label={`Do something with the key ${secret.name}`}
                    size="small"
                    items={[
                      {
                        id: "replace",
                        title: "Replace",
                        icon: "refresh",
                        can: "secret:update:team",
                        cli: `godel secret set ${secret.name}`,
                        run: () => onReplace(secret.name),
                      },
                      {
                        id: "remove",
                        title: "Remove",
                        icon: "trash",
                        can: "secret:delete:team",
                        destructive: true,
                        cli: `godel secret remove ${secret.name}`,
                        run: async () => {
                          if (await confirmRemove(secret)) remove.mutate(secret);
                        },
                      },
                    ]}
                  />
                }
              />
            ))}
          </Lines>
        )
      }
    </Loaded>
  );
}

function SecretNote({ secret }: { secret: Secret }) {
  return (
    <>
      set <Time at={secret.updatedAt} />
      {secret.version > 1 && `, ${plural(secret.version, "value")} so far`}
      {secret.usedAt ? (
        <>
          , used <Time at={secret.usedAt} />
        </>
      ) : (
        ", never used"
      )}
    </>
  );
}

/** What each key did when it was tried. */
export function Verdicts({ tests }: { tests: readonly ProviderTest[] }) {
  if (tests.length === 0) {
    const why = "There is no key of any provider, so nothing was tried.";
    return <Empty icon="alert" why={why} cli="godel secret set NAME" />;
  }
  return (
    <Lines label="What the test found">
      {tests.map((test) => (
        <Line
          key={`${test.provider} ${test.key}`}
          id={`test ${test.provider}`}
          title={test.key > 1 ? `${test.provider}, key ${test.key}` : test.provider}
          note={
            test.works
              ? [
                  test.models ? plural(test.models, "model") : undefined,
                  test.tookMs ? `in ${latency(test.tookMs)}` : undefined,
                ]
                  .filter(Boolean)
                  .join(" ")
              : asSentences(test.problem, test.remedy)
          }
          state={
            <Status tone={test.works ? "ok" : "bad"} icon={test.works ? "check" : "cross"}>
              {test.works ? "Works" : "Does not work"}
            </Status>
          }
        />
      ))}
    </Lines>
  );
}

function ProviderBadge({ provider }: { provider: ProviderState }) {
  if (provider.state === "up") {
    return (
      <Badge tone="ok" icon="check">
        up
      </Badge>
    );
  }
  if (provider.state === "unused") return <Badge>not asked yet</Badge>;
  return (
    <Badge tone={provider.state === "down" ? "bad" : "warn"} icon="alert">
      {provider.state}
    </Badge>
  );
}

function noteOf({ worked, failed, firstByteMs, lastError }: ProviderState): string {
  if (worked + failed === 0) return "no request since the server started";
  const parts = [`${plural(worked, "answer")}`, failed > 0 && plural(failed, "failure")];
  if (firstByteMs) parts.push(`first byte after ${latency(firstByteMs)}`);
  if (lastError) parts.push(lastError);
  return parts.filter(Boolean).join(", ");
}

function confirmRemove(secret: Secret): Promise<boolean> {
  return confirm({
    title: `Remove ${secret.name}?`,
    body: "Requests that need it fail from now on. Its value cannot be brought back.",
    word: secret.name,
    act: "Remove it",
    cli: `godel secret remove ${secret.name}`,
  });
}
