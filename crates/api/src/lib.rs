//! The public contract of Godel: what goes over the wire, and the typed client.
//!
//! # Invariants
//! - Fields are camelCase, times RFC 3339, money integer micro-dollars.
//! - A body from outside with an unknown field is refused.
//! - Nothing here knows how a request is carried out.

mod agents;
mod attach;
mod attempts;
mod audit;
mod auth;
mod beads;
mod client;
mod convoys;
mod cursor;
mod discovery;
mod envelope;
mod events;
mod frames;
mod health;
mod intents;
mod keys;
mod landings;
mod own;
mod portable;
mod previews;
mod projects;
mod reviews;
mod routing;
mod runtimes;
mod spend;
mod sse;
mod system;
mod talks;
mod tasks;
mod users;
mod views;
mod workers;
mod workflows;

pub use agents::{
    Agent, AgentLine, AgentList, AgentLog, AgentMessage, AgentMetrics, AgentSnapshot, AgentStep,
    AgentTodo, AskEstop, CleanWorktrees, CleanedWorktrees, ConvoyRun, Estop, ForkAgent,
    ImportedSnapshot, NewAgent, RemovedWorktree, RestartAgent, StartConvoy, Worktree, WorktreeFate,
    WorktreeList,
};
pub use attach::{
    ATTACH_PROTOCOL, AttachAsk, AttachTold, CLOSE_REFUSED, CLOSE_TOO_SLOW, Holder,
    read_terminal_frame, terminal_frame,
};
pub use attempts::{
    Attempt, AttemptDiff, AttemptGate, Attempts, AttemptsList, NewAttempts, PickAttempt,
};
pub use audit::{AuditEntry, AuditVerdict};
pub use auth::{
    Device, DeviceAnswer, DeviceAsk, DeviceDecision, DeviceRequest, DeviceStart, LoginRequest,
    LoginWants, PasswordRequest, RefreshRequest, Session, TenantRef, Ticket, Tokens,
};
pub use beads::{
    AssignBead, Bead, BeadClaim, BeadComment, BeadDetail, BeadLink, BeadLogEntry, BeadPatch,
    BeadRow, CheckedCommit, ClaimBead, ExtendBead, ImportedBead, ImportedBeads, ImportedField,
    Lease, Memories, Memory, MoveBead, NewBead, NewComment, NewMemory, ReadyBeads, ReleaseBead,
    WaitingBead,
};
pub use client::{
    Client, ClientBuilder, ClientError, Download, EventStream, Heard, Socket, StreamItem,
};
pub use convoys::{
    Convoy, ConvoyBeads, ConvoyDetail, ConvoyPatch, ConvoyProgress, ConvoyWaves, NewConvoy,
};
pub use cursor::Cursor;
pub use discovery::{Discovery, OWNER_KEY_FILE};
pub use envelope::{ErrorBody, Failure, Meta, Page, Pagination, Success};
pub use events::{Event, EventMetadata, EventSource, NewEvent, NewEventMetadata};
pub use frames::{
    ClientFrame, Command, EVENTS_PROTOCOL, FrameKind, Lagged, LaggedReason, Policy, ServerFrame,
    Subscribe, Unsubscribe,
};
pub use godel_tls::{Fingerprint, Trust};
pub use health::{
    Capabilities, Check, DetailedHealth, Health, HealthStatus, Live, Protection, Ready,
};
pub use intents::{
    AnswerIntent, Intent, IntentBead, IntentChoice, IntentComplexity, IntentCoverage, IntentEntity,
    IntentEstimate, IntentFactor, IntentLanguage, IntentMember, IntentPlan, IntentQuestion,
    IntentRange, IntentRepository, IntentTeam, NewIntent, StartIntent,
};
pub use keys::{Key, KeyMade, KeyRotation, NewKey, Secret, SecretList, SecretValue};
pub use landings::{
    AskPause, GateVerdict, Landing, LandingLine, LandingLines, LandingPaused, LandingPull,
    MoveLanding, Reverted,
};
pub use own::{
    Made, OwnAgent, OwnAnswer, OwnBead, OwnDone, OwnMail, OwnQuestion, OwnSaid, OwnSelf, OwnTodos,
    OwnTool, OwnTools, OwnUse, OwnVerdict,
};
pub use portable::{
    ImportSettings, PortableBudget, PortableProject, SETTINGS_FORMAT, SettingsChange,
    SettingsChanges, SettingsDocument, SettingsField,
};
pub use previews::{NewPreview, Preview, PreviewList};
pub use projects::{
    MakeRepository, NewProject, Project, ProjectLimits, ProjectPatch, RepositoryJob,
    RepositoryKind, RepositoryState,
};
pub use reviews::{
    ApplyReview, ApproveReview, DecideReview, EditReview, NewReviewComment, RequestReviewChanges,
    Review, ReviewApplied, ReviewApproval, ReviewApproved, ReviewComment, ReviewConflict,
    ReviewConflictSpot, ReviewConflicts, ReviewDecision, ReviewDiff, ReviewFile, ReviewFileLine,
    ReviewFileLines, ReviewFirstPass, ReviewHunk, ReviewLine, ReviewLines, ReviewMark, ReviewPair,
    ReviewPart, ReviewRequested, ReviewRow, ReviewSide, ReviewTakeover, ReviewTally,
};
pub use routing::{HedgedModel, RoutedModel, Routing};
pub use runtimes::{DoctorCheck, RuntimeInfo, RuntimeList, RuntimeTest};
pub use spend::{
    AgentToken, AgentTokenMade, Budget, BudgetList, BudgetStop, BudgetTrial, ModelCall,
    ModelCallBody, ModelCalls, NewAgentToken, ProviderState, ProviderStates, ProviderTest,
    ProviderTests, QuotaState, QuotaStates, SetBudget, TryBudget, UsageReport, UsageRow,
    UsageTotals,
};
pub use sse::{SseDecoder, SseMessage};
pub use system::SystemMetrics;
pub use talks::{
    AgentRole, AnswerNotice, Letter, NewLetter, Notice, NoticeCount, RoleSource, Talk, TalkChange,
    TalkCompared, TalkEnd, TalkNode, TalkNodes,
};
pub use tasks::{
    AssignTask, CancelTask, NewSchedule, NewTask, NewTasks, Pool, PoolList, PoolPatch, QueueDepth,
    QueueDepthRow, ReplayDead, Replayed, Schedule, SchedulePatch, Task, TaskAnswer, TaskAttempt,
    TaskDetail, TaskMade, TaskRetry, TasksMade,
};
pub use users::{
    Invitation, NewTenant, NewUser, Tenant, TenantInvitation, TenantPatch, User, UserExport,
    UserPatch,
};
pub use views::{SaveView, View, ViewList};
pub use workers::{
    ClaimTasks, CompleteTask, FailTask, GivenTask, GivenTasks, HeldTask, NewWorker, ProgressTask,
    ReleaseTask, SpawnTask, TaskSaid, Worker, WorkerBeat, WorkerDetail, WorkerPatch,
};
pub use workflows::{
    AnswerStep, CancelledRuns, Drawing, NewRun, RetryRun, Run, RunRow, RunStep, RunStepDetail,
    RunStepRound, RunSteps, ScaleTeam, StartRun, StepCounts, Team, TeamAgent, TeamAgents,
    TeamMetrics, TeamSpec, Workflow, WorkflowOutline, WorkflowSource, WorkflowStep,
};
