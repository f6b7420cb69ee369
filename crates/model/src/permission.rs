//! What a caller may do: `resource:action:reach`, and the four roles.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

/// How far a permission reaches, from near to far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// What the caller made itself.
    Own,
    /// What belongs to the caller's tenant.
    Team,
    /// Everything on this server that the caller's tenant may see.
    All,
}

impl Reach {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Team => "team",
            Self::All => "all",
        }
    }
}

/// What a use case needs its caller to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The kind of thing, such as `project`.
    pub resource: &'static str,
    /// What is done to it, such as `create`.
    pub action: &'static str,
    /// Whose things it is done to.
    pub reach: Reach,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.resource, self.action, self.reach.as_str())
    }
}

/// One permission: `project:read:team`; `*` stands for any resource, any action or all reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Permission {
    resource: String,
    action: String,
    reach: Reach,
}

impl Permission {
    /// Tells whether this permission is enough.
    pub fn covers(&self, need: &Need) -> bool {
        covers(&self.resource, &self.action, self.reach, need)
    }
}

fn covers(resource: &str, action: &str, reach: Reach, need: &Need) -> bool {
    (resource == "*" || resource == need.resource)
        && (action == "*" || action == need.action)
        && reach >= need.reach
}

impl FromStr for Permission {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = || {
            let why = format!("\"{}\" is not a permission", text.escape_debug());
            Invalid::new(code::INVALID_FIELD, why).with_field("scopes").with_hint(
                "write resource:action:reach, such as event:read:team or *:read:*; \
                 reach is own, team or all",
            )
        };
        let is_word = |part: &str| {
            part == "*"
                || (!part.is_empty()
                    && part.len() <= 32
                    && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        };
        let mut parts = text.split(':');
        let (Some(resource), Some(action), Some(reach), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(refuse());
        };
        let reach = match reach {
            "own" => Reach::Own,
            "team" => Reach::Team,
            "all" | "*" => Reach::All,
            _ => return Err(refuse()),
        };
        if !is_word(resource) || !is_word(action) {
            return Err(refuse());
        }
        Ok(Self { resource: resource.to_owned(), action: action.to_owned(), reach })
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.resource, self.action, self.reach.as_str())
    }
}

impl TryFrom<String> for Permission {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> Self {
        permission.to_string()
    }
}

/// What somebody is in a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May do everything in its tenant.
    Admin,
    /// Runs the tenant's work: tasks, agents, teams, workflows, sessions.
    Operator,
    /// Makes and runs its own work, and sees the team's.
    Developer,
    /// Sees the team's work.
    Viewer,
}

/// What belongs to work, as opposed to people, settings and secrets.
const WORK: [&str; 12] = [
    "project", "event", "task", "agent", "team", "workflow", "session", "bead", "convoy", "review",
    "cost", "metric",
];
const OPERATED: [&str; 8] =
    ["task", "agent", "team", "workflow", "session", "bead", "convoy", "review"];
const DEVELOPED: [&str; 7] = ["task", "agent", "workflow", "session", "bead", "convoy", "review"];
const OWNED: [&str; 2] = ["key", "account"];
const MAKES: [&str; 4] = ["create", "read", "update", "execute"];

/// What a role may: the resource, the action, and how far.
type Grant = (&'static str, &'static str, Reach);

impl Role {
    /// All roles, from the most to the least.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Operator, Self::Developer, Self::Viewer];

    /// Returns the name of the role.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }

    /// Tells whether somebody with this role may do something.
    pub fn may(self, need: &Need) -> bool {
        self.grants().any(|(resource, action, reach)| covers(resource, action, reach, need))
    }

    /// Lists what somebody with this role may do, for those who show it.
    pub fn permissions(self) -> Vec<Permission> {
        let permission = |(resource, action, reach): Grant| {
            let (resource, action) = (resource.to_owned(), action.to_owned());
            Permission { resource, action, reach }
        };
        self.grants().map(permission).collect()
    }

