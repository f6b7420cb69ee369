//! What becomes of an attempt when its command has ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde_json::value::RawValue;

use crate::heard::{Heard, Tail};

/// The exit code of a command that says that its input can never be dealt with (`EX_DATAERR`).
const NEVER: i32 = 65;

/// Why a command was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Somebody cancelled the task.
    Asked(String),
    /// The task is in other hands.
    Lost,
    /// The worker ends.
    Ending,
    /// It took longer than allowed.
    Late,
}

/// What is told of an attempt.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It is done.
    Done(Box<RawValue>),
    /// It failed.
    Failed {
        /// Why.
        error: String,
        /// Whether another attempt makes no sense.
        fatal: bool,
    },
    /// Somebody else is to do it.
    GiveBack,
    /// Nothing: it is not ours any more.
    Nothing,
}

/// Decides what is told of an attempt.
pub(crate) fn verdict(
    stopped: Option<Stop>,
    status: Option<ExitStatus>,
    stdout: Heard,
    stderr: &Tail,
) -> Verdict {
    let failed = |error: String| Verdict::Failed { error, fatal: false };
    match (stopped, status) {
        (Some(Stop::Asked(why)), _) => failed(format!("stopped: {why}")),
        (Some(Stop::Late), _) => failed("it took longer than its timeout allows".to_owned()),
        (Some(Stop::Ending), _) => Verdict::GiveBack,
        (Some(Stop::Lost), _) => Verdict::Nothing,
        (None, Some(status)) if status.success() => match stdout.result() {
            Some(result) => Verdict::Done(result),
            None => {
                let error = "its result, the last line of stdout, has more than 64 KiB".to_owned();
                Verdict::Failed { error, fatal: true }
            }
        },
        (None, Some(status)) => {
            let fatal = status.code() == Some(NEVER);
            Verdict::Failed { error: reason(status, &stderr.text()), fatal }
        }
        (None, None) => failed("nobody knows how the command ended".to_owned()),
    }
}

/// Says why a command failed: what it said last, and how it ended.
fn reason(status: ExitStatus, said: &str) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => status.to_string(),
    };
    if said.is_empty() {
        format!("the command said nothing ({how})")
    } else {
        format!("{said} ({how})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Tail {
        let mut tail = Tail::default();
        tail.push(text.as_bytes());
        tail
    }

    fn exit(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn an_exit_code_decides() {
        let told = |status| verdict(None, status, Heard::default(), &said("oh no\n"));
        assert!(matches!(told(exit(0)), Verdict::Done(_)));
        for (code, never) in [(1, false), (75, false), (65, true), (127, false)] {
            let Verdict::Failed { error, fatal } = told(exit(code)) else { panic!("{code}") };
            assert_eq!((error, fatal), (format!("oh no (exit code {code})"), never));
        }
        let Verdict::Failed { error, .. } = told(Some(ExitStatus::from_raw(9))) else { panic!() };
        assert_eq!(error, "oh no (ended by signal 9)");
        let quiet = verdict(None, exit(3), Heard::default(), &said(""));
        assert!(format!("{quiet:?}").contains("the command said nothing (exit code 3)"));
    }

    #[test]
    fn who_was_stopped_is_not_done_whatever_it_says() {
        let told = |stop| verdict(Some(stop), exit(0), Heard::default(), &said(""));
        assert!(matches!(told(Stop::Lost), Verdict::Nothing));
        assert!(matches!(told(Stop::Ending), Verdict::GiveBack));
        let why = format!("{:?}", told(Stop::Asked("not needed".to_owned())));
        assert!(why.contains("stopped: not needed"), "{why}");
        assert!(matches!(told(Stop::Late), Verdict::Failed { fatal: false, .. }));
    }
}
