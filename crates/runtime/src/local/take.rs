//! What comes out of a sandbox, and its end.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use godel_model::{Report as _, code};
use tokio::io::AsyncReadExt as _;

use super::collect::{Offer, admit};
use super::git::{Git, is_id};
use super::repository::Repository;
use super::room::Room;
use super::worktree::{Worktrees, blocking, lock};
use crate::error::at;
use crate::{Collected, Command, Error, Exit, Happening, Profile, Result, SandboxId, Source};

/// How long git may take inside of a sandbox.
const GIT_TIME: Duration = Duration::from_secs(300);
const ANSWER_MAX_BYTES: u64 = 4_096;

/// Checks what was committed in a sandbox, and moves the branch of its bead there.
pub(super) async fn collect(provider: &Worktrees, room: &Arc<Room>) -> Result<Collected> {
    let record = room.record();
    let Source::Worktree { tree, common_dir, base, bead } = record.spec.source.clone() else {
        return Err(Error::refused(
            code::SANDBOX_STATE,
            "the sandbox works in a plain directory, so there is no branch to move",
            "take the files from the directory itself",
        ));
    };
    let repository = Repository::find(&tree, &common_dir)?;
    let branch = format!("refs/heads/bead/{bead}");
    let (offered, dirty) = ask(provider, room).await?;
    let tip = repository.commit(&branch)?.unwrap_or_default();
    let before = tip.clone();
    // Without walls an agent moves the branch itself; what is on it is checked all the same.
    if offered == tip && (record.spec.profile != Profile::None || offered == base) {
        if offered != base {
            let commit = offered.clone();
            blocking(move || mend_index(&repository, &commit)).await?;
        }
        room.note_taken(&offered);
        return Ok(Collected { commit: offered, before, commits: 0, dirty });
    }
    let pack = room.state.join("offer.pack");
    pack_up(provider, room, &base, &offered, &pack).await?;
    let bytes_max = record.spec.limits.disk_bytes;
    let commit = offered.clone();
    let admitted = blocking(move || {
        let offer =
            Offer { repository: &repository, base: &base, commit: &commit, pack: &pack, bytes_max };
        let admitted = admit(&offer);
        let _ = fs::remove_file(&pack);
        let commits = admitted?;
        move_branch(&repository, &branch, &commit, &tip)?;
        Ok(commits)
    });
    match admitted.await {
        Ok(commits) => {
            room.note_taken(&offered);
            room.tell(Happening::Collected { commit: offered.clone() });
            Ok(Collected { commit: offered, before, commits, dirty })
        }
        Err(error) => {
            if error.code() == code::COMMIT_REFUSED {
                room.tell(Happening::CommitRefused { reason: error.to_string() });
            }
            Err(error)
        }
    }
}

/// Moves the branch if it is where it was, and lets the real worktree know.
fn move_branch(repository: &Repository, branch: &str, commit: &str, tip: &str) -> Result<()> {
    if commit != tip {
        let moved = ["update-ref", "-m", "godel: collected", branch, commit, tip];
        repository.git().args(&moved).run()?;
    }
    // HEAD of the real worktree names the branch; its index is brought there too, files stay.
    outside(repository).args(&["read-tree", commit]).run()
}

/// Brings the index of the real worktree to its commit, if a server was killed right before it did so: all
/// files of the commit would seem to be changed for ever.
fn mend_index(repository: &Repository, commit: &str) -> Result<()> {
    let asked = ["diff-index", "--cached", "--quiet", commit];
    if outside(repository).args(&asked).output(b"")?.status.success() {
        return Ok(());
    }
    outside(repository).args(&["read-tree", commit]).run()
}

/// Begins a call of git on the real worktree.
fn outside(repository: &Repository) -> Git {
    Git::on(&repository.admin).env("GIT_WORK_TREE", &repository.tree)
}

/// Asks git inside of the walls which commit there is, and whether files wait to be committed.
async fn ask(provider: &Worktrees, room: &Arc<Room>) -> Result<(String, bool)> {
    let script = "git rev-parse --verify --quiet 'HEAD^{commit}' || echo; \
                  git status --porcelain --ignore-submodules=all | head -c 1 | wc -c";
    let answer = run(provider, room, script, None).await?;
    let mut lines = answer.lines().map(str::trim);
    let commit = lines.next().unwrap_or_default().to_owned();
    if !is_id(&commit) {
        return Err(Error::refused(
            code::COMMIT_REFUSED,
            "git in the sandbox does not say what HEAD is",
            "look at the worktree: its git directory may be damaged",
        ));
    }
    Ok((commit, lines.next() != Some("0")))
}

