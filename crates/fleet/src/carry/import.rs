//! A snapshot on its way in.

use std::path::PathBuf;

use godel_agents::tree::Tree;
use godel_app::Call;
use godel_model::{AgentId, EventId, ProjectId, Reach, code};
use godel_runtime::Profile;
use godel_runtime::parcel::{self, Checked, failed, refused};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::instrument;

use super::{About, FILE_MAX_BYTES, Scratch, blocking};
use crate::doc::Talk;
use crate::slips::Snapshot;
use crate::{Error, Fleet, Result, own, sessions, snapshots, spawn};

/// How long a name may be that a file brings.
const NAME_MAX_CHARS: usize = 200;

/// A file that comes in.
#[derive(Debug)]
pub struct Incoming {
    fleet: Fleet,
    call: Call,
    project: ProjectId,
    folder: PathBuf,
    scratch: Scratch,
    file: File,
    bytes: u64,
    _place: OwnedSemaphorePermit,
}

/// A snapshot that came in.
#[derive(Debug)]
pub struct Imported {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// What is not as it was there, in words.
    pub changed: Vec<String>,
}

/// Begins to take a snapshot in; waits while too many others come in.
///
/// # Errors
/// If the caller may not make agents in this project.
#[instrument(level = "debug", name = "fleet.carry.receive", skip_all, fields(tenant = %call.actor.tenant, %project))]
pub async fn receive(fleet: &Fleet, call: &Call, project: ProjectId) -> Result<Incoming> {
    call.may("agent", "create", Reach::Own)?;
    let (_, folder) = fleet.project(call, project).await?;
    let place = fleet.own.incoming.clone().acquire_owned().await;
    let place = place.map_err(|_| Error::Store(godel_store::Error::Closed))?;
    let scratch = Scratch::new(fleet).await?;
    let made = File::options().write(true).create_new(true).mode(0o600).open(&scratch.0).await;
    let file = made.map_err(failed(&scratch.0))?;
    let (fleet, call) = (fleet.clone(), call.clone());
    Ok(Incoming { fleet, call, project, folder, scratch, file, bytes: 0, _place: place })
}

