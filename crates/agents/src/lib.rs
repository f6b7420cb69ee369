//! The interpreters: the built-in agent and the agent programs that people have, led as sessions of
//! one protocol.
//!
//! # Invariants
//! - What an agent does happens in its sandbox: processes, files and searches go through the runtime.
//! - An agent gets a token of Godel and the address of Godel's proxy, and no other secret.
//! - The same conversation always gives the same request, byte for byte.
//! - Everything that comes from an agent has a limit.
//! - What is asked of finished work is read from the branch that it lands on, never from the work.

pub mod discover;
mod error;
mod event;
pub mod gates;
pub mod grant;
mod harness;
pub mod launch;
mod lines;
pub mod mcp;
pub mod native;
mod output;
pub mod parse;
pub mod program;
mod session;
pub mod tree;
pub mod watch;

pub use error::{Error, Result};
pub use event::{
    CHOICES_MAX, Change, Choice, Outcome, SessionEvent, TEXT_MAX_BYTES, TODOS_MAX, Todo, TodoState,
    clip,
};
pub use harness::Harness;
pub use lines::LINE_MAX_BYTES;
pub use session::{AgentSession, Answer, PROMPT_MAX_BYTES, Turn};
