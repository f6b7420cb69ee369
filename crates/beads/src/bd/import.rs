//! Taking lines of bd onto the shelf.

use std::collections::BTreeSet;

use godel_model::{BeadStatus, Invalid, Priority, code};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::mapped::{Mapped, our_id};
use crate::Result;
use crate::doc::{Class, Document, Edit};
use crate::shelf::{Draft, Shelf};

const LINES_MAX: usize = 1_000_000;
const LINE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// How many changes are listed one by one.
const CHANGES_MAX: usize = 500;
/// How much of a value is told.
const TOLD_MAX_CHARS: usize = 200;
/// How many fields of a changed bead are told.
const FIELDS_MAX: usize = 50;

/// What an import did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// How many beads are new.
    pub created: usize,
    /// How many were here and changed there since.
    pub updated: usize,
    /// How many were here already as they are.
    pub unchanged: usize,
    /// The first of those that are new or changed, in the order of the file.
    pub changes: Vec<ImportedChange>,
}

/// One bead that is new, or changed in the source since it was last imported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedChange {
    /// The bead.
    pub id: String,
    /// Its title there.
    pub title: String,
    /// Whether it was not here before.
    pub is_new: bool,
    /// What differs from what was imported before, by the names of the source.
    pub fields: Vec<ImportedField>,
}

/// A field that differs, before and after; of a long value only the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportedField {
    /// Its name in the source.
    pub name: String,
    /// What was imported before, if anything.
    pub before: Option<String>,
    /// What it is there now, if anything.
    pub after: Option<String>,
}

impl Imported {
    /// Counts a line by what was imported of it before.
    fn count(&mut self, id: &str, kept: Option<&str>, line: &Line) {
        match kept {
            Some(kept) if kept == line.text => {
                self.unchanged += 1;
                return;
            }
            Some(_) => self.updated += 1,
            None => self.created += 1,
        }
        if self.changes.len() < CHANGES_MAX {
            let fields = kept.map(|kept| differing(kept, &line.text)).unwrap_or_default();
            let (id, title) = (id.to_owned(), line.mapped.title.clone());
            self.changes.push(ImportedChange { id, title, is_new: kept.is_none(), fields });
        }
    }
}

