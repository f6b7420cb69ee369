//! `godel session`: the conversations of agents.

mod compare;
mod draw;

use std::collections::BTreeMap;

use godel_api::{Agent, Client, Talk, TalkChange, TalkNode, TalkNodes};
use godel_args::agent::{Session as Asked, Spot};
use godel_console::lookup::{self, NOTHING, Part, segment};
use godel_console::measure::since;
use godel_console::output::{GOOD, Output, STRONG, WARN, cut, plain, styled};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, Report as _, SystemClock, code};
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use self::draw::{Row, Strand};
use super::agent;

const PATH: &str = "/api/v1/sessions";
/// Among how many of the newest sessions a part of an id is looked for.
const NEWEST: usize = 1_000;
/// How many nodes are asked for at once.
const PAGE: u32 = 500;
/// How many nodes of the end are shown unless all are wanted.
const LAST: usize = 20;
/// How wide a line is if there is no terminal.
const WIDTH: usize = 120;
/// How wide the kind of a node is.
const KIND_WIDTH: usize = 8;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    let change = TalkChange::default();
    match asked {
        Asked::List { bead, limit } => list(context, bead.as_deref(), limit as usize).await,
        Asked::Tree { session, all } => tree(context, &session, all).await,
        Asked::Show { session, all } => show(context, &session, all).await,
        Asked::Compare { session, left, right } => {
            compare::run(context, &session, (&left, &right)).await
        }
        Asked::Fork(spot) => fork(context, &spot).await,
        Asked::Branch { spot, name } => {
            let change = TalkChange { name: Some(name), ..change };
            at(context, &spot, "branch", change).await
        }
        Asked::Save { session, name } => {
            let change = TalkChange { name: Some(name), ..change };
            at(context, &whole(session), "save", change).await
        }
        Asked::Switch { session, branch } => {
            let change = TalkChange { name: Some(branch), ..change };
            at(context, &whole(session), "switch", change).await
        }
        Asked::Compact { session, summary } => {
            at(context, &whole(session), "compact", TalkChange { summary, ..change }).await
        }
        Asked::Resume { session } => at(context, &whole(session), "resume", change).await,
        Asked::Archive { session } => at(context, &whole(session), "archive", change).await,
    }
}

const fn whole(session: String) -> Spot {
    Spot { session, node: None }
}

/// Finds a conversation by its id, a part of it, its agent or its bead.
async fn find(client: &Client, given: &str) -> Result<Talk> {
    if given.parse::<Uuid>().is_ok() {
        let path = format!("{PATH}/{}", segment(given));
        match client.call(Method::GET, &path, NOTHING).await {
            Err(error) if error.code() == code::SESSION_NOT_FOUND => {}
            found => return Ok(found?),
        }
    }
    let path = format!("{}/{}", agent::PATH, segment(given));
    match client.call::<Agent>(Method::GET, &path, NOTHING).await {
        Ok(agent) => {
            let path = format!("{PATH}/{}", agent.session_id);
            return Ok(client.call(Method::GET, &path, NOTHING).await?);
        }
        Err(error) if error.code() == code::AGENT_NOT_FOUND => {}
        Err(error) => return Err(error.into()),
    }
    let (newest, _) = lookup::first::<Talk>(client, PATH, None, NEWEST).await?;
    let missing = (code::SESSION_NOT_FOUND, "`godel session list` shows all sessions");
    let part = Part { given, kind: "session", missing };
    let is_bead =
        |talk: &Talk| talk.bead == given || talk.bead.strip_prefix("godel-") == Some(given);
    part.pick(newest, |talk| (talk.id, format!("{}  {}", talk.agent, talk.bead)), is_bead)
}

