//! The outer walls: what bubblewrap is asked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where things of Godel are inside of a sandbox.
pub(crate) mod inside {
    /// The helper.
    pub(crate) const HELPER: &str = "/run/godel/init";
    /// Programs of Godel, as they are called.
    pub(crate) const PROGRAMS: &str = "/run/godel/bin";
    /// The agent's home.
    pub(crate) const HOME: &str = "/home/agent";
    /// The sandbox's own git directory.
    pub(crate) const GIT: &str = "/run/godel/git";
    /// The objects of the repository, to be read.
    pub(crate) const OBJECTS: &str = "/run/godel/objects";
    /// The sockets of the ways out.
    pub(crate) const NET: &str = "/run/godel/net";
    /// Settings of git that no repository decides.
    pub(crate) const GITCONFIG: &str = "/etc/gitconfig";
}

/// Everything about the walls, decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walls {
    /// Whether the caller is root: then there is no user namespace, and the helper changes the user.
    pub(crate) root: bool,
    /// Whether bubblewrap can forbid further user namespaces.
    pub(crate) seals: bool,
    /// How much may be kept in memory as files.
    pub(crate) memory_bytes: u64,
    /// Links at the top of the file system, such as `/bin` to `usr/bin`.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// What of the system can be read.
    pub(crate) system: Vec<PathBuf>,
    /// Files that take the place of the system's: from, to.
    pub(crate) files: Vec<(PathBuf, PathBuf)>,
    /// What else can be read.
    pub(crate) readable: Vec<PathBuf>,
    /// The program that helps inside.
    pub(crate) helper: PathBuf,
    /// The agent's home and temporary files.
    pub(crate) home: PathBuf,
    /// Temporary files.
    pub(crate) scratch: PathBuf,
    /// The sockets of the ways out.
    pub(crate) net: PathBuf,
    /// The workspace, at the same place inside.
    pub(crate) workspace: PathBuf,
    /// Whether the workspace can be changed.
    pub(crate) writes: bool,
    /// What of the workspace cannot be changed all the same.
    pub(crate) protected: Vec<PathBuf>,
    /// The repository, if there is one.
    pub(crate) git: Option<GitWalls>,
    /// Where the program starts.
    pub(crate) start: PathBuf,
}

/// What a sandbox sees of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitWalls {
    /// The sandbox's own git directory.
    pub(crate) own: PathBuf,
    /// The file that leads there, in place of `.git` of the workspace.
    pub(crate) pointer: PathBuf,
    /// The objects that all worktrees share.
    pub(crate) objects: PathBuf,
    /// Object stores that the repository itself borrows from.
    pub(crate) borrowed: Vec<PathBuf>,
}

/// Parts of the sandbox's own git directory that decide what git does.
pub(super) const DECIDING: [&str; 3] = ["config", "hooks", "objects/info"];

