//! What must pass on the branch after work has landed; work that does not is taken back.

use godel_agents::gates::{Gate, Gates};
use godel_git::{Landed, Merge, Message, Prepared, Span};

use super::entry::{Entry, Moving, Stage, Trouble};
use super::train::{Ride, author};
use super::{Hindrance, refusal, settle};
use crate::Result;

/// How often taking back begins anew because the branch has moved.
const TRIES: usize = 10;
/// What the check is called.
const NAME: &str = "after";

/// What failed after a landing.
pub(super) struct Failure {
    why: String,
    /// The commit that took the landing back, or why none could.
    undone: std::result::Result<String, String>,
}

/// Checks the branch after a landing; what fails is taken back.
pub(super) async fn check(ride: &Ride, merge: &Merge) -> Result<Option<Failure>> {
    let Some(run) = ride.wanted.landing.after.clone() else { return Ok(None) };
    let timeout = ride.wanted.landing.after_timeout;
    let gate = Gate { name: NAME.to_owned(), run, timeout, required: true };
    let only = Gates { gates: vec![gate], ..Gates::default() };
    let results = super::judge::anew(ride, merge, &only, false).await?;
    let Some(why) = super::judge::failure(&only, &results) else { return Ok(None) };
    // What cannot be taken back has not simply landed: a person must know.
    let undone = take_back(ride, merge).await.unwrap_or_else(|error| Err(error.to_string()));
    Ok(Some(Failure { why, undone }))
}

/// Undoes a landing by a commit; begins anew if somebody else moves the branch.
async fn take_back(ride: &Ride, merge: &Merge) -> Result<std::result::Result<String, String>> {
    for _ in 0..TRIES {
        let span = Span { from: merge.before.clone(), to: merge.commit.clone() };
        let message = Message {
            bead: merge.bead.clone(),
            title: format!("Take back {}", merge.bead),
            body: format!(
                "What must pass after a landing did not.\n\nTakes-back: {}",
                merge.commit
            ),
            author: author(),
        };
        let target = merge.target.clone();
        let done = ride.fleet.at_bench(ride.folder.clone(), move |bench| {
            Ok(match bench.landing().undo(&span, &target, &message)? {
                Prepared::AlreadyThere { target } => Ok((target, Landed::Done)),
                Prepared::Conflict { files } => Err(files),
                Prepared::Ready(undo) => Ok((undo.commit.clone(), bench.landing().finish(&undo)?)),
            })
        });
        match done.await? {
            Ok((commit, Landed::Done)) => return Ok(Ok(commit)),
            Ok((_, Landed::Moved { .. })) => {}
            Ok((_, Landed::Blocked { why })) => return Ok(Err(why)),
            Err(files) => {
                return Ok(Err(format!("others have changed {} since", files.join(", "))));
            }
        }
    }
    Ok(Err("the branch moves all the time".to_owned()))
}

/// Ends those whose landing failed afterwards; those that landed together are tried one by one.
pub(super) async fn failed(
    ride: &Ride,
    entries: &[(Entry, Moving)],
    failure: &Failure,
) -> Result<()> {
    let undone = match &failure.undone {
        Ok(undone) => undone,
        Err(stuck) => {
            let why = format!(
                "what must pass after a landing failed, and it could not be taken back: {stuck}\n{}",
                failure.why
            );
            for (entry, _) in entries {
                let why = Hindrance::Blocked(why.clone());
                settle::give_up(ride, entry, Trouble::After, &why).await?;
            }
            return Ok(());
        }
    };
    let [(entry, moving)] = entries else {
        for (entry, moving) in entries {
            let part = (moving.from.clone(), moving.to.clone());
            let alone = move |entry: &mut Entry| {
                (entry.stage, entry.alone, entry.moving) = (Stage::Waiting, true, None);
                entry.undone = Some(part.clone());
            };
            ride.change(entry, alone).await?;
        }
        return Ok(());
    };
    let why = Hindrance::After { why: failure.why.clone(), undone: undone.clone() };
    let part = (moving.from.clone(), moving.to.clone());
    let entry = &ride.change(entry, move |entry| entry.undone = Some(part.clone())).await?;
    settle::mend_by_another(ride, entry, &refusal(&ride.target, &why)).await?;
    settle::give_up(ride, entry, Trouble::After, &why).await
}
