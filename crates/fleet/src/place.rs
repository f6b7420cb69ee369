//! Where an agent works: its worktree, its hold on the bead, its token, its sandbox.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use godel_agents::discover::{self, Resolved};
use godel_app::spend::tokens::{self, NewToken};
use godel_app::{Call, beads};
use godel_git::{Create, Intent, Name, State};
use godel_model::{TenantId, code};
use godel_runtime::{
    Collected, Egress, Identity, Profile, RuntimeProvider, Sandbox, SandboxId, Source, SpawnSpec,
};
use godel_store::Tx;
use secrecy::SecretString;
use tokio::sync::SetOnce;

use crate::doc::Agent;
use crate::{Error, Fleet, Result, landing, paper, wishes};

/// How long the hold on a bead lasts; while a server runs the agent, the queue's lease is the truth.
const HOLD_SECS: u64 = 24 * 60 * 60;
/// How long processes of a sandbox have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

/// Where an agent works.
pub(crate) struct Place {
    pub(crate) runtime: Arc<dyn RuntimeProvider>,
    pub(crate) sandbox: SandboxId,
    /// Holds the sandbox once its files and its walls are there.
    pub(crate) ready: Arc<SetOnce<Sandbox>>,
    pub(crate) token: SecretString,
    /// The folder of the repository.
    pub(crate) folder: PathBuf,
    /// The command line of the agent's program.
    pub(crate) program: Vec<String>,
    /// Whether nobody has worked here before.
    pub(crate) fresh: bool,
}

impl Place {
    /// Takes over what was committed.
    pub(crate) async fn collect(&self) -> godel_runtime::Result<Collected> {
        self.ready.wait().await;
        self.runtime.collect(self.sandbox).await
    }

    /// Says how far it is.
    pub(crate) fn in_words(&self) -> &'static str {
        let there = self.ready.initialized();
        if there { "its worktree is there" } else { "its worktree is being made" }
    }
}

/// What is still to be made of a place; as long as it is not, the place is not ready.
pub(crate) struct Site {
    fleet: Fleet,
    call: Call,
    agent: Agent,
    ground: Ground,
    readable: Vec<PathBuf>,
    runtime: Arc<dyn RuntimeProvider>,
    ready: Arc<SetOnce<Sandbox>>,
    folder: PathBuf,
}

/// Takes what an agent needs to work, and refuses what can be refused; its files and walls are made by
/// [`Site::make`].
pub(crate) async fn settle(fleet: &Fleet, call: &Call, agent: &mut Agent) -> Result<(Place, Site)> {
    let (_, folder) = fleet.project(call, agent.project).await?;
    let program = discover::program(agent.harness, &agent.command, &fleet.own.settings.search);
    let Resolved { line: program, folders: readable } = program.await.map_err(|why| {
        Error::refused(code::HARNESS_NOT_FOUND, why, "`godel doctor` shows what was found")
    })?;
    let runtime = fleet.runtime(&agent.runtime)?;
    let begun = async {
        // A bead is held by nobody whose worktree was refused.
        let ground = ground(fleet, call, folder.clone(), agent).await?;
        Ok::<_, Error>((ground, hold(fleet, call, agent).await?))
    };
    let (begun, token) = tokio::join!(begun, token(fleet, call, agent));
    let (ground, claim) = begun?;
    let (path, base) = (ground.tree.display().to_string(), ground.base.clone());
    let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
        agent.claim.clone_from(&claim);
        agent.worktree = Some(path.clone());
        agent.base = Some(base.clone());
        Ok(())
    };
    let (app, tenant) = (fleet.app(), call.actor.tenant);
    *agent = paper::change::<Agent, ()>(app, tenant, agent.id.uuid(), note).await?.0;
    let ready = Arc::new(SetOnce::new());
    let place = Place {
        runtime: Arc::clone(&runtime),
        sandbox: SandboxId::of(agent.id),
        ready: Arc::clone(&ready),
        token: token?,
        folder: folder.clone(),
        program,
        fresh: ground.intent.is_some(),
    };
    let (fleet, call, agent) = (fleet.clone(), call.clone(), agent.clone());
    Ok((place, Site { fleet, call, agent, ground, readable, runtime, ready, folder }))
}

