//! A snapshot on its way out.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use godel_app::Call;
use godel_model::{Reach, code};
use godel_runtime::parcel::{self, Kind, Writer, failed};
use godel_runtime::{RuntimeProvider, SnapshotId};
use godel_store::Tx;
use tokio::sync::mpsc;
use tracing::instrument;
use uuid::Uuid;

use super::{About, Scratch, blocking};
use crate::snapshots::{self, Found};
use crate::{Error, Fleet, Result, paper, wishes};

/// How many pieces may wait for a slow reader; each has at most a mebibyte.
const PIECES_MAX: usize = 4;

/// A snapshot as a file, piece by piece.
#[derive(Debug)]
pub struct Download {
    /// What the agent was called.
    pub label: String,
    pieces: mpsc::Receiver<Result<Vec<u8>>>,
}

impl Download {
    /// Returns the next bytes; `None` at the end.
    ///
    /// # Errors
    /// If something cannot be read; what came so far is then no snapshot.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>>> {
        self.pieces.recv().await
    }
}

/// What a file is made of.
struct Load {
    runtime: Arc<dyn RuntimeProvider>,
    files: SnapshotId,
    about: Vec<u8>,
    commits: Option<Scratch>,
}

/// Begins to write a snapshot into a file for another server.
///
/// # Errors
/// If the caller may not lead the agent, there is no such snapshot, or its commit is gone.
#[instrument(level = "debug", name = "fleet.carry.export", skip_all, fields(tenant = %call.actor.tenant, %id))]
pub async fn export(fleet: &Fleet, call: &Call, id: Uuid) -> Result<Download> {
    call.may("agent", "execute", Reach::Own)?;
    let found = snapshots::find(fleet, call, id).await?;
    found.may_lead(call)?;
    let runtime = found.runtime(fleet).await?;
    let about = about(fleet, call, &found).await?;
    let commits = bundle(fleet, call, &found).await?;
    let snapshot = found.snapshot;
    let load = Load { runtime, files: snapshot.files.clone(), about, commits };
    let label = snapshot.label.clone();
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let record = move |tx: &mut Tx<'_>| {
        let told = serde_json::json!({ "snapshot": snapshot.id });
        let event = snapshots::event(&fleet_, &snapshot, "agent:export", &told);
        Ok(call_.tell(fleet_.app(), tx, event)?)
    };
    paper::write(fleet.app(), call.actor.tenant, record).await?;
    let (line, pieces) = mpsc::channel(PIECES_MAX);
    fleet.own.crew.spawn(async move {
        if let Err(error) = write(load, &line).await {
            // Who has gone away hears nothing; everybody else sees that the file is not whole.
            let _ = line.send(Err(error)).await;
        }
    });
    Ok(Download { label, pieces })
}

async fn about(fleet: &Fleet, call: &Call, found: &Found) -> Result<Vec<u8>> {
    let (tree, snapshot) = (found.tree(fleet, call).await?, &found.snapshot);
    let about = About {
        label: snapshot.label.clone(),
        bead: snapshot.bead.clone(),
        taken_at: snapshot.taken_at,
        commit: snapshot.commit.clone(),
        files: snapshot.files.clone(),
        like: found.like.clone(),
        nodes: tree.line(snapshot.node)?,
    };
    let bytes = serde_json::to_vec(&about).map_err(|cause| Error::Paper(cause.to_string()))?;
    if bytes.len() as u64 > parcel::ABOUT_MAX_BYTES {
        return Err(Error::refused(
            code::CONVERSATION_FULL,
            "the conversation is too long to be carried",
            "make it shorter first: godel session compact; and take another snapshot",
        ));
    }
    Ok(bytes)
}

/// Writes the commits into a file that the target branch has not.
async fn bundle(fleet: &Fleet, call: &Call, found: &Found) -> Result<Option<Scratch>> {
    if found.snapshot.commit.is_none() {
        return Ok(None);
    }
    // One that was taken by an older Godel has no reference yet.
    snapshots::pin(fleet, call, &found.snapshot).await?;
    let (_, folder) = fleet.project(call, found.snapshot.project).await?;
    let wanted = wishes::read(fleet, folder.clone()).await?;
    let target = wishes::target(fleet, folder.clone(), &wanted).await?;
    let scratch = Scratch::new(fleet).await?;
    let (id, to) = (found.snapshot.id, scratch.0.clone());
    let made = fleet.at_bench(folder, move |bench| bench.bundle(id, target.as_deref(), &to));
    Ok(made.await?.then_some(scratch))
}

/// Writes the file to whoever reads it, as fast as that goes.
async fn write(load: Load, line: &mpsc::Sender<Result<Vec<u8>>>) -> Result<()> {
    let Load { runtime, files, about, commits } = load;
    let to = line.clone();
    let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    let out = move |bytes| to.blocking_send(Ok(bytes)).map_err(gone);
    let writer = blocking(move || {
        let begin = || {
            let mut writer = Writer::begin(Box::new(out))?;
            writer.frame(Kind::About, about)?;
            Ok(writer)
        };
        begin().map_err(broken)
    });
    let writer = Arc::new(Mutex::new(writer.await?));
    let (shared, mut kind) = (Arc::clone(&writer), Kind::List);
    let sink = move |piece| {
        let mut writer = shared.lock().unwrap_or_else(PoisonError::into_inner);
        writer.frame(std::mem::replace(&mut kind, Kind::Content), piece)
    };
    runtime.export(&files, Box::new(sink)).await?;
    blocking(move || {
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commits) = &commits {
            let from = File::open(&commits.0).map_err(failed(&commits.0))?;
            writer.copy(Kind::Commits, from).map_err(broken)?;
        }
        writer.end().map_err(broken)
    })
    .await
}

fn broken(cause: io::Error) -> Error {
    Error::Paper(format!("the snapshot was not read to its end: {cause}"))
}
