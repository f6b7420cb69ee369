//! Models: who may ask them, what that costs, and how much of it is allowed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A token by which an agent reaches models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentToken {
    /// The id.
    pub id: Uuid,
    /// What it is for.
    pub name: String,
    /// The beginning of the token, by which a person recognises it.
    pub prefix: String,
    /// On whose behalf models are asked.
    pub user_id: Uuid,
    /// The project whose work it does.
    pub project_id: Option<Uuid>,
    /// The agent that holds it.
    pub agent: Option<String>,
    /// The bead that is worked on.
    pub bead: Option<String>,
    /// The convoy of that bead.
    pub convoy: Option<String>,
    /// Which models may be asked, as patterns with `*`; none means all.
    pub models: Vec<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
}

/// What a new token of an agent is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAgentToken {
    /// What it is for.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The project whose work it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// The agent that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The bead that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bead: Option<String>,
    /// The convoy of that bead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convoy: Option<String>,
    /// Which models may be asked, as patterns with `*`; none means all.
    #[serde(default)]
    pub models: Vec<String>,
    /// What may be spent with it in all, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// A token that was made just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentTokenMade {
    /// What is known of it.
    #[serde(flatten)]
    pub info: AgentToken,
    /// The token itself, only in the answer that made it.
    pub token: Option<String>,
}

/// A limit of what may be spent. Money is in millionths of a dollar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// The id.
    pub id: Uuid,
    /// Whose spending it limits: `tenant`, or `project:`, `user:`, `agent:`, `bead:`, `convoy:` or
    /// `token:` and an id.
    pub scope: String,
    /// When it begins anew: `total` (never), `daily` or `monthly`, in UTC.
    pub period: String,
    /// What may be spent in a period.
    pub cap_micros: i64,
    /// From how many percent on its owner is warned.
    pub warn_percent: u32,
    /// Whether requests are refused when it is used up; else somebody is told, and that is all.
    #[serde(default = "yes")]
    pub hard_stop: bool,
    /// By how many percent it may be passed before requests are refused.
    #[serde(default)]
    pub grace_percent: u32,
    /// Who is told of it, by ids of users; nobody stands for everybody who may know of it.
    #[serde(default)]
    pub tell: Vec<Uuid>,
    /// What is spent in the present period.
    pub spent_micros: i64,
    /// What is held back for requests under way.
    pub held_micros: i64,
    /// When the present period began.
    #[schema(value_type = String, format = DateTime)]
    pub starts_at: Timestamp,
    /// When the next one begins.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// All budgets of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetList {
    /// By scope and period.
    pub items: Vec<Budget>,
}

/// A limit that is to be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetBudget {
    /// Whose spending it limits.
    #[schema(max_length = 200)]
    pub scope: String,
    /// When it begins anew: `total`, `daily` or `monthly`.
    pub period: String,
    /// What may be spent in a period, in millionths of a dollar.
    #[schema(minimum = 1)]
    pub cap_micros: i64,
    /// From how many percent on its owner is warned; as it was, or 80, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub warn_percent: Option<u32>,
    /// Whether requests are refused when it is used up; as it was, or yes, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_stop: Option<bool>,
    /// By how many percent it may be passed before; as it was, or 0, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub grace_percent: Option<u32>,
    /// Who is told of it, by ids of users: as it was, or everybody who may know of it, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 20)]
    pub tell: Option<Vec<Uuid>>,
}

const fn yes() -> bool {
    true
}

/// A limit that is tried out on what was spent in the past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TryBudget {
    /// Whose spending it would limit.
    #[schema(max_length = 200)]
    pub scope: String,
    /// When it would begin anew: `total`, `daily` or `monthly`.
    pub period: String,
    /// What could be spent in a period, in millionths of a dollar.
    #[schema(minimum = 1)]
    pub cap_micros: i64,
    /// How many days are looked at; 7 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 31)]
    pub past_days: Option<u32>,
}

