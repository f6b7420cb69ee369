//! What git says about the work of a bead.

use gix::ObjectId;
use serde::Serialize;

use crate::git::{Reference, run_git};
use crate::ops::Landing;
use crate::shelf::Shelf;
use crate::view::Bead;
use crate::{Error, Result};

/// The most commits that are looked at to find those of a bead.
const COMMITS_MAX: usize = 2_000;

/// How often a worktree is looked at that cannot be read.
const LOOKS: usize = 10;
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(50);

/// What git says about the work of a bead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The last commit of `bead/<id>`.
    pub head: Option<String>,
    /// The branch that the work is compared with.
    pub base: String,
    /// Commits of `bead/<id>` that the base lacks, the newest first.
    pub ahead: Vec<String>,
    /// The work tree, if it has changes that are not committed.
    pub dirty: Option<String>,
    /// Commits that belong to the bead, by branch or by trailer.
    pub commits: Vec<String>,
    /// Whether the bead ever had code.
    pub has_code: bool,
    /// How the work landed, if it did.
    pub landing: Option<Landing>,
    /// Why the work does not count as landed.
    pub lacks_landing: Option<String>,
    /// Gates that must have passed.
    pub gates: Vec<String>,
}

/// A commit of a bead, checked against git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedCommit {
    /// Its whole name.
    pub id: String,
    /// Its first line; none if the commit is not here.
    pub subject: Option<String>,
    /// Whether the repository has it.
    pub present: bool,
    /// Whether the base branch has it.
    pub landed: bool,
}

