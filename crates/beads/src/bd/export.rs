//! Writing the shelf as lines of bd; what did not change since an import is written as it came.

use std::collections::BTreeMap;

use godel_model::{BeadStatus, Priority};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::mapped::{Mapped, our_id};
use crate::doc::{Class, Document};
use crate::index::{Filter, Page, Sort};
use crate::shelf::Shelf;
use crate::view::Bead;
use crate::{Error, Result};

impl Shelf {
    /// Writes all beads as lines of bd, sorted by id.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn export_bd(&mut self) -> Result<String> {
        let filter = Filter { deleted: true, ..Filter::everything() };
        let page = Page { limit: usize::MAX >> 1, sort: Sort::Created, after: None };
        let rows = self.list(&filter, &page)?;
        let mut lines = BTreeMap::new();
        let mut names = Names { shelf: self, known: BTreeMap::new() };
        for row in rows {
            let Some(document) = names.shelf.find(Class::Bead, &row.id)? else { continue };
            if let Some((id, line)) = names.line(&document)? {
                lines.insert(id, line);
            }
        }
        let mut text = String::new();
        for line in lines.into_values() {
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }
}

/// Knows the names that beads have in bd.
struct Names<'a> {
    shelf: &'a mut Shelf,
    known: BTreeMap<String, String>,
}

impl Names<'_> {
    /// Returns what bd calls a bead.
    fn theirs(&mut self, id: &str) -> Result<String> {
        if let Some(known) = self.known.get(id) {
            return Ok(known.clone());
        }
        let document = self.shelf.find(Class::Bead, id)?;
        let name = document.as_ref().and_then(source_id).unwrap_or_else(|| id.to_owned());
        self.known.insert(id.to_owned(), name.clone());
        Ok(name)
    }

    /// Returns the id in bd and the line of a bead; none for one that only ever was deleted here.
    fn line(&mut self, document: &Document) -> Result<Option<(String, String)>> {
        let bead = Bead::of(document);
        let now = Mapped::of_bead(&bead, document.text("defer"));
        let kept = document.get("source").and_then(|source| source["line"].as_str());
        let Some(kept) = kept else {
            if bead.deleted_at.is_some() {
                return Ok(None);
            }
            let mut line = Line::default();
            self.write_new(&mut line, &bead)?;
            self.write(&mut line, &Mapped::default(), &now, &bead)?;
            return Ok(Some((bead.id.clone(), line.text()?)));
        };
        let value: Map<String, Value> = serde_json::from_str(kept).unwrap_or_default();
        let before = Mapped::of_line(&value);
        let id = source_id(document).unwrap_or_else(|| bead.id.clone());
        if same(&before, &now) {
            return Ok(Some((id, kept.to_owned())));
        }
        let mut line = Line::read(kept)?;
        self.write(&mut line, &before, &now, &bead)?;
        line.set("updated_at", bead.updated_at.to_string())?;
        Ok(Some((id, line.text()?)))
    }

    fn write_new(&mut self, line: &mut Line, bead: &Bead) -> Result<()> {
        line.set("id", &bead.id)?;
        line.set("created_at", bead.created_at.to_string())?;
        line.set("updated_at", bead.updated_at.to_string())?;
        if let Some(by) = &bead.created_by {
            line.set("created_by", by)?;
        }
        Ok(())
    }

    /// Writes what differs between what a line said and what is so now.
    fn write(&mut self, line: &mut Line, before: &Mapped, now: &Mapped, bead: &Bead) -> Result<()> {
        if before.title != now.title {
            line.set("title", &now.title)?;
        }
        if before.kind != now.kind {
            line.set("issue_type", &now.kind)?;
        }
        let texts = [
            ("description", &before.description, &now.description),
            ("acceptance_criteria", &before.acceptance, &now.acceptance),
            ("assignee", &before.agent, &now.agent),
            ("defer_until", &before.defer, &now.defer),
        ];
        for (field, before, now) in texts {
            if before != now {
                line.set_or_remove(field, now.as_ref())?;
            }
        }
        if before.priority != now.priority {
            line.set("priority", now.priority.map_or(2, number))?;
        }
        if before.estimate != now.estimate {
            line.set_or_remove("estimated_minutes", now.estimate)?;
        }
        if (before.status, before.deleted) != (now.status, now.deleted) {
            line.set("status", status(now))?;
            let closed = now.status == Some(BeadStatus::Done);
            line.set_or_remove("closed_at", closed.then(|| bead.updated_at.to_string()))?;
            let gone = bead.deleted_at.filter(|_| now.deleted).map(|at| at.to_string());
            line.set_or_remove("deleted_at", gone)?;
        }
        if before.reason != now.reason {
            line.set_or_remove("close_reason", now.reason.as_ref())?;
        }
        if before.labels != now.labels {
            line.set("labels", &now.labels)?;
        }
        self.write_lists(line, before, now, bead)
    }

    fn write_lists(
        &mut self,
        line: &mut Line,
        before: &Mapped,
        now: &Mapped,
        bead: &Bead,
    ) -> Result<()> {
        let own = self.theirs(&bead.id)?;
        if before.links != now.links {
            // Links that stay are written as they came, with all that bd keeps about them.
            let mut links = line.list("dependencies");
            links.retain(|link| {
                let kind = link["type"].as_str().unwrap_or("blocks").to_owned();
                let target = link["depends_on_id"].as_str().map(our_id).unwrap_or_default();
                now.links.contains(&(kind, target))
            });
            for (kind, target) in now.links.difference(&before.links) {
                links.push(json!({
                    "issue_id": own, "depends_on_id": self.theirs(target)?, "type": kind,
                    "created_at": bead.updated_at.to_string(), "created_by": "godel",
                }));
            }
            line.set("dependencies", links)?;
        }
        let new: Vec<&Value> = now
            .comments
            .iter()
            .filter(|(id, _)| !before.comments.contains_key(*id))
            .map(|(_, comment)| comment)
            .collect();
        if !new.is_empty() {
            let mut comments = line.list("comments");
            let last = comments.iter().filter_map(|comment| comment["id"].as_i64()).max();
            for (number, comment) in (last.unwrap_or(0) + 1..).zip(new) {
                comments.push(json!({
                    "id": number, "issue_id": own, "author": comment["by"],
                    "text": comment["text"], "created_at": comment["at"],
                }));
            }
            line.set("comments", comments)?;
        }
        Ok(())
    }
}

