//! The one way in which sessions of all agents are led.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::event::SessionEvent;

/// The most bytes of what an agent is told at once.
pub const PROMPT_MAX_BYTES: usize = 1024 * 1024;

/// What an agent is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The text.
    pub text: String,
}

impl Turn {
    /// Makes a turn of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// What a person answers to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// One of the choices, by its id.
    Choice(String),
    /// Words of their own.
    Text(String),
    /// Nobody answers.
    Declined,
}

/// A session with an agent.
///
/// [`next`](Self::next) may be dropped at any point and called again; nothing is lost by that.
#[async_trait]
pub trait AgentSession: Send {
    /// Tells the agent something: the beginning of a turn, or, if one is under way and the agent
    /// takes it, something for the next safe point.
    async fn prompt(&mut self, turn: Turn) -> Result<()>;

    /// Waits for what happens next; after [`SessionEvent::Ended`] it says that again.
    async fn next(&mut self) -> Result<SessionEvent>;

    /// Answers a question.
    async fn answer(&mut self, question: &str, answer: Answer) -> Result<()>;

    /// Stops the turn; its end is told as an event.
    async fn cancel(&mut self) -> Result<()>;
}
