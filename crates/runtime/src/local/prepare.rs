//! Makes a sandbox: everything that is there before the first command runs.

use std::fs;
use std::path::{Path, PathBuf};

use godel_model::code;
use jiff::Timestamp;

use super::bwrap::inside;
use super::measure::measure;
use super::record::Record;
use super::repository::{Repository, whole_id};
use super::room::Room;
use super::worktree::Shop;
use super::{oci, owner, start};
use crate::egress::{Endpoint, Rules};
use crate::error::at;
use crate::snapshot::{Part, WORKSPACE};
use crate::{Error, Isolation, Profile, Result, Sandbox, SandboxId, Source, SpawnSpec};

const READABLE_MAX: usize = 64;
const OWNER_MAX_BYTES: usize = 256;

/// Makes a sandbox that is not there.
pub(super) fn make(shop: &Shop, mut spec: SpawnSpec, now: Timestamp) -> Result<Room> {
    let id = SandboxId::of(spec.agent);
    check(shop, &mut spec)?;
    let state = owner::private_dir(&shop.settings.data.join("sandboxes").join(id.to_string()))?;
    for folder in ["home", "tmp", "net", "etc"] {
        let path = state.join(folder);
        fs::create_dir_all(&path).map_err(at(&path, "made"))?;
    }
    if shop.runsc.is_some() {
        let image = state.join("image");
        fs::create_dir_all(&image).map_err(at(&image, "made"))?;
    }
    let walled = spec.profile != Profile::None;
    let user = (shop.machine.root && walled).then(|| owner::user_of(id, shop.runsc.is_some()));
    start::write_settings(&state, user)?;
    let (api, _) = start::api_inside(&spec);
    let sandbox = Sandbox {
        id,
        profile: spec.profile,
        isolation: match (walled, &shop.runsc) {
            (false, _) => Isolation::None,
            (true, None) => Isolation::Process,
            (true, Some(_)) => Isolation::UserspaceKernel,
        },
        workspace: match &shop.runsc {
            Some(_) => PathBuf::from(oci::WORKSPACE),
            None => spec.source.directory().clone(),
        },
        home: if walled { PathBuf::from(inside::HOME) } else { state.join("home") },
        api,
        notes: Vec::new(),
    };
    furnish(&mut spec, &state)?;
    let ttl = spec.ttl.and_then(|ttl| jiff::SignedDuration::try_from(ttl).ok());
    let ends_at = ttl.and_then(|ttl| now.checked_add(ttl).ok());
    let record = Record { sandbox, spec, created_at: now, ends_at, disk_before: 0, settled: false };
    let listener = std::sync::Arc::clone(&shop.settings.listener);
    let room = Room::new(record, state, user, listener);
    let missing = room.groups.missing();
    // Only what is whole is found again.
    room.keep(|record| record.sandbox.notes = missing)?;
    Ok(room)
}

/// Does what takes long in a large workspace and is not needed before the first command.
pub(super) fn settle(room: &Room) -> Result<()> {
    let workspace = room.record().spec.source.directory().clone();
    let disk_before = measure(&[&workspace, &room.state.join("git")]).bytes;
    give(room)?;
    room.keep(|record| {
        record.disk_before = disk_before;
        record.settled = true;
    })
    .map(drop)
}

/// Gives the sandbox that is there, if it is the one that is asked for.
pub(super) fn again(room: &Room, spec: &SpawnSpec) -> Result<Sandbox> {
    let record = room.record();
    let known = &record.spec;
    let same = known.profile == spec.profile
        && same_place(&known.source, &spec.source)
        && known.owner == spec.owner
        && known.egress.allow == spec.egress.allow;
    // After a restart Godel may be elsewhere; what runs would not find it there.
    let moved = known.egress.api != spec.egress.api;
    if !same || (moved && !room.all().is_empty()) {
        return Err(Error::refused(
            code::SANDBOX_STATE,
            format!("the agent has another sandbox already: {}", room.id),
            "terminate it first",
        ));
    }
    // Tokens change; they are not on disk, so this is how they come back.
    let record = room.change(|record| record.spec.env = spec.env.clone());
    if !moved {
        return Ok(record.sandbox);
    }
    let record = room.keep(|record| {
        record.spec.egress.api.clone_from(&spec.egress.api);
        record.sandbox.api = start::api_inside(spec).0;
    })?;
    room.close_ways();
    Ok(record.sandbox)
}

fn same_place(known: &Source, asked: &Source) -> bool {
    let place = |source: &Source| source.directory().canonicalize().ok();
    place(known).is_some() && place(known) == place(asked)
}

/// The parts of a sandbox that belong to a snapshot.
///
/// Files that git ignores are kept as well, up to a bound.
pub(super) fn parts(room: &Room, ignored_max_bytes: u64) -> Result<Vec<Part>> {
    let record = room.record();
    let workspace = record.spec.source.directory();
    let ignored = match &record.spec.source {
        Source::Worktree { tree, common_dir, .. } => {
            Repository::find(tree, common_dir)?.ignored()?
        }
        Source::Folder { .. } => Vec::new(),
    };
    let mut parts = vec![
        Part::new(WORKSPACE, workspace, &[".git"]).bounding(ignored, ignored_max_bytes),
        Part::new("home", &room.home(), &[]),
    ];
    let image = room.state.join("image");
    if image.is_dir() {
        parts.push(Part::new("memory", &image, &[]));
    }
    let own = room.state.join("git");
    if own.is_dir() {
        parts.push(Part::new("git", &own, &["config", "hooks", "objects/info"]));
    }
    Ok(parts)
}

