//! From a command to a process behind walls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use godel_model::code;
use tokio::process::Command as Tokio;

use super::bwrap::{self, Walls, inside};
use super::ends::Ends;
use super::guest::{self, Runsc};
use super::machine::Machine;
use super::plan::{Ceilings, First, Inner, Outer, Relay};
use super::record::Record;
use super::repository::Repository;
use super::room::Room;
use super::running::GuestProcess;
use super::worktree::Helper;
use super::{oci, owner};
use crate::egress::Endpoint;
use crate::error::at;
use crate::{Command, Error, Limits, Profile, Result, Sandbox, Source, SpawnSpec};

/// Where the proxy is on the sandbox's loopback.
const PROXY_PORT: u16 = 3128;
/// Programs that are not root cannot listen below this.
const LOW_PORTS: u16 = 1024;
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How long arguments and variables may be together.
const WORDS_MAX_BYTES: usize = 1 << 20;

/// Returns where the API is for a program in a sandbox, and the port that leads there.
pub(super) fn api_inside(spec: &SpawnSpec) -> (Option<String>, Option<u16>) {
    let Some(url) = &spec.egress.api else { return (None, None) };
    let Some(endpoint) = Endpoint::of_url(url).filter(|_| spec.profile != Profile::None) else {
        return (Some(url.clone()), None);
    };
    // A name that is not of this machine is reached by the proxy, so that certificates still fit.
    if !matches!(endpoint.host.as_str(), "127.0.0.1" | "localhost" | "::1") {
        return (Some(url.clone()), None);
    }
    let free = |port: u16| port >= LOW_PORTS && port != PROXY_PORT;
    let port = if free(endpoint.port) { endpoint.port } else { endpoint.port + 20_000 };
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let host = if endpoint.host == "localhost" { "localhost" } else { "127.0.0.1" };
    (Some(format!("{scheme}://{host}:{port}{path}")), Some(port))
}

/// Everything that is needed to start a process.
pub(super) struct Starter<'a> {
    pub(super) machine: &'a Machine,
    pub(super) helper: &'a Helper,
    pub(super) room: &'a Room,
}

