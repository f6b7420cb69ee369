//! What the permissions of its role let an agent ask for: beads, convoys, agents and events of its own
//! project, as the person who asked for the agent might.

use std::fmt::Write as _;

use godel_agents::grant::{self, GRANTS, Grant};
use godel_app::{Call, beads, events};
use godel_beads::ops::{Changes, NewBead, NewConvoy};
use godel_beads::{Bead, ConvoyState, Filter, Row, Sort};
use godel_model::{EventFilter, LinkKind, Permission, Purpose, Seq, code};
use godel_store::Direction;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::me;
use crate::doc::Agent;
use crate::{Error, Fleet, Result, agents, paper, roles};

/// The most things that one agent may make.
const MADE_MAX: u32 = 500;
/// The most lines of a list.
const LIST_MAX: usize = 200;
/// How many lines a list has unless the agent says so.
const LIST_USUAL: usize = 50;

/// Lists the tools that the role of an agent gives it.
///
/// # Errors
/// If the token is not that of an agent, or its role is not there any more.
pub async fn tools(fleet: &Fleet, who: &Purpose) -> Result<Vec<&'static Grant>> {
    let agent = me(fleet, who).await?;
    let call = narrowed(fleet, who, &agent).await?;
    Ok(grant::given(&call.actor.scopes).collect())
}

/// Does what an agent asks for with one of them; returns what it reads.
///
/// # Errors
/// If its role does not permit it, or the person who asked for the agent may not.
pub async fn use_tool(fleet: &Fleet, who: &Purpose, name: &str, input: Value) -> Result<String> {
    let agent = me(fleet, who).await?;
    let call = narrowed(fleet, who, &agent).await?;
    let Some(grant) = grant::given(&call.actor.scopes).find(|grant| grant.tool.name == name) else {
        return Err(not_given(&agent, name, &call.actor.scopes));
    };
    let desk = Desk { fleet, call, agent };
    match grant.tool.name {
        "bead_list" => desk.bead_list(given(input)?).await,
        "bead_show" => desk.bead_show(given(input)?).await,
        "bead_create" => desk.bead_create(given(input)?).await,
        "bead_update" => desk.bead_update(given(input)?).await,
        "convoy_show" => desk.convoy_show(given(input)?).await,
        "convoy_create" => desk.convoy_create(given(input)?).await,
        "agent_list" => desk.agent_list().await,
        "event_list" => desk.event_list(given(input)?).await,
        other => Err(not_given(&desk.agent, other, &[])),
    }
}

/// Acts for the person who asked for the agent, but only as its role permits, and only in its project.
///
/// A role without permissions has no scopes, which elsewhere means all: whoever gets this looks first
/// what is given.
async fn narrowed(fleet: &Fleet, who: &Purpose, agent: &Agent) -> Result<Call> {
    let mut call = fleet.on_behalf(who.tenant, agent.user).await?;
    let (_, folder) = fleet.project(&call, agent.project).await?;
    let permissions = roles::find(&folder, &agent.role).await?.permissions;
    let mut actor = (*call.actor).clone();
    actor.name = format!("agent:{}", agent.label);
    actor.scopes = permissions.into();
    actor.projects = [agent.project].into();
    call.actor = actor.into();
    Ok(call)
}

fn not_given(agent: &Agent, name: &str, permissions: &[Permission]) -> Error {
    let has: Vec<&str> = grant::given(permissions).map(|grant| grant.tool.name).collect();
    let known = GRANTS.iter().any(|grant| grant.tool.name == name);
    let message = if known {
        format!("your role {} does not permit {name}", agent.role)
    } else {
        "there is no such tool".to_owned()
    };
    let hint = if has.is_empty() {
        "your role gives no such tools; go on without".to_owned()
    } else {
        format!("you have {}", has.join(", "))
    };
    Error::refused(if known { code::FORBIDDEN } else { code::ROUTE_NOT_FOUND }, message, hint)
}

