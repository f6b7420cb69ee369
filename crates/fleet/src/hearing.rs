//! Hearings: that a commit of a bead is to be judged, and what came of it.

use godel_agents::gates::Review;
use godel_app::Call;
use godel_model::{EventId, Life, ProjectId, TenantId, UserId};
use godel_store::Tx;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::doc::Agent;
use crate::paper::Filed;
use crate::slips::March;
use crate::{Error, Fleet, Result, landing, paper, wishes};

/// The state of a hearing that goes on.
pub(crate) const OPEN: &str = "open";
/// How many agents of a bead are looked at.
const LOOK_MAX: usize = 1_000;

/// How a hearing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Heard {
    /// It goes on.
    Open,
    /// The work has landed.
    Landed,
    /// The work was sent back.
    SentBack,
    /// A person decided, or the work went on without it.
    Passed,
}

/// That a commit of a bead is to be judged, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hearing {
    pub(crate) id: Uuid,
    pub(crate) project: ProjectId,
    pub(crate) bead: String,
    pub(crate) commit: String,
    pub(crate) convoy: Option<String>,
    /// For whom the work was done.
    pub(crate) user: UserId,
    pub(crate) heard: Heard,
    /// The name under which no commit is heard twice.
    name: String,
    created_at: Timestamp,
}

impl Hearing {
    fn name_of(project: ProjectId, bead: &str, commit: &str) -> String {
        format!("{project}/{bead}/{commit}")
    }
}

impl Hearing {
    /// A hearing of a commit that nobody has looked at yet.
    fn fresh(
        fleet: &Fleet,
        (project, bead): (ProjectId, &str),
        commit: String,
        (convoy, user): (Option<String>, UserId),
    ) -> Self {
        Self {
            id: fleet.app().mint.id::<EventId>().uuid(),
            project,
            bead: bead.to_owned(),
            name: Self::name_of(project, bead, &commit),
            commit,
            convoy,
            user,
            heard: Heard::Open,
            created_at: fleet.app().clock.now(),
        }
    }
}

impl Filed for Hearing {
    const KIND: &'static str = "hearing";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn owner(&self) -> String {
        Agent::owner_of(self.project, &self.bead)
    }

    fn state(&self) -> &str {
        match self.heard {
            Heard::Open => OPEN,
            Heard::Landed => "landed",
            Heard::SentBack => "sent_back",
            Heard::Passed => "passed",
        }
    }

    fn missing(what: String) -> Error {
        Error::Paper(format!("there is no review {what}"))
    }
}

/// Tells whether an agent is to judge what another has done.
///
/// # Errors
/// If the project is gone, or its file cannot be read.
pub async fn is_wanted(fleet: &Fleet, call: &Call, agent: &Agent) -> Result<bool> {
    let (_, folder) = fleet.project(call, agent.project).await?;
    if wishes::read(fleet, folder).await?.review != Review::Agent {
        return Ok(false);
    }
    // What lands as one is judged as one.
    Ok(!landing::is_part(fleet, call, (agent.project, &agent.bead)).await?)
}

/// Asks for the work of an agent to be judged; once for each commit.
///
/// # Errors
/// If the database fails.
pub fn ask(fleet: &Fleet, tx: &mut Tx<'_>, agent: &Agent) -> Result<()> {
    let Some(commit) = agent.commit.clone() else { return Ok(()) };
    let which = (agent.project, agent.bead.as_str());
    let hearing = Hearing::fresh(fleet, which, commit, (agent.convoy.clone(), agent.user));
    paper::insert(tx, &hearing).map(drop)
}

/// Asks for what a convoy comes to to be judged; once for each commit.
pub(crate) async fn ask_whole(
    fleet: &Fleet,
    tenant: TenantId,
    march: &March,
    (bead, commit): (&str, String),
) -> Result<()> {
    let whose = (Some(march.convoy.clone()), march.user);
    let hearing = Hearing::fresh(fleet, (march.project, bead), commit, whose);
    paper::write(fleet.app(), tenant, move |tx| paper::insert(tx, &hearing).map(drop)).await
}

/// Asks for work to be judged that came to review before the project wanted that.
pub(crate) async fn ask_for(
    fleet: &Fleet,
    tenant: TenantId,
    (project, bead): (ProjectId, &str),
) -> Result<()> {
    let owner = Agent::owner_of(project, bead);
    let fleet_ = fleet.clone();
    let work = move |tx: &mut Tx<'_>| {
        let tried = paper::of::<Agent>(tx, &owner, None, LOOK_MAX)?;
        let last = tried.iter().find(|one| one.did_the_work() && one.life == Life::Completed);
        last.map_or(Ok(()), |last| ask(&fleet_, tx, last))
    };
    paper::write(fleet.app(), tenant, work).await
}

/// Tells whether a commit was judged before, and sent back.
pub(crate) async fn was_sent_back(
    fleet: &Fleet,
    tenant: TenantId,
    agent: &Agent,
    commit: &str,
) -> Result<bool> {
    let name = Hearing::name_of(agent.project, &agent.bead, commit);
    let found = paper::look(fleet.app(), tenant, move |tx| paper::by_label::<Hearing>(tx, &name));
    Ok(found.await?.is_some_and(|hearing| hearing.heard == Heard::SentBack))
}
