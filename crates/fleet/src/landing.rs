//! The smallest landing: a clean merge, gates on the result, and the target branch moved once.

use std::path::Path;
use std::sync::Arc;

use godel_agents::gates::{GateCache as _, Gates, key};
use godel_app::{Call, beads};
use godel_git::{Author, Create, Landed, Merge, Message, Name, Prepared, Remove};
use godel_model::{AgentId, BeadStatus, ProjectId, Reach, code};
use godel_runtime::{Source, SpawnSpec};
use secrecy::SecretString;
use tracing::instrument;

use crate::fleet::lock;
use crate::place::Place;
use crate::{Error, Fleet, Result, wishes};

/// How often a landing begins anew because the branch has moved.
const TRIES: usize = 10;

/// How a bead's work got into its branch, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The bead.
    pub bead: String,
    /// The branch.
    pub target: String,
    /// The commit in that branch; none if it did not land.
    pub commit: Option<String>,
    /// What keeps it from landing.
    pub why: Option<Hindrance>,
}

/// What keeps work from landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// It conflicts with what is in the branch.
    Conflict(Vec<String>),
    /// A gate failed on the result.
    Gate(String),
    /// Something of a person's is in the way.
    Blocked(String),
}

impl std::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Conflict(files) => {
                write!(f, "it conflicts with the branch in {}", files.join(", "))
            }
            Self::Gate(what) => write!(f, "together with the branch {what}"),
            Self::Blocked(why) => f.write_str(why),
        }
    }
}

/// Says to whoever mends it why work does not land, and how it would.
pub(crate) fn refusal(target: &str, why: &Hindrance) -> String {
    format!(
        "This cannot land on {target} as it is: {why}\n\nMerge {target} into the work (`git merge` with \
         the commit that the branch is at), make both right, and commit."
    )
}

/// Lets work be mended by the next agent: the bead is open again, and nobody's.
pub(crate) async fn send_back(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &str),
    why: &str,
) -> Result<()> {
    let (app, project) = (fleet.app(), Some(project));
    let back = beads::Move {
        status: Some(BeadStatus::Open),
        reason: Some(why.lines().next().unwrap_or_default().to_owned()),
        force: true,
        ..beads::Move::default()
    };
    let moved = beads::move_to(app, call, project, bead, back).await?.value;
    // It would still be assigned to the agent that thought it was done.
    if moved.agent.is_some() {
        beads::release(app, call, project, bead, (None, true)).await?;
    }
    Ok(())
}

/// Lands the work of a bead that is in review: a person says that it may.
///
/// # Errors
/// If the caller may not, or the bead is not in review.
#[instrument(level = "debug", name = "fleet.landing.land", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn land(
    fleet: &Fleet,
    call: &Call,
    project: Option<ProjectId>,
    bead: &str,
) -> Result<Report> {
    call.may("review", "update", Reach::Own)?;
    carry_out(fleet, call, project, bead).await
}

/// Lands the work of a bead, whoever allowed it.
pub(crate) async fn carry_out(
    fleet: &Fleet,
    call: &Call,
    project: Option<ProjectId>,
    bead: &str,
) -> Result<Report> {
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (project, bead) = (found.project, found.value.0);
    if !matches!(bead.status, BeadStatus::Review | BeadStatus::Done) {
        return Err(Error::refused(
            code::LANDING_REFUSED,
            format!("bead {} is {} and not in review", bead.id, bead.status),
            "an agent moves it there when its work is done and checked",
        ));
    }
    let (_, folder) = fleet.project(call, project).await?;
    let wanted = wishes::read(fleet, folder.to_owned()).await?;
    let one_at_a_time = Arc::clone(lock(&fleet.own.landings).entry(folder.clone()).or_default());
    let _turn = one_at_a_time.lock().await;
    let name: Name = bead.id.parse()?;
    let message = Message {
        bead: name.clone(),
        title: format!("{} ({})", bead.title, bead.id),
        body: format!("Bead: {}", bead.id),
        author: Author { name: "Godel".to_owned(), email: "godel@agents.godel.invalid".to_owned() },
    };
    let report = merge(fleet, &folder, &wanted, message).await?;
    if report.commit.is_some() {
        finish_bead(fleet, call, (project, &bead.id), &folder).await?;
    }
    Ok(report)
}