/// What a limit would have done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetTrial {
    /// From when on requests were looked at.
    #[schema(value_type = String, format = DateTime)]
    pub from: jiff::Timestamp,
    /// Until when.
    #[schema(value_type = String, format = DateTime)]
    pub to: jiff::Timestamp,
    /// How many requests there were, attempts counted one by one.
    pub requests: u64,
    /// What they cost, in millionths of a dollar.
    pub spent_micros: i64,
    /// Each period in which the limit would have been reached, the oldest first.
    pub stops: Vec<BudgetStop>,
    /// Whether all requests of the time were looked at; there may be too many of them.
    pub is_whole: bool,
}

/// A period in which a limit would have been reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStop {
    /// When the first request would have been refused.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
    /// How many requests would have been refused.
    pub requests: u64,
    /// What they cost in truth, in millionths of a dollar.
    pub cost_micros: i64,
    /// How many agents would have been stopped.
    pub agent_count: usize,
    /// The first 50 of them, in the order in which they would have been stopped.
    pub agents: Vec<String>,
}

/// What some requests used and cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// How many there were, attempts counted one by one.
    pub requests: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have no known price; what they cost is not in the sum.
    pub unpriced: u64,
    /// How many of them a subscription paid: their tokens count, and they have no price.
    #[serde(default)]
    pub by_login: u64,
    /// How many answers were given again from memory; they are no requests and cost nothing.
    #[serde(default)]
    pub from_cache: u64,
    /// How many of them are estimates, because the provider did not tell.
    pub estimated: u64,
    /// Input that no cache knew.
    pub input_tokens: u64,
    /// Input that was read from a cache.
    pub cache_read_tokens: u64,
    /// Input that was written to a cache.
    pub cache_write_tokens: u64,
    /// All output, reasoning included.
    pub output_tokens: u64,
    /// How much of the output was reasoning.
    pub reasoning_tokens: u64,
    /// What they cost, in millionths of a dollar.
    pub cost_micros: i64,
    /// What they would have cost more without caches; less than 0 if what was written to them was not read.
    #[serde(default)]
    pub saved_by_cache_micros: i64,
    /// What they would have cost more, had nobody chosen by cost.
    #[serde(default)]
    pub saved_by_routing_micros: i64,
}

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// What the row is about: the kinds that were asked for, each with its value.
    pub group: BTreeMap<String, String>,
    /// What was used.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// What was used and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// Where days begin at midnight: `UTC`, or the time zone that was asked for.
    #[serde(default)]
    pub time_zone: String,
    /// What all of it cost, in dollars; `total.costMicros` is exact.
    pub total_cost: f64,
    /// Everything together.
    pub total: UsageTotals,
    /// What it cost by provider, in dollars.
    pub by_provider: BTreeMap<String, f64>,
    /// What it cost by agent, in dollars.
    pub by_agent: BTreeMap<String, f64>,
    /// Split as it was asked for.
    pub rows: Vec<UsageRow>,
}

