//! `godel uninstall`: takes away what Godel put on this machine, and leaves repositories alone.

use std::io;
use std::path::{Path, PathBuf};

use godel_api::OWNER_KEY_FILE;
use godel_console::{Context, Error, Exit, Result, is_absent};
use godel_model::{Invalid, code};
use godel_server::{LOCK_FILE, MASTER_KEY_FILE, OLD_MASTER_KEY_FILE};
use serde_json::json;

/// Where the program may be removed: folders for what a user installed.
const OWN_FOLDERS: &[&str] = &[".local/bin", ".cargo/bin"];
/// Where `godel completions --help` tells people to put scripts.
const SCRIPTS: &[&str] = &[
    ".local/share/bash-completion/completions/godel",
    ".zfunc/_godel",
    ".config/fish/completions/godel.fish",
];
/// What Godel keeps in a data directory; what others put there stays.
const DATA: &[&str] = &[
    "godel.db",
    "godel.db-wal",
    "godel.db-shm",
    "godel.lock",
    OWNER_KEY_FILE,
    MASTER_KEY_FILE,
    OLD_MASTER_KEY_FILE,
    "audit.anchor",
    "login.json",
    "server.json",
    LOCK_FILE,
    "godel.toml",
    "tls",
    "sandboxes",
    "snapshots",
    "gvisor",
    "gates",
    "state",
];

/// What to do.
struct Plan {
    remove: Vec<PathBuf>,
    keep: Vec<(PathBuf, String)>,
}

/// Takes away what Godel put on this machine.
pub(crate) fn run(context: &Context, yes: bool, data_too: bool) -> Result<Exit> {
    if godel_store::FileLock::is_held(&context.data.join(LOCK_FILE)) {
        let message = format!("a server runs on {}", context.data.display());
        let hint = "stop it first, with Ctrl-C or `kill`";
        return Err(Invalid::new(code::DATA_DIR_LOCKED, message).with_hint(hint).into());
    }
    let plan = plan(context, data_too)?;
    if !yes {
        let list: Vec<String> = plan.remove.iter().map(|path| path.display().to_string()).collect();
        let list = if list.is_empty() { "nothing".to_owned() } else { list.join("\n") };
        let message = format!("this would remove {} files or folders", plan.remove.len());
        return Err(Error::usage(message, format!("add --yes to remove\n{list}")));
    }
    for path in &plan.remove {
        remove(path).map_err(|cause| Error::file(&path.display(), "removed", cause))?;
    }
    // It goes if nothing of others is in it.
    let emptied = data_too && std::fs::remove_dir(&context.data).is_ok();
    tell(context, &plan, emptied)
}

fn plan(context: &Context, data_too: bool) -> Result<Plan> {
    let mut plan = Plan { remove: Vec::new(), keep: Vec::new() };
    let home = context.environment.get("HOME").map(PathBuf::from);
    let program = std::env::current_exe()
        .map_err(|cause| Error::file("the path of this program", "found", cause))?;
    let own = home.iter().any(|home| {
        let folders = OWN_FOLDERS.iter().map(|folder| home.join(folder));
        folders.into_iter().any(|folder| same(program.parent(), &folder))
    });
    if own {
        plan.remove.push(program);
    } else {
        let how = format!("the program itself; remove it with: rm '{}'", program.display());
        plan.keep.push((program, how));
    }
    if let Some(home) = &home {
        let scripts = SCRIPTS.iter().map(|script| home.join(script));
        plan.remove.extend(scripts.filter(|script| script.is_file()));
    }
    if data_too {
        let data = DATA.iter().map(|name| context.data.join(name));
        plan.remove.extend(data.filter(|path| path.symlink_metadata().is_ok()));
    } else if context.data.exists() {
        let why = "the data of the server; --data-too removes it for good".to_owned();
        plan.keep.push((context.data.clone(), why));
    }
    Ok(plan)
}

fn same(one: Option<&Path>, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one.and_then(real).is_some_and(|one| Some(one) == real(other))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(cause) => Err(cause),
    };
    match removed {
        Err(cause) if !is_absent(&cause) => Err(cause),
        _ => Ok(()),
    }
}

const REPOSITORIES: &str = "Repositories are as they were. To take the beads out of one for good, \
                            in it:\n  git branch -D godel/state\n  rm -rf .godel \
                            \"$(git rev-parse --git-common-dir)/godel\"";

fn tell(context: &Context, plan: &Plan, emptied: bool) -> Result<Exit> {
    let output = context.output;
    let mut removed = plan.remove.clone();
    removed.extend(emptied.then(|| context.data.clone()));
    if output.is_json() {
        let kept: Vec<_> =
            plan.keep.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
        output.value(&json!({ "removed": removed, "kept": kept }))?;
        return Ok(Exit::Done);
    }
    for path in &removed {
        output.line(format_args!("removed  {}", path.display()))?;
    }
    for (path, why) in &plan.keep {
        output.line(format_args!("kept     {}: {why}", path.display()))?;
    }
    output.line(format_args!("\n{REPOSITORIES}"))?;
    Ok(Exit::Done)
}
