//! Merging two commits of the state branch: documents by field, everything else by a fixed rule.

use gix::ObjectId;
use gix::object::Kind;
use godel_model::BeadId;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::batch::Finished;
use super::history::MERGE;
use super::{Shelf, Tip, diff, of_path, path_of};
use crate::doc::{Class, Document};
use crate::git::{Pack, Trees};
use crate::view::Bead;
use crate::{Error, Result};

/// How many characters the id of a renamed bead has: enough that nobody has it.
const RENAMED_LETTERS: usize = 10;

/// What a merge did that somebody should know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Merged {
    /// How many documents came in or changed.
    pub documents: usize,
    /// Beads that had an id that another had first: old id, new id.
    pub renamed: Vec<(String, String)>,
    /// Claims of this clone that lost against an earlier one: bead, ours, theirs.
    pub lost_claims: Vec<(String, String, String)>,
}

/// A merge under way.
pub(super) struct Merging<'a> {
    shelf: &'a Shelf,
    pub(super) trees: Trees,
    pub(super) pack: Pack,
    pub(super) report: Merged,
    pub(super) changed: Vec<(Class, Document)>,
}

impl<'a> Merging<'a> {
    pub(super) fn new(shelf: &'a Shelf, trees: Trees) -> Self {
        let pack = Pack::new(shelf.repository.object_hash());
        let (report, changed) = (Merged::default(), Vec::new());
        Self { shelf, trees, pack, report, changed }
    }