impl Starter<'_> {
    /// Prepares a command.
    pub(super) fn prepare(&self, command: &Command, ends: &Ends) -> Result<Tokio> {
        check_words(command)?;
        let record = self.room.record();
        let mut tokio = match record.spec.profile {
            Profile::None => self.bare(&record, command)?,
            Profile::ReadOnly | Profile::Workspace | Profile::WorkspaceNet => {
                self.walled(&record, command)?
            }
        };
        tokio.env_clear().envs(self.variables(&record, command));
        let [stdin, stdout, stderr] = ends.stdio(command)?;
        tokio.stdin(stdin).stdout(stdout).stderr(stderr).kill_on_drop(true);
        Ok(tokio)
    }

    /// No walls, but limits, an own home and a cleared environment.
    fn bare(&self, record: &Record, command: &Command) -> Result<Tokio> {
        let limits = &record.spec.limits;
        // Without a namespace the user's other processes would be counted too.
        let ceilings = Ceilings { processes: None, ..self.ceilings(limits) };
        let terminal = command.terminal.is_some();
        let plan = Outer { ceilings: Some(ceilings), terminal, ..self.outer_plan() };
        let mut tokio = self.outer(&plan)?;
        tokio.arg(&command.program).args(&command.args);
        let start = start_of(record, command);
        tokio.current_dir(&start);
        if !terminal {
            // With a terminal it becomes a session of its own, which the head of a group cannot.
            tokio.process_group(0);
        }
        Ok(tokio)
    }

    fn walled(&self, record: &Record, command: &Command) -> Result<Tokio> {
        let bubblewrap = self.machine.bubblewrap()?;
        let plan = self.outer_plan();
        let mut tokio = if plan.groups.is_empty() {
            Tokio::new(&bubblewrap.program)
        } else {
            let mut tokio = self.outer(&plan)?;
            tokio.arg(&bubblewrap.program);
            tokio
        };
        let walls = self.walls(record, start_of(record, command), bubblewrap.seals)?;
        tokio.args(bwrap::arguments(&walls)).arg(inside::HELPER).args(&self.helper.args);
        let (terminal, serves) = (command.terminal.is_some(), command.serves);
        let inner = Inner { terminal, serves, ..self.inner(record, &walls) };
        tokio.arg("inner").arg(as_text(&inner)?).arg(&command.program).args(&command.args);
        tokio.current_dir("/");
        Ok(tokio)
    }

    /// Prepares the program that runs a container, but for its arguments, and writes what it reads.
    pub(super) fn prepare_container(&self) -> Result<Tokio> {
        let record = self.room.record();
        let walls = self.walls(&record, PathBuf::from("/"), true)?;
        let (root, bundle) = (self.room.state.join("root"), self.room.state.join("bundle"));
        oci::make_root(&walls, &root)?;
        let relays = self.relays(&record);
        let mut first = vec![inside::HELPER.to_owned()];
        first.extend(self.helper.args.iter().cloned());
        first.extend(["first".to_owned(), as_text(&First { relays })?]);
        let user = self.room.user.map(owner::server_of).unwrap_or_default();
        let text = as_text(&oci::describe(&walls, &root, user, &first))?;
        fs::create_dir_all(&bundle).map_err(at(&bundle, "made"))?;
        let path = bundle.join("config.json");
        fs::write(&path, text).map_err(at(&path, "written"))?;
        self.outer(&self.outer_plan())
    }

    /// Prepares a command in a container.
    pub(super) fn prepare_guest(
        &self,
        command: &Command,
        (runsc, process): &(Runsc, GuestProcess),
        ends: &Ends,
    ) -> Result<Tokio> {
        check_words(command)?;
        if command.serves.is_some() {
            return Err(Error::refused(
                code::SANDBOX_UNAVAILABLE,
                "there is no way in to a container of gVisor",
                "let it be served in a sandbox of the runtime worktree",
            ));
        }
        let failed = |error: rustix::io::Errno| Error::file(&process.pipe, "made", error.into());
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &process.pipe, kind, mode, 0).map_err(failed)?;
        let (pipe, pid) = (process.pipe.display().to_string(), process.pid_file.display());
        let id = guest::name(self.room.id);
        let pid = format!("-internal-pid-file={pid}");
        let words = runsc.command(&["exec", "-process", &pipe, &pid, &id]);
        // runsc passes on what the keys of a terminal mean, so the terminal must be its own.
        let plan = Outer { terminal: ends.pty.is_some(), ..self.outer_plan() };
        let mut tokio = self.outer(&plan)?;
        tokio.args(words).env_clear().current_dir("/").kill_on_drop(true);
        let [stdin, stdout, stderr] = ends.stdio(command)?;
        tokio.stdin(stdin).stdout(stdout).stderr(stderr);
        Ok(tokio)
    }

    /// Describes a command to the program that runs containers.
    pub(super) fn guest_description(&self, command: &Command) -> Result<Vec<u8>> {
        let record = self.room.record();
        let walls = self.walls(&record, PathBuf::from("/"), true)?;
        let terminal = command.terminal.is_some();
        let inner =
            Inner { owner: None, user: None, relays: Vec::new(), ..self.inner(&record, &walls) };
        let mut words = vec![inside::HELPER.to_owned()];
        words.extend(self.helper.args.iter().cloned());
        words.extend(["inner".to_owned(), as_text(&inner)?, command.program.clone()]);
        words.extend(command.args.iter().cloned());
        let variables = self.variables(&record, command);
        let env: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let user = self.room.user.unwrap_or_default();
        let mut described = oci::process(user, &words, &env, &start_of(&record, command));
        described["terminal"] = terminal.into();
        as_text(&described).map(String::into_bytes)
    }

    fn relays(&self, record: &Record) -> Vec<Relay> {
        let net = |name: &str| Path::new(inside::NET).join(name);
        let mut relays = vec![Relay { port: PROXY_PORT, socket: net("proxy.sock") }];
        if let (_, Some(port)) = api_inside(&record.spec) {
            relays.push(Relay { port, socket: net("api.sock") });
        }
        relays
    }

    fn outer_plan(&self) -> Outer {
        let (owner, groups) = (Some(std::process::id()), self.room.groups.doors());
        Outer { owner, groups, ceilings: None, terminal: false }
    }

    fn outer(&self, plan: &Outer) -> Result<Tokio> {
        let mut tokio = Tokio::new(&self.helper.program);
        tokio.args(&self.helper.args).arg("outer").arg(as_text(plan)?);
        Ok(tokio)
    }

    fn inner(&self, record: &Record, walls: &Walls) -> Inner {
        let relays = self.relays(record);
        let mut writable: Vec<PathBuf> =
            ["/tmp", inside::HOME, "/dev"].iter().map(PathBuf::from).collect();
        if walls.writes {
            writable.push(walls.workspace.clone());
            writable.extend(walls.git.as_ref().map(|_| PathBuf::from(inside::GIT)));
        }
        let ceilings = self.ceilings(&record.spec.limits);
        let owner = self.room.owner_lock().map(|name| Path::new(inside::NET).join(name));
        let user = self.room.user;
        Inner { owner, user, writable, relays, ceilings, terminal: false, serves: None }
    }

    fn ceilings(&self, limits: &Limits) -> Ceilings {
        Ceilings {
            processes: Some(limits.processes),
            open_files: Some(limits.open_files),
            file_bytes: Some(limits.disk_bytes),
            memory_bytes: (!self.room.groups.has_memory()).then_some(limits.memory_bytes),
        }
    }

    fn walls(&self, record: &Record, start: PathBuf, seals: bool) -> Result<Walls> {
        let (spec, state) = (&record.spec, &self.room.state);
        let workspace = spec.source.directory().clone();
        let writes = spec.profile != Profile::ReadOnly;
        let git = match &spec.source {
            Source::Worktree { tree, common_dir, .. } => {
                Some(Repository::find(tree, common_dir)?.walls(state)?)
            }
            Source::Folder { .. } => None,
        };
        let plain = workspace.join(".git");
        let protected = if git.is_none() && plain.exists() { vec![plain] } else { Vec::new() };
        let etc = |name: &str, to: &str| (state.join("etc").join(name), PathBuf::from(to));
        Ok(Walls {
            root: self.machine.root,
            seals,
            memory_bytes: spec.limits.memory_bytes / 2,
            links: self.machine.links.clone(),
            system: self.machine.system.clone(),
            files: vec![
                etc("passwd", "/etc/passwd"),
                etc("group", "/etc/group"),
                etc("hosts", "/etc/hosts"),
                etc("nsswitch.conf", "/etc/nsswitch.conf"),
                etc("gitconfig", inside::GITCONFIG),
                // The program alone: the folder that it lies in may hold anything.
                (self.helper.program.clone(), PathBuf::from(Sandbox::PROGRAM)),
            ],
            readable: spec.readable.clone(),
            helper: self.helper.program.clone(),
            home: self.room.home(),
            scratch: self.room.scratch(),
            net: state.join("net"),
            workspace,
            writes,
            protected,
            git,
            start,
        })
    }

    /// The whole environment of a program: nothing of Godel's own gets in unless it is named.
    fn variables(&self, record: &Record, command: &Command) -> BTreeMap<String, String> {
        let spec = &record.spec;
        let mut all = BTreeMap::new();
        let mut set = |name: &str, value: &str| all.insert(name.to_owned(), value.to_owned());
        set("PATH", SYSTEM_PATH);
        set("LANG", "C.UTF-8");
        set("TERM", if command.terminal.is_some() { "xterm-256color" } else { "dumb" });
        set("GIT_TERMINAL_PROMPT", "0");
        set("GODEL_SANDBOX", spec.profile.as_str());
        set("HOME", &record.sandbox.home.to_string_lossy());
        if spec.profile == Profile::None {
            set("TMPDIR", &self.room.scratch().to_string_lossy());
            if let Ok(path) = std::env::var("PATH") {
                set("PATH", &path);
            }
            // Its home is not the user's, so git would not know who commits.
            for who in spec.identity.iter() {
                for role in ["AUTHOR", "COMMITTER"] {
                    set(&format!("GIT_{role}_NAME"), &who.name);
                    set(&format!("GIT_{role}_EMAIL"), &who.email);
                }
            }
            set("GIT_CONFIG_COUNT", "2");
            for (number, name) in ["gc.auto", "maintenance.auto"].iter().enumerate() {
                set(&format!("GIT_CONFIG_KEY_{number}"), name);
                set(&format!("GIT_CONFIG_VALUE_{number}"), "0");
            }
        } else {
            set("USER", "agent");
            set("LOGNAME", "agent");
            set("PATH", &format!("{}:{SYSTEM_PATH}", inside::PROGRAMS));
            set("SHELL", "/bin/sh");
            set("TMPDIR", "/tmp");
            set("GIT_CONFIG_SYSTEM", inside::GITCONFIG);
            let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
            for name in
                ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            {
                set(name, &proxy);
            }
            for name in ["no_proxy", "NO_PROXY"] {
                set(name, "127.0.0.1,localhost");
            }
        }
        let first = spec.path.iter().map(|path| path.to_string_lossy().into_owned());
        let all_of_path = first.chain(all.remove("PATH")).collect::<Vec<_>>().join(":");
        all.insert("PATH".to_owned(), all_of_path);
        let mut set = |name: &str, value: &str| all.insert(name.to_owned(), value.to_owned());
        for name in &spec.pass_env {
            if let Ok(value) = std::env::var(name) {
                set(name, &value);
            }
        }
        all.extend(spec.env.clone());
        all.extend(command.env.clone());
        all
    }
}