fn given<T: DeserializeOwned>(input: Value) -> Result<T> {
    let input = if input.is_null() { Value::Object(serde_json::Map::new()) } else { input };
    serde_json::from_value(input).map_err(|error| {
        Error::refused(
            code::INVALID_FIELD,
            format!("the input does not fit the tool: {error}"),
            "look at the schema of the tool, and call it again",
        )
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeadList {
    #[serde(default)]
    status: Vec<String>,
    words: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeadCreate {
    title: String,
    description: Option<String>,
    acceptance: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    #[serde(default)]
    after: Vec<String>,
    parent: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeadUpdate {
    id: String,
    title: Option<String>,
    description: Option<String>,
    acceptance: Option<String>,
    priority: Option<String>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConvoyShow {
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConvoyCreate {
    name: String,
    description: Option<String>,
    beads: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventList {
    #[serde(default)]
    types: Vec<String>,
    limit: Option<usize>,
}

/// One request of an agent.
struct Desk<'a> {
    fleet: &'a Fleet,
    call: Call,
    agent: Agent,
}

impl Desk<'_> {
    async fn bead_list(&self, asked: BeadList) -> Result<String> {
        let statuses = asked.status.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let filter = Filter { statuses, words: asked.words, ..Filter::default() };
        let (project, limit) = (Some(self.agent.project), bounded(asked.limit));
        let listing = beads::Listing { project, filter, sort: Sort::Priority, limit, after: None };
        let (found, total, _) = beads::beads(self.fleet.app(), &self.call, listing).await?;
        let lines: Vec<String> = found
            .iter()
            .map(|placed| &placed.value)
            .map(|bead| line(&bead.id, (bead.status, bead.priority), &bead.title))
            .collect();
        Ok(listed(&lines, total, "beads"))
    }

    async fn bead_show(&self, asked: Named) -> Result<String> {
        let project = Some(self.agent.project);
        let found = beads::get(self.fleet.app(), &self.call, project, &asked.id).await?;
        Ok(shown(&found.value.0))
    }

    async fn bead_create(&self, asked: BeadCreate) -> Result<String> {
        let new = NewBead {
            title: asked.title,
            kind: asked.kind.map(|text| text.parse()).transpose()?,
            priority: asked.priority.map(|text| text.parse()).transpose()?,
            description: asked.description,
            acceptance: asked.acceptance,
            labels: asked.labels,
            parent: asked.parent,
            blocked_by: asked.after,
            ..NewBead::default()
        };
        self.count_one().await?;
        let project = Some(self.agent.project);
        let made = beads::create(self.fleet.app(), &self.call, project, new).await?;
        Ok(format!("made {}", made.value.id))
    }

    async fn bead_update(&self, asked: BeadUpdate) -> Result<String> {
        if self.agent.trial.is_some() && self.means_own_bead(&asked.id).await? {
            return Err(Error::refused(
                code::FORBIDDEN,
                "several agents try your bead at once, so that it stays as it is",
                "say what you found when you are done",
            ));
        }
        let (app, project) = (self.fleet.app(), Some(self.agent.project));
        let changes = Changes {
            title: asked.title,
            priority: asked.priority.map(|text| text.parse()).transpose()?,
            description: asked.description,
            acceptance: asked.acceptance,
            ..Changes::default()
        };
        let mut bead = if changes == Changes::default() {
            beads::get(app, &self.call, project, &asked.id).await?.value.0
        } else {
            beads::update(app, &self.call, project, &asked.id, changes).await?.value
        };
        for first in asked.after {
            let link = (LinkKind::Blocks, first);
            bead = beads::link(app, &self.call, project, &bead.id, link).await?.value;
        }
        Ok(shown(&bead))
    }

    async fn convoy_show(&self, asked: ConvoyShow) -> Result<String> {
        let (app, project) = (self.fleet.app(), Some(self.agent.project));
        if let Some(id) = asked.id {
            return Ok(convoy(&beads::convoy(app, &self.call, project, &id).await?.value));
        }
        let all = beads::convoys(app, &self.call, project).await?;
        let total = all.len() as u64;
        let lines: Vec<String> = all
            .iter()
            .take(LIST_MAX)
            .map(|placed| &placed.value)
            .map(|one| {
                format!("{} {} {} ({} beads)", one.id, one.status, one.name, one.beads.len())
            })
            .collect();
        Ok(listed(&lines, total, "convoys"))
    }

    async fn convoy_create(&self, asked: ConvoyCreate) -> Result<String> {
        self.count_one().await?;
        let ConvoyCreate { name, description, beads } = asked;
        let new = NewConvoy { name, description, beads, id: None };
        let project = Some(self.agent.project);
        let made = beads::create_convoy(self.fleet.app(), &self.call, project, new).await?;
        let id = made.value.id;
        Ok(format!("made {id}; a person starts it with: godel convoy start {id}"))
    }

    async fn agent_list(&self) -> Result<String> {
        let filter =
            agents::Filter { project: Some(self.agent.project), ..agents::Filter::default() };
        let found = agents::list(self.fleet, &self.call, filter, (None, LIST_MAX)).await?;
        let lines: Vec<String> = found
            .iter()
            .filter(|agent| !agent.life.is_over() && !self.agent.is_rival_of(agent))
            .map(|agent| {
                let note = agent.note.as_deref().unwrap_or_default();
                let (name, role, state) = (&agent.label, &agent.role, agent.life.as_str());
                format!("{name} {role} {state} {} {note}", agent.bead)
            })
            .collect();
        Ok(listed(&lines, lines.len() as u64, "agents"))
    }

    async fn event_list(&self, asked: EventList) -> Result<String> {
        let types = asked.types.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
        let fields = [("projectId".to_owned(), self.agent.project.to_string())].into();
        let window = events::Window {
            filter: EventFilter::new(types, fields)?,
            direction: Direction::Backward,
            from: Seq(i64::MAX),
            limit: bounded(asked.limit),
        };
        let page = events::list(self.fleet.app(), &self.call, window).await?;
        let lines: Vec<String> = page
            .events
            .iter()
            .filter(|event| !self.is_of_rival(event))
            .rev()
            .map(|event| {
                let what = clip(event.payload.as_str());
                format!("{} {} {what}", event.at, event.kind.as_str())
            })
            .collect();
        Ok(listed(&lines, lines.len() as u64, "events"))
    }

    async fn means_own_bead(&self, name: &str) -> Result<bool> {
        let project = Some(self.agent.project);
        let found = beads::get(self.fleet.app(), &self.call, project, name).await?;
        Ok(found.value.0.id == self.agent.bead)
    }

    /// Tells whether an event is about another attempt at the agent's bead.
    fn is_of_rival(&self, event: &godel_model::Event) -> bool {
        let about = |name: &str| event.metadata.refs.get(name).map(String::as_str);
        self.agent.trial.is_some()
            && about("beadId") == Some(self.agent.bead.as_str())
            && about("agentId") != Some(self.agent.id.to_string().as_str())
    }

    /// Counts what the agent makes, so that one that has lost its way does not fill the project.
    async fn count_one(&self) -> Result<()> {
        let count = |_: &mut godel_store::Tx<'_>, agent: &mut Agent| {
            if agent.made >= MADE_MAX {
                return Err(Error::refused(
                    code::FORBIDDEN,
                    format!("one agent makes at most {MADE_MAX} beads and convoys"),
                    "finish what is there, or say what is missing when you are done",
                ));
            }
            agent.made += 1;
            Ok(())
        };
        let (tenant, id) = (self.call.actor.tenant, self.agent.id.uuid());
        paper::change::<Agent, ()>(self.fleet.app(), tenant, id, count).await.map(drop)
    }
}

fn bounded(limit: Option<usize>) -> usize {
    limit.unwrap_or(LIST_USUAL).clamp(1, LIST_MAX)
}

fn clip(text: &str) -> String {
    godel_agents::clip(text, 300)
}

fn line(id: &str, (status, priority): (impl ToString, impl ToString), title: &str) -> String {
    format!("{id} {} {} {title}", status.to_string(), priority.to_string())
}

fn listed(lines: &[String], total: u64, what: &str) -> String {
    let mut text = lines.join("\n");
    if lines.is_empty() {
        text = format!("no {what}");
    } else if (lines.len() as u64) < total {
        let _ = write!(text, "\n({} of {total} {what})", lines.len());
    }
    text
}

fn shown(bead: &Bead) -> String {
    let mut text = line(&bead.id, (bead.status, bead.priority), &bead.title);
    let mut part = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            let _ = write!(text, "\n\n{name}:\n{}", value.trim());
        }
    };
    part("To do", bead.description.as_deref().unwrap_or_default());
    part("Done when", bead.acceptance.as_deref().unwrap_or_default());
    let links: Vec<String> =
        bead.links.iter().map(|link| format!("{} {}", link.kind, link.target)).collect();
    part("Links", &links.join("\n"));
    part("Agent", bead.agent.as_deref().unwrap_or_default());
    let said: Vec<String> = bead
        .comments
        .iter()
        .filter_map(|comment| {
            Some(format!("{}: {}", comment["by"].as_str()?, comment["text"].as_str()?))
        })
        .collect();
    part("Said about it", &said.join("\n"));
    text
}

fn convoy(state: &ConvoyState) -> String {
    let one = &state.convoy;
    let mut text = format!("{} {} {}", one.id, one.status, one.name);
    let row = |text: &mut String, row: &Row| {
        let _ = write!(text, "\n  {}", line(&row.id, (row.status, row.priority), &row.title));
    };
    for (at, wave) in state.waves.iter().enumerate() {
        let _ = write!(text, "\nWave {}:", at + 1);
        wave.iter().for_each(|one| row(&mut text, one));
    }
    if !state.tangled.is_empty() {
        text.push_str("\nThese wait for each other:");
        state.tangled.iter().for_each(|one| row(&mut text, one));
    }
    if let Some(why) = &state.stalled {
        let _ = write!(text, "\nNothing moves: {why}");
    }
    text
}
