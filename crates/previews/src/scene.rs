//! Where a preview runs: in the sandbox of an agent at work, or in one that is made for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use godel_app::{Call, beads};
use godel_fleet::agents::{self, Filter};
use godel_fleet::{Agent, Fleet};
use godel_git::{Name, Workbench};
use godel_model::{AgentId, Life, ProjectId, code};
use godel_runtime::{Profile, RuntimeProvider, SandboxId, SandboxPath, Source, SpawnSpec};

use crate::guess::{self, TELLING};
use crate::window::Wanted;
use crate::{Error, Result};

/// Whose sandboxes those are that are made for a preview.
const OWNER: &str = "preview";
/// How the names of worktrees begin that are made for one.
const PREFIX: &str = "preview-";
/// How many agents of a bead are looked at.
const AGENTS: usize = 50;
/// No file that tells how an app is started is larger.
const TELLING_MAX_BYTES: usize = 1 << 20;

/// What is shown.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) project: ProjectId,
    pub(crate) bead: String,
    /// Whose work it is.
    pub(crate) agent: Option<Agent>,
    /// The commit; none if it is what the agent has before it right now.
    pub(crate) commit: Option<String>,
    /// The folder of the repository.
    pub(crate) folder: PathBuf,
}

/// Where it is shown.
pub(crate) struct Stage {
    pub(crate) runtime: Arc<dyn RuntimeProvider>,
    pub(crate) sandbox: SandboxId,
    pub(crate) profile: Profile,
    /// The worktree that was made for it.
    made: Option<Name>,
}

impl Scene {
    /// Finds what is meant.
    pub(crate) async fn find(fleet: &Fleet, call: &Call, wanted: &Wanted) -> Result<Self> {
        let (project, bead, agent) = match (&wanted.agent, &wanted.bead) {
            (Some(name), None) => {
                let agent = agents::find(fleet, call, name).await?;
                (agent.project, agent.bead.clone(), Some(agent))
            }
            (None, Some(name)) => {
                let found = beads::get(fleet.app(), call, wanted.project, name).await?;
                let (project, bead) = (found.project, found.value.0.id);
                let agent = worker(fleet, call, project, &bead).await?;
                (project, bead, agent)
            }
            _ => {
                let why = "name an agent or a bead, and not both";
                return Err(Error::refused(code::INVALID_FIELD, why, "say whose work is shown"));
            }
        };
        if let Some(agent) = &agent {
            agents::may_lead(call, agent)?;
        }
        let (_, folder) = fleet.project(call, project).await?;
        let mut scene = Self { project, bead, agent, commit: None, folder };
        if !scene.is_live(fleet) {
            scene.commit = Some(scene.find_commit(fleet).await?);
        }
        Ok(scene)
    }

    /// Tells whether its agent is at work here, in walls with a way in.
    fn is_live(&self, fleet: &Fleet) -> bool {
        self.agent.as_ref().is_some_and(|agent| {
            matches!(agent.life, Life::Executing | Life::Waiting | Life::Completing)
                && agent.runtime == "worktree"
                && fleet.leads(agent.id)
        })
    }

    /// Finds the newest commit of the work.
    async fn find_commit(&self, fleet: &Fleet) -> Result<String> {
        let tree = self.agent.as_ref().map_or_else(|| self.bead.clone(), Agent::tree);
        let known = self.agent.as_ref().and_then(|agent| agent.commit.clone());
        let find = move |bench: &Workbench| bench.head_of(&format!("bead/{tree}"));
        let head = fleet.at_bench(self.folder.clone(), find).await?;
        head.or(known).ok_or_else(|| {
            let whose = self.agent.as_ref().map_or(&self.bead, |agent| &agent.label);
            Error::refused(
                code::AGENT_STATE,
                format!("{whose} has made no commit that could be shown"),
                "wait until there is one, or until its agent is at work in the runtime worktree",
            )
        })
    }

    /// Finds the command: the one that was said, or of the project, or what its files tell.
    pub(crate) async fn command(&self, fleet: &Fleet, said: Option<String>) -> Result<String> {
        if let Some(said) = said {
            return Ok(said);
        }
        let wanted = godel_fleet::wishes::read(fleet, self.folder.clone()).await?;
        if let Some(command) = wanted.preview {
            return Ok(command);
        }
        let files = self.telling(fleet).await?;
        guess::command(&files).ok_or_else(|| {
            let why = format!("it is not known how the app of {} is started", self.bead);
            let hint = "say the command, which serves the port $PORT; or write `preview = \"...\"` under \
                        [project] in godel.toml";
            Error::refused(code::INVALID_FIELD, why, hint).at("command")
        })
    }

