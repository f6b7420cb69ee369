//! The wire formats of LLM providers: what a request asks for, what a reply used and costs, and how
//! one dialect is told in another.
//!
//! # Invariants
//! - Nothing here does IO, reads a clock or knows a key.
//! - Where both sides speak the same dialect, bytes are edited in place and never written anew.
//! - No input makes it panic, and none makes it keep more than a bounded amount.

mod beyond;
mod dialect;
mod meter;
mod peek;
mod quota;
mod registry;
mod reply;
mod scan;
pub mod sse;
pub mod translate;
mod trouble;
mod usage;

pub use beyond::Beyond;
pub use dialect::Dialect;
pub use godel_model::{Tier, Usage};
pub use meter::{Ending, Passed, StreamMeter, text_bytes};
pub use peek::{BadRequest, Edit, Peek, Routing};
pub use quota::{is_quota_header, read_quota};
pub use registry::{Ability, BadList, Model, Price, Registry};
pub use reply::ReplyMeter;
pub use scan::{DEPTH_MAX, Member, NotJson, members, scalars};
pub use trouble::{Answer, Trouble};
pub use usage::read_usage;
