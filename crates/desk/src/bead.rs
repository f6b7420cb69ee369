//! `godel bead`: work that lives in git.

mod care;
mod change;
mod claim;
mod dep;
mod diary;
mod list;
mod make;
mod moves;
mod ready;
mod show;

use godel_args::bead::{Label, What};
use godel_beads::{Bead, Row, Shelf};
use godel_console::output::plain;
use godel_console::{Exit, Result};
use godel_model::BeadStatus;

use crate::desk::Desk;

/// Does what was asked for.
pub(crate) fn run(desk: &Desk, asked: What) -> Result<Exit> {
    match asked {
        What::Create(asked) => make::create(desk, *asked),
        What::Update(asked) => make::update(desk, *asked),
        What::List(asked) => list::list(desk, *asked),
        What::Search { words, part } => list::search(desk, &words, part),
        What::Show { id, at } => show::show(desk, &id, at.as_deref()),
        What::Status(asked) => moves::status(desk, asked),
        What::Close(asked) => moves::close(desk, asked),
        What::Reopen { id, reason } => moves::reopen(desk, id, reason),
        What::Verdict(asked) => moves::verdict(desk, asked),
        What::Landed(asked) => moves::landed(desk, asked),
        What::Assign(asked) => claim::assign(desk, asked),
        What::Claim(asked) => claim::claim(desk, asked),
        What::Heartbeat { held, lease } => claim::heartbeat(desk, held, lease),
        What::Release(asked) => claim::release(desk, asked),
        What::Ready(asked) => ready::ready(desk, asked),
        What::Dep(asked) => dep::run(desk, asked),
        What::Comment { id, text } => change::comment(desk, id, &text),
        What::Label(Label::Add { id, labels }) => change::label(desk, id, labels, Vec::new()),
        What::Label(Label::Remove { id, labels }) => change::label(desk, id, Vec::new(), labels),
        What::Defer(asked) => change::defer(desk, asked),
        What::Delete { id, yes, force } => change::delete(desk, id, yes, force),
        What::Log { id, limit } => diary::log(desk, id.as_deref(), limit),
        What::Watch => diary::watch(desk),
        What::Fsck { repair } => care::fsck(desk, repair),
        What::Maintain => care::maintain(desk),
    }
}

/// Returns a bead as it is now, deleted or not.
fn found(shelf: &mut Shelf, name: &str) -> Result<Bead> {
    Ok(Bead::of(&shelf.bead(name)?))
}

/// Answers with a bead, or with a sentence about it for people.
fn answer(desk: &Desk, bead: &Bead, sentence: &str) -> Result<Exit> {
    if desk.output.is_json() {
        desk.output.value(bead)?;
    } else {
        desk.output.line(plain(sentence))?;
    }
    Ok(Exit::Done)
}

/// Tells about documents that cannot be read: what is listed is not all there is.
fn mention_damage(desk: &Desk, shelf: &mut Shelf) -> Result<()> {
    let damaged = shelf.damaged()?;
    let Some((path, why)) = damaged.first() else { return Ok(()) };
    let count = match damaged.len() {
        1 => "a document".to_owned(),
        count => format!("{count} documents"),
    };
    desk.output.note(format_args!(
        "warning: {count} cannot be read, such as {}: {}\n  hint: `godel bead fsck --repair` takes \
         the last good version from the history",
        plain(path),
        plain(why)
    ));
    Ok(())
}

/// Names the status of a row, and whether something holds it up.
pub(super) fn state(row: &Row) -> String {
    let blocked = row.blocked && row.status < BeadStatus::Review;
    if blocked { format!("{}, blocked", row.status) } else { row.status.to_string() }
}
