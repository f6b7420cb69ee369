//! `godel attempt`: one bead, tried several ways.

use godel_api::{
    Attempt as Seen, AttemptDiff, Attempts, AttemptsList, Client, NewAttempts, PickAttempt,
};
use godel_args::attempt::{Attempt, StartAttempts};
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::{money, number, span};
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, here, locate};
use reqwest::Method;
use uuid::Uuid;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Attempt) -> Result<Exit> {
    match asked {
        Attempt::Start(asked) => start(context, asked).await,
        Attempt::List { bead: Some(bead), project, .. } => {
            show(context, &bead, project.as_deref()).await
        }
        Attempt::List { bead: None, archived, project } => {
            list(context, archived, project.as_deref()).await
        }
        Attempt::Show(asked) => show(context, &asked.bead, asked.project.as_deref()).await,
        Attempt::Diff { bead, number, other, project } => {
            diff(context, (&bead, project.as_deref()), (number, other)).await
        }
        Attempt::Pick { bead, number, force, project } => {
            pick(context, (&bead, project.as_deref()), (number, force)).await
        }
        Attempt::Drop(asked) => drop_all(context, (&asked.bead, asked.project.as_deref())).await,
    }
}

/// Finds the server, and the project that is meant.
async fn place(context: &Context, project: Option<&str>) -> Result<(Client, Option<Uuid>)> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, project).await?;
    Ok((found.client, project))
}

fn path(bead: &str, rest: &str) -> String {
    format!("/api/v1/beads/{}/attempts{rest}", segment(bead))
}

async fn start(context: &Context, asked: StartAttempts) -> Result<Exit> {
    let (client, project) = place(context, asked.project.as_deref()).await?;
    let new = NewAttempts {
        attempts: asked.ways.attempts,
        models: asked.ways.models,
        harness: asked.harness,
        budget_micros: asked.budget,
    };
    let path = here::within(path(&asked.bead, ""), project);
    let begun: Attempts = client.call(Method::POST, &path, Some(&new)).await?;
    if context.output.is_json() {
        context.output.value(&begun)?;
        return Ok(Exit::Done);
    }
    let bead = &begun.bead;
    context.output.line(format_args!("{} agents try {bead}", begun.attempts.len()))?;
    context.output.remark(format_args!("`godel attempt show {bead}` shows how they stand"));
    Ok(Exit::Done)
}

async fn show(context: &Context, bead: &str, project: Option<&str>) -> Result<Exit> {
    let (client, project) = place(context, project).await?;
    let found: Attempts =
        client.call(Method::GET, &here::within(path(bead, ""), project), NOTHING).await?;
    tell(context, found)
}

/// Shows attempts side by side, and what comes next.
fn tell(context: &Context, found: Attempts) -> Result<Exit> {
    let output = context.output;
    if output.is_json() {
        output.value(&found)?;
        return Ok(Exit::Done);
    }
    let bead = &found.bead;
    output.line(headline(&found))?;
    let header = ["#", "MODEL", "AGENT", "STATE", "GATES", "FILES", "LINES", "COST", "TIME"];
    let archived: Vec<(u32, String)> = found.attempts.iter().flat_map(kept).collect();
    output.table(header, found.attempts.iter().map(row).collect())?;
    for (number, reference) in archived {
        output.line(format_args!("attempt {number} is kept as {}", plain(&reference)))?;
    }
    if let Some(note) = &found.note {
        output.note(format_args!("it does not go on: {}", plain(note)));
    }
    if let [one, other, ..] = found.attempts.as_slice()
        && found.needs_choice
    {
        let (one, other) = (one.number, other.number);
        output.remark(format_args!(
            "`godel attempt diff {bead} {one} {other}` compares two; `godel attempt pick {bead} {one}` picks one"
        ));
    }
    Ok(Exit::Done)
}

fn headline(found: &Attempts) -> String {
    let spent = found.spent_micros.map_or_else(|| "an unknown price".to_owned(), money);
    let of = found.budget_micros.map_or_else(String::new, |cap| format!(" of {}", money(cap)));
    let bead = plain(&found.bead);
    let state = match (found.state.as_str(), found.picked) {
        ("running", _) if found.needs_choice => "the choice is yours".to_owned(),
        ("running", _) => "agents are at work".to_owned(),
        ("picking" | "picked", Some(number)) => format!("attempt {number} was picked"),
        (state, _) => plain(state),
    };
    format!("{bead}: {state}; {spent}{of} spent")
}

