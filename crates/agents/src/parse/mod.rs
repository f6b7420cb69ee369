//! Reading what agents say: one reader for each protocol, all telling the same events.
//!
//! A parser is fed bytes, however they are split. It does no IO: what has to be said to the agent it
//! hands over as lines.
//!
//! # Invariants
//! - No input makes it panic or keep more than a bounded amount; what it does not know it passes over.
//! - A turn that has begun ends exactly once. Success is told by the agent's own last event, never by
//!   the exit code of its process.

mod acp;
mod claude;
mod codex;
mod command;
mod gemini;
mod json;
mod opencode;
mod pi;
mod tell;

use serde_json::Value;

pub use acp::{AcpSettings, Permissions};
pub use tell::Told;

use tell::Tell;

use crate::error::{Error, Result};
use crate::event::{Outcome, SessionEvent};
use crate::harness::Harness;
use crate::lines::{LINE_MAX_BYTES, Line, Lines};
use crate::session::{Answer, PROMPT_MAX_BYTES};

/// How the process of an agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The end of what it complained about.
    pub complaint: String,
    /// Whether it was told to stop.
    pub cancelled: bool,
}

/// The reader of one protocol.
trait Reader: std::fmt::Debug + Send {
    /// Reads one line.
    fn line(&mut self, line: &[u8], tell: &mut Tell) {
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            self.value(&value, tell);
        }
    }

    /// Reads one line that is JSON.
    fn value(&mut self, value: &Value, tell: &mut Tell);

    /// Says how a turn ended that has no last event of its own.
    fn end(&mut self, _exit: &Exit) -> Option<Outcome> {
        None
    }

    /// Tells the agent something over its input.
    fn prompt(&mut self, _text: &str, _tell: &mut Tell) -> Result<()> {
        Ok(())
    }

    /// Tells the agent over its input to stop; whether it understands that.
    fn cancel(&mut self, _tell: &mut Tell) -> bool {
        false
    }

    /// Answers a question over its input; whether it is open.
    fn answer(&mut self, _question: &str, _answer: &Answer, _tell: &mut Tell) -> bool {
        false
    }
}

/// Reads what one process of an agent says.
#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    reader: Box<dyn Reader>,
    tell: Tell,
}

impl Parser {
    /// Begins to read; the built-in agent has no process, so it has no parser.
    pub fn new(harness: Harness) -> Option<Self> {
        let reader: Box<dyn Reader> = match harness {
            Harness::Native => return None,
            Harness::Claude => Box::<claude::Claude>::default(),
            Harness::Codex => Box::<codex::Codex>::default(),
            Harness::Gemini => Box::<gemini::Gemini>::default(),
            Harness::Opencode => Box::<opencode::Opencode>::default(),
            Harness::Pi => Box::<pi::Pi>::default(),
            Harness::Acp => Box::new(acp::Acp::new(AcpSettings::default())),
            Harness::Command => Box::<command::Command>::default(),
        };
        Some(Self::with(reader))
    }

    /// Begins to read an agent that speaks the Agent Client Protocol.
    pub fn acp(settings: AcpSettings) -> Self {
        Self::with(Box::new(acp::Acp::new(settings)))
    }

    fn with(reader: Box<dyn Reader>) -> Self {
        Self { lines: Lines::new(LINE_MAX_BYTES), reader, tell: Tell::default() }
    }

    /// Begins a turn; what has to be said over the agent's input is returned.
    ///
    /// # Errors
    /// If a turn is under way and the agent takes nothing more, or the prompt is too long.
    pub fn prompt(&mut self, text: &str) -> Result<Told> {
        if text.len() > PROMPT_MAX_BYTES {
            return Err(Error::TooLong { bytes: text.len(), max: PROMPT_MAX_BYTES });
        }
        self.reader.prompt(text, &mut self.tell)?;
        self.tell.begin();
        Ok(self.tell.take())
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Told {
        let (reader, tell) = (&mut self.reader, &mut self.tell);
        self.lines.feed(bytes, |line| read(reader.as_mut(), &line, tell));
        self.tell.take()
    }

    /// Takes the end of the process: a turn that has not ended ends now.
    pub fn finish(&mut self, exit: &Exit) -> Told {
        let (reader, tell) = (&mut self.reader, &mut self.tell);
        self.lines.finish(|line| read(reader.as_mut(), &line, tell));
        if exit.cancelled {
            self.tell.end(Outcome::Cancelled);
        }
        if let Some(outcome) = self.reader.end(exit) {
            self.tell.end(outcome);
        }
        self.tell.end(Outcome::failed(&broken_off(exit)));
        self.tell.take()
    }

    /// Tells the agent to stop; nothing if it must be stopped as a process.
    pub fn cancel(&mut self) -> Option<Told> {
        self.reader.cancel(&mut self.tell).then(|| self.tell.take())
    }

    /// Answers a question.
    ///
    /// # Errors
    /// If it is not open.
    pub fn answer(&mut self, question: &str, answer: &Answer) -> Result<Told> {
        if self.reader.answer(question, answer, &mut self.tell) {
            Ok(self.tell.take())
        } else {
            Err(Error::NoQuestion(question.to_owned()))
        }
    }

    /// Tells whether a turn is under way.
    pub const fn in_turn(&self) -> bool {
        self.tell.in_turn()
    }
}

fn read(reader: &mut dyn Reader, line: &Line<'_>, tell: &mut Tell) {
    match line {
        Line::Whole(line) => reader.line(line, tell),
        Line::TooLong => {
            let message = format!("a line of more than {LINE_MAX_BYTES} bytes was passed over");
            tell.push(SessionEvent::trouble(&message));
        }
    }
}

fn broken_off(exit: &Exit) -> String {
    let how = match exit.code {
        Some(code) => format!("the agent ended with exit code {code} before its turn was over"),
        None => "the agent was killed before its turn was over".to_owned(),
    };
    match exit.complaint.trim() {
        "" => how,
        complaint => format!("{how}: {complaint}"),
    }
}
