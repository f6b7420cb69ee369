//! The nouns of Godel: typed ids, entities, events and the changes that are legal.
//!
//! # Invariants
//! - Nothing here does IO, spawns a task or blocks; [`SystemClock`] and [`Mint`] are the only two
//!   places of the whole workspace that read the clock or make ids and secrets.
//! - Text from outside becomes a newtype here ([`EventType`], [`ProjectName`], [`ApiKey`], ..);
//!   a value of such a type is valid by construction.
//! - The state of a tenant equals its last snapshot plus the fold of its later events
//!   ([`TenantState`]).

mod actor;
mod agent;
mod audit;
mod bead;
pub mod chain;
mod clock;
pub mod code;
mod event;
mod filter;
mod id;
mod incident;
mod key;
mod landing;
mod limits;
mod mint;
mod name;
mod pattern;
mod permission;
mod project;
pub mod receipt;
mod report;
mod spend;
mod state;
mod survey;
mod task;
mod tenant;
mod user;

pub use actor::Actor;
pub use agent::{Life, LifeMove, RUNTIMES};
pub use audit::{AuditEntry, AuditResult, AuditRow, Personal};
pub use bead::{
    BeadId, BeadKind, BeadStatus, ConvoyId, LinkKind, NodeId, Priority, Resolution, Stamp,
};
pub use clock::{Clock, SystemClock, TestClock, from_micros, micros};
pub use code::Code;
pub use event::{Event, EventType, Metadata, NewEvent, Payload, Seq, Source};
pub use filter::EventFilter;
pub use id::{
    AgentId, BudgetId, CallId, EventId, KeyId, ProjectId, RunId, ScheduleId, SessionId, TaskId,
    TeamId, TenantId, TokenId, UserId, WorkerId, WorkflowId,
};
pub use incident::{Incident, Trouble};
pub use key::{AgentToken, ApiKey, KeyHash, LoginToken};
pub use landing::{ForgeKind, JoinBy};
pub use limits::Limits;
pub use mint::Mint;
pub use name::{KeyName, Name, ProjectName, SecretName, TenantName, UserName};
pub use pattern::Pattern;
pub use permission::{Need, Permission, Reach, Role};
pub use project::{Project, ProjectChange};
pub use report::{Invalid, Kind, Report};
pub use spend::{
    Allowance, AllowanceChange, Budget, BudgetScope, CallEnd, CallStart, Crossing, Held, Outcome,
    PaidBy, Period, Purpose, QUARTER_MICROS, QUARTERS_PER_DAY, Quota, QuotaWindow, Reserved, Saved,
    Short, SpendKind, Tier, Usage, UsageKey, UsageSum,
};
pub use state::{Illegal, TenantState};
pub use survey::{History, HotFile, Language, Part, PartKind, Survey, Tests};
pub use task::{
    Attempt, AttemptEnd, Capability, Lane, Mood, NewSchedule, NewTask, Owner, Placement, Pool,
    PoolName, PoolSettings, RetryPolicy, Schedule, Task, TaskPriority, TaskState, Worker,
    WorkerStatus,
};
pub use tenant::Tenant;
pub use user::{User, UserStatus};
