//! Sessions: conversations of agents as trees that can be looked at, branched, compacted and kept.

use godel_agents::tree::{Entry, NodeNumber, Tree};
use godel_app::Call;
use godel_llm::translate::talk::Item;
use godel_model::{Life, ProjectId, Reach, code};
use godel_store::Tx;
use jiff::Timestamp;
use serde_json::json;
use tracing::instrument;
use uuid::Uuid;

use crate::agents;
use crate::conversation::Stamp;
use crate::doc::{Agent, Talk};
use crate::slips::Likeness;
use crate::spawn::{self, Before, NewAgent};
use crate::{Error, Fleet, Result, conversation, paper};

/// How much of a node is shown.
const NODE_MAX_BYTES: usize = 4 * 1024;

/// A node as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its number.
    pub number: u32,
    /// The node before it.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: &'static str,
    /// What was said.
    pub text: String,
    /// When it was kept.
    pub at: Option<Timestamp>,
    /// What it cost, in millionths of a dollar.
    pub cost: Option<i64>,
}

/// Lists conversations, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.sessions.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<(Talk, Option<Agent>)>> {
    call.may("session", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let page = |from, limit| paper::page::<Talk>(tx, from, limit);
        let talks = paper::gather((before, limit), page, |talk| actor.works_in(talk.project))?;
        let agent = |talk: &Talk| paper::by_id::<Agent>(tx, talk.agent.uuid());
        let agents: Vec<_> = talks.iter().map(agent).collect::<Result<_>>()?;
        Ok(talks.into_iter().zip(agents).collect())
    })
    .await
}

/// Finds a conversation by its id, or by its agent.
///
/// # Errors
/// If the caller may not, or there is none in a project in which it works.
#[instrument(level = "debug", name = "fleet.sessions.find", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn find(fleet: &Fleet, call: &Call, name: &str) -> Result<(Talk, Option<Agent>)> {
    call.may("session", "read", Reach::Team)?;
    let (actor, wanted) = (call.actor.clone(), name.to_owned());
    let found = paper::look(fleet.app(), actor.tenant, move |tx| {
        let by_id = match Uuid::try_parse(&wanted) {
            Ok(id) => paper::by_id::<Talk>(tx, id)?,
            Err(_) => None,
        };
        let talk = match by_id {
            Some(talk) => Some(talk),
            None => match agents::lookup(tx, &wanted)? {
                Some(agent) => paper::by_id::<Talk>(tx, agent.talk)?,
                None => None,
            },
        };
        let Some(talk) = talk.filter(|talk| actor.works_in(talk.project)) else {
            return Ok(None);
        };
        let agent = paper::by_id::<Agent>(tx, talk.agent.uuid())?;
        Ok(Some((talk, agent)))
    });
    found.await?.ok_or_else(|| Error::NoSession(name.to_owned()))
}

/// Shows nodes of a conversation from a number on.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "fleet.sessions.nodes", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn nodes(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (from, limit): (u32, usize),
) -> Result<(Vec<Shown>, Option<u32>)> {
    call.may("session", "read", Reach::Team)?;
    let (talk, _) = find(fleet, call, name).await?;
    let id = talk.id;
    let read = paper::look(fleet.app(), call.actor.tenant, move |tx| {
        let talk: Talk = paper::by_id(tx, id)?.ok_or_else(|| Error::NoSession(id.to_string()))?;
        let (tree, stamps) = conversation::load_stamped(tx, &talk)?;
        let costs = conversation::costs(&stamps, conversation::spent(tx, &talk)?);
        Ok((talk, tree, stamps, costs))
    });
    let (talk, tree, stamps, costs) = read.await?;
    let known = stamps.iter().zip(costs);
    let shown: Vec<Shown> = tree
        .nodes()
        .zip(known)
        .skip(from as usize)
        .take(limit)
        .map(|((number, node), (stamp, cost))| Shown {
            at: stamp.at,
            cost,
            ..shown(number, node.parent, &node.entry)
        })
        .collect();
    let next = from.saturating_add(u32::try_from(shown.len()).unwrap_or(u32::MAX));
    Ok((shown, (next < talk.nodes).then_some(next)))
}

