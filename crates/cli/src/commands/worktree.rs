//! `godel worktree`: a place of its own for each piece of work. No server is needed.

mod bead;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use godel_args::worktree::{RepoFlag, Worktree as Asked};
use godel_console::measure::{bytes, span};
use godel_console::output::Output;
use godel_console::{Context, Error, Exit, Result};
use godel_git::{
    Binds, Cleaned, Cleaning, Create, Entry, Fate, Host, Name, Outcome, Remove, Removed, Rescue,
    Workbench,
};
use godel_model::{Clock as _, SystemClock};
use jiff::Timestamp;
use serde_json::json;

/// How much of a commit id people need to see.
const SHORT_ID: usize = 10;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create { id, base, no_setup, sandboxed, cleanup, repo } => {
            let id = bead::named(context, &repo, &id)?;
            let binds = if sandboxed { Binds::Later } else { Binds::Now };
            let request = Create { base, skip_setup: no_setup, binds, cleanup };
            create(context, &repo, id, request).await
        }
        Asked::List { rescued: false, repo } => {
            let entries = on_bench(context, &repo, Workbench::list).await?;
            list(context.output, &entries)
        }
        Asked::List { rescued: true, repo } => {
            let rescues = on_bench(context, &repo, |bench| bench.rescues(None)).await?;
            list_rescues(context.output, &rescues)
        }
        Asked::Info { id, path, repo } => {
            let id = bead::named(context, &repo, &id)?;
            info(context, &repo, id, path).await
        }
        Asked::Remove { id, force, delete_branch, keep_branch, repo } => {
            let branch = match (delete_branch, keep_branch) {
                (true, _) => Fate::Delete,
                (_, true) => Fate::Keep,
                _ => Fate::Auto,
            };
            let id = bead::named(context, &repo, &id)?;
            let how = Remove { force, branch };
            let removed = on_bench(context, &repo, move |bench| bench.remove(&id, how)).await?;
            bead::removed(context, &repo, [&removed]);
            if context.output.is_json() {
                context.output.value(&removed)?;
            } else {
                tell_removed(context.output, &removed)?;
            }
            Ok(Exit::Done)
        }
        Asked::Cleanup { ended, all, dry_run, force, repo } => {
            let cleaning = Cleaning { ended, all, dry_run, force, ..Cleaning::default() };
            let cleaned = on_bench(context, &repo, move |bench| bench.cleanup(&cleaning)).await?;
            bead::removed(context, &repo, &cleaned.removed);
            tell_cleaned(context.output, &cleaned)
        }
        Asked::Trust { repo } => trust(context, &repo).await,
    }
}

