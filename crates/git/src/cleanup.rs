//! Removes the worktrees whose time has come.

use std::collections::HashMap;

use godel_model::{Code, Report as _, code};
use jiff::Timestamp;
use serde::Serialize;

use crate::Name;
use crate::bench::Workbench;
use crate::error::{Error, Result};
use crate::look::{Entry, State};
use crate::record::{Ended, Outcome, Policy, Record};
use crate::remove::{Remove, Removed};

/// What shall be cleaned up.
#[derive(Debug, Clone, Default)]
pub struct Cleaning {
    /// Worktrees whose work has ended, and how; it is remembered.
    pub ended: Vec<(Name, Outcome)>,
    /// All worktrees, whatever their policy says.
    pub all: bool,
    /// Only tell what would be removed.
    pub dry_run: bool,
    /// Also those that are locked or in use; work is saved all the same.
    pub force: bool,
    /// Those that somebody will go on in, and who: they stay.
    pub taken: HashMap<String, String>,
}

/// What was cleaned up.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleaned {
    /// Those that are gone, with what was saved.
    pub removed: Vec<Removed>,
    /// Those that would be removed, if this was only a question.
    pub due: Vec<Due>,
    /// Those that were due and could not be removed.
    pub refused: Vec<Refusal>,
    /// Those whose time has not come.
    pub kept: Vec<Due>,
}

/// A worktree and why it is, or is not, due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Due {
    /// The worktree.
    pub id: Name,
    /// Why.
    pub why: String,
}

/// A worktree that was due and could not be removed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The worktree.
    pub id: Name,
    /// The error code.
    pub code: String,
    /// Why.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Workbench {
    /// Remembers that the work in a worktree has ended.
    ///
    /// # Errors
    /// If there is no such worktree, or its record cannot be written.
    pub fn end(&self, name: &Name, outcome: Outcome) -> Result<()> {
        if self.load(name)?.is_none() {
            return Err(Error::no_worktree(name));
        }
        self.prepare()?;
        let _lock = self.lock(name)?;
        let mut record = self.load(name)?.ok_or_else(|| Error::no_worktree(name))?;
        record.ended = Some(Ended { outcome, at: self.host.clock.now() });
        self.save(&record)
    }

    /// Removes the worktrees whose policy says that their time has come.
    ///
    /// # Errors
    /// If the worktrees cannot be listed. One that cannot be removed is told and does not stop the
    /// others.
    pub fn cleanup(&self, cleaning: &Cleaning) -> Result<Cleaned> {
        if !cleaning.dry_run {
            for (name, outcome) in &cleaning.ended {
                self.end(name, *outcome)?;
            }
        }
        let now = self.host.clock.now();
        let mut cleaned = Cleaned::default();
        for entry in self.list()? {
            let told = cleaning.ended.iter().find(|(name, _)| *name == entry.id);
            let told = told.map(|(_, outcome)| Ended { outcome: *outcome, at: now });
            let verdict = match (cleaning.taken.get(entry.id.as_str()), cleaning.all) {
                (Some(who), _) => Err(format!("{who} works in it")),
                (None, true) => Ok("all were asked for".to_owned()),
                (None, false) => self.judge(&entry, told, now, cleaning.dry_run)?,
            };
            match verdict {
                Err(why) => cleaned.kept.push(Due { id: entry.id, why }),
                Ok(why) if cleaning.dry_run => cleaned.due.push(Due { id: entry.id, why }),
                Ok(_) => {
                    let how = Remove { force: cleaning.force, ..Remove::default() };
                    match self.remove(&entry.id, how) {
                        Ok(removed) => cleaned.removed.push(removed),
                        // Another process was faster.
                        Err(error) if error.code() == code::WORKTREE_NOT_FOUND => {}
                        Err(error) => cleaned.refused.push(refusal(entry.id, &error)),
                    }
                }
            }
        }
        Ok(cleaned)
    }

    /// Says why a worktree is due (`Ok`), or why not (`Err`).
    fn judge(
        &self,
        entry: &Entry,
        told: Option<Ended>,
        now: Timestamp,
        dry_run: bool,
    ) -> Result<Result<String, String>> {
        match entry.state {
            State::Missing => return Ok(Ok("its directory is gone".to_owned())),
            State::Removing => return Ok(Ok("its removal was interrupted".to_owned())),
            State::Creating => return Ok(Err("it is being made".to_owned())),
            State::Unrecorded => return Ok(Err("it has no record".to_owned())),
            State::Unreadable => return Ok(Err("its record cannot be read".to_owned())),
            State::Orphaned | State::SetupFailed | State::Ready => {}
        }
        let Some(mut record) = self.load(&entry.id)? else {
            return Ok(Err("it has no record".to_owned()));
        };
        record.ended = told.or(record.ended);
        if record.ended.is_none() && self.merged(&record)? {
            record.ended = Some(Ended { outcome: Outcome::Success, at: now });
            if !dry_run {
                self.end(&entry.id, Outcome::Success)?;
            }
        }
        Ok(due(&record, now))
    }

    /// Tells whether a branch has commits of its own, and its base has got them all.
    fn merged(&self, record: &Record) -> Result<bool> {
        let tip = self.repo.commit(&format!("refs/heads/{}", record.branch))?;
        let (Some(tip), Some(base)) = (tip, &record.base.reference) else {
            return Ok(false);
        };
        if tip == record.base.commit || self.repo.commit(base)?.is_none() {
            return Ok(false);
        }
        let asked = self.repo.ask().args(["merge-base", "--is-ancestor", &tip, base]);
        Ok(asked.output()?.status.success())
    }
}