impl Site {
    /// Lays out the files of a place and raises its walls.
    pub(crate) async fn make(mut self) -> Result<()> {
        if let Some(intent) = self.ground.intent.take() {
            self.fleet.at_bench(self.folder.clone(), move |bench| bench.make(intent)).await?;
        }
        // Its time runs from here on; whoever was stopped meanwhile gets no walls.
        let (run, now) = (self.agent.run, self.fleet.app().clock.now());
        let begins = self.agent.began_at.is_none();
        self.note(move |agent| {
            if agent.run != run || !agent.life.is_running() {
                return Err(Error::NoAgent(agent.label.clone()));
            }
            agent.began_at = if begins { Some(now) } else { agent.began_at };
            Ok(())
        })
        .await?;
        let sandbox = sandbox(&self.runtime, &self.agent, &self.spec()).await?;
        if self.agent.files.is_some() {
            self.note(|agent| {
                agent.files = None;
                Ok(())
            })
            .await?;
        }
        // It is set here and nowhere else.
        drop(self.ready.set(sandbox));
        self.fleet.restock(self.folder);
        Ok(())
    }

    async fn note(
        &self,
        change: impl Fn(&mut Agent) -> Result<()> + Send + Sync + Clone + 'static,
    ) -> Result<()> {
        let (app, tenant, id) = (self.fleet.app(), self.call.actor.tenant, self.agent.id.uuid());
        let work = move |_: &mut Tx<'_>, agent: &mut Agent| change(agent);
        paper::change::<Agent, ()>(app, tenant, id, work).await.map(drop)
    }

    /// Says what the sandbox is to be.
    fn spec(&self) -> SpawnSpec {
        let Self { fleet, call, agent, ground, readable, .. } = self;
        let source = Source::Worktree {
            tree: ground.tree.clone(),
            common_dir: ground.common.clone(),
            base: ground.base.clone(),
            bead: agent.tree(),
        };
        let owner = format!("{}/{}", call.actor.tenant, agent.project);
        let mut spec = SpawnSpec::new(agent.id, owner, source);
        spec.profile = agent.sandbox;
        spec.readable.clone_from(readable);
        if agent.sandbox == Profile::None {
            // Agents without tools of Godel run it; behind walls it is there anyway.
            spec.path.extend(fleet.own.settings.helper.program.parent().map(ToOwned::to_owned));
        }
        spec.pass_env = ["LANG", "LC_ALL", "TZ"].map(str::to_owned).into();
        spec.identity = Some(Identity {
            name: agent.label.clone(),
            email: format!("{}@agents.godel.invalid", agent.label),
        });
        let api = Some(fleet.own.settings.api.clone());
        spec.egress = Egress { api, allow: agent.allow.clone() };
        spec
    }
}

/// Makes the sandbox of an agent, with the files of a snapshot if it goes on from one.
async fn sandbox(
    runtime: &Arc<dyn RuntimeProvider>,
    agent: &Agent,
    spec: &SpawnSpec,
) -> godel_runtime::Result<Sandbox> {
    match &agent.files {
        Some(files) => {
            // One that is there is of a server that was killed before this was over.
            runtime.terminate(SandboxId::of(agent.id), Duration::ZERO).await?;
            runtime.restore(files, spec).await
        }
        None => runtime.spawn(spec).await,
    }
}

/// Finds what the work of an agent begins from.
async fn beginning(
    fleet: &Fleet,
    call: &Call,
    folder: PathBuf,
    agent: &Agent,
) -> Result<Option<String>> {
    if let Some(commit) = agent.judges.clone().or_else(|| agent.begin_at.clone()) {
        return Ok(Some(commit));
    }
    // Not from what a person happens to have checked out: all of it would land.
    let wanted = wishes::read(fleet, folder.clone()).await?;
    let bead = beads::get(fleet.app(), call, Some(agent.project), &agent.bead).await?.value.0;
    landing::target_of(fleet, call, (agent.project, folder), (&wanted, &bead)).await
}

/// The worktree of an agent: there, or intended.
struct Ground {
    tree: PathBuf,
    /// What it began from.
    base: String,
    /// The git directory of the repository.
    common: PathBuf,
    /// What is to be made; none if it is there.
    intent: Option<Intent>,
}