fn row(seen: &Seen) -> [String; 9] {
    let gates = match (seen.gates_passed, seen.gates.iter().find(|gate| !gate.passed)) {
        (Some(true), _) => "passed".to_owned(),
        (_, Some(gate)) => format!("{} failed", plain(&gate.gate)),
        _ => "-".to_owned(),
    };
    let mark = if seen.picked { "*" } else { "" };
    let (files, lines) = match &seen.commit {
        Some(_) => (number(seen.files), format!("+{} -{}", seen.added, seen.removed)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    [
        format!("{}{mark}", seen.number),
        seen.model.as_deref().map_or_else(|| "-".to_owned(), plain),
        plain(&seen.agent),
        seen.state.clone(),
        gates,
        files,
        lines,
        seen.spent_micros.map_or_else(|| "-".to_owned(), money),
        seen.seconds.map_or_else(|| "-".to_owned(), |seconds| span(seconds as f64)),
    ]
}

/// Names what keeps the work of an attempt.
fn kept(seen: &Seen) -> Vec<(u32, String)> {
    let all = seen.archived.iter().chain(&seen.rescued);
    all.map(|reference| (seen.number, reference.clone())).collect()
}

async fn list(context: &Context, archived: bool, project: Option<&str>) -> Result<Exit> {
    let (client, project) = match project {
        Some(_) => place(context, project).await?,
        None => (locate::server(context).await?.client, None),
    };
    let path = here::within(format!("/api/v1/attempts?archived={archived}"), project);
    let found: AttemptsList = client.call(Method::GET, &path, NOTHING).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&found)?;
        return Ok(Exit::Done);
    }
    if found.items.is_empty() {
        output.remark("no bead is tried several ways; `godel attempt start BEAD` begins");
        return Ok(Exit::Done);
    }
    if archived {
        let rows = found.items.iter().flat_map(|one| {
            let row = |seen: &Seen| {
                let bead = plain(&one.bead);
                let fate = if seen.picked { "picked" } else { "archived" }.to_owned();
                kept(seen).into_iter().map(move |(number, reference)| {
                    [bead.clone(), number.to_string(), fate.clone(), plain(&reference)]
                })
            };
            one.attempts.iter().flat_map(row).collect::<Vec<_>>()
        });
        output.listing(["BEAD", "#", "FATE", "KEPT AS"], rows.collect())?;
        return Ok(Exit::Done);
    }
    let row = |one: Attempts| {
        let done = one.attempts.iter().filter(|seen| seen.state == "done").count();
        let state = if one.needs_choice { "needs a choice".to_owned() } else { one.state };
        let spent = one.spent_micros.map_or_else(|| "-".to_owned(), money);
        [plain(&one.bead), state, format!("{done} of {} done", one.attempts.len()), spent]
    };
    let rows = found.items.into_iter().map(row).collect();
    output.listing(["BEAD", "STATE", "ATTEMPTS", "COST"], rows)?;
    Ok(Exit::Done)
}

async fn diff(
    context: &Context,
    (bead, project): (&str, Option<&str>),
    (number, other): (u32, Option<u32>),
) -> Result<Exit> {
    let (client, project) = place(context, project).await?;
    let against = other.map_or_else(String::new, |other| format!("?against={other}"));
    let path = here::within(path(bead, &format!("/{number}/diff{against}")), project);
    let found: AttemptDiff = client.call(Method::GET, &path, NOTHING).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&found)?;
        return Ok(Exit::Done);
    }
    output.text(plain_lines(&found.patch))?;
    let AttemptDiff { files, added, removed, .. } = found;
    output.remark(format_args!("{files} files, +{added} -{removed}"));
    if found.cut {
        output.note("only the beginning is shown; `git diff` shows all of it");
    }
    Ok(Exit::Done)
}

/// Lets lines of a repository tell a terminal nothing to do.
pub(crate) fn plain_lines(patch: &str) -> String {
    let line = |line: &str| line.split('\t').map(plain).collect::<Vec<_>>().join("\t");
    patch.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

async fn pick(
    context: &Context,
    (bead, project): (&str, Option<&str>),
    (number, force): (u32, bool),
) -> Result<Exit> {
    let (client, project) = place(context, project).await?;
    let path = here::within(path(bead, &format!("/{number}/pick")), project);
    let found: Attempts = client.call(Method::POST, &path, Some(&PickAttempt { force })).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&found)?;
        return Ok(Exit::Done);
    }
    let bead = &found.bead;
    output.line(format_args!("attempt {number} is the work of {bead} now, and in review"))?;
    let rest = match found.state.as_str() {
        "picked" => "the others are archived",
        _ => "the others are being stopped and archived",
    };
    output.remark(format_args!("{rest}; `godel review show {bead}`, then `godel land {bead}`"));
    Ok(Exit::Done)
}

async fn drop_all(context: &Context, (bead, project): (&str, Option<&str>)) -> Result<Exit> {
    let (client, project) = place(context, project).await?;
    let path = here::within(path(bead, ""), project);
    let found: Attempts = client.call(Method::DELETE, &path, NOTHING).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&found)?;
        return Ok(Exit::Done);
    }
    output.line(format_args!("the attempts at {} are archived", found.bead))?;
    output.remark("`godel attempt list --archived` shows where they are kept");
    Ok(Exit::Done)
}
