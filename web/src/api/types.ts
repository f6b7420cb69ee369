/**
 * The shapes this page reads and sends, under the names it uses.
 *
 * They come from the server's own description: `cargo xtask codegen` writes `schema.gen.ts`.
 */

import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type ErrorBody = Schemas["ErrorBody"];
/** The description cannot say that `success` is always false here. */
export type Failure = Schemas["Failure"] & { success: false };
export type Envelope<T> = { success: true; data: T } | Failure;

export type LoginRequest = Schemas["LoginRequest"];
export type Session = Schemas["Session"];
export type PasswordRequest = Schemas["PasswordRequest"];
export type DeviceDecision = Schemas["DeviceDecision"];

export type Health = Schemas["Health"];
export type HealthCheck = Schemas["Check"];
export type HealthStatus = Schemas["HealthStatus"];

/** One fact from the event log; not to be confused with the browser's `Event`. */
export type GodelEvent = Schemas["Event"];
export type EventMetadata = Schemas["EventMetadata"];
export type NewEvent = Schemas["NewEvent"];

export type Project = Schemas["Project"];
export type RepositoryJob = Schemas["RepositoryJob"];
export type Agent = Schemas["Agent"];
export type Bead = Schemas["Bead"];
export type BeadClaim = Schemas["BeadClaim"];
export type BeadDetail = Schemas["BeadDetail"];
export type BeadPatch = Schemas["BeadPatch"];
export type BeadRow = Schemas["BeadRow"];
export type NewBead = Schemas["NewBead"];
export type Convoy = Schemas["Convoy"];
export type ConvoyRun = Schemas["ConvoyRun"];
export type ConvoyWaves = Schemas["ConvoyWaves"];
export type MoveLanding = Schemas["MoveLanding"];
export type StartConvoy = Schemas["StartConvoy"];
export type Talk = Schemas["Talk"];
export type TalkChange = Schemas["TalkChange"];
export type TalkCompared = Schemas["TalkCompared"];
export type TalkEnd = Schemas["TalkEnd"];
export type TalkNode = Schemas["TalkNode"];
export type TalkNodes = Schemas["TalkNodes"];
export type UsageReport = Schemas["UsageReport"];
export type NoticeCount = Schemas["NoticeCount"];
export type Notice = Schemas["Notice"];
export type ReviewRow = Schemas["ReviewRow"];
export type Review = Schemas["Review"];
export type ReviewApplied = Schemas["ReviewApplied"];
export type ReviewComment = Schemas["ReviewComment"];
export type ReviewConflict = Schemas["ReviewConflict"];
export type ReviewConflictSpot = Schemas["ReviewConflictSpot"];
export type ReviewDecision = Schemas["ReviewDecision"];
export type ReviewDiff = Schemas["ReviewDiff"];
export type ReviewFile = Schemas["ReviewFile"];
export type ReviewFileLine = Schemas["ReviewFileLine"];
export type ReviewFileLines = Schemas["ReviewFileLines"];
export type ReviewHunk = Schemas["ReviewHunk"];
export type ReviewLine = Schemas["ReviewLine"];
export type ReviewMark = Schemas["ReviewMark"];
export type ReviewPart = Schemas["ReviewPart"];
export type ReviewTally = Schemas["ReviewTally"];
export type Landing = Schemas["Landing"];
export type LandingLine = Schemas["LandingLine"];
export type GateVerdict = Schemas["GateVerdict"];
export type NewAgent = Schemas["NewAgent"];
export type AgentMetrics = Schemas["AgentMetrics"];
export type SystemMetrics = Schemas["SystemMetrics"];
export type AgentLine = Schemas["AgentLine"];
export type AgentSnapshot = Schemas["AgentSnapshot"];
export type AgentRole = Schemas["AgentRole"];
export type AgentToken = Schemas["AgentToken"];
export type AgentTokenMade = Schemas["AgentTokenMade"];
export type NewAgentToken = Schemas["NewAgentToken"];
export type Worktree = Schemas["Worktree"];
export type WorktreeFate = Schemas["WorktreeFate"];
export type WorktreeList = Schemas["WorktreeList"];
export type RemovedWorktree = Schemas["RemovedWorktree"];
export type CleanedWorktrees = Schemas["CleanedWorktrees"];
export type Letter = Schemas["Letter"];
export type Memory = Schemas["Memory"];
export type ModelCall = Schemas["ModelCall"];
export type ModelCalls = Schemas["ModelCalls"];
export type Estop = Schemas["Estop"];
export type Team = Schemas["Team"];
/** The server looks into it itself and describes no fields. */
export type TeamSpec = Schemas["TeamSpec"];
export type Intent = Schemas["Intent"];
export type NewIntent = Schemas["NewIntent"];
export type StartIntent = Schemas["StartIntent"];
export type UsageTotals = Schemas["UsageTotals"];
export type Budget = Schemas["Budget"];
export type SetBudget = Schemas["SetBudget"];
export type ProviderState = Schemas["ProviderState"];
export type SettingsDocument = Schemas["SettingsDocument"];
export type SettingsChange = Schemas["SettingsChange"];
export type Routing = Schemas["Routing"];
export type RuntimeInfo = Schemas["RuntimeInfo"];
export type RuntimeList = Schemas["RuntimeList"];
export type RuntimeTest = Schemas["RuntimeTest"];
export type DoctorCheck = Schemas["DoctorCheck"];
export type ProviderTest = Schemas["ProviderTest"];
export type User = Schemas["User"];
export type UserExport = Schemas["UserExport"];
export type Invitation = Schemas["Invitation"];
export type Key = Schemas["Key"];
export type KeyMade = Schemas["KeyMade"];
export type Secret = Schemas["Secret"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditVerdict = Schemas["AuditVerdict"];
export type Task = Schemas["Task"];
export type TaskDetail = Schemas["TaskDetail"];
export type Pool = Schemas["Pool"];
export type QueueDepth = Schemas["QueueDepth"];
export type Schedule = Schemas["Schedule"];
export type Workflow = Schemas["Workflow"];
export type WorkflowOutline = Schemas["WorkflowOutline"];
export type RunRow = Schemas["RunRow"];
export type Run = Schemas["Run"];
export type RunStepDetail = Schemas["RunStepDetail"];
export type RunStepRound = Schemas["RunStepRound"];
export type RunStep = Schemas["RunStep"];
export type View = Schemas["View"];
export type SaveView = Schemas["SaveView"];
export type BudgetTrial = Schemas["BudgetTrial"];
export type BudgetStop = Schemas["BudgetStop"];
export type TryBudget = Schemas["TryBudget"];
export type ImportedBead = Schemas["ImportedBead"];
export type ImportedBeads = Schemas["ImportedBeads"];
export type NewTask = Schemas["NewTask"];
export type NewSchedule = Schemas["NewSchedule"];
export type PoolPatch = Schemas["PoolPatch"];
export type Worker = Schemas["Worker"];
export type WorkerDetail = Schemas["WorkerDetail"];
export type Attempt = Schemas["Attempt"];
export type Attempts = Schemas["Attempts"];
export type AttemptDiff = Schemas["AttemptDiff"];
export type Preview = Schemas["Preview"];
export type RestartAgent = Schemas["RestartAgent"];
