//! The diary: commits as they are written, and what they tell when they are read again.

use gix::ObjectId;

use super::{Act, Shelf};

/// The trailer that names an act: event, id, and who did it.
pub(crate) const TRAILER: &str = "Godel-Act";

/// The trailer of a merge that Godel made; one without it is looked at again.
pub(crate) const MERGE: &str = "Godel-Merge";

impl Shelf {
    /// Returns the bytes of a commit.
    pub(super) fn commit_bytes(
        &self,
        tree: ObjectId,
        parents: &[ObjectId],
        message: &str,
        acts: &[Act],
    ) -> Vec<u8> {
        let mut text = format!("tree {tree}\n");
        for parent in parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        let seconds = self.now().as_second();
        let author = acts.first().map_or("godel", |act| act.by.as_str());
        let email = self.repository.config_snapshot().string("user.email");
        let email = email.map_or_else(|| "godel@localhost".to_owned(), |email| email.to_string());
        let clean = |text: &str| -> String {
            let text = text.chars().filter(|char| !matches!(char, '<' | '>' | '\n' | '\0' | '\r'));
            text.collect::<String>().trim().to_owned()
        };
        let (author, email) = (clean(author), clean(&email));
        let author = if author.is_empty() { "godel" } else { &author };
        text.push_str(&format!("author {author} <{email}> {seconds} +0000\n"));
        text.push_str(&format!("committer godel <{email}> {seconds} +0000\n\n{message}"));
        text.into_bytes()
    }
}