async fn list(context: &Context, bead: Option<&str>, limit: usize) -> Result<Exit> {
    let found = locate::server(context).await?;
    let filter = bead.map(|bead| json!({ "bead": bead }));
    let (items, more) = lookup::first::<Talk>(&found.client, PATH, filter, limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let rows = items.into_iter().map(|talk| {
        [
            talk.agent,
            talk.status,
            talk.bead,
            talk.nodes.to_string(),
            talk.branch,
            since(talk.created_at, now),
            talk.id.to_string(),
        ]
    });
    let header = ["AGENT", "STATUS", "BEAD", "NODES", "BRANCH", "AGE", "ID"];
    context.output.table(header, rows.collect())?;
    if more {
        context.output.remark("there are older ones: raise --limit");
    }
    Ok(Exit::Done)
}

async fn nodes(client: &Client, id: Uuid) -> Result<Vec<TalkNode>> {
    let (path, mut from, mut all) = (format!("{PATH}/{id}/nodes"), 0, Vec::new());
    loop {
        let query = [("from", from.to_string()), ("limit", PAGE.to_string())];
        let page: TalkNodes = client.get(&path, &query).await?;
        all.extend(page.items);
        match page.next {
            // A server that does not move on must not be asked for ever.
            Some(next) if next > from => from = next,
            _ => return Ok(all),
        }
    }
}

async fn tree(context: &Context, given: &str, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let talk = find(&found.client, given).await?;
    let nodes = nodes(&found.client, talk.id).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "session": talk, "nodes": nodes }))?;
        return Ok(Exit::Done);
    }
    headline(output, &talk)?;
    if nodes.is_empty() {
        output.line("Nothing was said yet.")?;
        return Ok(Exit::Done);
    }
    let names = names(&talk);
    let width = output.width().unwrap_or(WIDTH);
    let strand = Strand { nodes: &nodes, is_named: &|number| names.contains_key(&number), all };
    for row in strand.rows() {
        output.line(row_text(&row, &nodes, &names, width))?;
    }
    output.remark("\n`godel session fork SESSION --node N` lets another agent go on from there");
    Ok(Exit::Done)
}

fn headline(output: Output, talk: &Talk) -> Result<()> {
    let (agent, branch) = (plain(&talk.agent), plain(&talk.branch));
    let headline = styled(STRONG, format!("{agent} on {}", talk.bead));
    output.line(format_args!("{headline} ({}), branch {branch}\n", talk.status))
}

/// Returns what each node is called: branches that end there, and save points.
fn names(talk: &Talk) -> BTreeMap<u32, Vec<String>> {
    let mut names: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (branch, node) in &talk.branches {
        let Some(node) = node else { continue };
        let name = match *branch == talk.branch {
            true => styled(GOOD, format!("branch {} (chosen)", plain(branch))),
            false => styled(STRONG, format!("branch {}", plain(branch))),
        };
        names.entry(*node).or_default().push(name);
    }
    for (save, node) in &talk.saves {
        let name = styled(WARN, format!("saved as {}", plain(save)));
        names.entry(*node).or_default().push(name);
    }
    names
}

fn row_text(
    row: &Row,
    nodes: &[TalkNode],
    names: &BTreeMap<u32, Vec<String>>,
    width: usize,
) -> String {
    let node = match row {
        Row::Gap { guide, count } => return format!("{guide}   .. {count} more"),
        Row::Node { at, .. } => &nodes[*at],
    };
    let Row::Node { guide, .. } = row else { return String::new() };
    let before = format!("{guide}{:>3} {:KIND_WIDTH$} ", node.number, plain(&node.kind));
    let first = node.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let names = names.get(&node.number).map(|names| names.join(", "));
    let names = names.map_or_else(String::new, |names| format!("  <- {names}"));
    let taken = before.chars().count() + anstream::adapter::strip_str(&names).to_string().len();
    let text = cut(&plain(first.trim()), width.saturating_sub(taken).max(20));
    format!("{before}{text}{names}").trim_end().to_owned()
}

async fn show(context: &Context, given: &str, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let talk = find(&found.client, given).await?;
    let nodes = nodes(&found.client, talk.id).await?;
    let end = talk.branches.get(&talk.branch).copied().flatten();
    let mut way = draw::way(&nodes, end);
    let skipped = if all { 0 } else { way.len().saturating_sub(LAST) };
    way.drain(..skipped);
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "session": talk, "nodes": way }))?;
        return Ok(Exit::Done);
    }
    headline(output, &talk)?;
    if skipped > 0 {
        output.line(format_args!("(--all shows {skipped} earlier nodes)\n"))?;
    }
    for node in way {
        let mark = styled(STRONG, format!("{} {}", node.number, plain(&node.kind)));
        output.line(mark)?;
        output.quote(&node.text)?;
    }
    Ok(Exit::Done)
}