/// Gives the files of a sandbox to its user.
pub(super) fn give(room: &Room) -> Result<()> {
    let Some(user) = room.user else { return Ok(()) };
    owner::give_contents(room.record().spec.source.directory(), user)?;
    for part in ["home", "tmp", "git"] {
        let path = room.state.join(part);
        if path.is_dir() {
            owner::give(&path, user)?;
        }
    }
    Ok(())
}

fn furnish(spec: &mut SpawnSpec, state: &Path) -> Result<()> {
    let Source::Worktree { tree, common_dir, base, bead } = &spec.source else {
        return Ok(());
    };
    let repository = Repository::find(tree, common_dir)?;
    let branch = format!("refs/heads/bead/{bead}");
    let known = repository.look(&[base, &branch])?;
    let who = match spec.identity.take() {
        Some(who) => who,
        None => known.identity(),
    };
    let who = &*spec.identity.insert(who);
    let unknown = |what: &str| {
        Error::refused(
            code::BASE_NOT_FOUND,
            format!("{what} names no commit of the repository"),
            "make the worktree with `godel worktree create`",
        )
    };
    known.commit(0).ok_or_else(|| unknown(base))?;
    let tip = known.commit(1).ok_or_else(|| unknown(&branch))?;
    if spec.profile == Profile::None {
        return Ok(());
    }
    repository.furnish(state, tip, who, &known)
}

/// Looks at everything that is asked for, and brings paths into their one form.
fn check(shop: &Shop, spec: &mut SpawnSpec) -> Result<()> {
    let wrong = |message: String| {
        Error::refused(code::INVALID_FIELD, message, "correct how the agent is spawned")
    };
    if spec.owner.is_empty() || spec.owner.len() > OWNER_MAX_BYTES {
        return Err(wrong("a sandbox needs an owner of at most 256 characters".to_owned()));
    }
    let names = spec.env.keys().chain(&spec.pass_env);
    let bad_name = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    if names.into_iter().any(|name| bad_name(&name)) || spec.env.values().any(|v| v.contains('\0'))
    {
        return Err(wrong("a variable has a wrong name or a zero byte".to_owned()));
    }
    Rules::parse(&spec.egress.allow)?;
    if let Some(api) = &spec.egress.api
        && Endpoint::of_url(api).is_none()
    {
        return Err(wrong("the address of Godel is not http://host:port".to_owned()));
    }
    if spec.limits.processes < 4
        || spec.limits.open_files < 64
        || spec.limits.memory_bytes < 1 << 20
    {
        return Err(wrong("with such limits nothing could run".to_owned()));
    }
    let place = match &mut spec.source {
        Source::Worktree { tree, common_dir, base, bead } => {
            whole_id(base)?;
            let safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if bead.is_empty() || !bead.chars().all(safe) || bead.contains("..") {
                return Err(wrong("the id of the bead is no part of a branch".to_owned()));
            }
            *common_dir = common_dir.canonicalize().map_err(at(common_dir, "found"))?;
            tree
        }
        Source::Folder { path } => path,
    };
    *place = place.canonicalize().map_err(at(place, "found"))?;
    if !place.is_dir() {
        return Err(wrong(format!("{} is no directory", place.display())));
    }
    check_place(shop, place)?;
    if spec.readable.len() > READABLE_MAX {
        return Err(wrong(format!("at most {READABLE_MAX} directories can be made readable")));
    }
    for path in &mut spec.readable {
        *path = path.canonicalize().map_err(at(path, "found"))?;
        check_place(shop, path)?;
    }
    Ok(())
}

/// What holds Godel's own data or a person's whole home is not opened to an agent.
fn check_place(shop: &Shop, path: &Path) -> Result<()> {
    let home =
        std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let data = shop.settings.data.canonicalize().ok();
    let holds =
        |inner: &Option<PathBuf>| inner.as_ref().is_some_and(|inner| inner.starts_with(path));
    let secrets = [".ssh", ".gnupg", ".aws", ".config/gcloud", ".kube", ".docker"];
    let secret = home
        .as_ref()
        .is_some_and(|home| secrets.iter().any(|name| path.starts_with(home.join(name))));
    let special = ["/proc", "/sys", "/dev", "/run", "/etc"].iter().any(|top| path.starts_with(top));
    let within = data.as_ref().is_some_and(|data| path.starts_with(data.join("sandboxes")));
    if holds(&home) || holds(&data) || secret || special || within {
        return Err(Error::refused(
            code::PATH_REFUSED,
            format!("{} is not opened to an agent: it holds more than its work", path.display()),
            "name a directory of its own for the work, or the directory of one program to be read",
        ));
    }
    Ok(())
}
