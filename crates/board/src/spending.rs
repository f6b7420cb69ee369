//! What was spent by teams and in runtimes, and on what. The ledger knows agents, and agents know teams and
//! runtimes; what is no provider's has a name of its own among them.

use std::collections::{BTreeMap, BTreeSet};

use godel_app::{App, Call};
use godel_books::reports::{self, Days, GroupBy, Narrow, Report};
use godel_fleet::{Agent, paper};
use godel_model::{AgentId, Reach, SpendKind, UsageSum};
use godel_store::Tx;
use jiff::civil::date;
use tracing::instrument;
use uuid::Uuid;

use crate::{Error, Result};

/// By what a report is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// By what the ledger itself knows.
    Ledger(GroupBy),
    /// By the team of the agent.
    Team,
    /// By the runtime that the agent works in.
    Runtime,
    /// By what it was spent on: models, machines or storage.
    Kind,
}

impl Split {
    /// All names that can be asked for, in the order in which they are told.
    pub fn names() -> impl Iterator<Item = &'static str> {
        GroupBy::ALL
            .into_iter()
            .map(GroupBy::as_str)
            .chain([Self::Team, Self::Runtime, Self::Kind].map(Self::as_str))
    }

    /// Finds one by its name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "team" => Some(Self::Team),
            "runtime" => Some(Self::Runtime),
            "kind" => Some(Self::Kind),
            _ => GroupBy::ALL.into_iter().find(|by| by.as_str() == name).map(Self::Ledger),
        }
    }

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ledger(by) => by.as_str(),
            Self::Team => "team",
            Self::Runtime => "runtime",
            Self::Kind => "kind",
        }
    }
}

/// What a report or a list is about; empty fields do not narrow it.
#[derive(Debug, Clone, Default)]
pub struct Only {
    /// What the ledger itself knows.
    pub ledger: Narrow,
    /// The team, by id; an empty one stands for work without a team.
    pub team: Option<String>,
    /// The runtime; an empty one stands for work without an agent.
    pub runtime: Option<String>,
}

/// What an agent stands for.
#[derive(Debug, Clone, Default)]
struct Side {
    team: String,
    runtime: String,
}

/// Agents by the names that the ledger has of them.
type Sides = BTreeMap<String, Side>;

/// Tells what was used between two days, as the ledger's own report does, and by team and runtime as well.
///
/// # Errors
/// If the caller may not, or the days make no sense.
#[instrument(level = "debug", name = "board.spending.usage", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn usage(app: &App, call: &Call, days: Days, by: &[Split], only: Only) -> Result<Report> {
    call.may("cost", "read", Reach::Team)?;
    let narrow = narrowed(app, call, days.clone(), only).await?;
    let mut asked: Vec<GroupBy> = by.iter().filter_map(|split| split.ledger()).collect();
    if asked.len() == by.len() {
        return Ok(reports::usage(app, call, days, asked, narrow).await?);
    }
    // Who worked is needed to know for which team, and where; who was paid to know for what.
    for split in by {
        let needed = match split {
            Split::Ledger(by) => *by,
            Split::Team | Split::Runtime => GroupBy::Agent,
            Split::Kind => GroupBy::Provider,
        };
        if !asked.contains(&needed) {
            asked.push(needed);
        }
    }
    let report = reports::usage(app, call, days, asked.clone(), narrow).await?;
    let agent = asked.iter().position(|by| *by == GroupBy::Agent);
    let names = agent.map(|at| names(&report, at)).unwrap_or_default();
    let sides = sides(app, call, names).await?;
    Ok(Report { rows: regroup(&report, by, &asked, &sides), ..report })
}

/// Turns a narrowing by team or runtime into one by the agents of some days that are meant.
async fn narrowed(app: &App, call: &Call, days: Days, only: Only) -> Result<Narrow> {
    let Only { mut ledger, team, runtime } = only;
    if team.is_none() && runtime.is_none() {
        return Ok(ledger);
    }
    let by = vec![GroupBy::Agent];
    let report = reports::usage(app, call, days, by, ledger.clone()).await?;
    let fits =
        |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
    let meant = sides(app, call, names(&report, 0)).await?.into_iter();
    let meant = meant.filter(|(_, side)| fits(&team, &side.team) && fits(&runtime, &side.runtime));
    ledger.agents = Some(meant.map(|(agent, _)| agent).collect());
    Ok(ledger)
}

/// Turns a narrowing by team or runtime into one by agents, whenever they worked.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.spending.ever", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn ever(app: &App, call: &Call, only: Only) -> Result<Narrow> {
    call.may("cost", "read", Reach::Team)?;
    narrowed(app, call, Days::from((Some(date(2020, 1, 1)), None)), only).await
}

impl Split {
    const fn ledger(self) -> Option<GroupBy> {
        match self {
            Self::Ledger(by) => Some(by),
            Self::Team | Self::Runtime | Self::Kind => None,
        }
    }
}

fn names(report: &Report, at: usize) -> BTreeSet<String> {
    report.rows.iter().filter_map(|(values, _)| values.get(at).cloned()).collect()
}

/// Adds rows up that differ only by agents of the same team or runtime, or by providers of the same kind.
fn regroup(
    report: &Report,
    by: &[Split],
    asked: &[GroupBy],
    sides: &Sides,
) -> Vec<(Vec<String>, UsageSum)> {
    let nobody = Side::default();
    let mut rows: BTreeMap<Vec<String>, UsageSum> = BTreeMap::new();
    for (values, sum) in &report.rows {
        let told = |by: GroupBy| {
            let at = asked.iter().position(|asked| *asked == by);
            at.and_then(|at| values.get(at)).map_or("", String::as_str)
        };
        let side = sides.get(told(GroupBy::Agent)).unwrap_or(&nobody);
        let value = |split: &Split| match split {
            Split::Team => side.team.clone(),
            Split::Runtime => side.runtime.clone(),
            Split::Kind => SpendKind::of(told(GroupBy::Provider)).as_str().to_owned(),
            Split::Ledger(by) => told(*by).to_owned(),
        };
        rows.entry(by.iter().map(value).collect()).or_default().add(sum);
    }
    rows.into_iter().collect()
}

/// Finds the teams and runtimes of agents; a name that is no agent's of the fleet has neither.
async fn sides(app: &App, call: &Call, names: BTreeSet<String>) -> Result<Sides> {
    let read = move |tx: &mut Tx<'_>| {
        let mut sides = Sides::new();
        for name in &names {
            let id = name.parse::<AgentId>().ok();
            let agent = match id {
                Some(id) => paper::by_id::<Agent>(tx, id.uuid())?,
                None => None,
            };
            let side = agent.map(|agent| Side {
                team: agent.team.map(|team: Uuid| team.to_string()).unwrap_or_default(),
                runtime: agent.runtime,
            });
            sides.insert(name.clone(), side.unwrap_or_default());
        }
        Ok::<_, Error>(sides)
    };
    app.store.read_long(call.scope(), read).await
}