impl Incoming {
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// If it is too large, or the disk does not take it.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        if self.bytes > FILE_MAX_BYTES {
            return Err(Error::refused(
                code::BODY_TOO_LARGE,
                format!("a snapshot has at most {FILE_MAX_BYTES} bytes"),
                "remove large files from the worktree of the agent, and take another snapshot",
            ));
        }
        self.file.write_all(bytes).await.map_err(failed(&self.scratch.0)).map_err(Error::from)
    }

    /// Looks at all of the file, and keeps what it holds as a snapshot of the project.
    ///
    /// It is done although the caller goes away.
    ///
    /// # Errors
    /// If the file is no whole snapshot, or something is missing here that it needs. Then nothing is kept.
    pub async fn keep(mut self) -> Result<Imported> {
        self.file.flush().await.map_err(failed(&self.scratch.0))?;
        let (reply, kept) = oneshot::channel();
        let crew = self.fleet.own.crew.clone();
        crew.spawn(async move {
            let done = self.keep_all().await;
            drop(reply.send(done));
        });
        kept.await.map_err(|_| Error::Store(godel_store::Error::Panicked))?
    }

    async fn keep_all(&self) -> Result<Imported> {
        let path = self.scratch.0.clone();
        let (checked, about, tree) = blocking(move || {
            let mut checked = parcel::check(&path)?;
            let (about, tree) = read(&std::mem::take(&mut checked.about))?;
            Ok((checked, about, tree))
        })
        .await?;
        let (about, changed) = without_rights(about);
        let id = self.fleet.app().mint.id::<EventId>().uuid();
        let snapshot = self.snapshot(id, about, &tree);
        let new =
            snapshot.like.as_ref().map(|like| sessions::like(like, &snapshot.label, self.project));
        new.as_ref().map_or(Ok(()), spawn::check).map_err(refused)?;
        let _kept = self.fleet.own.keeping.read().await;
        if let Err(error) = self.keep_parts(&snapshot, checked).await {
            self.give_up(&snapshot).await;
            return Err(error);
        }
        let talk = Talk {
            id: snapshot.talk,
            agent: snapshot.agent,
            project: self.project,
            archived: true,
            branches: [].into(),
            saves: [].into(),
            current: tree.current().to_owned(),
            nodes: 0,
            created_at: snapshot.taken_at,
        };
        let told = serde_json::json!({ "snapshot": id, "takenAt": snapshot.taken_at });
        let event = ("agent:import", told);
        let filed = snapshots::file(&self.fleet, &self.call, &snapshot, event, Some((talk, tree)));
        if let Err(error) = filed.await {
            self.give_up(&snapshot).await;
            return Err(error);
        }
        Ok(Imported { snapshot, changed })
    }

    fn snapshot(&self, id: uuid::Uuid, about: About, tree: &Tree) -> Snapshot {
        let app = self.fleet.app();
        Snapshot {
            id,
            files: about.files,
            agent: app.mint.id::<AgentId>(),
            label: about.label,
            user: Some(self.call.actor.user),
            like: Some(about.like),
            imported: true,
            project: self.project,
            bead: about.bead,
            talk: app.mint.id::<EventId>().uuid(),
            node: tree.head(),
            commit: about.commit,
            taken_at: about.taken_at,
        }
    }

    /// Keeps files and commits; without a row nobody finds them.
    async fn keep_parts(&self, snapshot: &Snapshot, checked: Checked) -> Result<()> {
        let name = snapshot.like.as_ref().map_or("", |like| like.runtime.as_str());
        let runtime = self.fleet.runtime(name)?;
        let bundle = Scratch::new(&self.fleet).await?;
        let (id, commit) = (snapshot.id, snapshot.commit.clone());
        let (file, to) = (self.scratch.0.clone(), bundle.0.clone());
        let (has_commits, pieces) =
            blocking(move || Ok((checked.commits(&file, &to)?, checked.pieces(&file)?))).await?;
        let (wanted, from) = (commit.clone(), bundle.0.clone());
        // What is missing is told before anything large is written.
        let look = move |bench: &godel_git::Workbench| match wanted {
            Some(commit) if has_commits => bench.check_bundle(&commit, &from),
            Some(commit) => bench.must_have(&commit),
            None => Ok(()),
        };
        self.fleet.at_bench(self.folder.clone(), look).await?;
        if runtime.import(pieces).await? != snapshot.files {
            return Err(refused("its files are those of another snapshot").into());
        }
        let from = bundle.0.clone();
        let take = move |bench: &godel_git::Workbench| match commit {
            Some(commit) if has_commits => bench.unbundle(id, &commit, &from),
            Some(commit) => bench.pin(id, &commit),
            None => Ok(()),
        };
        self.fleet.at_bench(self.folder.clone(), take).await
    }

    /// Leaves nothing of a snapshot that was not kept.
    async fn give_up(&self, snapshot: &Snapshot) {
        let id = snapshot.id;
        let unpin = move |bench: &godel_git::Workbench| bench.unpin(id);
        if let Err(error) = self.fleet.at_bench(self.folder.clone(), unpin).await {
            tracing::debug!(%error, "a commit that was not needed is still kept");
        }
        snapshots::free(&self.fleet);
    }
}

/// Reads what a file says about an agent; anybody may have written it.
fn read(bytes: &[u8]) -> Result<(About, Tree)> {
    let mut about: About = serde_json::from_slice(bytes)
        .map_err(|cause| refused(format_args!("what it says of its agent is wrong: {cause}")))?;
    let tree = Tree::of_line(std::mem::take(&mut about.nodes)).map_err(refused)?;
    let plain = |text: &str| {
        !text.is_empty()
            && text.chars().count() <= NAME_MAX_CHARS
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let like = &about.like;
    for (what, name) in [
        ("agent", &about.label),
        ("bead", &about.bead),
        ("role", &like.role),
        ("runtime", &like.runtime),
    ] {
        if !plain(name) {
            return Err(refused(format_args!("the name of its {what} is none")).into());
        }
    }
    let visible = |text: &str| text.len() <= NAME_MAX_CHARS && !text.chars().any(char::is_control);
    if !visible(&like.model) {
        return Err(refused("the name of its model is none").into());
    }
    let is_id =
        |id: &String| matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
    if about.commit.as_ref().is_some_and(|commit| !is_id(commit)) {
        return Err(refused("its commit is none").into());
    }
    own::check_todos(&like.todos).map_err(refused)?;
    Ok((about, tree))
}

/// Takes away what somebody here has to allow; returns what, in words.
fn without_rights(mut about: About) -> (About, Vec<String>) {
    let mut changed = Vec::new();
    if about.like.sandbox == Profile::None {
        about.like.sandbox = Profile::default();
        changed.push(format!(
            "it worked without walls; here it has those of the profile {}",
            about.like.sandbox.as_str()
        ));
    }
    if !about.like.allow.is_empty() {
        let hosts = std::mem::take(&mut about.like.allow).len();
        changed.push(format!("it could reach {hosts} more hosts; here it cannot"));
    }
    (about, changed)
}
