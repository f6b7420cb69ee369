//! Changes on their way into one pack: as few commits as tell each change of a document apart.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::object::Kind;
use godel_model::NodeId;

use super::{Act, Draft, Job, Shelf, Tip, history, path_of};
use crate::Result;
use crate::doc::{Class, Document};
use crate::git::{Pack, Trees};

/// A commit that tells of more than this is followed by one that tells of nothing.
const LONG: usize = 500;

/// Documents by what they are and their id, with the names of their blobs.
pub(super) type Documents = BTreeMap<(Class, String), (Document, ObjectId)>;

/// A batch that only needs to be written.
pub(super) struct Finished {
    pub(super) pack: Pack,
    /// Where the branch is then.
    pub(super) tip: Tip,
    pub(super) trees: Trees,
    /// What the readable view must show.
    pub(super) shown: BTreeMap<(Class, String), Document>,
}

/// Changes that are made together.
pub(super) struct Batch<'a> {
    shelf: &'a Shelf,
    node: NodeId,
    trees: Trees,
    pack: Pack,
    /// The last commit, of the branch or of this batch.
    parents: Vec<ObjectId>,
    sealed: Option<Tip>,
    /// Whether the last commit of this batch tells of very much.
    long: bool,
    /// What the next commit will hold.
    documents: Documents,
    acts: Vec<Act>,
    shown: BTreeMap<(Class, String), Document>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(shelf: &'a Shelf, trees: Trees, node: NodeId, tip: Option<Tip>) -> Self {
        Self {
            shelf,
            node,
            trees,
            pack: Pack::new(shelf.repository.object_hash()),
            parents: tip.iter().map(|tip| tip.commit).collect(),
            sealed: None,
            long: false,
            documents: Documents::new(),
            acts: Vec::new(),
            shown: BTreeMap::new(),
        }
    }

    /// Runs one job; what it says about itself is inside, what concerns all is outside.
    pub(super) fn run(&mut self, job: &Job) -> Result<Result<()>> {
        let index = self.shelf.opened()?;
        index.mark()?;
        let mut draft = Draft {
            shelf: self.shelf,
            trees: &mut self.trees,
            node: self.node,
            by: job.by.clone(),
            earlier: &self.documents,
            sealed: &self.shown,
            own: Documents::new(),
            acts: Vec::new(),
            hash: self.shelf.repository.object_hash(),
        };
        let outcome = (job.work)(&mut draft);
        let (own, acts) = (draft.own, draft.acts);
        if outcome.is_err() {
            index.undo()?;
            return Ok(outcome);
        }
        index.release()?;
        // One commit tells of one change of a document at most.
        if own.keys().any(|key| self.documents.contains_key(key)) {
            self.seal()?;
        }
        self.documents.extend(own);
        self.acts.extend(acts);
        Ok(outcome)
    }

    /// Makes a commit of what was changed since the last one.
    fn seal(&mut self) -> Result<()> {
        let repository = &self.shelf.repository;
        self.shelf.leave_format_unsaid(&mut self.trees)?;
        for ((class, id), (document, blob)) in std::mem::take(&mut self.documents) {
            self.pack.add(Kind::Blob, document.to_bytes())?;
            self.trees.set(repository, &path_of(class, &id), blob)?;
            self.shown.insert((class, id), document);
        }
        let tree = self.trees.write(repository, &mut self.pack)?;
        let acts = std::mem::take(&mut self.acts);
        self.long = acts.len() > LONG;
        let bytes = self.shelf.commit_bytes(tree, &self.parents, &message(&acts), &acts);
        let commit = self.pack.add(Kind::Commit, bytes)?;
        self.parents = vec![commit];
        self.sealed = Some(Tip { commit, tree });
        Ok(())
    }

    /// Ends the batch; `None` if there is nothing to write.
    pub(super) fn finish(mut self) -> Result<Option<Finished>> {
        if !self.documents.is_empty() {
            self.seal()?;
        }
        if self.long {
            // Every command reads the last commit; it should not be the megabytes of an import.
            self.seal()?;
        }
        Ok(self.sealed.map(|tip| Finished {
            pack: self.pack,
            tip,
            trees: self.trees,
            shown: self.shown,
        }))
    }
}

/// Tells in the words of a diary what was done, with a trailer for each act that needs one.
fn message(acts: &[Act]) -> String {
    let mut text = match acts {
        [] => return "upkeep\n".to_owned(),
        [act] if history::is_plain(act) => return format!("{}\n", act.line),
        [act] => format!("{}\n", act.line),
        [first, ..] => {
            let lines: Vec<&str> = acts.iter().map(|act| act.line.as_str()).collect();
            format!("{} and {} more\n\n{}\n", first.line, acts.len() - 1, lines.join("\n"))
        }
    };
    text.push('\n');
    for act in acts {
        let by = act.by.replace(['\n', '\r'], " ");
        text.push_str(&format!("{}: {} {} {by}\n", history::TRAILER, act.event, act.id));
    }
    text
}
