//! Sharing beads with other clones, over any remote that git can reach.

use std::time::Duration;

use serde::Serialize;

use crate::doc::Class;
use crate::git::{Reference, STATE, run_git};
use crate::ops::{settle_convoy, settle_convoys};
use crate::shelf::Shelf;
use crate::{Error, Result};

/// How often another clone may be faster with its push.
const ATTEMPTS: u32 = 20;

/// What became of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Synced {
    /// The remote.
    pub remote: String,
    /// How many documents came in or were merged.
    pub received: usize,
    /// Whether something was sent.
    pub sent: bool,
    /// Beads that had an id that another had first: old id, new id.
    pub renamed: Vec<(String, String)>,
    /// Claims of this clone that lost against an earlier one: bead, ours, theirs.
    pub lost_claims: Vec<(String, String, String)>,
    /// Circles of blocking links that the merge made.
    pub circles: Vec<Vec<String>>,
}

impl Shelf {
    /// Exchanges beads with a remote: fetch, merge by field, push.
    ///
    /// # Errors
    /// If there is no such remote, it cannot be reached, or others push all the time.
    pub fn sync(&mut self, remote: Option<&str>) -> Result<Synced> {
        let remote = self.remote(remote)?;
        let mut synced = Synced { remote: remote.clone(), ..Synced::default() };
        for attempt in 0..ATTEMPTS {
            let before = self.commit()?;
            if let Some(theirs) = self.fetch(&remote)? {
                let merged = self.merge(theirs, &remote)?;
                synced.received += self.changed_documents(before.as_deref())?.len();
                synced.renamed.extend(merged.renamed);
                synced.lost_claims.extend(merged.lost_claims);
                self.settle_after(before.as_deref())?;
            }
            let sends = self.sends(&remote)?;
            if !sends || self.push(&remote)? {
                synced.sent = sends;
                synced.circles = self.circles(before.as_deref())?;
                return Ok(synced);
            }
            // Whoever was faster is done by now; a different pause for each keeps them apart.
            let spread = u64::from(std::process::id() % 50);
            std::thread::sleep(Duration::from_millis((u64::from(attempt) * 20 + spread).min(500)));
        }
        let message = "others kept pushing to it".to_owned();
        Err(Error::Remote { remote, message })
    }

    /// Chooses the remote: the named one, `origin`, or the only one.
    fn remote(&self, named: Option<&str>) -> Result<String> {
        if let Some(named) = named {
            if named.is_empty() || named.starts_with('-') || named.chars().any(char::is_control) {
                return Err(Error::NotFound { what: "remote", name: named.to_owned() });
            }
            return Ok(named.to_owned());
        }
        let remotes = run_git(&self.place().common, &["remote"])?;
        let remotes: Vec<&str> = remotes.lines().collect();
        let only = || remotes.first().filter(|_| remotes.len() == 1);
        let chosen = remotes.iter().find(|name| **name == "origin").or_else(only);
        chosen.map(|name| (*name).to_owned()).ok_or(Error::NoRemote)
    }

    /// Returns where git is run: relative remotes are meant from the work tree.
    fn beside_work(&self) -> &std::path::Path {
        self.place().main.as_ref().unwrap_or(&self.place().common)
    }

    /// Fetches the branch of a remote under a name of our own; `None` if it has none.
    fn fetch(&mut self, remote: &str) -> Result<Option<gix::ObjectId>> {
        let kept = kept_name(remote);
        let spec = format!("+{STATE}:{kept}");
        let arguments =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, &spec];
        match run_git(self.beside_work(), &arguments) {
            Ok(_) => Reference::read(&self.repository, &kept),
            Err(Error::Command { message, .. }) if message.contains("couldn't find remote ref") => {
                Ok(None)
            }
            Err(error) => Err(unreachable(remote, error)),
        }
    }

    /// Tells whether there is something that the remote does not have.
    fn sends(&self, remote: &str) -> Result<bool> {
        let ours = Reference::read(&self.repository, STATE)?;
        Ok(ours.is_some() && Reference::read(&self.repository, &kept_name(remote))? != ours)
    }

    /// Pushes the branch; `false` if the remote has something that we do not.
    fn push(&mut self, remote: &str) -> Result<bool> {
        let spec = format!("{STATE}:{STATE}");
        let arguments = [
            "-c",
            "push.followTags=false",
            "push",
            "--quiet",
            "--no-verify",
            "--recurse-submodules=no",
            "--",
            remote,
            &spec,
        ];
        match run_git(self.beside_work(), &arguments) {
            Ok(_) => Ok(true),
            Err(Error::Command { message, .. }) if was_slow(&message) => Ok(false),
            Err(error) => Err(unreachable(remote, error)),
        }
    }

    /// Brings convoys to what the merged beads mean for them.
    fn settle_after(&mut self, before: Option<&str>) -> Result<()> {
        let changed = self.changed_documents(before)?;
        if changed.is_empty() {
            return Ok(());
        }
        self.write("godel", move |draft| {
            changed.iter().try_for_each(|(class, id)| match class {
                Class::Bead => settle_convoys(draft, id),
                Class::Convoy => settle_convoy(draft, id),
                Class::Memory => Ok(()),
            })
        })
    }

    fn circles(&mut self, before: Option<&str>) -> Result<Vec<Vec<String>>> {
        let mut circles: Vec<Vec<String>> = Vec::new();
        for bead in self.changed_beads(before)? {
            if circles.iter().any(|circle| circle.contains(&bead)) {
                continue;
            }
            circles.extend(self.index()?.circle(&bead)?);
        }
        Ok(circles)
    }
}

/// Says that it is the remote that failed.
fn unreachable(remote: &str, error: Error) -> Error {
    match error {
        Error::Command { message, .. } => Error::Remote { remote: remote.to_owned(), message },
        other => other,
    }
}

/// Returns the reference under which a remote's branch is kept.
fn kept_name(remote: &str) -> String {
    let plain = remote.chars().all(|char| char.is_ascii_alphanumeric() || "-_".contains(char));
    let name = if plain {
        remote.to_owned()
    } else {
        format!("url-{:08x}", crc32fast::hash(remote.as_bytes()))
    };
    format!("refs/godel/remotes/{name}/state")
}

/// Tells whether a push was refused because another was faster.
fn was_slow(message: &str) -> bool {
    ["failed to push some refs", "fetch first", "non-fast-forward", "cannot lock ref", "stale info"]
        .iter()
        .any(|part| message.contains(part))
}
