//! Any program: what it prints is what it says.

use serde_json::Value;

use super::tell::Tell;
use super::{Exit, Outcome, Reader};

#[derive(Debug, Default)]
pub(super) struct Command;

impl Reader for Command {
    fn line(&mut self, line: &[u8], tell: &mut Tell) {
        let mut text = String::from_utf8_lossy(line).into_owned();
        text.push('\n');
        tell.text(&text);
    }

    fn value(&mut self, _value: &Value, _tell: &mut Tell) {}

    /// Such a program has nothing but its exit code to say how it went.
    fn end(&mut self, exit: &Exit) -> Option<Outcome> {
        (exit.code == Some(0)).then_some(Outcome::Completed)
    }
}