fn shown(number: NodeNumber, parent: Option<NodeNumber>, entry: &Entry) -> Shown {
    let (kind, text) = match entry {
        Entry::Said { item } => match item {
            Item::User { text } => ("user", text.clone()),
            Item::Model { text } => ("model", text.clone()),
            other => said(other),
        },
        Entry::Summary { text, .. } => ("summary", text.clone()),
        Entry::Kept { harness, id } => ("kept", format!("{harness} {id}")),
    };
    let text = godel_agents::clip(&text, NODE_MAX_BYTES);
    let parent = parent.map(|parent| parent.0);
    Shown { number: number.0, parent, kind, text, at: None, cost: None }
}

/// Says what a part of a conversation is that is neither of the two who talk.
fn said(item: &Item) -> (&'static str, String) {
    match item {
        Item::Call { name, input, .. } => ("call", format!("{name} {input}")),
        Item::Result { text, .. } => ("result", text.clone()),
        Item::Thought { text, .. } => ("thinking", text.clone()),
        Item::User { text } | Item::Model { text } => ("said", text.clone()),
    }
}

/// Changes a conversation of an agent that does not run, and tells of it under a word.
async fn change<R: Send + 'static>(
    fleet: &Fleet,
    call: &Call,
    (name, word): (&str, &'static str),
    work: impl Fn(&mut Tree) -> Result<R> + Send + Sync + Clone + 'static,
) -> Result<(Talk, R)> {
    call.may("session", "update", Reach::Own)?;
    let (talk, agent) = find(fleet, call, name).await?;
    let Some(agent) = agent else { return Err(only_kept(&talk)) };
    agents::may_lead(call, &agent)?;
    if agent.life.is_running() {
        return Err(Error::refused(
            code::AGENT_STATE,
            format!("agent {} is at work with this session", agent.label),
            format!("let it stand still first: godel agent pause {}", agent.label),
        ));
    }
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let change = move |tx: &mut Tx<'_>, talk: &mut Talk| {
        let mut tree = conversation::load(tx, talk)?;
        let done = work(&mut tree)?;
        let at = Some(fleet_.app().clock.now());
        conversation::store(tx, talk, &tree, Stamp { at, spent: None })?;
        let told = json!({ "session": talk.id, "change": word, "branch": talk.current });
        call_.tell(fleet_.app(), tx, fleet_.event(&agent, "agent:session", &told))?;
        Ok(done)
    };
    paper::change::<Talk, R>(fleet.app(), call.actor.tenant, talk.id, change).await
}

/// Refuses to change what only a snapshot still needs.
fn only_kept(talk: &Talk) -> Error {
    Error::refused(
        code::AGENT_STATE,
        format!("session {} belongs to a snapshot alone, and stays as it was", talk.id),
        "make an agent of the snapshot: godel agent restore; and change the session of that one",
    )
}

fn needed(name: Option<String>, what: &str) -> Result<String> {
    name.ok_or_else(|| {
        Error::refused(code::INVALID_FIELD, format!("{what} needs a name"), "give it as `name`")
    })
}

/// Begins a branch at a node, or at the end of the one that is chosen.
///
/// # Errors
/// If there is no such node, or the name is taken.
#[instrument(level = "debug", name = "fleet.sessions.branch", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn branch(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (branch, node): (Option<String>, Option<u32>),
) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let branch = needed(branch, "a branch")?;
    let work = move |tree: &mut Tree| {
        let at = node.map(NodeNumber).or_else(|| tree.head());
        Ok(tree.fork(&branch, at)?)
    };
    Ok(change(fleet, call, (name, "branch"), work).await?.0)
}

/// Chooses the branch to go on with.
///
/// # Errors
/// If there is none of that name.
#[instrument(level = "debug", name = "fleet.sessions.switch", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn switch(fleet: &Fleet, call: &Call, name: &str, to: Option<String>) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let to = needed(to, "a switch")?;
    Ok(change(fleet, call, (name, "switch"), move |tree| Ok(tree.switch(&to)?)).await?.0)
}

