//! The envelope around every answer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A successful answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Success<T> {
    /// Always `true`.
    #[schema(default = true)]
    pub success: bool,
    /// What was asked for.
    pub data: T,
}

impl<T> Success<T> {
    /// Wraps an answer.
    pub const fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// One page of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// How to get the next one.
    pub pagination: Pagination,
}

/// How to get the next page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    /// How many items a page has at most.
    pub limit: usize,
    /// Give this as `cursor` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether there may be another page.
    pub has_more: bool,
}

/// A failed answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    /// Always `false`.
    #[schema(default = false)]
    pub success: bool,
    /// What went wrong.
    pub error: ErrorBody,
    /// Where and when.
    pub meta: Meta,
}

/// What went wrong, and what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// A stable code; `godel explain CODE` tells more.
    #[schema(example = "project_not_found")]
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The field of the request that it is about, such as `name` or `limits.maxAgents`, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "name")]
    pub field: Option<String>,
    /// More for programs, depending on the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
}

/// Where and when an answer was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The id of the request, as in the `X-Request-Id` header and in the log.
    pub request_id: String,
    /// When the answer was made.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: jiff::Timestamp,
}
