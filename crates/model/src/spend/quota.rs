//! The quota of a subscription, as its provider tells it.

use jiff::Timestamp;

use crate::UserId;

/// One window of the quota of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaWindow {
    /// Its name, as the provider has it: `5h`, `7d`, `primary`.
    pub name: String,
    /// How much of it is used, in millionths.
    pub used_ppm: i64,
    /// How long it is, in minutes.
    pub minutes: Option<u32>,
    /// When it begins anew.
    pub resets_at: Option<Timestamp>,
    /// What the provider says of it, such as `allowed` or `rejected`.
    pub state: Option<String>,
}

/// A window of the subscription by which a user asks a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Whose subscription it is.
    pub user: UserId,
    /// The provider.
    pub provider: String,
    /// What it said last.
    pub window: QuotaWindow,
    /// When it said so.
    pub seen_at: Timestamp,
}