    /// Merges everything of another tree.
    fn take_all(&mut self, ours: ObjectId, theirs: ObjectId) -> Result<()> {
        for change in diff(&self.shelf.repository, Some(ours), Some(theirs))? {
            let Some(blob) = change.new else { continue };
            let Some((class, _)) = of_path(&change.path) else {
                self.take_other(&change.path, change.old, blob)?;
                continue;
            };
            match self.shelf.document(class, &change.path, blob) {
                Ok(document) => self.take(document)?,
                // A document that cannot be read is no news, unless there is none at all.
                Err(Error::Damaged { .. }) if change.old.is_none() => {
                    self.trees.set(&self.shelf.repository, &change.path, blob)?;
                }
                Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes a file that is no document: of two the one with the greater name, everywhere.
    fn take_other(&mut self, path: &str, ours: Option<ObjectId>, theirs: ObjectId) -> Result<()> {
        if ours.is_none_or(|ours| ours < theirs) {
            self.trees.set(&self.shelf.repository, path, theirs)?;
        }
        Ok(())
    }

    /// Merges one document into the tree.
    pub(super) fn take(&mut self, theirs: Document) -> Result<()> {
        let path = path_of(theirs.class, theirs.id());
        let ours = match self.trees.get(&self.shelf.repository, &path)? {
            Some(blob) => self.known(theirs.class, &path, blob)?,
            None => None,
        };
        let Some(ours) = ours else { return self.put(theirs) };
        if ours.birth() == theirs.birth() {
            let merged = ours.clone().merged(theirs);
            if merged == ours {
                return Ok(());
            }
            self.note_claim(&ours, &merged);
            return self.put(merged);
        }
        // Two different things chose one name; the older keeps it.
        let age = |one: &Document| (one.born, one.birth().to_owned());
        let (keeps, yields) =
            if age(&ours) <= age(&theirs) { (ours, theirs) } else { (theirs, ours) };
        let old = keeps.id().to_owned();
        self.put(keeps)?;
        let renamed = renamed(yields);
        self.report.renamed.push((old, renamed.id().to_owned()));
        self.take(renamed)
    }

    /// Reads a document of the tree that is being made; `None` if it is damaged.
    fn known(&self, class: Class, path: &str, blob: ObjectId) -> Result<Option<Document>> {
        let id = of_path(path).map(|(_, id)| id.to_owned()).unwrap_or_default();
        let made =
            self.changed.iter().rev().find(|(_, made)| made.class == class && made.id() == id);
        if let Some((_, made)) = made {
            return Ok(Some(made.clone()));
        }
        match self.shelf.document(class, path, blob) {
            Ok(document) => Ok(Some(document)),
            Err(Error::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn put(&mut self, document: Document) -> Result<()> {
        let blob = self.pack.add(Kind::Blob, document.to_bytes())?;
        let path = path_of(document.class, document.id());
        if self.trees.get(&self.shelf.repository, &path)? != Some(blob) {
            self.trees.set(&self.shelf.repository, &path, blob)?;
            self.report.documents += 1;
            self.changed.push((document.class, document));
        }
        Ok(())
    }

    fn note_claim(&mut self, ours: &Document, merged: &Document) {
        if ours.class != Class::Bead {
            return;
        }
        self.report.lost_claims.extend(self.shelf.lost_claim(ours, merged));
    }

    /// Ends the merge with a commit.
    pub(super) fn finish(
        mut self,
        parents: &[ObjectId],
        message: &str,
    ) -> Result<(Finished, Merged)> {
        self.shelf.leave_format_unsaid(&mut self.trees)?;
        let tree = self.trees.write(&self.shelf.repository, &mut self.pack)?;
        let bytes = self.shelf.commit_bytes(tree, parents, message, &[]);
        let commit = self.pack.add(Kind::Commit, bytes)?;
        let shown = self
            .changed
            .into_iter()
            .map(|(class, document)| ((class, document.id().to_owned()), document))
            .collect();
        let (pack, trees) = (self.pack, self.trees);
        let tip = Tip { commit, tree };
        Ok((Finished { pack, tip, trees, shown }, self.report))
    }
}

/// Gives a document another id, which follows from its birth alone.
fn renamed(mut document: Document) -> Document {
    let old = document.id().to_owned();
    let hash = Sha256::digest(document.birth().as_bytes());
    let mut seed = [0; 16];
    seed.copy_from_slice(&hash[..16]);
    let letters = BeadId::derived(&seed, RENAMED_LETTERS);
    let new = match document.class {
        Class::Bead => letters.to_string(),
        _ => {
            let tail = letters.as_str().trim_start_matches(BeadId::PREFIX);
            let head = old.rsplit_once('-').map_or(old.as_str(), |(head, _)| head);
            format!("{head}-{tail}")
        }
    };
    let at = document.born.time().to_string();
    let text = format!(
        "This was made as {old}, an id that another had first. Links that were meant for it may \
         still point to {old}."
    );
    let id = format!("renamed-{old}");
    let comment = json!({ "id": id, "at": at, "by": "godel", "text": text });
    let mut edit = document.complete();
    edit.set("id", new.into());
    edit.add("aliases", &old, old.as_str().into());
    edit.foreign_comment(&id, comment);
    document
}

impl Shelf {
    /// Merges another commit into the branch, durably.
    ///
    /// # Errors
    /// If the repository cannot be read or written.
    pub(crate) fn merge(&mut self, theirs: ObjectId, from: &str) -> Result<Merged> {
        let _lock = self.lock()?;
        self.heal_merge()?;
        self.merge_locked(theirs, from)
    }

    /// Merges another commit into the branch; the caller holds the lock.
    pub(super) fn merge_locked(&mut self, theirs: ObjectId, from: &str) -> Result<Merged> {
        for _ in 0..20 {
            match self.try_merge(theirs, from) {
                Ok(Some(report)) => return Ok(report),
                Ok(None) => self.forget_attempt(),
                Err(error) => {
                    self.forget_attempt();
                    return Err(error);
                }
            }
        }
        Err(Error::Busy { lock: self.place.inner() })
    }

    /// Returns bead, holder and winner if a live claim of this clone is held by another now.
    fn lost_claim(&self, ours: &Document, merged: &Document) -> Option<(String, String, String)> {
        let (before, after) = (Bead::of(ours), Bead::of(merged));
        let (holder, _) = before.held(self.now())?;
        let kept = after.lease.as_ref()?;
        if before.lease.as_ref().is_some_and(|lease| lease.key == kept.key) {
            return None;
        }
        let winner = after.agent.clone().unwrap_or_else(|| "nobody".to_owned());
        Some((before.id.clone(), holder.to_owned(), winner))
    }

    pub(super) fn forget_attempt(&mut self) {
        self.known = None;
        if let Some(index) = &self.index {
            index.rollback();
        }
    }

    fn try_merge(&mut self, theirs: ObjectId, from: &str) -> Result<Option<Merged>> {
        let begun = self.begin()?;
        let theirs = self.tip_at(theirs)?;
        let found = self.format(theirs.tree)?;
        if found > super::FORMAT {
            return Err(Error::Newer { found, known: super::FORMAT });
        }
        let disk = &self.options.disk.clone();
        let Some(ours) = begun.tip else {
            return self.jump(begun.expected, theirs, None, disk);
        };
        if ours.commit == theirs.commit || self.contains(ours.commit, theirs.commit)? {
            self.opened()?.commit()?;
            // A fresh clone gets a branch of its own.
            if begun.expected.is_none() {
                let moved = self.reference.swap_alone(&self.repository, None, ours.commit, disk)?;
                return Ok(moved.then(Merged::default));
            }
            return Ok(Some(Merged::default()));
        }
        if self.contains(theirs.commit, ours.commit)? {
            return self.jump(begun.expected, theirs, Some(ours), disk);
        }
        let trees = self.trees(Some(ours))?;
        let mut merging = Merging::new(self, trees);
        merging.take_all(ours.tree, theirs.tree)?;
        let message = format!(
            "merged {} documents from {from}\n\n{MERGE}: {}\n",
            merging.report.documents, theirs.commit
        );
        let (finished, report) = merging.finish(&[ours.commit, theirs.commit], &message)?;
        self.take_into_index(&finished)?;
        Ok(self.publish(begun.expected, finished)?.then_some(report))
    }

    /// Moves the branch to a commit that has all that ours has.
    fn jump(
        &mut self,
        expected: Option<ObjectId>,
        theirs: Tip,
        ours: Option<Tip>,
        disk: &crate::git::Disk,
    ) -> Result<Option<Merged>> {
        let before = ours.map(|ours| ours.tree);
        let changes = diff(&self.repository, before, Some(theirs.tree))?;
        let mut report = Merged { documents: changes.len(), ..Merged::default() };
        for change in &changes {
            // The other clone merged, and may have found that its claim was the earlier one.
            if let (Some((Class::Bead, _)), Some(old), Some(new)) =
                (of_path(&change.path), change.old, change.new)
                && let Ok(old) = self.document(Class::Bead, &change.path, old)
                && let Ok(new) = self.document(Class::Bead, &change.path, new)
            {
                report.lost_claims.extend(self.lost_claim(&old, &new));
            }
        }
        if !self.reference.swap_alone(&self.repository, expected, theirs.commit, disk)? {
            return Ok(None);
        }
        self.known = None;
        self.catch_up(theirs)?;
        self.opened()?.commit()?;
        Ok(Some(report))
    }

    /// Takes what a merge changed into the index; the caller began the change.
    pub(super) fn take_into_index(&self, finished: &Finished) -> Result<()> {
        let index = self.opened()?;
        let hash = self.repository.object_hash();
        for ((class, id), document) in &finished.shown {
            let blob = crate::git::blob_id(hash, &document.to_bytes())?;
            index.apply(document, blob, true)?;
            index.set_damaged(&path_of(*class, id), None)?;
        }
        Ok(())
    }

    /// Tells whether a commit has another in its history.
    pub(crate) fn contains(&self, commit: ObjectId, other: ObjectId) -> Result<bool> {
        Ok(self.newer(other, Some(commit), 1)?.is_empty())
    }
}
