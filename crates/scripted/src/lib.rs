//! The stage: an LLM provider that does what the prompt says.
//!
//! It is a real HTTP server that speaks four dialects (OpenAI chat and Responses, Anthropic
//! Messages, Gemini), streaming or not. It reads directives out of the last user message:
//!
//! | Directive | Does |
//! |---|---|
//! | `[[call NAME {"a":1}]]` | calls a tool that is offered; several make parallel calls |
//! | `[[insist NAME {"a":1}]]` | calls a tool whether it is offered or not, as models sometimes do |
//! | `[[shell COMMAND]]` | calls whichever tool runs commands, with the input it wants |
//! | `[[work PATH TEXT]]` | writes the file, commits it, and says that it is done, by a tool for that if there is one |
//! | `[[say TEXT]]`, `[[words 500]]`, `[[json {..}]]` | answers with this |
//! | `[[think]]` | shows thinking even if nobody asked for it |
//! | `[[stop length]]` | ends for this reason: `end`, `length` or `refusal` |
//! | `[[usage input=100 cache_read=40 cache_write=20 output=7 reasoning=3]]` | says that it cost this much |
//! | `[[tier flex]]` | says that it was served in this tier, where and as the dialect says it |
//! | `[[searches 2]]` | says that it made so many searches of the web, and fetched a page (Messages only) |
//! | `[[pace 20]]` | waits so many milliseconds before each event |
//! | `[[then]]` | what follows is done when the tool results are back |
//! | `[[fault ..]]` | fails; [`Fault`] names the ways |
//!
//! A piece of work outlives the message that it stands in: told that something is missing, or told the
//! same again after a restart, the model looks and goes on. What it does follows from the conversation.
//!
//! Without a directive a question gets an answer that quotes it, a tool result one that quotes the
//! result, a request with a schema JSON that fits, and a forced tool a call that fits. The model
//! `missing-..` is not there. The models `bench-N` (N bytes), `bench-stream-N` (N events at once) and
//! `bench-paced-N-MS` are a fast lane for benchmarks, as is the header `x-scripted-bench`.
//!
//! Like a real provider it refuses tool calls without results and opaque state (signatures,
//! encrypted reasoning) that is missing, changed or not its own, and it knows only its own keys.
//!
//! `GET /_recorded?after=N`, `POST /_switch` and `GET /_stats` are for the test itself.
//!
//! # Invariants
//! - It shares no code with the product, so that an error in one is not hidden by the other.
//! - The same requests in the same order get the same answers, but for ids and opaque state.
//! - What it keeps has a limit.

mod ask;
mod bench;
mod control;
mod dialect;
mod directive;
mod fault;
mod json;
mod models;
mod opaque;
mod perform;
mod record;
mod reply;
mod route;
mod schema;
mod script;
mod server;
mod shell;
mod stage;
mod usage;
mod wire;
mod work;

pub use control::Switch;
pub use fault::Fault;
pub use record::{End, Recorded, Stats};
pub use server::{Options, Scripted};
pub use usage::Usage;