/// Merges, checks and moves the branch; begins anew if somebody else moved it meanwhile.
async fn merge(fleet: &Fleet, folder: &Path, wanted: &Gates, message: Message) -> Result<Report> {
    let bead = message.bead.clone();
    let target = wishes::target(fleet, folder.to_owned(), wanted).await?.ok_or_else(|| {
        Error::refused(
            code::LANDING_REFUSED,
            "the repository has neither a branch main nor master",
            "say which branch work lands in: `[project] target` in godel.toml",
        )
    })?;
    let report = |commit, why| Report {
        bead: bead.as_str().to_owned(),
        target: target.clone(),
        commit,
        why,
    };
    for _ in 0..TRIES {
        let (message, onto) = (message.clone(), target.clone());
        let prepared = fleet.at_bench(folder.to_owned(), move |bench| {
            let source = bench.head_of(&message.bead.branch())?.unwrap_or_default();
            bench.landing().prepare(&source, &onto, &message)
        });
        let merge = match prepared.await? {
            Prepared::AlreadyThere { target } => return Ok(report(Some(target), None)),
            Prepared::Conflict { files } => {
                return Ok(report(None, Some(Hindrance::Conflict(files))));
            }
            Prepared::Ready(merge) => merge,
        };
        if let Some(why) = judge(fleet, folder, wanted, &merge).await? {
            return Ok(report(None, Some(Hindrance::Gate(why))));
        }
        let ready = merge.clone();
        match fleet.at_bench(folder.to_owned(), move |bench| bench.landing().finish(&ready)).await?
        {
            Landed::Done => return Ok(report(Some(merge.commit), None)),
            Landed::Moved { .. } => {}
            Landed::Blocked { why } => return Ok(report(None, Some(Hindrance::Blocked(why)))),
        }
    }
    Ok(report(None, Some(Hindrance::Blocked("the branch moves all the time".to_owned()))))
}

/// Runs the gates on the merged files; says what failed.
async fn judge(
    fleet: &Fleet,
    folder: &Path,
    wanted: &Gates,
    merge: &Merge,
) -> Result<Option<String>> {
    if wanted.gates.is_empty() {
        return Ok(None);
    }
    let cache = wishes::cache(fleet)?;
    // Nothing but the bead's own work: that was judged already.
    let known: Option<Vec<_>> =
        wanted.gates.iter().map(|gate| cache.get(&key(&merge.tree, &gate.run))).collect();
    let results = match known {
        Some(results) => results,
        None => judge_anew(fleet, folder, wanted, merge).await?,
    };
    let required = |name: &str| wanted.gates.iter().any(|gate| gate.required && gate.name == name);
    let failed = results.into_iter().find(|result| !result.passed && required(&result.name));
    Ok(failed.map(|result| format!("{}\n{}", result.summary(), result.output_tail)))
}

/// Runs the gates in a worktree and a sandbox that are made for it.
async fn judge_anew(
    fleet: &Fleet,
    folder: &Path,
    wanted: &Gates,
    merge: &Merge,
) -> Result<Vec<godel_agents::gates::GateResult>> {
    let name: Name = format!("landing-{}", merge.bead.as_str()).parse()?;
    let (own, base) = (name.clone(), merge.commit.clone());
    let (tree, common) = fleet
        .at_bench(folder.to_owned(), move |bench| {
            // One that a killed server left behind holds nothing that anybody made.
            if bench.info(&own).is_ok() {
                bench.remove(&own, Remove { force: true, ..Remove::default() })?;
            }
            let create = Create { base: Some(base), ..Create::default() };
            bench.create(&own, &create)?;
            Ok((bench.path(&own), bench.common_dir().to_owned()))
        })
        .await?;
    let source = Source::Worktree {
        tree,
        common_dir: common,
        base: merge.commit.clone(),
        bead: name.as_str().to_owned(),
    };
    let id: AgentId = fleet.app().mint.id();
    let runtime = fleet.runtime("worktree")?;
    let sandbox = runtime.spawn(&SpawnSpec::new(id, "landing", source)).await?;
    let place = Place {
        runtime: Arc::clone(&runtime),
        sandbox: sandbox.clone(),
        token: SecretString::default(),
        folder: folder.to_owned(),
        program: Vec::new(),
        fresh: true,
    };
    let results = wishes::run(fleet, &place, wanted, &merge.tree).await;
    drop(runtime.terminate(sandbox.id, std::time::Duration::ZERO).await);
    let gone = fleet.at_bench(folder.to_owned(), move |bench| {
        bench.remove(&name, Remove { force: true, ..Remove::default() }).map(drop)
    });
    if let Err(error) = gone.await {
        tracing::info!(%error, "a worktree of a landing was not removed");
    }
    results
}

/// Closes the bead, and lets its worktree go: its work is in the branch.
async fn finish_bead(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &str),
    folder: &Path,
) -> Result<()> {
    let wanted = beads::Move { status: Some(BeadStatus::Done), ..beads::Move::default() };
    beads::move_to(fleet.app(), call, Some(project), bead, wanted).await?;
    let name: Name = bead.parse()?;
    let gone = fleet
        .at_bench(folder.to_owned(), move |bench| bench.remove(&name, Remove::default()).map(drop));
    // It is in use, or somebody has changed files in it: then it stays, and nothing is lost.
    if let Err(error) = gone.await {
        tracing::info!(%bead, %error, "the worktree of a bead that landed stays");
    }
    fleet.own.moved.notify_waiters();
    Ok(())
}