/// Decides by policy whether a worktree may go.
fn due(record: &Record, now: Timestamp) -> Result<String, String> {
    let policy = record.cleanup.policy;
    let Some(ended) = record.ended else {
        return Err(match policy {
            Policy::Manual => "its policy is manual".to_owned(),
            Policy::Immediate | Policy::OnSuccess | Policy::Delayed => {
                "its work has not ended".to_owned()
            }
        });
    };
    match (policy, ended.outcome) {
        (Policy::Manual, _) => Err("its policy is manual".to_owned()),
        (Policy::Immediate, _) => Ok("its work has ended".to_owned()),
        (Policy::OnSuccess, Outcome::Success) => Ok("its work ended well".to_owned()),
        (Policy::OnSuccess, Outcome::Failure) => Err("its work did not end well".to_owned()),
        (Policy::Delayed, _) if now.duration_since(ended.at) >= record.cleanup.after() => {
            Ok("its work ended long enough ago".to_owned())
        }
        (Policy::Delayed, _) => Err("its work ended not long ago".to_owned()),
    }
}

fn refusal(id: Name, error: &Error) -> Refusal {
    let code: Code = error.code();
    Refusal { id, code: code.name().to_owned(), why: error.to_string(), hint: error.hint() }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::record::{Base, Cleanup, Phase};

    fn record(policy: Policy, ended: Option<(Outcome, i64)>) -> Record {
        let base = Base { revision: "main".to_owned(), reference: None, commit: "1".repeat(40) };
        Record {
            version: 1,
            id: "a".parse().unwrap(),
            branch: "bead/a".to_owned(),
            branch_made: true,
            base,
            created_at: Timestamp::UNIX_EPOCH,
            phase: Phase::Ready,
            cleanup: Cleanup { policy, after_secs: 100 },
            ended: ended.map(|(outcome, at)| Ended {
                outcome,
                at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(at),
            }),
            ports: None,
            shares: Vec::new(),
            copied: Vec::new(),
            rescue: Vec::new(),
            removal: None,
        }
    }

    #[test]
    fn each_policy_has_its_time() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_000);
        let (good, bad) = (Some((Outcome::Success, 950)), Some((Outcome::Failure, 950)));
        for (policy, ended, yes) in [
            (Policy::Immediate, None, false),
            (Policy::Immediate, good, true),
            (Policy::Immediate, bad, true),
            (Policy::OnSuccess, None, false),
            (Policy::OnSuccess, good, true),
            (Policy::OnSuccess, bad, false),
            (Policy::Delayed, None, false),
            (Policy::Delayed, good, false),
            (Policy::Delayed, Some((Outcome::Failure, 900)), true),
            (Policy::Manual, good, false),
            (Policy::Manual, bad, false),
        ] {
            let verdict = due(&record(policy, ended), now);
            assert_eq!(verdict.is_ok(), yes, "{policy:?} {ended:?}: {verdict:?}");
        }
    }
}
