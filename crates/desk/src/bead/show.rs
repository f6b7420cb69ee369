//! `godel bead show`: all there is to know about a bead.

use godel_args::units;
use godel_beads::{Bead, Evidence, Link, LinkedCommit, Neighbour, Reason, Shelf};
use godel_console::measure::dollars;
use godel_console::output::{GOOD, STRONG, WARN, plain, styled};
use godel_console::{Exit, Result};
use godel_model::LinkKind;
use serde::Serialize;
use serde_json::Value;

use super::{found, ready};
use crate::desk::Desk;

/// A bead, and what is known about it elsewhere.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(flatten)]
    bead: Bead,
    /// What it links to, with titles.
    #[serde(skip)]
    links: Vec<Neighbour>,
    linked_from: Vec<Neighbour>,
    convoys: Vec<String>,
    waits_for: Vec<Reason>,
    git: Git,
}

/// What git says.
#[derive(Debug, Serialize)]
struct Git {
    commits: Vec<LinkedCommit>,
    head: Option<String>,
    base: String,
    ahead: usize,
    dirty: Option<String>,
    landed: bool,
}

/// Shows a bead.
pub(super) fn show(desk: &Desk, name: &str, at: Option<&str>) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    if let Some(at) = at {
        return then(desk, &mut shelf, name, at);
    }
    let bead = found(&mut shelf, name)?;
    let evidence = shelf.evidence(&bead)?;
    let shown = Shown {
        links: shelf.links_of(&bead.id)?,
        linked_from: shelf.links_to(&bead.id)?,
        convoys: shelf.convoys_of(&bead.id)?,
        waits_for: if bead.is_closed() { Vec::new() } else { shelf.reasons(&bead.id)? },
        git: git(shelf.commits(&bead, &evidence)?, evidence),
        bead,
    };
    if desk.output.is_json() {
        desk.output.value(&shown)?;
        return Ok(Exit::Done);
    }
    print(desk, &shown)?;
    Ok(Exit::Done)
}

/// Shows a bead as it was; what is around it is known for now only.
fn then(desk: &Desk, shelf: &mut Shelf, name: &str, at: &str) -> Result<Exit> {
    let now = shelf.now();
    let moment =
        units::when(at).map_or_else(|_| at.to_owned(), |when| format!("{:.0}", when.time(now)));
    let bead = Bead::of(&shelf.bead_at(name, &moment)?);
    if desk.output.is_json() {
        desk.output.value(&bead)?;
        return Ok(Exit::Done);
    }
    let link = |link: &Link| Neighbour {
        kind: link.kind.clone(),
        id: link.target.clone(),
        title: None,
        status: None,
    };
    print(
        desk,
        &Shown {
            links: bead.links.iter().map(link).collect(),
            linked_from: Vec::new(),
            convoys: Vec::new(),
            waits_for: Vec::new(),
            git: git(Vec::new(), Evidence::default()),
            bead,
        },
    )?;
    Ok(Exit::Done)
}

fn git(commits: Vec<LinkedCommit>, evidence: Evidence) -> Git {
    Git {
        commits,
        head: evidence.head,
        base: evidence.base,
        ahead: evidence.ahead.len(),
        dirty: evidence.dirty,
        landed: evidence.landing.is_some(),
    }
}

fn print(desk: &Desk, shown: &Shown) -> Result<()> {
    let output = desk.output;
    let bead = &shown.bead;
    output.line(format_args!("{}  {}", styled(STRONG, &bead.id), plain(&bead.title)))?;
    output.pairs(facts(shown))?;
    for (name, text) in [("Description", &bead.description), ("Acceptance", &bead.acceptance)] {
        if let Some(text) = text {
            output.line(format_args!("\n{}", styled(STRONG, name)))?;
            output.quote(text)?;
        }
    }
    links(desk, shown)?;
    commits(desk, shown)?;
    if !bead.comments.is_empty() {
        output.line(format_args!("\n{}", styled(STRONG, "Comments")))?;
    }
    for comment in &bead.comments {
        let text = |member: &str| comment[member].as_str().unwrap_or_default();
        output.line(plain(&format!("  {} {}", text("by"), whole_seconds(text("at")))))?;
        text("text").lines().try_for_each(|line| output.quote(&format!("  {line}")))?;
    }
    Ok(())
}

