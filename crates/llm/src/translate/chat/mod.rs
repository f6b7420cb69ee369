//! OpenAI Chat Completions.

mod read_reply;
mod read_request;
mod write_reply;
mod write_request;

pub(crate) use read_reply::{Reader, read_whole};
pub(crate) use read_request::read_request;
pub(crate) use write_reply::{Writer, write_whole};
pub(crate) use write_request::write_request;
