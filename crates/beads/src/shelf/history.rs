//! The diary: commits as they are written, and what they tell when they are read again.

use std::collections::HashMap;

use gix::ObjectId;
use godel_model::{BeadId, ConvoyId};
use jiff::Timestamp;
use serde::Serialize;

use super::{Act, Shelf, Tip, diff, of_path, path_of};
use crate::doc::{Class, Document};
use crate::git::Tree;
use crate::{Error, Result};

/// The trailer that names an act: event, id, and who did it.
pub(crate) const TRAILER: &str = "Godel-Act";

/// Events that a subject alone can tell: `<id> <the word after the colon>`, and then anything.
///
/// A commit of one such act has no trailer, which would say all of it a second time.
const PLAIN: [&str; 16] = [
    "bead:assigned",
    "bead:claimed",
    "bead:commented",
    "bead:created",
    "bead:deferred",
    "bead:deleted",
    "bead:linked",
    "bead:moved",
    "bead:released",
    "bead:unlinked",
    "bead:updated",
    "convoy:archived",
    "convoy:completed",
    "convoy:created",
    "convoy:deleted",
    "convoy:updated",
];

/// The trailer of a merge that Godel made; one without it is looked at again.
pub(crate) const MERGE: &str = "Godel-Merge";

/// The most commits that are looked through for the history of one bead.
const LOOK_BACK: usize = 200_000;