/// Returns the arguments for bubblewrap, up to the command.
pub(crate) fn arguments(walls: &Walls) -> Vec<OsString> {
    let mut list = List(Vec::new());
    for space in ["ipc", "pid", "net", "uts"] {
        list.flag(&format!("--unshare-{space}"));
    }
    list.flag("--unshare-cgroup-try");
    list.words(&["--cap-drop", "ALL"]);
    if walls.root {
        list.words(&["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
    } else {
        list.words(&["--unshare-user", "--uid", "1000", "--gid", "1000"]);
        if walls.seals {
            list.flag("--disable-userns");
        }
    }
    list.words(&["--die-with-parent", "--new-session", "--hostname", "godel"]);
    list.words(&["--proc", "/proc", "--dev", "/dev"]);
    // Room in memory is the agent's too, so it is limited.
    list.words(&["--perms", "1777"]);
    if walls.seals {
        list.words(&["--size", &walls.memory_bytes.to_string()]);
    }
    list.words(&["--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
    // Directories that bubblewrap makes by itself on the way are closed to others.
    for path in above(&walls.system) {
        list.bind_one("--dir", &path);
    }
    for path in &walls.system {
        list.bind("--ro-bind-try", path, path);
    }
    for (target, link) in &walls.links {
        list.bind("--symlink", target, link);
    }
    list.words(&["--dir", "/home", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"]);
    list.bind("--bind", &walls.scratch, "/tmp");
    list.bind("--bind", &walls.home, inside::HOME);
    for path in ways(walls) {
        list.bind_one("--dir", &path);
    }
    for path in &walls.readable {
        list.bind("--ro-bind", path, path);
    }
    for (from, to) in &walls.files {
        list.bind("--ro-bind", from, to);
    }
    list.bind("--ro-bind", &walls.net, inside::NET);
    list.bind("--ro-bind", &walls.helper, inside::HELPER);
    let how = if walls.writes { "--bind" } else { "--ro-bind" };
    list.bind(how, &walls.workspace, &walls.workspace);
    for path in &walls.protected {
        list.bind("--ro-bind", path, path);
    }
    if let Some(git) = &walls.git {
        list.bind(how, &git.own, inside::GIT);
        for part in DECIDING {
            list.bind("--ro-bind", git.own.join(part), Path::new(inside::GIT).join(part));
        }
        list.bind("--ro-bind", &git.objects, inside::OBJECTS);
        for path in &git.borrowed {
            list.bind("--ro-bind", path, path);
        }
        list.bind("--ro-bind", &git.pointer, walls.workspace.join(".git"));
    }
    // The directories that lead to the mounts are made up; nothing is kept there.
    list.words(&["--remount-ro", "/"]);
    list.bind_one("--chdir", &walls.start);
    list.flag("--");
    list.0
}

/// The directories that lead to what is mounted, the upper ones first.
fn ways(walls: &Walls) -> Vec<PathBuf> {
    let fixed = [inside::HOME, inside::HELPER, inside::NET, inside::GIT].map(PathBuf::from);
    let borrowed = walls.git.iter().flat_map(|git| git.borrowed.iter().cloned());
    let files = walls.files.iter().map(|(_, to)| to.clone());
    let mut ends: Vec<PathBuf> = fixed.into_iter().chain(files).chain(borrowed).collect();
    ends.extend(walls.readable.iter().cloned().chain([walls.workspace.clone()]));
    let covered = |path: &PathBuf| walls.system.iter().any(|system| path.starts_with(system));
    let linked = |path: &PathBuf| walls.links.iter().any(|(_, link)| path.starts_with(link));
    above(&ends).into_iter().filter(|path| !covered(path) && !linked(path)).collect()
}

/// The directories above some paths, the upper ones first.
fn above(paths: &[PathBuf]) -> Vec<PathBuf> {
    let up = |path: &PathBuf| {
        let up = path.ancestors().skip(1).filter(|path| path.parent().is_some());
        up.map(Path::to_owned).collect::<Vec<_>>()
    };
    let all: std::collections::BTreeSet<PathBuf> = paths.iter().flat_map(up).collect();
    all.into_iter().collect()
}

struct List(Vec<OsString>);

impl List {
    fn flag(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn bind(&mut self, how: &str, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        self.flag(how);
        self.0.push(from.as_ref().into());
        self.0.push(to.as_ref().into());
    }

    fn bind_one(&mut self, how: &str, path: &Path) {
        self.flag(how);
        self.0.push(path.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls() -> Walls {
        Walls {
            root: false,
            seals: true,
            memory_bytes: 1024,
            links: vec![("usr/bin".into(), "/bin".into())],
            system: vec!["/usr".into(), "/etc/ssl/certs".into()],
            files: vec![("/state/etc/passwd".into(), "/etc/passwd".into())],
            readable: vec!["/opt/tool".into()],
            helper: "/usr/bin/godel".into(),
            home: "/state/home".into(),
            scratch: "/state/tmp".into(),
            net: "/state/net".into(),
            workspace: "/repo/.godel/worktrees/a".into(),
            writes: true,
            protected: Vec::new(),
            git: Some(GitWalls {
                own: "/state/git".into(),
                pointer: "/state/pointer".into(),
                objects: "/repo/.git/objects".into(),
                borrowed: vec!["/other/.git/objects".into()],
            }),
            start: "/repo/.godel/worktrees/a/src".into(),
        }
    }

    fn text(walls: &Walls) -> String {
        let words: Vec<String> =
            arguments(walls).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ").replace(" --", "\n--")
    }

    #[test]
    fn the_walls_of_a_worktree_are_as_written() {
        let expected = "\
--unshare-ipc
--unshare-pid
--unshare-net
--unshare-uts
--unshare-cgroup-try
--cap-drop ALL
--unshare-user
--uid 1000
--gid 1000
--disable-userns
--die-with-parent
--new-session
--hostname godel
--proc /proc
--dev /dev
--perms 1777
--size 1024
--tmpfs /dev/shm
--remount-ro /dev
--dir /etc
--dir /etc/ssl
--ro-bind-try /usr /usr
--ro-bind-try /etc/ssl/certs /etc/ssl/certs
--symlink usr/bin /bin
--dir /home
--dir /var
--symlink /tmp /var/tmp
--bind /state/tmp /tmp
--bind /state/home /home/agent
--dir /etc
--dir /home
--dir /opt
--dir /other
--dir /other/.git
--dir /repo
--dir /repo/.godel
--dir /repo/.godel/worktrees
--dir /run
--dir /run/godel
--ro-bind /opt/tool /opt/tool
--ro-bind /state/etc/passwd /etc/passwd
--ro-bind /state/net /run/godel/net
--ro-bind /usr/bin/godel /run/godel/init
--bind /repo/.godel/worktrees/a /repo/.godel/worktrees/a
--bind /state/git /run/godel/git
--ro-bind /state/git/config /run/godel/git/config
--ro-bind /state/git/hooks /run/godel/git/hooks
--ro-bind /state/git/objects/info /run/godel/git/objects/info
--ro-bind /repo/.git/objects /run/godel/objects
--ro-bind /other/.git/objects /other/.git/objects
--ro-bind /state/pointer /repo/.godel/worktrees/a/.git
--remount-ro /
--chdir /repo/.godel/worktrees/a/src
--";
        assert_eq!(text(&walls()), expected);
    }

    #[test]
    fn to_look_is_not_to_touch() {
        let walls = Walls { writes: false, ..walls() };
        let text = text(&walls);
        assert!(text.contains("\n--ro-bind /repo/.godel/worktrees/a /repo/.godel/worktrees/a\n"));
        assert!(text.contains("\n--ro-bind /state/git /run/godel/git\n"));
    }

    #[test]
    fn root_keeps_only_what_it_needs_to_become_another() {
        let text = text(&Walls { root: true, git: None, ..walls() });
        assert!(!text.contains("--unshare-user"));
        assert!(text.contains("--cap-drop ALL\n--cap-add CAP_SETUID\n--cap-add CAP_SETGID\n"));
    }
}