/// Returns what fits on a line each.
fn facts(shown: &Shown) -> Vec<[String; 2]> {
    let bead = &shown.bead;
    let mut status = bead.status.to_string();
    for reason in &shown.waits_for {
        status.push_str(&format!(", {}", ready::why(reason)));
    }
    if bead.deleted_at.is_some() {
        status.push_str(", deleted");
    }
    let made = match &bead.created_by {
        Some(by) => format!("{:.0} by {by}", bead.created_at),
        None => format!("{:.0}", bead.created_at),
    };
    let list = |items: &[String]| (!items.is_empty()).then(|| items.join(", "));
    let facts = [
        ("status", Some(status)),
        ("type", Some(bead.kind.clone())),
        ("priority", Some(bead.priority.to_string())),
        ("agent", bead.agent.clone()),
        ("labels", list(&bead.labels)),
        ("convoys", list(&shown.convoys)),
        (
            "estimate",
            bead.estimate.map(|minutes| godel_console::measure::span(minutes as f64 * 60.0)),
        ),
        ("budget", bead.budget.map(dollars)),
        ("rank", bead.rank.clone()),
        ("work tree", bead.worktree.clone()),
        ("resolution", bead.resolution.as_ref().map(resolution)),
        ("also known as", list(&bead.aliases)),
        ("made", Some(made)),
        ("changed", Some(format!("{:.0}", bead.updated_at))),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let kept = bead.metadata.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        [key.clone(), text]
    });
    known.chain(kept).collect()
}

fn resolution(value: &Value) -> String {
    let text = |member: &str| value[member].as_str().unwrap_or_default();
    let forced = if value["forced"] == true { ", by force" } else { "" };
    match text("reason") {
        "" => format!("{}{forced}", text("kind")),
        reason => format!("{}{forced}: {reason}", text("kind")),
    }
}

fn links(desk: &Desk, shown: &Shown) -> Result<()> {
    if shown.links.is_empty() && shown.linked_from.is_empty() {
        return Ok(());
    }
    desk.output.line(format_args!("\n{}", styled(STRONG, "Links")))?;
    let there = shown.links.iter().map(|link| (outwards(&link.kind), link));
    let here = shown.linked_from.iter().map(|link| (inwards(&link.kind), link));
    let rows = there.chain(here).map(|(how, link)| {
        let status = link.status.map_or("-".to_owned(), |status| status.to_string());
        let title = link.title.as_deref().unwrap_or_default();
        [format!("  {how}"), link.id.clone(), status, title.to_owned()]
    });
    let mut rows: Vec<[String; 4]> = rows.collect();
    desk.output.bare(&mut rows)
}

/// Says how a bead stands to one that it links to.
fn outwards(kind: &str) -> String {
    match kind.parse() {
        Ok(LinkKind::Blocks) => "blocked by".to_owned(),
        Ok(LinkKind::ParentChild) => "part of".to_owned(),
        Ok(LinkKind::WaitsFor) => "waits for all of".to_owned(),
        Ok(LinkKind::ConditionalBlocks) => "only if this fails".to_owned(),
        _ => kind.to_owned(),
    }
}

/// Says how a bead stands to one that links to it.
fn inwards(kind: &str) -> String {
    match kind.parse() {
        Ok(LinkKind::Blocks) => "blocks".to_owned(),
        Ok(LinkKind::ParentChild) => "has part".to_owned(),
        _ => format!("is {kind} of"),
    }
}

fn commits(desk: &Desk, shown: &Shown) -> Result<()> {
    let git = &shown.git;
    if git.commits.is_empty() && git.head.is_none() && shown.bead.verdicts.is_empty() {
        return Ok(());
    }
    desk.output.line(format_args!("\n{}", styled(STRONG, "Commits")))?;
    let rows = git.commits.iter().map(|commit| {
        let state = match (commit.present, commit.landed) {
            (true, true) => styled(GOOD, format_args!("in {}", git.base)),
            (true, false) => format!("not in {}", git.base),
            (false, _) => styled(WARN, "not here"),
        };
        let id = commit.id.get(..10).unwrap_or(&commit.id);
        format!("  {id}  {state}  {}", plain(commit.subject.as_deref().unwrap_or_default()))
    });
    rows.into_iter().try_for_each(|row| desk.output.line(row.trim_end()))?;
    if let Some(head) = &git.head {
        let head = head.get(..10).unwrap_or(head);
        let (id, base) = (&shown.bead.id, &git.base);
        let ahead = git.ahead;
        desk.output
            .line(format_args!("  branch bead/{id} is at {head}, {ahead} ahead of {base}"))?;
    }
    shown.bead.verdicts.iter().try_for_each(|one| desk.output.line(plain(&verdict(one))))?;
    if let Some(dirty) = &git.dirty {
        desk.output.line(format_args!("  {dirty} has changes that are not committed"))?;
    }
    Ok(())
}

fn verdict(value: &Value) -> String {
    let text = |member: &str| value[member].as_str().unwrap_or_default();
    let word = if value["passed"] == true { "passed" } else { "failed" };
    let commit = text("commit").get(..10).unwrap_or_else(|| text("commit"));
    let detail = match text("detail").lines().next() {
        Some(detail) => format!(": {detail}"),
        None => String::new(),
    };
    format!("  gate {} {word} on {commit}{detail}", text("gate"))
}

fn whole_seconds(at: &str) -> String {
    at.parse::<jiff::Timestamp>().map_or_else(|_| at.to_owned(), |at| format!("{at:.0}"))
}