/// Opens the repository and does something with it on a thread that may block. Ctrl-C ends a setup
/// script and is told as its failure.
async fn on_bench<T: Send + 'static>(
    context: &Context,
    repo: &RepoFlag,
    work: impl FnOnce(&Workbench) -> godel_git::Result<T> + Send + 'static,
) -> Result<T> {
    let directory = match &repo.repo {
        Some(directory) => directory.clone(),
        None => std::env::current_dir()
            .map_err(|cause| Error::file("the current directory", "found", cause))?,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let state = state_dir(context)?;
    let host = Host { clock: Arc::new(SystemClock), state, stop: stop.clone(), step: |_| {} };
    let mut done = tokio::task::spawn_blocking(move || work(&Workbench::open(&directory, host)?));
    let done = tokio::select! {
        done = &mut done => done,
        _ = tokio::signal::ctrl_c() => {
            stop.store(true, Ordering::Relaxed);
            done.await
        }
    };
    let done = done.map_err(|cause| Error::file("the worktree", "handled", cause.into()))?;
    Ok(done?)
}

/// Returns where what belongs to the user and not to a repository is kept.
pub(super) fn state_dir(context: &Context) -> Result<PathBuf> {
    let environment = &context.environment;
    let base = match (environment.get("XDG_STATE_HOME"), environment.get("HOME")) {
        (Some(base), _) if base.starts_with('/') => PathBuf::from(base),
        (_, Some(home)) => Path::new(home).join(".local/state"),
        (_, None) => {
            let hint = "set XDG_STATE_HOME or HOME";
            return Err(Error::config("there is no home directory to keep state in", hint));
        }
    };
    Ok(base.join("godel"))
}

async fn create(context: &Context, repo: &RepoFlag, id: Name, request: Create) -> Result<Exit> {
    let made = move |bench: &Workbench| {
        // Asking git about so many new files would take as long as making them.
        let record = bench.create(&id, &request)?;
        Ok(Entry::fresh(&record, bench.path(&id)))
    };
    let entry = on_bench(context, repo, made).await?;
    bead::made(context, repo, &entry.id, &entry.path);
    present(context.output, &entry, &[])
}

async fn info(context: &Context, repo: &RepoFlag, id: Name, path: bool) -> Result<Exit> {
    let look = move |bench: &Workbench| Ok((bench.info(&id)?, bench.rescues(Some(&id))?));
    let (entry, rescues) = on_bench(context, repo, look).await?;
    if path {
        context.output.line(entry.path.display())?;
        return Ok(Exit::Done);
    }
    present(context.output, &entry, &rescues)
}

fn list(output: Output, entries: &[Entry]) -> Result<Exit> {
    if output.is_json() {
        output.value(&json!({ "items": entries }))?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let rows = entries.iter().map(|entry| {
        [
            entry.id.to_string(),
            entry.branch.clone().unwrap_or_else(|| "(detached)".to_owned()),
            base(entry),
            entry.ahead.map(|count| count.to_string()).unwrap_or_default(),
            entry.dirty.map(|count| count.to_string()).unwrap_or_default(),
            entry.created_at.map(|at| age(at, now)).unwrap_or_default(),
            state(entry),
        ]
    });
    output.table(["ID", "BRANCH", "BASE", "AHEAD", "DIRTY", "AGE", "STATE"], rows.collect())?;
    Ok(Exit::Done)
}

fn list_rescues(output: Output, rescues: &[Rescue]) -> Result<Exit> {
    if output.is_json() {
        output.value(&json!({ "items": rescues }))?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let rows = rescues.iter().map(|rescue| {
        let age = rescue.at.map(|at| age(at, now)).unwrap_or_default();
        [rescue.id.to_string(), age, rescue.subject.clone(), rescue.restore.clone()]
    });
    output.table(["ID", "AGE", "WHAT", "GET IT BACK WITH"], rows.collect())?;
    Ok(Exit::Done)
}

fn base(entry: &Entry) -> String {
    entry.base.as_ref().map_or_else(String::new, |base| match base.commit.get(..SHORT_ID) {
        Some(short) if base.revision == base.commit => short.to_owned(),
        _ => base.revision.clone(),
    })
}

fn age(at: Timestamp, now: Timestamp) -> String {
    span(now.duration_since(at).as_secs_f64())
}

fn state(entry: &Entry) -> String {
    let mut text = entry.state.as_str().to_owned();
    if let Some(ended) = entry.ended {
        text.push_str(match ended.outcome {
            Outcome::Success => ", ended well",
            Outcome::Failure => ", ended badly",
        });
    }
    if entry.locked.is_some() {
        text.push_str(", locked");
    }
    text
}

fn present(output: Output, entry: &Entry, rescues: &[Rescue]) -> Result<Exit> {
    if output.is_json() {
        let mut answer = json!(entry);
        answer["rescues"] = json!(rescues);
        output.value(&answer)?;
        return Ok(Exit::Done);
    }
    let optional = |name: &str, value: Option<String>| value.map(|value| [name.to_owned(), value]);
    let commit = entry.base.as_ref().and_then(|base| base.commit.get(..SHORT_ID));
    let base = commit.map(|short| format!("{} ({short})", base(entry)));
    let ports = entry.ports.map(|ports| {
        format!("{} to {}", ports.first, u32::from(ports.first) + u32::from(ports.count) - 1)
    });
    let shared = entry.shares.iter().map(|share| {
        let (mode, state) = (word(&share.mode), word(&share.state));
        [format!("shared {}", share.path.display()), format!("{mode}, {state}")]
    });
    let copied = entry.copied.iter();
    let copied = copied.map(|copy| ["copied".to_owned(), copy.path.display().to_string()]);
    let saved = rescues.iter().map(|rescue| ["rescued".to_owned(), rescue.restore.clone()]);
    let rows = [
        optional("id", Some(entry.id.to_string())),
        optional("path", Some(entry.path.display().to_string())),
        optional("branch", Some(entry.branch.clone().unwrap_or("(detached)".to_owned()))),
        optional("base", base),
        optional("ahead", entry.ahead.map(|count| format!("{count} commits"))),
        optional("dirty", entry.dirty.map(|count| format!("{count} files"))),
        optional("state", Some(state(entry))),
        optional("locked", entry.locked.clone()),
        optional("ports", ports),
        optional("cleanup", entry.cleanup.map(|cleanup| word(&cleanup.policy))),
        optional("made", entry.created_at.map(|at| format!("{at:.0}"))),
    ];
    let rows = rows.into_iter().flatten().chain(shared).chain(copied).chain(saved);
    output.pairs(rows.collect())?;
    Ok(Exit::Done)
}

/// Returns the word that stands for a value in JSON.
fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

fn tell_removed(output: Output, removed: &Removed) -> Result<()> {
    output.line(format_args!("worktree {} is removed", removed.id))?;
    let fate = if removed.branch_deleted { "is deleted too" } else { "stays, if it was there" };
    output.line(format_args!("  branch {} {fate}", removed.branch))?;
    for rescue in &removed.rescued {
        output.line(format_args!("  work was saved; get it back with: {}", rescue.restore))?;
    }
    if removed.ignored.bytes > 0 {
        let largest = removed.ignored.largest.iter();
        let largest = largest.map(|(path, size)| format!("{} {}", path.display(), bytes(*size)));
        let largest: Vec<String> = largest.collect();
        let (all, largest) = (bytes(removed.ignored.bytes), largest.join(", "));
        output.line(format_args!("  ignored files are gone: {all} ({largest})"))?;
    }
    Ok(())
}

fn tell_cleaned(output: Output, cleaned: &Cleaned) -> Result<Exit> {
    let exit = if cleaned.refused.is_empty() { Exit::Done } else { Exit::Conflict };
    if output.is_json() {
        output.value(cleaned)?;
        return Ok(exit);
    }
    cleaned.removed.iter().try_for_each(|removed| tell_removed(output, removed))?;
    for due in &cleaned.due {
        output.line(format_args!("worktree {} would be removed: {}", due.id, due.why))?;
    }
    for kept in &cleaned.kept {
        output.line(format_args!("worktree {} stays: {}", kept.id, kept.why))?;
    }
    for refused in &cleaned.refused {
        output.note(format_args!("worktree {} cannot be removed: {}", refused.id, refused.why));
        if let Some(hint) = &refused.hint {
            output.note(format_args!("  hint: {hint}"));
        }
    }
    Ok(exit)
}

async fn trust(context: &Context, repo: &RepoFlag) -> Result<Exit> {
    let words = on_bench(context, repo, Workbench::trust).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "trusted": words }))?;
    } else if words.is_empty() {
        output.line("godel.toml of this repository wants nothing that needs your consent")?;
    } else {
        output.line(format_args!("new worktrees may now {}", words.join(", and ")))?;
    }
    Ok(Exit::Done)
}