/// Reads the place that is meant: a number, or the name of a save point.
fn place(talk: &Talk, given: Option<&str>) -> Result<Option<u32>> {
    let Some(given) = given else { return Ok(None) };
    if let Some(node) = talk.saves.get(given) {
        return Ok(Some(*node));
    }
    given.parse().map(Some).map_err(|_| {
        let given = given.escape_debug();
        let message = format!("\"{given}\" is neither the number of a node nor a save point");
        let saves: Vec<&str> = talk.saves.keys().map(String::as_str).collect();
        let hint = match saves.len() {
            0 => "`godel session tree` shows the numbers".to_owned(),
            _ => format!("there are the save points {}", saves.join(", ")),
        };
        Error::from(Invalid::new(code::NODE_NOT_FOUND, message).with_hint(hint))
    })
}

async fn fork(context: &Context, spot: &Spot) -> Result<Exit> {
    let found = locate::server(context).await?;
    let talk = find(&found.client, &spot.session).await?;
    let node = place(&talk, spot.node.as_deref())?;
    let change = TalkChange { node, ..TalkChange::default() };
    let path = format!("{PATH}/{}/fork", talk.id);
    let copy: Agent = found.client.call(Method::POST, &path, Some(&change)).await?;
    if context.output.is_json() {
        context.output.value(&copy)?;
        return Ok(Exit::Done);
    }
    let (label, of) = (plain(&copy.label), plain(&talk.agent));
    context.output.line(format_args!("agent {label} on {} goes on from {of}", copy.bead))?;
    Ok(Exit::Done)
}

/// Changes a conversation at a place.
async fn at(context: &Context, spot: &Spot, verb: &str, change: TalkChange) -> Result<Exit> {
    let found = locate::server(context).await?;
    let talk = find(&found.client, &spot.session).await?;
    let node = place(&talk, spot.node.as_deref())?;
    let change = TalkChange { node, ..change };
    let path = format!("{PATH}/{}/{verb}", talk.id);
    let talk: Talk = found.client.call(Method::POST, &path, Some(&change)).await?;
    if context.output.is_json() {
        context.output.value(&talk)?;
        return Ok(Exit::Done);
    }
    let (agent, branch) = (plain(&talk.agent), plain(&talk.branch));
    let (count, status) = (talk.nodes, &talk.status);
    context.output.line(format_args!(
        "the session of {agent} is {status}, on branch {branch}, with {count} nodes"
    ))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Talk {
        Talk {
            id: Uuid::nil(),
            agent_id: Uuid::nil(),
            user_id: None,
            agent: "worker-1".to_owned(),
            bead: "godel-4k2hm".to_owned(),
            status: "active".to_owned(),
            branch: "main".to_owned(),
            branches: [("main".to_owned(), Some(5)), ("try".to_owned(), Some(3))].into(),
            saves: [("before".to_owned(), 1), ("7".to_owned(), 2)].into(),
            nodes: 6,
            created_at: "2026-11-15T08:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_place_is_a_number_or_a_save_point() {
        let talk = talk();
        let of = |given: Option<&str>| place(&talk, given).ok().flatten();
        assert_eq!((of(None), of(Some("4")), of(Some("before"))), (None, Some(4), Some(1)));
        assert_eq!(of(Some("7")), Some(2), "a name comes first");
        for bad in ["after", "-1", "1.5", ""] {
            assert!(place(&talk, Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tree_has_branches_numbers_and_names() {
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        let nodes: Vec<TalkNode> = parents
            .iter()
            .enumerate()
            .map(|(number, parent)| TalkNode {
                number: number as u32,
                parent: *parent,
                kind: if number == 0 { "user" } else { "model" }.to_owned(),
                text: format!("text {number}\nmore"),
                at: None,
                cost_micros: None,
            })
            .collect();
        let names = names(&talk());
        let strand = Strand { nodes: &nodes, is_named: &|n| names.contains_key(&n), all: false };
        let rows: Vec<String> = strand
            .rows()
            .iter()
            .map(|row| row_text(row, &nodes, &names, 80))
            .map(|text| anstream::adapter::strip_str(&text).to_string())
            .collect();
        let expected = [
            "  0 user     text 0",
            "  1 model    text 1  <- saved as before",
            "├─   2 model    text 2  <- saved as 7",
            "│    3 model    text 3  <- branch try",
            "└─   4 model    text 4",
            "     5 model    text 5  <- branch main (chosen)",
        ];
        assert_eq!(rows, expected);
    }
}