/// Finds the worktree of a bead, or records that it will be made.
async fn ground(fleet: &Fleet, call: &Call, folder: PathBuf, agent: &Agent) -> Result<Ground> {
    let name: Name = agent.tree().parse()?;
    if !folder.is_dir() {
        return Err(Error::refused(
            code::NO_REPOSITORY,
            format!("there is no repository at {} on this machine", folder.display()),
            "run the server where the repository is, or change the project's repository",
        ));
    }
    let begin_at = beginning(fleet, call, folder.clone(), agent).await?;
    fleet
        .at_bench(folder, move |bench| {
            let common = bench.common_dir().to_owned();
            let known = bench.info(&name).ok().filter(|entry| entry.state == State::Ready);
            if let Some((base, entry)) = known.and_then(|mut one| Some((one.base.take()?, one))) {
                return Ok(Ground { tree: entry.path, base: base.commit, common, intent: None });
            }
            let intent = bench.intend(&name, &Create { base: begin_at, ..Create::default() })?;
            let (tree, base) = (bench.path(&name), intent.base().to_owned());
            Ok(Ground { tree, base, common, intent: Some(intent) })
        })
        .await
}

/// Takes hold of the bead, unless the agent has it; returns the sign of that.
async fn hold(fleet: &Fleet, call: &Call, agent: &Agent) -> Result<Option<String>> {
    // Who only judges takes the bead from nobody; one of several has it by all of them together.
    if agent.judges.is_some() || agent.trial.is_some() {
        return Ok(agent.claim.clone());
    }
    let (app, project) = (fleet.app(), Some(agent.project));
    if let Some(token) = agent.claim.clone() {
        let hold = (token.clone(), HOLD_SECS);
        let kept = beads::heartbeat(app, call, project, &agent.bead, hold).await;
        if kept.is_ok() {
            return Ok(Some(token));
        }
    }
    let wanted = (agent.label.clone(), HOLD_SECS);
    let claimed = match beads::claim(app, call, project, Some(&agent.bead), wanted.clone()).await {
        Ok(claimed) => claimed,
        Err(error) => {
            // Killed between taking hold and writing that down, an agent finds itself in its own way.
            let bead = beads::get(app, call, project, &agent.bead).await?.value.0;
            if bead.agent.as_deref() != Some(&agent.label) {
                return Err(error.into());
            }
            beads::release(app, call, project, &agent.bead, (None, true)).await?;
            beads::claim(app, call, project, Some(&agent.bead), wanted).await?
        }
    };
    Ok(Some(claimed.value.token))
}

/// Makes the one token that the agent has; older ones end.
async fn token(fleet: &Fleet, call: &Call, agent: &Agent) -> Result<SecretString> {
    let app = fleet.app();
    let own = fleet.as_fleet(call.actor.tenant);
    tokens::revoke_agent(app, &own, agent.id.to_string()).await?;
    let new = NewToken {
        name: format!("agent {}", agent.label),
        project: Some(agent.project),
        agent: Some(agent.id.to_string()),
        bead: Some(agent.bead.clone()),
        convoy: agent.convoy.clone(),
        ..NewToken::default()
    };
    let (token, _) = tokens::create(app, call, new).await?;
    let token = token.ok_or_else(|| Error::Paper("no token was made".to_owned()))?;
    Ok(SecretString::from(token.expose().to_owned()))
}

/// Ends the sandbox of an agent and its tokens; its worktree stays.
pub(crate) async fn leave(fleet: &Fleet, tenant: TenantId, agent: &Agent) {
    if let Ok(runtime) = fleet.runtime(&agent.runtime)
        && let Err(error) = runtime.terminate(SandboxId::of(agent.id), GRACE).await
    {
        tracing::debug!(agent = %agent.id, %error, "there was no sandbox to end");
    }
    let call = fleet.as_fleet(tenant);
    if let Err(error) = tokens::revoke_agent(fleet.app(), &call, agent.id.to_string()).await {
        tracing::warn!(agent = %agent.id, %error, "the tokens of an agent were not revoked");
    }
}

/// Gives the bead back, so that others can take it.
pub(crate) async fn give_back(fleet: &Fleet, tenant: TenantId, agent: &Agent) {
    let Some(claim) = agent.claim.clone() else { return };
    let call = match fleet.on_behalf(tenant, agent.user).await {
        Ok(call) => call,
        Err(_) => fleet.as_fleet(tenant),
    };
    let how = (Some(claim), false);
    let given = beads::release(fleet.app(), &call, Some(agent.project), &agent.bead, how).await;
    if let Err(error) = given {
        tracing::debug!(agent = %agent.id, %error, "the bead was not given back");
    }
}
