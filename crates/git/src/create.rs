//! Makes a worktree. Each step is recorded before it is taken, so that the same call finishes what
//! was interrupted.

use std::fs;
use std::path::Path;

use godel_model::code;

use crate::Name;
use crate::bench::Workbench;
use crate::config::Settings;
use crate::disk::{self, Lock};
use crate::error::{Error, Result, at};
use crate::files::{self, Pick};
use crate::ports;
use crate::record::{Base, Cleanup, Mode, Phase, Policy, Record, Share, ShareState, VERSION};
use crate::repo::Admin;
use crate::setup::{self, Setup};
use crate::share::{self, Binds};
use crate::trust;

/// How much of a script's output is told in an error.
const TOLD_MAX_LINES: usize = 20;

/// How often git is asked again that tripped over a worktree which was being made.
const ADD_TRIES: u32 = 20;
const ADD_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// How a worktree shall be.
#[derive(Debug, Clone, Default)]
pub struct Create {
    /// What to begin from; HEAD of the main work tree unless named.
    pub base: Option<String>,
    /// Copies, shares and runs nothing.
    pub skip_setup: bool,
    /// Who makes read-only binds.
    pub binds: Binds,
    /// When it may go, if not as configured.
    pub cleanup: Option<Policy>,
}

/// A worktree that is recorded and not made yet; nobody else makes it meanwhile.
pub struct Intent {
    record: Record,
    is_new: bool,
    settings: Settings,
    picks: Vec<Pick>,
    binds: Binds,
    lock: Lock,
}

impl std::fmt::Debug for Intent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is copied may be secret.
        f.debug_struct("Intent").field("record", &self.record).finish_non_exhaustive()
    }
}

impl Intent {
    /// Returns the commit that the work begins from.
    pub fn base(&self) -> &str {
        &self.record.base.commit
    }
}

impl Workbench {
    /// Makes a worktree on the branch `bead/<name>`, or finishes one whose making was interrupted or
    /// whose setup failed.
    ///
    /// # Errors
    /// If it is there already, the base is unknown, nobody agreed to the repository's wishes, or a
    /// step fails; after a failed setup the worktree stays for a look.
    pub fn create(&self, name: &Name, request: &Create) -> Result<Record> {
        self.make(self.intend(name, request)?)
    }

    /// Records that a worktree will be made, which is quick: whatever can be refused is refused here.
    ///
    /// # Errors
    /// If it is there already, the base is unknown, or nobody agreed to the repository's wishes.
    pub fn intend(&self, name: &Name, request: &Create) -> Result<Intent> {
        let base = self.base(request.base.as_deref())?;
        let mut settings = Settings::load(&self.repo, Some(&base.commit))?;
        if request.skip_setup {
            settings.setup = None;
            settings.copy.clear();
            settings.share.clear();
        } else {
            trust::check(&self.host.state, &self.repo.common, &settings)?;
        }
        let main = self.repo.main.as_deref();
        let picks = main.map(|main| files::pick(main, &settings.copy)).transpose()?;
        share::possible(&settings.share, request.binds)?;
        self.prepare()?;
        let lock = self.lock(name)?;
        let known = self.load(name)?;
        let is_new = known.is_none();
        let record = match known {
            None => self.begin(name, base, &settings, request.cleanup)?,
            Some(record) => self.resumable(record)?,
        };
        self.step("create:recorded");
        let (picks, binds) = (picks.unwrap_or_default(), request.binds);
        Ok(Intent { record, is_new, settings, picks, binds, lock })
    }

    /// Makes a worktree that is intended: lays out its files and runs its setup, which may take long.
    ///
    /// # Errors
    /// If a step fails; after a failed setup the worktree stays for a look.
    pub fn make(&self, intent: Intent) -> Result<Record> {
        let Intent { mut record, is_new, settings, picks, binds, lock } = intent;
        self.add(&record, is_new, &lock)?;
        self.step("create:added");
        self.furnish(&mut record, &settings, &picks, binds)?;
        Ok(record)
    }

