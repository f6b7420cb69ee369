//! What a fresh agent needs to know, in a text of bounded size.

use std::fmt::Write as _;

use crate::Result;
use crate::index::Reason;
use crate::shelf::Shelf;
use crate::view::{Bead, Memory};

/// The longest text, in characters.
pub(crate) const PRIME_MAX_CHARS: usize = 16_000;
const DESCRIPTION_MAX_CHARS: usize = 6_000;
const COMMENTS: usize = 5;
const COMMENT_MAX_CHARS: usize = 600;
const READY: usize = 10;
const MEMORIES_MAX_CHARS: usize = 4_000;

impl Shelf {
    /// Writes what a fresh agent needs: its bead, what blocks it, what was said, what is known.
    ///
    /// # Errors
    /// If there is no such bead.
    pub fn prime(&mut self, bead: Option<&str>) -> Result<String> {
        let mut text = String::new();
        match bead {
            Some(name) => {
                let bead = Bead::of(&self.bead(name)?);
                self.about(&bead, &mut text)?;
            }
            None => self.overview(&mut text)?,
        }
        self.known(&mut text)?;
        text.push_str(HOW);
        Ok(cut(&text, PRIME_MAX_CHARS))
    }

    fn about(&mut self, bead: &Bead, text: &mut String) -> Result<()> {
        let agent = bead.agent.as_deref().unwrap_or("nobody");
        // Writing to a text cannot fail.
        writeln!(text, "# {} {}\n", bead.id, bead.title).ok();
        writeln!(
            text,
            "{}, {} priority, {}, held by {agent}\n",
            bead.kind, bead.priority, bead.status
        )
        .ok();
        if let Some(description) = &bead.description {
            writeln!(text, "{}\n", cut(description, DESCRIPTION_MAX_CHARS)).ok();
        }
        if let Some(acceptance) = &bead.acceptance {
            writeln!(text, "Done when: {}\n", cut(acceptance, DESCRIPTION_MAX_CHARS)).ok();
        }
        if let Some(worktree) = &bead.worktree {
            writeln!(text, "Work tree: {worktree}, branch bead/{}\n", bead.id).ok();
        }
        let now = self.now();
        let reasons = self.index()?.reasons(&bead.id, now)?;
        let blockers: Vec<String> = reasons
            .iter()
            .filter_map(|reason| match reason {
                Reason::Blocked { by, title, .. } => Some(format!("- {by} {title}")),
                _ => None,
            })
            .collect();
        if !blockers.is_empty() {
            writeln!(text, "Blocked by:\n{}\n", blockers.join("\n")).ok();
        }
        let parts = self.index()?.parts(&bead.id)?;
        if !parts.is_empty() {
            text.push_str("Parts:\n");
            for part in parts.iter().take(20) {
                writeln!(text, "- {} {} ({})", part.id, part.title, part.status).ok();
            }
            text.push('\n');
        }
        if !bead.comments.is_empty() {
            text.push_str("Last said:\n");
            let skip = bead.comments.len().saturating_sub(COMMENTS);
            for comment in bead.comments.iter().skip(skip) {
                let (by, said) = (comment["by"].as_str(), comment["text"].as_str());
                let said = cut(said.unwrap_or_default(), COMMENT_MAX_CHARS);
                writeln!(text, "- {}: {said}", by.unwrap_or("somebody")).ok();
            }
            text.push('\n');
        }
        Ok(())
    }

    fn overview(&mut self, text: &mut String) -> Result<()> {
        let ready = self.ready(READY)?;
        writeln!(text, "# Ready work\n").ok();
        for row in &ready {
            writeln!(text, "- {} [{}] {} ({})", row.id, row.priority, row.title, row.kind).ok();
        }
        if ready.is_empty() {
            text.push_str("Nothing is ready; see `godel bead ready --explain`.\n");
        }
        text.push('\n');
        Ok(())
    }

    fn known(&mut self, text: &mut String) -> Result<()> {
        let known = lines_of(&self.memories()?);
        if !known.is_empty() {
            writeln!(text, "# Remembered\n\n{known}\n").ok();
        }
        Ok(())
    }
}

/// Tells an agent what is remembered, in a text of bounded size; nothing if there is nothing.
pub fn remembered<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> String {
    let known = lines_of(memories);
    if known.is_empty() { known } else { format!("Remembered about this project:\n{known}") }
}

fn lines_of<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> String {
    let mut known = String::new();
    for memory in memories {
        writeln!(known, "- {}: {}", memory.id, memory.text.replace('\n', " ")).ok();
    }
    cut(&known, MEMORIES_MAX_CHARS)
}

const HOW: &str = "# How to work here\n
- Take work: godel bead ready --claim --agent NAME. Keep the token: export GODEL_LEASE_TOKEN.
- Say what you found: godel bead comment ID \"...\". What others should know: godel remember \"...\".
- Noticed something else? godel bead create \"...\" and link it: godel bead dep add NEW ID --type \
discovered-from.
- Commit on branch bead/ID, with the trailer `Bead: ID`. Then: godel bead status ID review.
";

/// Cuts a text, and says so.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.trim_end().to_owned(),
        Some((end, _)) => format!("{} [...]", text[..end].trim_end()),
    }
}
