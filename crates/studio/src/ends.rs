//! Two ends of a conversation, and what their files differ in.
//!
//! The files of an end are those of its worktree, if the agent stands there now, or else those of the newest
//! snapshot at it or at the nearest node before it.

mod choose;
mod gather;

use std::path::PathBuf;

use godel_agents::tree::{NodeNumber, TreeError};
use godel_app::Call;
use godel_fleet::{Agent, Fleet, Snapshot, Talk, carry, paper, sessions};
use godel_git::{DiffStat, Name, Present, Workbench, mask};
use godel_model::{Reach, Report as _, code};
use godel_store::Tx;
use serde::Deserialize;
use tracing::instrument;

use self::gather::{Place, Side};
use crate::{Error, Result};

/// How much of a comparison is shown.
const PATCH_MAX_BYTES: usize = 1 << 20;
/// How many snapshots of an agent are looked at, the newest first.
const SNAPSHOTS_MAX: usize = 1_000;
/// How many nodes are read at once.
const PAGE: usize = 1_000;

/// One end, and whose files stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The node.
    pub node: u32,
    /// The node that its files are of; nothing if none were kept.
    pub files_of: Option<u32>,
    /// Whether they are those of the worktree as it is now.
    pub live: bool,
    /// The commit that the branch was at.
    pub commit: Option<String>,
}

/// What the files of two ends differ in.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The one.
    pub left: End,
    /// The other.
    pub right: End,
    /// How large it is.
    pub stat: DiffStat,
    /// The lines.
    pub patch: String,
    /// Whether something is left out because it is too much.
    pub cut: bool,
}

/// Compares the files of two ends of a conversation.
///
/// # Errors
/// If the caller may not, or there is no such conversation or node.
#[instrument(level = "debug", name = "studio.ends.compare", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn compare(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (left, right): (u32, u32),
) -> Result<Compared> {
    call.may("session", "read", Reach::Team)?;
    call.may("agent", "read", Reach::Team)?;
    let (talk, agent) = sessions::find(fleet, call, name).await?;
    // What is looked at here is not taken for left over meanwhile.
    let _kept = fleet.keep_snapshots().await;
    let known = read(fleet, call, &talk, left.max(right)).await?;
    let (_, folder) = fleet.project(call, talk.project).await?;
    let scene = Scene { fleet, folder, talk: &talk, agent: agent.as_ref(), known };
    let ((left, one), (right, other)) = (scene.end(left).await?, scene.end(right).await?);
    let (stat, patch) = Default::default();
    let told = Compared { left, right, stat, patch, cut: false };
    match (one, other) {
        (Some(one), Some(other)) if !one.place.is_same(&other.place) => {
            scene.differ(told, (one, other)).await
        }
        _ => Ok(told),
    }
}

/// What is written down about a conversation.
struct Known {
    /// What came before each node.
    parents: Vec<Option<u32>>,
    snapshots: Vec<Snapshot>,
}

/// Of a node, what came before it.
#[derive(Deserialize)]
struct Link {
    parent: Option<NodeNumber>,
}

async fn read(fleet: &Fleet, call: &Call, talk: &Talk, last: u32) -> Result<Known> {
    let talk = talk.clone();
    if last >= talk.nodes {
        return Err(TreeError::NoNode(NodeNumber(last)).into());
    }
    let damaged = |cause: serde_json::Error| {
        Error::Store(godel_store::Error::Unreadable { what: "conversation", cause: cause.into() })
    };
    let find = move |tx: &mut Tx<'_>| {
        let mut parents = Vec::new();
        while parents.len() <= last as usize {
            let first = u32::try_from(parents.len()).unwrap_or(u32::MAX);
            let page = tx.talk_nodes(talk.id).from(first, PAGE)?;
            if page.is_empty() {
                return Err(TreeError::NoNode(NodeNumber(last)).into());
            }
            for (_, doc) in page {
                let link: Link = serde_json::from_str(&doc).map_err(damaged)?;
                parents.push(link.parent.map(|node| node.0));
            }
        }
        let owner = talk.agent.to_string();
        let page = |from, limit| paper::of::<Snapshot>(tx, &owner, from, limit);
        let of_it = |one: &Snapshot| one.talk == talk.id;
        let snapshots = paper::gather((None, SNAPSHOTS_MAX), page, of_it)?;
        Ok(Known { parents, snapshots })
    };
    paper::look(fleet.app(), call.actor.tenant, find).await
}

/// Where ends are looked for.
struct Scene<'a> {
    fleet: &'a Fleet,
    folder: PathBuf,
    talk: &'a Talk,
    agent: Option<&'a Agent>,
    known: Known,
}