/// One attempt to get an answer from a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// The id of the attempt.
    pub id: Uuid,
    /// The id of the request: that of its first attempt.
    pub request_id: Uuid,
    /// Counts the attempts of a request from 1.
    pub attempt: u32,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    /// On whose behalf.
    pub user_id: Uuid,
    /// For which project.
    pub project_id: Option<Uuid>,
    /// By which agent.
    pub agent_id: Option<String>,
    /// For which bead.
    pub bead_id: Option<String>,
    /// For which convoy.
    pub convoy_id: Option<String>,
    /// With which token.
    pub token_id: Option<Uuid>,
    /// By which name the client calls its session.
    pub session: Option<String>,
    /// The dialect of the client: `chat`, `responses`, `anthropic` or `gemini`.
    pub dialect: String,
    /// The model that the client asked for.
    pub asked: String,
    /// The provider.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// Whether the reply was streamed.
    pub streamed: bool,
    /// By what it was paid: `key`, `login` (a subscription of the client) or `cache` (it was given
    /// before).
    pub paid_by: String,
    /// How it ended: `open`, `ok`, `failed`, `cancelled` or `lost`.
    pub outcome: String,
    /// Whether there was an answer.
    pub success: bool,
    /// The HTTP status of the provider.
    pub status: Option<u16>,
    /// Input that no cache knew.
    pub input_tokens: u64,
    /// Input that was read from a cache.
    pub cache_read_tokens: u64,
    /// Input that was written to a cache.
    pub cache_write_tokens: u64,
    /// All output, reasoning included.
    pub output_tokens: u64,
    /// How much of the output was reasoning.
    pub reasoning_tokens: u64,
    /// What it cost, in dollars; none if that is not known.
    pub cost: Option<f64>,
    /// What it cost, in millionths of a dollar.
    pub cost_micros: Option<i64>,
    /// By which price of the list of models: from which day on it counts, and dollars for a million tokens of input
    /// and output.
    #[serde(default)]
    pub price: Option<String>,
    /// What it would have cost more without a cache.
    #[serde(default)]
    pub saved_by_cache_micros: i64,
    /// What it would have cost more, had nobody chosen by cost.
    #[serde(default)]
    pub saved_by_routing_micros: i64,
    /// Whether tokens and cost are an estimate.
    pub estimated: bool,
    /// How long the first byte took, in milliseconds.
    pub first_byte_ms: Option<f64>,
    /// How long all of it took, in milliseconds.
    pub latency: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
}

/// A page of attempts, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCalls {
    /// The attempts.
    pub logs: Vec<ModelCall>,
    /// How many there were ever, of those that fit; `from`, `to` and `outcome` do not count here.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// How a provider is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderState {
    /// The provider.
    pub provider: String,
    /// `unused`, `up`, `trial` (one request is let through to see) or `down`.
    pub state: String,
    /// How long the first byte took lately, in milliseconds.
    pub first_byte_ms: Option<f64>,
    /// How many requests it answered since the server started.
    pub worked: u64,
    /// How many it did not.
    pub failed: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// The quotas of the subscriptions by which it was asked.
    #[serde(default)]
    pub quotas: Vec<QuotaState>,
}

/// A window of the quota of a subscription, as its provider told it last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaState {
    /// Whose subscription it is.
    pub user_id: Uuid,
    /// The provider.
    pub provider: String,
    /// Its name, as the provider has it: `5h`, `7d`, `primary`.
    pub window: String,
    /// How long it is, in minutes.
    pub window_minutes: Option<u32>,
    /// How much of it is used, in percent; none if it has begun anew since the provider told.
    pub used_percent: Option<f64>,
    /// When it begins anew.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub resets_at: Option<Timestamp>,
    /// What the provider says of it, such as `allowed` or `rejected`.
    pub state: Option<String>,
    /// When the provider told.
    #[schema(value_type = String, format = DateTime)]
    pub seen_at: Timestamp,
}

/// The quotas of all subscriptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QuotaStates {
    /// By provider, user and length.
    pub items: Vec<QuotaState>,
}

/// All providers of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProviderStates {
    /// In the order in which they are asked.
    pub items: Vec<ProviderState>,
}

/// What was asked and answered in one attempt, without secrets and personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCallBody {
    /// The request, or its beginning.
    pub request: String,
    /// How many bytes the request had.
    pub request_bytes: u64,
    /// The reply, or its beginning; of a stream, what it says as a whole.
    pub reply: String,
    /// How many bytes the reply had.
    pub reply_bytes: u64,
    /// Until when it is kept.
    #[schema(value_type = String, format = DateTime)]
    pub keep_until: Timestamp,
}

/// How a provider did when it was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// The provider.
    pub provider: String,
    /// Whether it works.
    pub works: bool,
    /// What was tried: each key counts from 1; 0 stands for none, where it wants none.
    pub key: u32,
    /// The address that was asked; none if it could not be.
    pub asked: Option<String>,
    /// The HTTP status of its answer.
    pub status: Option<u16>,
    /// How many models it knows.
    pub models: Option<u64>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<f64>,
    /// What is wrong.
    pub problem: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// How providers did when they were tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProviderTests {
    /// In the order in which they are asked, one for each key.
    pub items: Vec<ProviderTest>,
}
