//! How requests to models find their way, over the API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How requests to models find their way. It is said in the proxy's file, which is read again when it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Routing {
    /// The providers in the order in which they are asked.
    pub order: Vec<String>,
    /// What counts in the choice among those who can answer: `order`, `cost` or `latency`.
    pub prefer: String,
    /// How often a request is tried at most.
    pub attempts: u32,
    /// How long a provider may take for its first byte, in seconds.
    pub first_byte_seconds: u64,
    /// How long a stream may be silent, in seconds.
    pub idle_seconds: u64,
    /// Names that stand for models, in the order in which those are tried.
    pub aliases: Vec<RoutedModel>,
    /// Models that are tried after another.
    pub fallbacks: Vec<RoutedModel>,
    /// Models for which a second provider is asked too.
    pub hedges: Vec<HedgedModel>,
    /// For how long an answer is kept for whoever asks for it to be kept, in seconds; null if none is.
    pub cache_seconds: Option<u64>,
}

/// A name and the models that it leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoutedModel {
    /// The name that is asked for.
    pub name: String,
    /// The models, in the order in which they are tried.
    pub models: Vec<String>,
}

/// A model for which a second provider is asked if the first is slow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HedgedModel {
    /// The model.
    pub model: String,
    /// How long the first provider may say nothing, in milliseconds.
    pub after_ms: u64,
}