impl Shelf {
    /// Gathers what git says about the work of a bead.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn evidence(&self, bead: &Bead) -> Result<Evidence> {
        let head = Reference::read(&self.repository, &format!("refs/heads/bead/{}", bead.id))?;
        let (base, base_head) = self.base()?;
        let ahead = match head {
            Some(head) => self.walk(head, base_head, COMMITS_MAX)?,
            None => Vec::new(),
        };
        let mut commits: Vec<String> = ahead.iter().map(ToString::to_string).collect();
        commits.extend(self.trailed(bead, base_head)?);
        let has_code = head.is_some()
            || bead.worktree.is_some()
            || bead.landed.is_some()
            || !bead.commits.is_empty()
            || !commits.is_empty();
        let (landing, lacks_landing) = self.landing(bead, head, (&base, base_head))?;
        Ok(Evidence {
            head: head.map(|head| head.to_string()),
            base,
            ahead: ahead.iter().map(ToString::to_string).collect(),
            dirty: self.dirty(bead)?,
            commits,
            has_code,
            landing,
            lacks_landing,
            gates: Vec::new(),
        })
    }

    /// Returns the branch that work lands in, and where it is.
    fn base(&self) -> Result<(String, Option<ObjectId>)> {
        let mut names = Vec::new();
        if let Ok(Some(head)) = self.repository.try_find_reference("refs/remotes/origin/HEAD")
            && let Some(target) = head.target().try_name()
        {
            let name = target.as_bstr().to_string();
            names.extend(name.strip_prefix("refs/remotes/origin/").map(str::to_owned));
        }
        names.extend(["main".to_owned(), "master".to_owned()]);
        for name in names {
            if let Some(at) = Reference::read(&self.repository, &format!("refs/heads/{name}"))? {
                return Ok((name, Some(at)));
            }
        }
        let head = self.repository.head_id().ok().map(gix::Id::detach);
        Ok(("HEAD".to_owned(), head))
    }

    /// Returns the commits from one that another does not have, the newest first.
    fn walk(
        &self,
        from: ObjectId,
        without: Option<ObjectId>,
        limit: usize,
    ) -> Result<Vec<ObjectId>> {
        let walk = self.repository.rev_walk([from]).with_hidden(without);
        let walk = walk.all().map_err(|cause| Error::git("read", cause))?;
        let ids = walk.take(limit).map(|info| info.map(|info| info.id));
        ids.collect::<std::result::Result<_, _>>().map_err(|cause| Error::git("read", cause))
    }

    fn has(&self, branch: ObjectId, commit: ObjectId) -> Result<bool> {
        Ok(self.walk(commit, Some(branch), 1)?.is_empty())
    }

    /// Finds commits of the base that name the bead in a trailer, not older than the bead.
    fn trailed(&self, bead: &Bead, base: Option<ObjectId>) -> Result<Vec<String>> {
        let Some(base) = base else { return Ok(Vec::new()) };
        let since = bead.created_at.as_second();
        let order = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let sorting = gix::revision::walk::Sorting::ByCommitTimeCutoff { order, seconds: since };
        let walk = self.repository.rev_walk([base]).sorting(sorting);
        let walk = walk.all().map_err(|cause| Error::git("read", cause))?;
        let mut found = Vec::new();
        for info in walk.take(COMMITS_MAX) {
            let info = info.map_err(|cause| Error::git("read", cause))?;
            let commit = info.object().map_err(|cause| Error::git("read", cause))?;
            let message = commit.message_raw_sloppy().to_string();
            if names_bead(&message, &bead.id) {
                found.push(info.id.to_string());
            }
        }
        Ok(found)
    }

    /// Tells how the work landed, or why it does not count as landed.
    fn landing(
        &self,
        bead: &Bead,
        head: Option<ObjectId>,
        (base, base_head): (&str, Option<ObjectId>),
    ) -> Result<(Option<Landing>, Option<String>)> {
        if let Some(landed) = &bead.landed {
            let text = |member: &str| landed[member].as_str().unwrap_or_default().to_owned();
            let landing = Landing {
                branch: text("branch"),
                target: text("target"),
                source: landed["source"].as_str().map(str::to_owned),
                gates: serde_json::from_value(landed["gates"].clone()).unwrap_or_default(),
                change: serde_json::from_value(landed["change"].clone()).ok(),
            };
            let name = format!("refs/heads/{}", landing.branch);
            let branch = Reference::read(&self.repository, &name)?;
            let target = ObjectId::from_hex(landing.target.as_bytes()).ok();
            let later = match (head, base_head, &landing.source) {
                (Some(head), Some(base), Some(source)) => {
                    ObjectId::from_hex(source.as_bytes()).ok() != Some(head)
                        && !self.has(base, head)?
                }
                _ => false,
            };
            if later {
                let why = format!(
                    "branch bead/{} has commits that came after it landed: land those, too",
                    bead.id
                );
                return Ok((None, Some(why)));
            }
            return Ok(match (branch, target) {
                (Some(branch), Some(target))
                    if self.repository.has_object(target) && self.has(branch, target)? =>
                {
                    (Some(landing), None)
                }
                _ => {
                    let why = format!(
                        "it was recorded as landed in {} with {}, which is not there",
                        landing.branch, landing.target
                    );
                    (None, Some(why))
                }
            });
        }
        match (head, base_head) {
            (Some(head), Some(base_head)) if self.has(base_head, head)? => {
                let (target, source) = (head.to_string(), Some(head.to_string()));
                let (branch, gates) = (base.to_owned(), Vec::new());
                Ok((Some(Landing { branch, target, source, gates, change: None }), None))
            }
            (Some(_), _) => {
                let why = format!(
                    "branch bead/{} is not in {base}: merge it, or record a squash with godel bead \
                     landed {} --commit COMMIT",
                    bead.id, bead.id
                );
                Ok((None, Some(why)))
            }
            (None, _) => {
                let why = format!(
                    "there is no record of its code landing: godel bead landed {} --commit COMMIT",
                    bead.id
                );
                Ok((None, Some(why)))
            }
        }
    }

    /// Returns the bead's work tree if it has changes that are not committed.
    fn dirty(&self, bead: &Bead) -> Result<Option<String>> {
        let known = bead.worktree.as_ref().map(|path| match &self.place().main {
            Some(main) => main.join(path),
            None => self.place().common.join(path),
        });
        let path = known.unwrap_or_else(|| self.place().home.join("worktrees").join(&bead.id));
        if !path.join(".git").exists() {
            return Ok(None);
        }
        let ask = || run_git(&path, &["status", "--porcelain", "--untracked-files=normal"]);
        let mut status = ask();
        // One that is being made or removed in this moment is not readable; a moment later it is, or it is gone.
        for _ in 0..LOOKS {
            if status.is_ok() {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
            if !path.join(".git").exists() {
                return Ok(None);
            }
            status = ask();
        }
        Ok((!status?.is_empty()).then(|| path.display().to_string()))
    }

    /// Checks each commit of a bead against git.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn commits(&self, bead: &Bead, evidence: &Evidence) -> Result<Vec<LinkedCommit>> {
        let (_, base) = self.base()?;
        let mut names: Vec<&String> = bead.commits.iter().chain(&evidence.commits).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| self.linked(name, base)).collect()
    }

    fn linked(&self, name: &str, base: Option<ObjectId>) -> Result<LinkedCommit> {
        let absent =
            || LinkedCommit { id: name.to_owned(), subject: None, present: false, landed: false };
        let Ok(id) = ObjectId::from_hex(name.as_bytes()) else { return Ok(absent()) };
        let Ok(commit) = self.repository.find_commit(id) else { return Ok(absent()) };
        let message = commit.message_raw_sloppy().to_string();
        let subject = message.lines().next().unwrap_or_default().to_owned();
        let landed = base.map(|base| self.has(base, id)).transpose()?.unwrap_or(false);
        Ok(LinkedCommit { id: name.to_owned(), subject: Some(subject), present: true, landed })
    }

    /// Returns the whole name of a commit of this repository.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn whole_commit(&self, name: &str) -> Result<String> {
        let spec = format!("{name}^{{commit}}");
        if name.starts_with('-') {
            return Err(Error::NotFound { what: "commit", name: name.to_owned() });
        }
        let found = run_git(&self.place().common, &["rev-parse", "--verify", "--quiet", &spec]);
        found
            .map(|text| text.trim().to_owned())
            .map_err(|_| Error::NotFound { what: "commit", name: name.to_owned() })
    }
}

fn names_bead(message: &str, id: &str) -> bool {
    message.lines().any(|line| {
        let line = line.trim();
        line.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("bead:"))
            && line[5..].split([',', ' ']).any(|word| word == id)
    })
}