impl Scene<'_> {
    /// Finds the files of an end.
    async fn end(&self, node: u32) -> Result<(End, Option<Side>)> {
        let head = self.talk.branches.get(&self.talk.current).copied().flatten();
        if head == Some(NodeNumber(node))
            && let Some((commit, side)) = self.live().await?
        {
            let end = End { node, files_of: Some(node), live: true, commit };
            return Ok((end, Some(side)));
        }
        let way = choose::way(&self.known.parents, node);
        let when = |one: &Snapshot| (one.node.map(|node| node.0), one.taken_at);
        let kept: Vec<_> = self.known.snapshots.iter().map(when).collect();
        let Some(found) = choose::nearest(&way, &kept).map(|at| &self.known.snapshots[at]) else {
            return Ok((End { node, files_of: None, live: false, commit: None }, None));
        };
        let (files_of, commit) = (found.node.map(|node| node.0), found.commit.clone());
        let runtime = found.like.as_ref().map(|like| like.runtime.as_str());
        let runtime = runtime.or_else(|| self.agent.map(|agent| agent.runtime.as_str()));
        let runtime = self.fleet.runtime(runtime.unwrap_or_default())?;
        let tracked = match commit.clone() {
            Some(commit) => {
                let tracked = move |bench: &Workbench| match bench.tracked(&commit) {
                    // It is gone from the repository; what is ignored is then not shown at all.
                    Err(error) if error.code() == code::COMMIT_NOT_FOUND => Ok([].into()),
                    tracked => tracked,
                };
                self.fleet.at_bench(self.folder.clone(), tracked).await?
            }
            None => [].into(),
        };
        let listing = runtime.look(&found.files).await?;
        let place = Place::Kept { runtime, files: found.files.clone() };
        let side = Side { place, tracked, listing: gather::shown(listing) };
        Ok((End { node, files_of, live: false, commit }, Some(side)))
    }

    /// Finds the files of the worktree as it is now; nothing if it is gone.
    async fn live(&self) -> Result<Option<(Option<String>, Side)>> {
        let Some((name, tree)) = self.worktree() else { return Ok(None) };
        let present = move |bench: &Workbench| {
            // What is at the same place in another repository is not the agent's.
            if bench.path(&name) != tree {
                return Ok(None);
            }
            bench.present(&name).map(|found| found.map(|present| (present, tree)))
        };
        let Some((present, tree)) = self.fleet.at_bench(self.folder.clone(), present).await? else {
            return Ok(None);
        };
        let Present { commit, tracked, new } = present;
        let (at, paths) = (tree.clone(), tracked.iter().cloned().chain(new).collect::<Vec<_>>());
        let listing = gather::blocking(move || Ok(godel_runtime::look_at(&at, &paths)?)).await?;
        let side = Side { place: Place::Live(tree), tracked, listing: gather::shown(listing) };
        Ok(Some((commit, side)))
    }

    fn worktree(&self) -> Option<(Name, PathBuf)> {
        let tree = PathBuf::from(self.agent?.worktree.as_ref()?);
        let name = tree.file_name()?.to_str()?.parse().ok()?;
        Some((name, tree))
    }

    /// Lets git compare what differs.
    async fn differ(&self, told: Compared, (left, right): (Side, Side)) -> Result<Compared> {
        let home = self.fleet.settings().data.join(carry::FOLDER);
        let paths = gather::differing(&left.listing, &right.listing);
        let rules = [left.rules(&paths).await?, right.rules(&paths).await?];
        let (asked, at) = (paths.clone(), home.clone());
        let ignored = move |bench: &Workbench| {
            let [one, other] = &rules;
            let mut ignored = bench.ignored_by(&at, one, &asked)?;
            ignored.extend(bench.ignored_by(&at, other, &asked)?);
            Ok(ignored)
        };
        let ignored = self.fleet.at_bench(self.folder.clone(), ignored).await?;
        let (paths, left_out) = gather::seen(paths, &ignored, (&left, &right));
        let pieces = (left.pieces(&paths, &ignored).await?, right.pieces(&paths, &ignored).await?);
        let name = self.worktree().map(|(name, _)| name);
        let compare = move |bench: &Workbench| {
            let (stat, patch) = bench.compare_files(&home, &pieces.0, &pieces.1)?;
            // What was copied into the worktree in confidence is shown nowhere.
            let secrets = name.map(|name| bench.redactions(&name)).transpose()?;
            Ok((stat, mask(&patch, &secrets.unwrap_or_default())))
        };
        let (mut stat, patch) = self.fleet.at_bench(self.folder.clone(), compare).await?;
        stat.files += left_out;
        let cut = left_out > 0 || patch.len() > PATCH_MAX_BYTES;
        let patch = patch[..patch.floor_char_boundary(PATCH_MAX_BYTES)].to_owned();
        Ok(Compared { stat, patch, cut, ..told })
    }
}
