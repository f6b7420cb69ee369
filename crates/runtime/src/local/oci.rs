//! The walls of gVisor: the description of a container, made of the same walls as bubblewrap's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::bwrap::{DECIDING, Walls, inside};
use crate::Result;
use crate::error::at;

/// Where the workspace is inside: the same for all, so that a copy of a running agent finds its own.
pub(super) const WORKSPACE: &str = "/workspace";

/// What a mount shows, where, and whether it can be changed.
struct Mount {
    from: PathBuf,
    to: PathBuf,
    writes: bool,
}

/// Returns the description of a container whose first process is a command.
pub(super) fn describe(walls: &Walls, root: &Path, user: u32, first: &[String]) -> Value {
    let mut mounts = vec![
        json!({"destination": "/proc", "type": "proc", "source": "proc"}),
        json!({"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}),
        json!({"destination": "/dev/shm", "type": "tmpfs", "source": "tmpfs",
               "options": ["mode=1777", format!("size={}", walls.memory_bytes)]}),
    ];
    mounts.extend(binds(walls).iter().map(|mount| {
        let how = if mount.writes { "rw" } else { "ro" };
        json!({"destination": mount.to, "type": "bind", "source": mount.from,
               "options": ["rbind", how]})
    }));
    let spaces = ["pid", "network", "ipc", "uts", "mount"];
    json!({
        "ociVersion": "1.0.0",
        "process": process(user, first, &["PATH=/usr/bin:/bin".to_owned()], Path::new("/")),
        "root": {"path": root, "readonly": true},
        "hostname": "godel",
        "mounts": mounts,
        "linux": {"namespaces": spaces.map(|kind| json!({"type": kind}))},
    })
}

/// Returns the description of a process in a container.
pub(super) fn process(user: u32, command: &[String], env: &[String], at: &Path) -> Value {
    json!({
        "terminal": false,
        "user": {"uid": user, "gid": user},
        "args": command,
        "env": env,
        "cwd": at,
        "capabilities": {},
        "noNewPrivileges": true,
    })
}

/// Makes the directory that everything is mounted in: only names, and links.
pub(super) fn make_root(walls: &Walls, root: &Path) -> Result<()> {
    let make = |dir: &Path| fs::create_dir_all(dir).map_err(at(dir, "made"));
    let inner = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    for dir in ["/proc", "/dev", "/var", "/etc", "/home", "/run/godel"] {
        make(&inner(Path::new(dir)))?;
    }
    let links = walls.links.iter().map(|(target, link)| (target.as_path(), inner(link)));
    for (target, link) in links.chain([(Path::new("/tmp"), inner(Path::new("/var/tmp")))]) {
        if !link.is_symlink() {
            symlink(target, &link).map_err(at(&link, "made"))?;
        }
    }
    for mount in binds(walls) {
        let place = inner(&mount.to);
        if place.exists() || mount.to == Path::new(WORKSPACE).join(".git") {
            continue;
        }
        if mount.from.is_dir() {
            make(&place)?;
        } else if let Some(above) = place.parent() {
            make(above)?;
            fs::write(&place, "").map_err(at(&place, "made"))?;
        }
    }
    Ok(())
}

fn binds(walls: &Walls) -> Vec<Mount> {
    let mount = |from: &Path, to: &Path, writes| {
        let (from, to) = (from.to_owned(), to.to_owned());
        Mount { from, to, writes }
    };
    let shown = |from: &Path, to: &Path| mount(from, to, false);
    let workspace = Path::new(WORKSPACE);
    let mut binds: Vec<Mount> = Vec::new();
    binds.extend(walls.system.iter().map(|path| shown(path, path)));
    binds.push(mount(&walls.scratch, Path::new("/tmp"), true));
    binds.push(mount(&walls.home, Path::new(inside::HOME), true));
    binds.extend(walls.readable.iter().map(|path| shown(path, path)));
    binds.extend(walls.files.iter().map(|(from, to)| shown(from, to)));
    binds.push(shown(&walls.net, Path::new(inside::NET)));
    binds.push(shown(&walls.helper, Path::new(inside::HELPER)));
    binds.push(mount(&walls.workspace, workspace, walls.writes));
    for path in &walls.protected {
        let below = path.strip_prefix(&walls.workspace).unwrap_or(path);
        binds.push(shown(path, &workspace.join(below)));
    }
    if let Some(git) = &walls.git {
        binds.push(mount(&git.own, Path::new(inside::GIT), walls.writes));
        for part in DECIDING {
            binds.push(shown(&git.own.join(part), &Path::new(inside::GIT).join(part)));
        }
        binds.push(shown(&git.objects, Path::new(inside::OBJECTS)));
        binds.extend(git.borrowed.iter().map(|path| shown(path, path)));
        binds.push(shown(&git.pointer, &workspace.join(".git")));
    }
    binds
}
