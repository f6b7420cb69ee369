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
            Invalid::new(code::INVALID_FIELD, why).with_hint(
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
        let in_team = need.reach <= Reach::Team;
        let reads_work = need.action == "read" && in_team && WORK.contains(&need.resource);
        // Everybody looks after its own keys and its own account.
        let own = need.reach == Reach::Own && matches!(need.resource, "key" | "account");
        let reports = need.resource == "event" && need.action == "create" && in_team;
        match self {
            Self::Admin => true,
            Self::Operator => {
                reads_work || own || reports || (in_team && OPERATED.contains(&need.resource))
            }
            Self::Developer => {
                let makes = matches!(need.action, "create" | "read" | "update" | "execute");
                let own_work =
                    need.reach == Reach::Own && makes && DEVELOPED.contains(&need.resource);
                reads_work || own || reports || own_work
            }
            Self::Viewer => reads_work || own,
        }
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