/// Writes the files that take the place of the system's.
pub(super) fn write_settings(state: &Path, user: Option<u32>) -> Result<()> {
    let id = user.unwrap_or(1000);
    let home = inside::HOME;
    let files = [
        (
            "passwd",
            format!(
                "root:x:0:0::/:/usr/sbin/nologin\nagent:x:{id}:{id}::{home}:/bin/sh\n\
                 nobody:x:65534:65534::/:/usr/sbin/nologin\n"
            ),
        ),
        ("group", format!("root:x:0:\nagent:x:{id}:\nnogroup:x:65534:\n")),
        ("hosts", "127.0.0.1 localhost godel\n".to_owned()),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
        (
            "gitconfig",
            "[safe]\n\tdirectory = *\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
             [advice]\n\tdetachedHead = false\n"
                .to_owned(),
        ),
    ];
    for (name, text) in files {
        let path = state.join("etc").join(name);
        fs::write(&path, text).map_err(at(&path, "written"))?;
    }
    Ok(())
}

fn start_of(record: &Record, command: &Command) -> PathBuf {
    let workspace = &record.sandbox.workspace;
    match &command.cwd {
        Some(cwd) => workspace.join(cwd.as_path()),
        None => workspace.clone(),
    }
}

fn check_words(command: &Command) -> Result<()> {
    let words = std::iter::once(&command.program).chain(&command.args);
    let variables = command.env.iter().flat_map(|(name, value)| [name, value]);
    let all: Vec<&String> = words.chain(variables).collect();
    let bad = command.program.is_empty()
        || all.iter().any(|word| word.contains('\0'))
        || command.env.keys().any(|name| name.is_empty() || name.contains('='))
        || all.iter().map(|word| word.len()).sum::<usize>() > WORDS_MAX_BYTES;
    if bad {
        return Err(Error::refused(
            code::INVALID_FIELD,
            "the command is empty, too long, or has a zero byte or a wrong name of a variable",
            "give a program, arguments of at most 1 MiB together, and variables as NAME and value",
        ));
    }
    Ok(())
}

fn as_text(plan: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(plan)
        .map_err(|error| Error::file(Path::new("the plan of a sandbox"), "written", error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_keeps_its_address_unless_the_port_cannot_be_had() {
        let source = Source::Folder { path: "/x".into() };
        let mut spec = SpawnSpec::new(uuid::Uuid::nil().into(), "test", source);
        let mut inside = |url: &str| {
            spec.egress.api = Some(url.to_owned());
            let (url, port) = api_inside(&spec);
            (url.unwrap(), port)
        };
        assert_eq!(
            inside("http://127.0.0.1:7420/a"),
            ("http://127.0.0.1:7420/a".into(), Some(7420))
        );
        assert_eq!(inside("http://[::1]:7420"), ("http://127.0.0.1:7420".into(), Some(7420)));
        assert_eq!(
            inside("https://localhost/a"),
            ("https://localhost:20443/a".into(), Some(20443))
        );
        assert_eq!(inside("https://g.example/a"), ("https://g.example/a".into(), None));
    }
}