/// Lets a summary stand for what was said.
///
/// # Errors
/// If nothing was said.
#[instrument(level = "debug", name = "fleet.sessions.compact", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn compact(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    summary: Option<String>,
) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let work = move |tree: &mut Tree| {
        let words = summary.clone().unwrap_or_else(|| {
            let handoff = godel_agents::tree::Handoff {
                reason: "the conversation was made shorter",
                ..Default::default()
            };
            godel_agents::tree::handoff_note(tree, &handoff)
        });
        Ok(tree.compact(&words, None)?)
    };
    Ok(change(fleet, call, (name, "compact"), work).await?.0)
}

/// Gives the end of the branch a name.
///
/// # Errors
/// If the name is taken.
#[instrument(level = "debug", name = "fleet.sessions.save", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn save(fleet: &Fleet, call: &Call, name: &str, point: Option<String>) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let point = needed(point, "a save point")?;
    Ok(change(fleet, call, (name, "save"), move |tree| Ok(tree.save(&point)?)).await?.0)
}

/// Puts a conversation away.
///
/// # Errors
/// If its agent is at work.
#[instrument(level = "debug", name = "fleet.sessions.archive", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn archive(fleet: &Fleet, call: &Call, name: &str) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let (talk, _) = change(fleet, call, (name, "archive"), |_| Ok(())).await?;
    let work = |_: &mut Tx<'_>, talk: &mut Talk| {
        talk.archived = true;
        Ok(())
    };
    Ok(paper::change::<Talk, ()>(fleet.app(), call.actor.tenant, talk.id, work).await?.0)
}

/// Goes on with a conversation: its agent is resumed, or begun anew if it failed.
///
/// # Errors
/// If its agent has ended, or is at work.
#[instrument(level = "debug", name = "fleet.sessions.resume", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn resume(fleet: &Fleet, call: &Call, name: &str) -> Result<Talk> {
    call.may("session", "update", Reach::Own)?;
    let (talk, agent) = find(fleet, call, name).await?;
    let agent = agent.ok_or_else(|| Error::NoAgent(talk.agent.to_string()))?;
    let id = agent.id.to_string();
    match agent.life {
        Life::Failed => agents::restart(fleet, call, &id, (None, None)).await?,
        _ => agents::resume(fleet, call, &id).await?,
    };
    Ok(talk)
}

/// Makes a new agent that goes on from a node, with a bead and a worktree of its own.
///
/// # Errors
/// If there is no such node.
#[instrument(level = "debug", name = "fleet.sessions.fork", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn fork(fleet: &Fleet, call: &Call, name: &str, node: Option<u32>) -> Result<Agent> {
    call.may("session", "create", Reach::Own)?;
    let (talk, agent) = find(fleet, call, name).await?;
    let agent = agent.ok_or_else(|| Error::NoAgent(talk.agent.to_string()))?;
    let (_, mut tree) = conversation::open(fleet.app(), call.actor.tenant, talk.id).await?;
    if let Some(node) = node {
        let branch = format!("fork-{node}");
        // A branch of that name is at that node already.
        if !tree.branches().contains_key(&branch) {
            tree.fork(&branch, Some(NodeNumber(node)))?;
        }
        tree.switch(&branch)?;
    }
    let before = Before { tree: Some(tree), begin_at: agent.commit.clone(), ..Before::default() };
    let new = like(&Likeness::of(&agent), &agent.label, agent.project);
    spawn::spawn_with(fleet, call, new, Some(before)).await
}

/// Asks for an agent like another.
pub(crate) fn like(known: &Likeness, label: &str, project: ProjectId) -> NewAgent {
    let of = format!("\n\n(a copy of {label})");
    let room = spawn::TASK_MAX_CHARS.saturating_sub(of.chars().count());
    let task: String = known.task.chars().take(room).collect();
    NewAgent {
        task: Some(task + &of),
        project: Some(project),
        harness: Some(known.harness.name().to_owned()),
        command: known.command.clone(),
        model: Some(known.model.clone()),
        role: Some(known.role.clone()),
        runtime: Some(known.runtime.clone()),
        sandbox: Some(known.sandbox.as_str().to_owned()),
        allow: known.allow.clone(),
        budget: known.budget,
        timeout: known.timeout,
        ..NewAgent::default()
    }
}