    /// Finds the commit to begin from.
    pub(crate) fn base(&self, asked: Option<&str>) -> Result<Base> {
        let revision = asked.unwrap_or("HEAD");
        let unknown =
            |message: String, hint: &str| Error::refused(code::BASE_NOT_FOUND, message, hint);
        if revision.is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
            return Err(unknown(
                format!("{revision:?} names no commit"),
                "give a branch, a tag or a commit",
            ));
        }
        if let (Some(asked), Some((full, commit))) = (asked, self.repo.branch_named(revision)) {
            return Ok(Base { revision: asked.to_owned(), reference: Some(full), commit });
        }
        let full = ["rev-parse", "--symbolic-full-name", revision];
        // Each is a process of its own, so they are asked at the same time.
        let (commit, reference) = std::thread::scope(|scope| {
            let reference = scope.spawn(|| self.repo.ask().args(full).maybe());
            (self.repo.commit(revision), reference.join())
        });
        let Some(commit) = commit? else {
            return Err(if asked.is_none() {
                unknown(
                    "the repository has no commit yet, so there is nothing to begin from"
                        .to_owned(),
                    "make a first one: `git commit --allow-empty -m 'first commit'`",
                )
            } else {
                let hint = "give a branch, a tag or a commit of this repository; `git branch -a` \
                            lists branches";
                unknown(format!("\"{revision}\" names no commit here"), hint)
            });
        };
        let reference = reference.unwrap_or(Ok(None))?.filter(|full| full.starts_with("refs/"));
        let short = reference.as_deref().and_then(|full| full.strip_prefix("refs/heads/"));
        let revision = match (asked, short) {
            (Some(asked), _) => asked.to_owned(),
            (None, Some(branch)) => branch.to_owned(),
            (None, None) => commit.clone(),
        };
        Ok(Base { revision, reference, commit })
    }

    /// Records that a worktree will be made.
    fn begin(
        &self,
        name: &Name,
        mut base: Base,
        settings: &Settings,
        policy: Option<Policy>,
    ) -> Result<Record> {
        let tree = self.repo.tree(name);
        if disk::exists(&tree) || disk::exists(&self.repo.trash(name)) {
            return Err(taken(name, &tree));
        }
        if self.repo.admin(name)?.is_some() {
            return Err(taken(name, &tree));
        }
        let branch = name.branch();
        let tip = self.repo.commit(&format!("refs/heads/{branch}"))?;
        if let Some(tip) = &tip
            && let Some(common) = self.repo.ask().args(["merge-base", &base.commit, tip]).maybe()?
        {
            base.commit = common;
        }
        let cleanup = Cleanup {
            policy: policy.unwrap_or(settings.cleanup.policy),
            after_secs: settings.cleanup.after_secs,
        };
        let record = Record {
            version: VERSION,
            id: name.clone(),
            branch,
            branch_made: tip.is_none(),
            base,
            created_at: self.host.clock.now(),
            phase: Phase::Creating,
            cleanup,
            ended: None,
            ports: None,
            shares: Vec::new(),
            copied: Vec::new(),
            rescue: settings.rescue.clone(),
            removal: None,
        };
        self.save(&record)?;
        Ok(record)
    }

    fn resumable(&self, record: Record) -> Result<Record> {
        let name = &record.id;
        match record.phase {
            Phase::Creating => Ok(record),
            Phase::SetupFailed if self.repo.tree(name).is_dir() => Ok(record),
            Phase::SetupFailed | Phase::Ready => Err(taken(name, &self.repo.tree(name))),
            Phase::Removing => Err(Error::refused(
                code::WORKTREE_EXISTS,
                format!("the removal of worktree {name} is not finished"),
                format!("finish it with `godel worktree remove {name}`"),
            )),
        }
    }

    /// Lets git make the branch and the worktree; what an earlier attempt left half done goes first.
    fn add(&self, record: &Record, is_new: bool, lock: &Lock) -> Result<()> {
        let tree = self.repo.tree(&record.id);
        if self.clear_way(record, lock)? {
            return Ok(());
        }
        disk::dir(tree.parent().unwrap_or(&self.repo.home))?;
        // Of one that was recorded just now it is known; if not, a spare is not taken over a branch.
        let exists = match is_new {
            true => !record.branch_made,
            false => self.repo.commit(&format!("refs/heads/{}", record.branch))?.is_some(),
        };
        if !exists {
            match self.claim(record) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // A spare that is of no use costs time, and nothing else.
                Err(_) => drop(self.clear_way(record, lock)?),
            }
        }
        for round in 0.. {
            let git = self.repo.git().hold(lock.file());
            let exists =
                exists || self.repo.commit(&format!("refs/heads/{}", record.branch))?.is_some();
            let git = match exists {
                true => git.args(["worktree", "add", "--"]).args([&tree]).args([&record.branch]),
                false => git
                    .args(["worktree", "add", "--no-track", "-b", &record.branch, "--"])
                    .args([&tree])
                    .args([&record.base.commit]),
            };
            match git.run() {
                Ok(()) => break,
                // Git reads all other worktrees, and trips over one that is being made in this moment.
                Err(Error::Git { said, .. })
                    if round < ADD_TRIES && said.contains("/commondir") =>
                {
                    std::thread::sleep(ADD_AGAIN);
                }
                Err(error) => return Err(self.undo(record, error)),
            }
        }
        Ok(())
    }

    /// Removes what an earlier attempt left half done; true if it was done.
    fn clear_way(&self, record: &Record, lock: &Lock) -> Result<bool> {
        let tree = self.repo.tree(&record.id);
        match (self.repo.admin(&record.id)?, disk::exists(&tree)) {
            (Some(admin), true) if !initializing(&admin) => return Ok(true),
            (Some(_), there) => {
                if there {
                    share::delete_tree(&tree)?;
                }
                self.forget(&tree, lock)?;
            }
            (None, true) => {
                // Only an empty one can be a leftover of git.
                fs::remove_dir(&tree).map_err(|_| taken(&record.id, &tree))?;
            }
            (None, false) => {}
        }
        Ok(false)
    }

    /// Takes back what was recorded for a worktree that git would not make.
    fn undo(&self, record: &Record, error: Error) -> Error {
        let gone = !disk::exists(&self.repo.tree(&record.id))
            && matches!(self.repo.admin(&record.id), Ok(None));
        if gone && record.phase == Phase::Creating {
            if record.branch_made {
                let branch = format!("refs/heads/{}", record.branch);
                let delete = ["update-ref", "-d", &branch, &record.base.commit];
                self.repo.git().args(delete).run().ok();
            }
            // What stays behind is shown by `list` and finished by the next attempt.
            disk::remove(&self.record_path(&record.id)).ok();
        }
        match error {
            Error::Git { said, .. } if said.contains("already ") => Error::refused(
                code::WORKTREE_EXISTS,
                format!("the branch {} is in use: {said}", record.branch),
                "`git worktree list` shows where; switch that worktree to another branch",
            ),
            other => other,
        }
    }

    /// Lets git forget one worktree whose directory is gone, and no other.
    pub(crate) fn forget(&self, tree: &Path, lock: &Lock) -> Result<()> {
        let git = self.repo.git().hold(lock.file());
        git.args(["worktree", "remove", "--force", "--force", "--"]).args([tree]).run()
    }

    /// Gives a worktree its ports, files, directories and setup.
    fn furnish(
        &self,
        record: &mut Record,
        settings: &Settings,
        picks: &[Pick],
        binds: Binds,
    ) -> Result<()> {
        let tree = self.repo.tree(&record.id);
        if record.ports.is_none() {
            let path = self.record_path(&record.id);
            record.ports = ports::allot(&self.host.state, settings.ports, &path)?;
            self.save(record)?;
        }
        self.step("create:ports");
        if !picks.is_empty() {
            files::register(&files::redaction_path(&self.repo.state(), &record.id), picks)?;
            self.step("create:registered");
            record.copied = files::copy(picks, &tree)?;
            self.save(record)?;
        }
        self.step("create:copied");
        if let Some(main) = &self.repo.main {
            self.plan_shares(record, settings)?;
            for at in 0..record.shares.len() {
                let done = share::provide(main, &tree, &mut record.shares[at], binds);
                self.save(record)?;
                done?;
            }
        }
        self.step("create:shared");
        if let Some(script) = &settings.setup {
            self.set_up(record, script, settings)?;
        }
        self.step("create:setup");
        record.phase = Phase::Ready;
        self.save(record)
    }

    /// Takes the wishes of the configuration over; what is done stays done.
    fn plan_shares(&self, record: &mut Record, settings: &Settings) -> Result<()> {
        let done = std::mem::take(&mut record.shares);
        for (path, mode) in &settings.share {
            let known = done.iter().find(|share| share.path == *path && share.mode == *mode);
            let fresh = Share { path: path.clone(), mode: *mode, state: ShareState::Wanted };
            let share = known.cloned().unwrap_or(fresh);
            let branch = format!("refs/heads/{}", record.branch);
            let listed = self.repo.ask().args(["ls-tree", "--name-only", "-z", &branch, "--"]);
            let tracked = listed.args([path]).paths()?;
            if *mode != Mode::None && !tracked.is_empty() {
                return Err(Error::refused(
                    code::SHARE_REFUSED,
                    format!("{} is tracked by git and cannot be shared", path.display()),
                    "take it out of [worktree.share]: every worktree has it anyway",
                ));
            }
            record.shares.push(share);
        }
        Ok(())
    }

    /// Runs the setup script; a failure is recorded and leaves the worktree as it is.
    fn set_up(&self, record: &mut Record, script: &str, settings: &Settings) -> Result<()> {
        let tree = self.repo.tree(&record.id);
        let main = self.repo.main.as_deref().unwrap_or(&self.repo.common);
        let mut variables = vec![
            ("GODEL_WORKTREE", record.id.to_string()),
            ("GODEL_WORKTREE_PATH", tree.to_string_lossy().into_owned()),
            ("GODEL_BRANCH", record.branch.clone()),
            ("GODEL_BASE", record.base.commit.clone()),
            ("GODEL_MAIN_TREE", main.to_string_lossy().into_owned()),
        ];
        if let Some(ports) = record.ports {
            variables.push(("GODEL_PORT_BASE", ports.first.to_string()));
            variables.push(("GODEL_PORT_COUNT", ports.count.to_string()));
        }
        let ran = setup::run(&Setup {
            script,
            tree: &tree,
            variables,
            timeout: settings.setup_timeout,
            stop: &self.host.stop,
        })?;
        let output = files::mask(&ran.output, &self.redactions(&record.id)?);
        let log = self.log_path(&record.id);
        disk::private_dir(log.parent().unwrap_or(&tree))?;
        disk::write(&log, output.as_bytes(), 0o600)?;
        let Some(why) = ran.failure else {
            return Ok(());
        };
        record.phase = Phase::SetupFailed;
        self.save(record)?;
        let lines: Vec<&str> = output.lines().collect();
        let told = lines[lines.len().saturating_sub(TOLD_MAX_LINES)..].join("\n");
        Err(Error::Setup { name: record.id.clone(), why, output: told, log })
    }

    /// Returns where the output of a setup script is kept.
    pub(crate) fn log_path(&self, name: &Name) -> std::path::PathBuf {
        self.repo.state().join("setup").join(format!("{name}.log"))
    }
}

/// Tells whether git itself was interrupted while it made a worktree.
fn initializing(admin: &Admin) -> bool {
    fs::read_to_string(admin.dir.join("locked")).is_ok_and(|why| why.trim() == "initializing")
        || at_nothing(&admin.dir)
}

/// A worktree without an index was never checked out.
fn at_nothing(admin: &Path) -> bool {
    let index = admin.join("index");
    fs::metadata(&index).map_err(at(&index, "read")).is_err()
}

fn taken(name: &Name, tree: &Path) -> Error {
    Error::refused(
        code::WORKTREE_EXISTS,
        format!("worktree {name} is there already, at {}", tree.display()),
        format!("work in it, or remove it with `godel worktree remove {name}`"),
    )
}