/// Tells the members that differ between two lines.
fn differing(before: &str, after: &str) -> Vec<ImportedField> {
    let read = |line| serde_json::from_str::<Map<String, Value>>(line).unwrap_or_default();
    let (before, after) = (read(before), read(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&String| before.get(name.as_str()) != after.get(name.as_str());
    let field = |name: &String| ImportedField {
        name: cut(name.clone()),
        before: before.get(name).map(told),
        after: after.get(name).map(told),
    };
    names.into_iter().filter(differs).take(FIELDS_MAX).map(field).collect()
}

/// Writes a value for people.
fn told(value: &Value) -> String {
    cut(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(TOLD_MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A line that was read.
#[derive(Debug, Clone)]
struct Line {
    /// The bead's id in bd.
    theirs: String,
    text: String,
    mapped: Mapped,
    created: Option<String>,
    by: Option<String>,
}

/// A file of bd that was read.
#[derive(Debug, Clone)]
pub struct BdFile {
    lines: Vec<Line>,
}

impl BdFile {
    /// Reads a file of bd.
    ///
    /// # Errors
    /// If a line is not what bd writes; says which and why.
    pub fn read(text: &str) -> Result<Self> {
        Ok(Self { lines: read(text)? })
    }

    /// Tells what taking it would do.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn plan(&self, shelf: &mut Shelf) -> Result<Imported> {
        let mut imported = Imported::default();
        for line in &self.lines {
            let id = our_id(&line.theirs);
            let known = shelf.find(Class::Bead, &id)?;
            imported.count(&id, known.as_ref().map(kept_line), line);
        }
        Ok(imported)
    }

    /// Takes it: all of it, or nothing.
    ///
    /// # Errors
    /// If a document cannot be written.
    pub fn take(&self, draft: &mut Draft<'_>) -> Result<Imported> {
        take(draft, &self.lines)
    }
}

impl Shelf {
    /// Takes a file of bd onto the shelf: all of it, or nothing.
    ///
    /// # Errors
    /// If a line is not what bd writes; says which and why.
    pub fn import_bd(&mut self, by: &str, text: &str, dry_run: bool) -> Result<Imported> {
        let file = BdFile::read(text)?;
        if dry_run { file.plan(self) } else { self.write(by, move |draft| file.take(draft)) }
    }
}

fn read(text: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let refuse = |why: String| -> Result<Vec<Line>> {
            let why = format!("line {}: {why}", at + 1);
            let hint = "nothing was imported; mend the line and try again";
            Err(Invalid::new(code::INVALID_JSON, why).with_hint(hint).into())
        };
        if line.len() > LINE_MAX_BYTES || lines.len() >= LINES_MAX {
            return refuse(format!(
                "a line may have {LINE_MAX_BYTES} bytes, and a file {LINES_MAX} lines"
            ));
        }
        let value: Map<String, Value> = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(cause) => return refuse(format!("it is not a JSON object: {cause}")),
        };
        let text = |field: &str| {
            let text = value.get(field).and_then(Value::as_str);
            text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        let Some(theirs) = text("id") else { return refuse("it has no id".to_owned()) };
        if text("title").is_none() {
            return refuse("it has no title".to_owned());
        }
        let (mapped, created) = (Mapped::of_line(&value), text("created_at"));
        lines.push(Line { theirs, text: line.to_owned(), mapped, created, by: text("created_by") });
    }
    Ok(lines)
}

fn kept_line(document: &Document) -> &str {
    document.get("source").and_then(|source| source["line"].as_str()).unwrap_or_default()
}

fn take(draft: &mut Draft<'_>, lines: &[Line]) -> Result<Imported> {
    let mut imported = Imported::default();
    for line in lines {
        let id = our_id(&line.theirs);
        let known = draft.find(Class::Bead, &id)?;
        imported.count(&id, known.as_ref().map(kept_line), line);
        match known {
            None => create(draft, &id, line)?,
            Some(known) if kept_line(&known) == line.text => {}
            Some(known) => change(draft, known, line)?,
        }
    }
    Ok(imported)
}

fn source(line: &Line) -> Value {
    json!({ "system": "bd", "id": line.theirs, "line": line.text })
}

fn create(draft: &mut Draft<'_>, id: &str, line: &Line) -> Result<()> {
    let hash = Sha256::digest(format!("bd birth {}", line.theirs).as_bytes());
    let birth: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let mut document = draft.fresh(Class::Bead, id, &birth);
    let by = line.by.clone().unwrap_or_else(|| draft.by().to_owned());
    let mut edit = document.complete();
    let created = line.created.as_deref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    if let Some(created) = created {
        edit.set("createdAt", created.to_string().into());
    }
    edit.set("createdBy", by.into());
    edit.set("source", source(line));
    if line.theirs != id {
        edit.add("aliases", &line.theirs, line.theirs.as_str().into());
    }
    put(&mut edit, &Mapped::default(), &line.mapped);
    if line.mapped.deleted {
        let by = draft.by().to_owned();
        draft.edit(&mut document).delete(&by);
    }
    let line = format!("{id} imported: {}", line.mapped.title.replace('\n', " "));
    draft.put(document, "bead:created", line)
}

/// Applies what changed in the source since it was last imported; the rest stays as it is here.
fn change(draft: &mut Draft<'_>, mut document: Document, line: &Line) -> Result<()> {
    let before: Map<String, Value> = serde_json::from_str(kept_line(&document)).unwrap_or_default();
    let before = Mapped::of_line(&before);
    let by = draft.by().to_owned();
    let mut edit = draft.edit(&mut document);
    edit.set("source", source(line));
    put(&mut edit, &before, &line.mapped);
    if line.mapped.deleted && !before.deleted {
        edit.delete(&by);
    }
    let line = format!("{} updated by import", document.id());
    draft.put(document, "bead:updated", line)
}

/// Sets what differs between two readings of a line.
fn put(edit: &mut Edit<'_>, before: &Mapped, after: &Mapped) {
    let texts = [
        ("title", Some(&before.title), Some(&after.title)),
        ("type", Some(&before.kind), Some(&after.kind)),
        ("description", before.description.as_ref(), after.description.as_ref()),
        ("acceptance", before.acceptance.as_ref(), after.acceptance.as_ref()),
        ("defer", before.defer.as_ref(), after.defer.as_ref()),
    ];
    for (field, before, after) in texts {
        match after {
            Some(after) if Some(after) != before => edit.set(field, after.as_str().into()),
            None if before.is_some() => edit.clear(field),
            _ => {}
        }
    }
    if before.priority != after.priority {
        edit.set("priority", after.priority.unwrap_or(Priority::Medium).as_str().into());
    }
    if before.estimate != after.estimate {
        match after.estimate {
            Some(estimate) => edit.set("estimate", estimate.into()),
            None => edit.clear("estimate"),
        }
    }
    if before.agent != after.agent {
        edit.take(after.agent.clone(), None);
    }
    if (before.status, &before.reason) != (after.status, &after.reason) {
        let status = after.status.unwrap_or(BeadStatus::Open);
        if status != BeadStatus::Open || before.status.is_some() {
            edit.progress(status, (status == BeadStatus::Done).then(|| after.resolution()));
        }
    }
    for gone in before.labels.difference(&after.labels) {
        edit.remove("labels", gone);
    }
    for new in after.labels.difference(&before.labels) {
        edit.add("labels", new, new.as_str().into());
    }
    for (kind, target) in before.links.difference(&after.links) {
        edit.remove("links", &format!("{kind} {target}"));
    }
    for (kind, target) in after.links.difference(&before.links) {
        let link = json!({ "type": kind, "target": target });
        edit.add("links", &format!("{kind} {target}"), link);
    }
    for (id, comment) in &after.comments {
        edit.foreign_comment(id, comment.clone());
    }
}
