//! From a command to a process behind walls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use godel_model::code;
use tokio::process::Command as Tokio;

use super::bwrap::{self, Walls, inside};
use super::machine::Machine;
use super::plan::{Ceilings, Inner, Outer, Relay};
use super::record::Record;
use super::repository::Repository;
use super::room::Room;
use super::worktree::Helper;
use crate::egress::Endpoint;
use crate::error::at;
use crate::{Command, Error, Limits, Profile, Result, Source, SpawnSpec};

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
    pub(super) fn prepare(&self, command: &Command) -> Result<Tokio> {
        check_words(command)?;
        let record = self.room.record();
        let mut tokio = match record.spec.profile {
            Profile::None => self.bare(&record, command)?,
            Profile::ReadOnly | Profile::Workspace | Profile::WorkspaceNet => {
                self.walled(&record, command)?
            }
        };
        tokio.env_clear().envs(self.variables(&record, command));
        let stdin = if command.stdin { Stdio::piped() } else { Stdio::null() };
        tokio.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Ok(tokio)
    }

    /// No walls, but limits, an own home and a cleared environment.
    fn bare(&self, record: &Record, command: &Command) -> Result<Tokio> {
        let limits = &record.spec.limits;
        // Without a namespace the user's other processes would be counted too.
        let ceilings = Ceilings { processes: None, ..self.ceilings(limits) };
        let plan = Outer { groups: self.room.groups.doors(), ceilings: Some(ceilings) };
        let mut tokio = self.outer(&plan)?;
        tokio.arg(&command.program).args(&command.args);
        let start = start_of(record, command);
        tokio.current_dir(&start).process_group(0);
        Ok(tokio)
    }

    fn walled(&self, record: &Record, command: &Command) -> Result<Tokio> {
        let bubblewrap = self.machine.bubblewrap()?;
        let plan = Outer { groups: self.room.groups.doors(), ceilings: None };
        let mut tokio = if plan.groups.is_empty() {
            Tokio::new(&bubblewrap.program)
        } else {
            let mut tokio = self.outer(&plan)?;
            tokio.arg(&bubblewrap.program);
            tokio
        };
        let walls = self.walls(record, start_of(record, command), bubblewrap.seals)?;
        tokio.args(bwrap::arguments(&walls)).arg(inside::HELPER).args(&self.helper.args);
        let inner = self.inner(record, &walls);
        tokio.arg("inner").arg(as_text(&inner)?).arg(&command.program).args(&command.args);
        tokio.current_dir("/");
        Ok(tokio)
    }

    fn outer(&self, plan: &Outer) -> Result<Tokio> {
        let mut tokio = Tokio::new(&self.helper.program);
        tokio.args(&self.helper.args).arg("outer").arg(as_text(plan)?);
        Ok(tokio)
    }

    fn inner(&self, record: &Record, walls: &Walls) -> Inner {
        let net = |name: &str| Path::new(inside::NET).join(name);
        let mut relays = vec![Relay { port: PROXY_PORT, socket: net("proxy.sock") }];
        if let (_, Some(port)) = api_inside(&record.spec) {
            relays.push(Relay { port, socket: net("api.sock") });
        }
        let mut writable: Vec<PathBuf> =
            ["/tmp", inside::HOME, "/dev"].iter().map(PathBuf::from).collect();
        if walls.writes {
            writable.push(walls.workspace.clone());
            writable.extend(walls.git.as_ref().map(|_| PathBuf::from(inside::GIT)));
        }
        let ceilings = self.ceilings(&record.spec.limits);
        Inner { user: self.room.user, writable, relays, ceilings }
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
        set("TERM", "dumb");
        set("GIT_TERMINAL_PROMPT", "0");
        set("GODEL_SANDBOX", spec.profile.as_str());
        set("HOME", &record.sandbox.home.to_string_lossy());
        if spec.profile == Profile::None {
            set("TMPDIR", &self.room.scratch().to_string_lossy());
            if let Ok(path) = std::env::var("PATH") {
                set("PATH", &path);
            }
        } else {
            set("USER", "agent");
            set("LOGNAME", "agent");
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
    let workspace = record.spec.source.directory();
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