/// Lets git inside of the walls write the objects that are new.
async fn pack_up(
    provider: &Worktrees,
    room: &Arc<Room>,
    base: &str,
    commit: &str,
    to: &Path,
) -> Result<()> {
    let script = format!(
        "printf '%s\\n^%s\\n' {commit} {base} | \
         git -c pack.threads=1 pack-objects --revs --stdout --quiet --delta-base-offset"
    );
    run(provider, room, &script, Some(to)).await.map(drop)
}

/// Runs a script in the sandbox, and returns what it wrote or puts it into a file.
async fn run(
    provider: &Worktrees,
    room: &Arc<Room>,
    script: &str,
    to: Option<&Path>,
) -> Result<String> {
    let command = Command::shell(script).within(GIT_TIME);
    let mut process = provider.start(room, &command).await?;
    let most = match to {
        Some(_) => room.record().spec.limits.disk_bytes,
        None => ANSWER_MAX_BYTES,
    };
    let nothing = || Box::new(tokio::io::empty()) as crate::Reader;
    let mut stdout = process.stdout.take().unwrap_or_else(nothing).take(most);
    let mut stderr = process.stderr.take().unwrap_or_else(nothing).take(ANSWER_MAX_BYTES);
    let (mut answer, mut said) = (String::new(), String::new());
    let written = async {
        match to {
            None => stdout.read_to_string(&mut answer).await.map(drop),
            Some(path) => {
                let mut file = tokio::fs::File::create(path).await?;
                tokio::io::copy(&mut stdout, &mut file).await?;
                file.sync_all().await
            }
        }
    };
    let (written, _) = tokio::join!(written, stderr.read_to_string(&mut said));
    written.map_err(at(&room.state, "written"))?;
    match process.wait().await? {
        Exit::Code { code: 0 } => Ok(answer),
        exit => Err(Error::Git {
            command: "in the sandbox".to_owned(),
            said: format!("{exit:?}: {said}"),
        }),
    }
}

/// Ends all processes, saves what was committed, and removes the sandbox.
pub(super) async fn end(
    provider: &Worktrees,
    id: SandboxId,
    grace: Duration,
    save: bool,
) -> Result<()> {
    let Ok(room) = provider.room(id) else {
        // It is gone, which is what was wanted.
        return Ok(());
    };
    room.close();
    room.freeze(false)?;
    let mut kills = tokio::task::JoinSet::new();
    for running in room.all() {
        kills.spawn(async move { running.kill(grace).await });
    }
    while kills.join_next().await.is_some() {}
    room.groups.end_all();
    // To ask git behind walls is dear, and most have told all before they end. A container may not have written
    // everything that is in it.
    let told_all = provider.shop.runsc.is_none() && room.has_nothing_new();
    if save && room.state.join("git").is_dir() && !told_all {
        // What cannot be taken over is kept as it is; nobody's work is thrown away here.
        if let Err(error) = collect(provider, &room).await {
            tracing::warn!(sandbox = %id, %error, "what was committed is kept aside");
            keep_aside(provider, &room)?;
        }
    }
    // Somebody may have come through the door while it was closed.
    for running in room.all() {
        running.kill(Duration::ZERO).await;
    }
    // What was put off may be under way.
    let _turn = room.settling.lock().await;
    provider.end_guest(&room).await;
    room.close_ways();
    room.groups.remove();
    lock(&provider.shop.rooms).remove(&id);
    let state = room.state.clone();
    blocking(move || {
        fs::remove_file(state.join("record.json")).map_err(at(&state, "ended"))?;
        super::owner::remove_all(&state).map_err(at(&state, "removed"))
    })
    .await?;
    room.tell(Happening::Terminated);
    Ok(())
}

/// Moves the sandbox's git directory to where it is not removed.
fn keep_aside(provider: &Worktrees, room: &Room) -> Result<()> {
    let kept = super::owner::private_dir(&provider.shop.settings.data.join("kept"))?;
    let now = provider.shop.settings.clock.now().as_second();
    let to = kept.join(format!("{}-{now}", room.id));
    let from = room.state.join("git");
    fs::rename(&from, &to).map_err(at(&from, "kept"))
}
