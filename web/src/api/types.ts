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
export type Device = Schemas["Device"];
export type DeviceDecision = Schemas["DeviceDecision"];

export type Health = Schemas["Health"];
export type HealthCheck = Schemas["Check"];
export type HealthStatus = Schemas["HealthStatus"];

/** One fact from the event log; not to be confused with the browser's `Event`. */
export type GodelEvent = Schemas["Event"];
export type EventMetadata = Schemas["EventMetadata"];
export type NewEvent = Schemas["NewEvent"];

export type Project = Schemas["Project"];
export type Agent = Schemas["Agent"];
export type Bead = Schemas["Bead"];
export type Convoy = Schemas["Convoy"];
export type Notice = Schemas["Notice"];
export type ReviewRow = Schemas["ReviewRow"];
export type Landing = Schemas["Landing"];

export type UsageReport = Schemas["UsageReport"];
export type UsageTotals = Schemas["UsageTotals"];
export type ModelCall = Schemas["ModelCall"];
export type ModelCalls = Schemas["ModelCalls"];
export type Budget = Schemas["Budget"];
export type SetBudget = Schemas["SetBudget"];
export type ProviderState = Schemas["ProviderState"];
export type ProviderTest = Schemas["ProviderTest"];
export type User = Schemas["User"];
export type Invitation = Schemas["Invitation"];
export type Key = Schemas["Key"];
export type KeyMade = Schemas["KeyMade"];
export type Secret = Schemas["Secret"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditVerdict = Schemas["AuditVerdict"];
export type Talk = Schemas["Talk"];
export type Task = Schemas["Task"];
export type TaskDetail = Schemas["TaskDetail"];
export type Pool = Schemas["Pool"];
export type QueueDepth = Schemas["QueueDepth"];
export type Schedule = Schemas["Schedule"];
export type Workflow = Schemas["Workflow"];
export type RunRow = Schemas["RunRow"];
export type Run = Schemas["Run"];
export type RunStep = Schemas["RunStep"];