    fn grants(self) -> impl Iterator<Item = Grant> {
        let (admin, viewer) = (self == Self::Admin, self == Self::Viewer);
        let everything = [("*", "*", Reach::All)].into_iter().filter(move |_| admin);
        // Everybody looks after its own keys and its own account.
        let own = OWNED.iter().map(|resource| (*resource, "*", Reach::Own));
        let reads = WORK.iter().map(|resource| (*resource, "read", Reach::Team));
        let reports = [("event", "create", Reach::Team)].into_iter().filter(move |_| !viewer);
        let operated: &[&str] = if self == Self::Operator { &OPERATED } else { &[] };
        let operates = operated.iter().map(|resource| (*resource, "*", Reach::Team));
        let developed: &[&str] = if self == Self::Developer { &DEVELOPED } else { &[] };
        let makes = developed
            .iter()
            .flat_map(|resource| MAKES.iter().map(|action| (*resource, *action, Reach::Own)));
        everything.chain(
            own.chain(reads).chain(reports).chain(operates).chain(makes).filter(move |_| !admin),
        )
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such role")
                .with_field("role")
                .with_hint("roles are admin, operator, developer and viewer")
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(resource: &'static str, action: &'static str, reach: Reach) -> Need {
        Need { resource, action, reach }
    }

    #[test]
    fn roles_may_what_the_matrix_says() {
        use Reach::{All, Own, Team};
        // resource, action, reach: admin, operator, developer, viewer
        for (resource, action, reach, may) in [
            ("task", "create", Own, [true, true, true, false]),
            ("task", "create", Team, [true, true, false, false]),
            ("task", "delete", Own, [true, true, false, false]),
            ("agent", "execute", Team, [true, true, false, false]),
            ("agent", "execute", Own, [true, true, true, false]),
            ("session", "read", Team, [true, true, true, true]),
            ("event", "read", Team, [true, true, true, true]),
            ("event", "create", Team, [true, true, true, false]),
            ("project", "read", Team, [true, true, true, true]),
            ("project", "create", Team, [true, false, false, false]),
            ("user", "read", Team, [true, false, false, false]),
            ("config", "read", Team, [true, false, false, false]),
            ("secret", "read", Team, [true, false, false, false]),
            ("audit", "read", Team, [true, false, false, false]),
            ("tenant", "create", All, [true, false, false, false]),
            ("key", "create", Own, [true, true, true, true]),
            ("key", "create", Team, [true, false, false, false]),
        ] {
            let wanted = need(resource, action, reach);
            assert_eq!(Role::ALL.map(|role| role.may(&wanted)), may, "{wanted}");
        }
    }

    #[test]
    fn what_a_role_shows_is_what_it_may() {
        let resources = WORK.into_iter().chain(OWNED).chain(["user", "secret", "tenant"]);
        for resource in resources {
            for action in MAKES.into_iter().chain(["delete"]) {
                for reach in [Reach::Own, Reach::Team, Reach::All] {
                    let wanted = need(resource, action, reach);
                    for role in Role::ALL {
                        let shown = role.permissions().iter().any(|one| one.covers(&wanted));
                        assert_eq!(shown, role.may(&wanted), "{role} {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_wildcard_covers_what_it_stands_for() {
        let wanted = need("event", "read", Reach::Team);
        for (text, covered) in [
            ("event:read:team", true),
            ("event:*:team", true),
            ("*:read:all", true),
            ("*:*:*", true),
            ("event:read:own", false),
            ("event:create:team", false),
            ("project:read:team", false),
        ] {
            assert_eq!(text.parse::<Permission>().unwrap().covers(&wanted), covered, "{text}");
        }
    }

    #[test]
    fn what_is_no_permission_is_refused() {
        for bad in
            ["", "event", "event:read", "event:read:team:x", "Event:read:team", "::", "a:b:c"]
        {
            assert!(bad.parse::<Permission>().is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_permission_survives_being_written_and_read(
            resource in "[a-z]{1,8}|\\*", action in "[a-z]{1,8}|\\*", reach in "own|team|all"
        ) {
            let text = format!("{resource}:{action}:{reach}");
            let permission: Permission = text.parse().unwrap();
            prop_assert_eq!(permission.to_string(), text);
        }
    }
}