/// A line whose members keep the bytes they came with.
#[derive(Debug, Default)]
struct Line(BTreeMap<String, Box<RawValue>>);

impl Line {
    fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text).map(Self).map_err(unwritable)
    }

    fn set(&mut self, field: &str, value: impl serde::Serialize) -> Result<()> {
        let value = serde_json::value::to_raw_value(&value).map_err(unwritable)?;
        self.0.insert(field.to_owned(), value);
        Ok(())
    }

    fn set_or_remove(&mut self, field: &str, value: Option<impl serde::Serialize>) -> Result<()> {
        match value {
            Some(value) => self.set(field, value),
            None => {
                self.0.remove(field);
                Ok(())
            }
        }
    }

    fn list(&self, field: &str) -> Vec<Value> {
        let raw = self.0.get(field);
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    fn text(&self) -> Result<String> {
        serde_json::to_string(&self.0).map_err(unwritable)
    }
}

fn unwritable(cause: serde_json::Error) -> Error {
    Error::Damaged { path: "a line of bd".to_owned(), why: cause.to_string() }
}

fn source_id(document: &Document) -> Option<String> {
    Some(document.get("source")?["id"].as_str()?.to_owned())
}

/// Tells whether nothing that bd knows of has changed.
fn same(before: &Mapped, now: &Mapped) -> bool {
    let new = now.comments.keys().any(|id| !before.comments.contains_key(id));
    let blind = |mapped: &Mapped| Mapped { comments: BTreeMap::new(), ..mapped.clone() };
    let mut before = blind(before);
    // A line without a priority means the usual one.
    before.priority = before.priority.or(Some(Priority::Medium));
    !new && before == blind(now)
}

fn number(priority: Priority) -> u8 {
    match priority {
        Priority::Critical => 0,
        Priority::High => 1,
        Priority::Medium => 2,
        Priority::Low => 3,
    }
}

fn status(now: &Mapped) -> &'static str {
    match now.status {
        _ if now.deleted => "tombstone",
        Some(BeadStatus::InProgress | BeadStatus::Review) => "in_progress",
        Some(BeadStatus::Done) => "closed",
        Some(BeadStatus::Open) | None => "open",
    }
}
