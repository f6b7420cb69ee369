//! Looking for damage, and mending what history can mend.

use serde::Serialize;

use crate::Result;
use crate::doc::{Class, Document};
use crate::index::{Filter, Page};
use crate::shelf::{Shelf, of_path};

/// What was found, and what was mended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// How many beads can be read.
    pub beads: u64,
    /// Documents that cannot be read, and why.
    pub damaged: Vec<(String, String)>,
    /// Circles of blocking links.
    pub circles: Vec<Vec<String>>,
    /// Documents that were brought back from history.
    pub mended: Vec<String>,
}

impl Shelf {
    /// Checks everything; with `repair`, brings back the last good version of what is damaged.
    ///
    /// # Errors
    /// If the repository cannot be read or written.
    pub fn fsck(&mut self, by: &str, repair: bool) -> Result<Checked> {
        let mut checked = Checked::default();
        if repair {
            for (path, _) in self.damaged()? {
                if let Some(document) = self.last_good(&path)? {
                    let line = format!("{} brought back from history", document.id());
                    let event = if document.class == Class::Convoy {
                        "convoy:updated"
                    } else {
                        "bead:updated"
                    };
                    self.write(by, move |draft| draft.put(document.clone(), event, line.clone()))?;
                    self.index()?.set_damaged(&path, None)?;
                    checked.mended.push(path);
                }
            }
            self.repair_view()?;
        }
        checked.beads = self.count(&Filter::everything())?;
        checked.damaged = self.damaged()?;
        let page = Page { limit: usize::MAX >> 1, ..Page::default() };
        for row in self.list(&Filter::default(), &page)?.iter().filter(|row| row.blocked) {
            if !checked.circles.iter().any(|circle| circle.contains(&row.id)) {
                checked.circles.extend(self.index()?.circle(&row.id)?);
            }
        }
        Ok(checked)
    }

    /// Finds the last version of a document that can be read.
    fn last_good(&self, path: &str) -> Result<Option<Document>> {
        let (Some(tip), Some((class, _))) = (self.tip()?, of_path(path)) else { return Ok(None) };
        let mut seen = None;
        for commit in self.newer(tip.commit, None, usize::MAX)? {
            let blob = self.blob_at(self.tip_at(commit)?.tree, path)?;
            if blob.is_none() || blob == seen {
                continue;
            }
            seen = blob;
            let read = blob.map(|blob| self.document(class, path, blob));
            if let Some(Ok(document)) = read {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }
}
