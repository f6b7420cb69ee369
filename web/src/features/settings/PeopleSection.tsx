import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import type { Invitation, User } from "../../api/types";
import { confirm } from "../../change/confirm";
import { tellRefusal } from "../../change/useChange";
import { Guarded } from "../../roles/Guarded";
import { useRefusal, useSession } from "../../roles/session";
import { useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { Loaded } from "../../ui/Loaded";
import { Menu, type MenuItem } from "../../ui/Menu";
import { Select } from "../../ui/PageHead";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge, type Tone } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { usersQuery } from "../costs/queries";
import { useProject } from "../projects/queries";
import { InviteDrawer } from "./InviteDrawer";
import { Once } from "./Once";
import { useDisableUser, useEraseUser, useSetRole } from "./queries";
import { ROLES } from "./roles";
import { Line, Lines, Section } from "./Section";
import { placesOf, UserProjects } from "./UserProjects";
import { saveUser } from "./userExport";

const TONES: Record<string, Tone> = { active: "ok", invited: "info", disabled: "warn" };

/** Who is let in, and what each may do. */
export function PeopleSection() {
  const denied = useRefusal("user:read:team");
  const query = useQuery({ ...usersQuery, enabled: denied === undefined });
  const client = useQueryClient();
  const [open, setOpen] = useParam("new");
  const [invitation, setInvitation] = useState<Invitation>();
  const show = (made: Invitation) => {
    setInvitation(made);
    client.invalidateQueries({ queryKey: usersQuery.queryKey });
  };
  return (
    <Section
      title="People and roles"
      lead="Admins do everything, operators run the work of all, developers their own, viewers look."
      acts={
        <Guarded
          look="solid"
          can="user:create:team"
          cli="godel user invite NAME --role developer"
          onClick={() => setOpen("person")}
        >
          Invite somebody
        </Guarded>
      }
    >
      {denied !== undefined ? (
        <Empty icon="lock" why={denied} />
      ) : (
        <Loaded query={query} what="The people" skeleton={<SkeletonRows rows={3} height={54} />}>
          {({ items }) => (
            <Lines label="People">
              {items
                .filter(({ status }) => status !== "erased")
                .map((user) => (
                  <Person key={user.id} user={user} onLink={show} />
                ))}
            </Lines>
          )}
        </Loaded>
      )}
      {open === "person" && (
        <InviteDrawer
          onClose={() => setOpen(undefined)}
          onInvited={(made) => {
            setOpen(undefined);
            show(made);
          }}
        />
      )}
      {invitation?.linkPath && (
        <Once
          title={`The link for ${invitation.user.name}`}
          text="It opens the account once, within 72 hours, and is not shown again. Hand it over in private."
          value={`${window.location.origin}${invitation.linkPath}`}
          onClose={() => setInvitation(undefined)}
        />
      )}
    </Section>
  );
}

function Person({ user, onLink }: { user: User; onLink: (made: Invitation) => void }) {
  const setRole = useSetRole();
  const { userId } = useSession();
  const denied = useRefusal("user:update:team");
  const isSelf = user.id === userId;
  const [isPlacing, setPlacing] = useState(false);
  const items = usePersonItems(user, isSelf, { onLink, onPlace: () => setPlacing(true) });
  const { projects } = useProject();
  return (
    <Line
      id={user.name}
      title={
        <>
          {user.name} {isSelf && <Badge>you</Badge>}
        </>
      }
      note={
        <>
          {user.seenAt ? (
            <>
              seen <Time at={user.seenAt} />
            </>
          ) : (
            "was not here yet"
          )}
          , works in {placesOf(user, projects)}
        </>
      }
      state={
        <>
          <Badge tone={TONES[user.status] ?? "plain"}>{user.status}</Badge>
          {denied ? (
            <Badge title={denied}>{user.role}</Badge>
          ) : (
            <Select
              label={`Role of ${user.name}`}
              value={user.role}
              options={ROLES.map((role) => [role, role])}
              onChange={(role) => setRole.mutate({ user, role })}
            />
          )}
        </>
      }
      acts={
        <>
          <Menu label={`Do something with ${user.name}`} size="small" items={items} />
          {isPlacing && <UserProjects user={user} onClose={() => setPlacing(false)} />}
        </>
      }
    />
  );
}

interface PersonActs {
  onLink: (made: Invitation) => void;
  /** Asks in which projects somebody works. */
  onPlace: () => void;
}

/** What can be done with somebody; nobody shuts themselves out. */
function usePersonItems(user: User, isSelf: boolean, { onLink, onPlace }: PersonActs): MenuItem[] {
  const disable = useDisableUser();
  const erase = useEraseUser();
  const isDisabled = user.status === "disabled";
  const newLink = async () => {
    try {
      onLink(await post(`/api/v1/users/${encodeURIComponent(user.id)}/link`));
    } catch (error) {
      tellRefusal(`Make a link for ${user.name}`, error as Error, newLink);
    }
  };
  return [
    {
      id: "link",
      title: "Make a new link",
      icon: "open",
      can: "user:update:team",
      cli: `godel user link ${user.name}`,
      refused: isSelf ? "It would end your own way in." : undefined,
      run: newLink,
    },
    {
      id: "projects",
      title: "Choose projects…",
      icon: "branch",
      can: "user:update:team",
      cli: `godel user project ${user.name} --set NAME`,
      run: onPlace,
    },
    {
      id: "export",
      title: "Export what is known",
      icon: "down",
      can: isSelf ? "account:read:own" : "user:read:team",
      cli: `godel user export ${user.name} > ${user.name}.json`,
      run: () => saveUser(user),
    },
    {
      id: "disable",
      title: isDisabled ? "Enable" : "Disable",
      icon: isDisabled ? "play" : "pause",
      can: "user:update:team",
      destructive: !isDisabled,
      cli: `godel user ${isDisabled ? "enable" : "disable"} ${user.name}`,
      refused: isSelf ? "You cannot disable yourself." : undefined,
      run: () => disable.mutate({ user, disabled: !isDisabled }),
    },
    {
      id: "erase",
      title: "Erase",
      icon: "trash",
      can: "user:delete:team",
      destructive: true,
      cli: `godel user erase ${user.name} --yes`,
      refused: isSelf ? "You cannot erase yourself." : undefined,
      run: async () => {
        if (await confirmErase(user)) erase.mutate(user);
      },
    },
  ];
}

function confirmErase(user: User): Promise<boolean> {
  return confirm({
    title: `Erase ${user.name}?`,
    body: "The name goes from the accounts, the events and the record, and so does every way in. What was done stays on record under an id.",
    word: user.name,
    act: `Erase ${user.name}`,
    cli: `godel user erase ${user.name} --yes`,
  });
}
