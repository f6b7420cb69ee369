//! Letters to an agent at work: they count as read once they are in its conversation, on disk.
//!
//! A letter that was told to a session which ends before it took it in is told again to the next one: twice
//! rather than never.

use uuid::Uuid;

use super::Run;
use super::converse::Course;
use super::session::Session;
use crate::{Result, mail};

/// Letters that a session was told, and that do not count as read yet.
pub(super) struct Told {
    letters: Vec<Uuid>,
    words: String,
    /// How long the conversation was before.
    since: usize,
}

impl Told {
    /// The words that the agent is told.
    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

impl Run {
    /// Returns the letters that wait and were not told in this session.
    pub(super) async fn letters(
        &self,
        course: &Course<'_>,
        session: &Session,
    ) -> Result<Option<Told>> {
        let known = |id: &Uuid| course.told.iter().any(|told| told.letters.contains(id));
        let waiting = mail::waiting(&self.fleet, self.tenant, self.id).await?;
        let fresh: Vec<_> = waiting.into_iter().filter(|one| !known(&one.id)).collect();
        if fresh.is_empty() {
            return Ok(None);
        }
        let words = fresh.iter().map(|one| format!("From {}:\n{}", one.from, one.text));
        let words = format!("You have mail.\n\n{}", words.collect::<Vec<_>>().join("\n\n"));
        let letters = fresh.iter().map(|one| one.id).collect();
        Ok(Some(Told { letters, words, since: session.len() }))
    }

    /// Writes down what was said, and counts letters as read that are in it.
    pub(super) async fn keep(&self, course: &mut Course<'_>, session: &mut Session) -> Result<()> {
        session.keep(&self.fleet, self.tenant, course.talk).await?;
        let told = std::mem::take(&mut course.told).into_iter();
        let (heard, waiting): (Vec<Told>, Vec<Told>) =
            told.partition(|told| session.has_heard(&told.words, told.since));
        course.told = waiting;
        let letters = heard.into_iter().flat_map(|told| told.letters).collect();
        mail::mark_read(&self.fleet, self.tenant, letters).await
    }
}