/// A line of the diary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The commit.
    pub commit: String,
    /// When it was made.
    pub at: Timestamp,
    /// The event, such as `bead:created`.
    pub event: String,
    /// What it was done to.
    pub id: String,
    /// Who did it.
    pub by: String,
    /// What was done, for people.
    pub line: String,
}

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
        let author = author(acts.first().map_or("", |act| act.by.as_str()));
        let email = self.repository.config_snapshot().string("user.email");
        let email =
            email.map_or_else(|| "godel@localhost".to_owned(), |email| clean(&email.to_string()));
        text.push_str(&format!("author {author} <{email}> {seconds} +0000\n"));
        text.push_str(&format!("committer godel <{email}> {seconds} +0000\n\n{message}"));
        text.into_bytes()
    }

    /// Returns commits from one on back that another does not have, the newest first.
    pub(crate) fn newer(
        &self,
        from: ObjectId,
        than: Option<ObjectId>,
        limit: usize,
    ) -> Result<Vec<ObjectId>> {
        if than == Some(from) {
            return Ok(Vec::new());
        }
        let order = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let sorting = gix::revision::walk::Sorting::ByCommitTime(order);
        let walk = self.repository.rev_walk([from]).with_hidden(than).sorting(sorting);
        let walk = walk.all().map_err(|cause| Error::git("read", cause))?;
        let ids = walk.take(limit).map(|info| info.map(|info| info.id));
        ids.collect::<std::result::Result<_, _>>().map_err(|cause| Error::git("read", cause))
    }

    /// Tells whether a commit is here.
    pub fn has_commit(&self, name: &str) -> bool {
        ObjectId::from_hex(name.as_bytes()).is_ok_and(|id| self.repository.has_object(id))
    }

    /// Reads the diary, the newest first: of one document, or of all.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn log(&self, id: Option<&str>, limit: usize) -> Result<Vec<Entry>> {
        let Some(tip) = self.tip()? else { return Ok(Vec::new()) };
        let order = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let sorting = gix::revision::walk::Sorting::ByCommitTime(order);
        let walk = self.repository.rev_walk([tip.commit]).sorting(sorting);
        let walk = walk.all().map_err(|cause| Error::git("read", cause))?;
        let mut entries = Vec::new();
        for info in walk.take(LOOK_BACK) {
            let info = info.map_err(|cause| Error::git("read", cause))?;
            let told = self.told(info.id)?;
            let wanted = told.into_iter().filter(|entry| id.is_none_or(|id| id == entry.id));
            entries.extend(wanted);
            let born = |entry: &Entry| entry.event.ends_with(":created");
            if entries.len() >= limit || (id.is_some() && entries.last().is_some_and(born)) {
                break;
            }
        }
        entries.truncate(limit);
        Ok(entries)
    }

    /// Reads what one commit tells.
    pub(crate) fn told(&self, id: ObjectId) -> Result<Vec<Entry>> {
        let failed = |cause: gix::Error| Error::git("read", cause);
        let commit = self.repository.find_commit(id).map_err(failed)?;
        let message = commit.message_raw_sloppy().to_string();
        let seconds = commit.time().map_err(|cause| Error::git("read", cause))?.seconds;
        let at = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        let author = commit.author().map_err(|cause| Error::git("read", cause))?.name.to_string();
        let acts = match plain(&message) {
            Some((event, of)) => vec![(event, of, author.as_str())],
            None => trailers(&message),
        };
        let subject = message.lines().next().unwrap_or_default();
        // An import tells of thousands at once.
        let mut lines = HashMap::new();
        for line in message.lines().skip(1) {
            if let Some((first, _)) = line.split_once(' ') {
                lines.entry(first).or_insert(line);
            }
        }
        let entries = acts.into_iter().map(|(event, of, by)| {
            let told = lines.get(of).copied();
            Entry {
                commit: id.to_string(),
                at,
                event: event.to_owned(),
                id: of.to_owned(),
                by: by.to_owned(),
                line: told.unwrap_or(subject).to_owned(),
            }
        });
        Ok(entries.collect())
    }

    /// Returns a bead as it was at a commit, or at a moment.
    ///
    /// # Errors
    /// If there is no such commit, or the bead was not there.
    pub fn bead_at(&mut self, name: &str, when: &str) -> Result<Document> {
        let id = self.bead_id(name)?;
        let missing = || Error::NotFound { what: "bead", name: format!("{id} at {when}") };
        let tip = match when.parse::<Timestamp>() {
            Ok(moment) => self.tip_before(moment)?.ok_or_else(missing)?,
            Err(_) => {
                let commit = self.whole_commit(when)?;
                let commit = ObjectId::from_hex(commit.as_bytes());
                self.tip_at(commit.map_err(|cause| Error::git("read", cause))?)?
            }
        };
        let path = path_of(Class::Bead, &id);
        let blob = self.blob_at(tip.tree, &path)?.ok_or_else(missing)?;
        self.document(Class::Bead, &path, blob)
    }

    /// Returns the last commit that is not younger than a moment.
    fn tip_before(&self, moment: Timestamp) -> Result<Option<Tip>> {
        let Some(tip) = self.tip()? else { return Ok(None) };
        for id in self.newer(tip.commit, None, LOOK_BACK)? {
            let commit =
                self.repository.find_commit(id).map_err(|cause| Error::git("read", cause))?;
            let seconds = commit.time().map_err(|cause| Error::git("read", cause))?.seconds;
            if seconds <= moment.as_second() {
                return self.tip_at(id).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the file at a path of a tree.
    pub(crate) fn blob_at(&self, tree: ObjectId, path: &str) -> Result<Option<ObjectId>> {
        let mut at = tree;
        for part in path.split('/') {
            match Tree::read(&self.repository, at)?.get(part) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}

/// Tells whether the subject and the author of a commit tell all of an act.
pub(super) fn is_plain(act: &Act) -> bool {
    plain(&act.line) == Some((&act.event, &act.id)) && author(&act.by) == act.by
}

/// Reads event and id out of a message that is nothing but a subject.
fn plain(message: &str) -> Option<(&str, &str)> {
    let subject = message.strip_suffix('\n').unwrap_or(message);
    if subject.contains('\n') {
        return None;
    }
    let (id, done) = subject.split_once(' ')?;
    let noun = if id.parse::<BeadId>().is_ok() {
        "bead"
    } else {
        id.parse::<ConvoyId>().ok().map(|_| "convoy")?
    };
    let word = done.split(|char: char| !char.is_ascii_lowercase()).next()?;
    let event = PLAIN.into_iter().find(|event| event.split_once(':') == Some((noun, word)))?;
    Some((event, id))
}

/// Reads event, id and who did it out of the trailers of a message.
fn trailers(message: &str) -> Vec<(&str, &str, &str)> {
    // They are the last paragraph; what looks like one elsewhere was written by somebody.
    let last = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let acts = last.lines().filter_map(|line| {
        let mut parts = line.strip_prefix(TRAILER)?.strip_prefix(": ")?.splitn(3, ' ');
        Some((parts.next()?, parts.next()?, parts.next().unwrap_or_default()))
    });
    acts.collect()
}

/// Returns the name of an author as a commit can hold it.
fn author(by: &str) -> String {
    let name = clean(by);
    if name.is_empty() { "godel".to_owned() } else { name }
}

fn clean(text: &str) -> String {
    let text = text.chars().filter(|char| !matches!(char, '<' | '>' | '\n' | '\0' | '\r'));
    text.collect::<String>().trim().to_owned()
}

/// A change of one document by one commit, for whoever follows along.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// What the diary says.
    pub entry: Entry,
    /// The document before.
    pub before: Option<Document>,
    /// The document after.
    pub after: Option<Document>,
}

impl Shelf {
    /// Returns what happened since a commit, the oldest first, and the commit to go on from.
    ///
    /// Each change of a document by a commit comes once. A merge tells only of documents that are
    /// now as neither of its parents had them.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn happenings(
        &self,
        since: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Happening>, Option<String>)> {
        let Some(tip) = self.tip()? else { return Ok((Vec::new(), None)) };
        let since = since.and_then(|since| ObjectId::from_hex(since.as_bytes()).ok());
        let since = since.filter(|since| self.repository.has_object(*since));
        let mut happenings = Vec::new();
        let Some(steps) = self.steps(tip.commit, since)? else {
            // Another clone merged what we had into its own line: all of it is one step.
            for commit in self.newer(tip.commit, since, LOOK_BACK)?.into_iter().rev() {
                happenings.extend(self.happened(commit)?);
            }
            return Ok((happenings, Some(tip.commit.to_string())));
        };
        let mut reached = since;
        for (step, merge) in steps {
            // Only a merge brings more than itself.
            let commits = if merge { self.newer(step, reached, LOOK_BACK)? } else { vec![step] };
            for commit in commits.into_iter().rev() {
                happenings.extend(self.happened(commit)?);
            }
            reached = Some(step);
            if happenings.len() >= limit {
                break;
            }
        }
        Ok((happenings, reached.map(|commit| commit.to_string())))
    }

    /// Returns the commits of this clone's own line since a commit, the oldest first, and which of
    /// them are merges; `None` if that commit is not on the line.
    fn steps(
        &self,
        tip: ObjectId,
        since: Option<ObjectId>,
    ) -> Result<Option<Vec<(ObjectId, bool)>>> {
        let mut steps = Vec::new();
        let mut next = Some(tip);
        while let Some(at) = next.filter(|at| Some(*at) != since) {
            if steps.len() > LOOK_BACK {
                return Ok(None);
            }
            let commit = self.repository.find_commit(at);
            let commit = commit.map_err(|cause| Error::git("read", cause))?;
            let mut parents = commit.parent_ids().map(gix::Id::detach);
            next = parents.next();
            steps.push((at, parents.next().is_some()));
        }
        steps.reverse();
        Ok((next == since).then_some(steps))
    }

    fn happened(&self, id: ObjectId) -> Result<Vec<Happening>> {
        let commit = self.repository.find_commit(id).map_err(|cause| Error::git("read", cause))?;
        let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
        let seconds = commit.time().map_err(|cause| Error::git("read", cause))?.seconds;
        let at = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        let author = commit.author().map_err(|cause| Error::git("read", cause))?.name.to_string();
        let new = self.tip_at(id)?;
        let old = parents.first().map(|parent| self.tip_at(*parent)).transpose()?;
        let told = self.told(id)?;
        let mut happenings = Vec::new();
        for change in diff(&self.repository, old.map(|old| old.tree), Some(new.tree))? {
            let Some((class, document)) = of_path(&change.path) else { continue };
            let mut elsewhere = false;
            for parent in parents.iter().skip(1) {
                elsewhere |= self.blob_at(self.tip_at(*parent)?.tree, &change.path)? == change.new;
            }
            if elsewhere {
                continue;
            }
            let read = |blob: Option<ObjectId>| {
                blob.and_then(|blob| self.document(class, &change.path, blob).ok())
            };
            let entry = told.iter().find(|entry| entry.id == document).cloned();
            let entry = entry.unwrap_or_else(|| {
                let word = if change.old.is_none() { "created" } else { "updated" };
                let noun = match class {
                    Class::Bead => "bead",
                    Class::Convoy => "convoy",
                    Class::Memory => "memory",
                };
                let line = format!("{document} {word}");
                let event = format!("{noun}:{word}");
                let (commit, id, by) = (id.to_string(), document.to_owned(), author.clone());
                Entry { commit, at, event, id, by, line }
            });
            happenings.push(Happening { entry, before: read(change.old), after: read(change.new) });
        }
        Ok(happenings)
    }

    /// Returns the documents that differ from what they were at a commit.
    pub(crate) fn changed_documents(&self, since: Option<&str>) -> Result<Vec<(Class, String)>> {
        let Some(tip) = self.tip()? else { return Ok(Vec::new()) };
        let since = since.and_then(|since| ObjectId::from_hex(since.as_bytes()).ok());
        let before = since.map(|since| self.tip_at(since)).transpose()?;
        let changes = diff(&self.repository, before.map(|tip| tip.tree), Some(tip.tree))?;
        let documents = changes.iter().filter_map(|change| of_path(&change.path));
        Ok(documents.map(|(class, id)| (class, id.to_owned())).collect())
    }

    /// Returns the beads that differ from what they were at a commit.
    pub(crate) fn changed_beads(&self, since: Option<&str>) -> Result<Vec<String>> {
        let documents = self.changed_documents(since)?.into_iter();
        Ok(documents.filter(|(class, _)| *class == Class::Bead).map(|(_, id)| id).collect())
    }
}