    /// Reads the files that tell how an app is started.
    async fn telling(&self, fleet: &Fleet) -> Result<BTreeMap<&'static str, String>> {
        let mut found = BTreeMap::new();
        let Some(commit) = self.commit.clone() else {
            let Some(agent) = &self.agent else { return Ok(found) };
            let (runtime, at) = (fleet.runtime(&agent.runtime)?, SandboxId::of(agent.id));
            for name in TELLING {
                let bytes = runtime.read(at, &SandboxPath::new(name)?).await.unwrap_or_default();
                let text = String::from_utf8(bytes.into()).unwrap_or_default();
                if !text.is_empty() && text.len() <= TELLING_MAX_BYTES {
                    found.insert(name, text);
                }
            }
            return Ok(found);
        };
        let read = move |bench: &Workbench| {
            let mut found = BTreeMap::new();
            for name in TELLING {
                if let Some(text) = bench.file_at(&commit, name)? {
                    found.insert(name, text);
                }
            }
            Ok(found)
        };
        fleet.at_bench(self.folder.clone(), read).await
    }

    /// Takes the agent's sandbox, or makes one with a worktree of the commit.
    pub(crate) async fn set(&self, fleet: &Fleet) -> Result<Stage> {
        let Some(commit) = self.commit.clone() else {
            let agent = self.agent.as_ref().ok_or_else(|| Error::NoAgent(self.bead.clone()))?;
            let runtime = fleet.runtime(&agent.runtime)?;
            let (sandbox, profile) = (SandboxId::of(agent.id), agent.sandbox);
            return Ok(Stage { runtime, sandbox, profile, made: None });
        };
        let id: AgentId = fleet.app().mint.id();
        let last: String =
            id.to_string().chars().rev().filter(|char| *char != '-').take(8).collect();
        let name: Name = format!("{PREFIX}{last}").parse()?;
        let (own, base) = (name.clone(), commit.clone());
        let lay = move |bench: &Workbench| {
            Ok((bench.look_at(&own, &base)?, bench.common_dir().to_owned()))
        };
        let (tree, common_dir) = fleet.at_bench(self.folder.clone(), lay).await?;
        let bead = name.as_str().to_owned();
        let source = Source::Worktree { tree, common_dir, base: commit, bead };
        let mut spec = SpawnSpec::new(id, OWNER, source);
        if let Some(agent) = &self.agent {
            spec.profile = agent.sandbox;
            spec.egress.allow.clone_from(&agent.allow);
        }
        if spec.profile == Profile::None {
            let helper = &fleet.settings().helper.program;
            spec.path.extend(helper.parent().map(ToOwned::to_owned));
        }
        let (runtime, profile) = (fleet.runtime("worktree")?, spec.profile);
        match runtime.spawn(&spec).await {
            Ok(made) => Ok(Stage { runtime, sandbox: made.id, profile, made: Some(name) }),
            Err(error) => {
                self.clear(fleet, name).await;
                Err(error.into())
            }
        }
    }

    /// Removes what was made for it.
    pub(crate) async fn strike(&self, fleet: &Fleet, stage: Stage) {
        let Some(name) = stage.made else { return };
        if let Err(error) = stage.runtime.terminate(stage.sandbox, Duration::ZERO).await {
            tracing::info!(%error, "the sandbox of a preview was not ended");
        }
        self.clear(fleet, name).await;
    }

    async fn clear(&self, fleet: &Fleet, name: Name) {
        let gone = fleet.at_bench(self.folder.clone(), move |bench| bench.end_look(&name)).await;
        if let Err(error) = gone {
            tracing::info!(%error, "the worktree of a preview was not removed");
        }
    }

    /// Removes what a server has left that was killed, before the first preview in a repository: nobody else
    /// makes such worktrees, nor, before the first one of all, such sandboxes.
    pub(crate) async fn tidy(&self, fleet: &Fleet, is_first: bool) -> Result<()> {
        let runtime = fleet.runtime("worktree")?;
        let left = if is_first { runtime.list().await? } else { Vec::new() };
        for status in left {
            if status.owner == OWNER {
                runtime.terminate(status.sandbox.id, Duration::ZERO).await?;
            }
        }
        let tidy = |bench: &Workbench| {
            for entry in bench.list()? {
                if entry.id.as_str().starts_with(PREFIX) {
                    bench.end_look(&entry.id)?;
                }
            }
            Ok(())
        };
        fleet.at_bench(self.folder.clone(), tidy).await
    }
}

/// Finds the agent whose work a bead is: the one at work, or the last one.
async fn worker(
    fleet: &Fleet,
    call: &Call,
    project: ProjectId,
    bead: &str,
) -> Result<Option<Agent>> {
    let filter =
        Filter { bead: Some(bead.to_owned()), project: Some(project), ..Filter::default() };
    let mut found = agents::list(fleet, call, filter, (None, AGENTS)).await?;
    found.retain(|agent| agent.judges.is_none() && agent.trial.is_none());
    let at_work = found.iter().position(|agent| agent.life.is_running()).unwrap_or(0);
    Ok((!found.is_empty()).then(|| found.swap_remove(at_work)))
}
