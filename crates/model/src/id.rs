//! Ids that cannot be confused: each kind is its own type over a UUID.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Invalid, code};

macro_rules! typed_id {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that is known to name this kind of thing.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the UUID inside.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Uuid::try_parse(text).map(Self).map_err(|_| {
                    Invalid::new(code::INVALID_ID, "an id must be a UUID, as the API returned it")
                })
            }
        }
    )+};
}

typed_id! {
    /// One tenant: the wall between two organisations.
    TenantId;
    /// One project of a tenant.
    ProjectId;
    /// One event of the log.
    EventId;
    /// One API key.
    KeyId;
    /// One person or service that has an account.
    UserId;
    /// One login that lasts.
    SessionId;
    /// One request to a model, or one attempt of it.
    CallId;
    /// One limit of what may be spent.
    BudgetId;
    /// One token by which an agent reaches models.
    TokenId;
    /// One task of the queue.
    TaskId;
    /// One worker that takes tasks.
    WorkerId;
    /// One task that comes again and again.
    ScheduleId;
    /// One run of a workflow.
    RunId;
    /// One workflow.
    WorkflowId;
    /// One team.
    TeamId;
    /// One agent: a worker with a conversation and a place to work in.
    AgentId;
}
