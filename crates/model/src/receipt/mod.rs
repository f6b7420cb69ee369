//! Attempts to get an answer from a provider, as the texts that the ledger keeps.

mod ended;
mod open;

pub use ended::{EndedWriter, read_ended};
pub use open::{read_open, write_open};

/// A text that does not tell of a call.
#[derive(Debug, thiserror::Error)]
#[error("the text of a call cannot be understood")]
pub struct NoReceipt(#[source] Box<dyn std::error::Error + Send + Sync>);

fn unreadable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> NoReceipt {
    NoReceipt(cause.into())
}

/// The names are few, so none needs memory of its own.
fn dialect(name: &str) -> &'static str {
    ["chat", "responses", "anthropic", "gemini"]
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or("unknown")
}
