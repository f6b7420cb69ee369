//! `godel land`: the merge queue.

use godel_api::{
    AskPause, Client, Landing, LandingLine, LandingLines, LandingPaused, MoveLanding as Whither,
    Reverted,
};
use godel_args::land::{AddLanding, Land, LandArgs, MoveLanding, OneLanding};
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::since;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, here, locate};
use godel_model::{Clock as _, SystemClock};
use reqwest::Method;
use uuid::Uuid;

/// How much of a commit id people need to see.
const SHORT_ID: usize = 10;
/// How many that are over are shown with `--all`.
const PAST: usize = 100;
/// How many that are over are shown without.
const PAST_FEW: usize = 5;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: LandArgs) -> Result<Exit> {
    match (asked.what, asked.add) {
        (Some(Land::Status { project, all }), _) => status(context, project.as_deref(), all).await,
        (Some(Land::Add(asked) | Land::Retry(asked)), _) | (None, Some(asked)) => {
            add(context, &asked).await
        }
        (Some(Land::Remove(asked)), _) => remove(context, &asked).await,
        (Some(Land::Move(asked)), _) => reorder(context, asked).await,
        (Some(Land::Revert(asked)), _) => revert(context, &asked).await,
        (Some(Land::Pause { reason, project }), _) => {
            pause(context, "pause", (reason, project.as_deref())).await
        }
        (Some(Land::Resume { project }), _) => {
            pause(context, "resume", (None, project.as_deref())).await
        }
        // The words of the command line do not let this be.
        (None, None) => Ok(Exit::Usage),
    }
}

/// Puts a bead into the queue, and waits until it has landed or somebody is needed.
async fn add(context: &Context, asked: &AddLanding) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    let project = here::project_if_known(context, client, asked.project.as_deref()).await?;
    let bead = segment(&asked.bead);
    let wait = if asked.no_wait { "?waitSeconds=0" } else { "" };
    let path = here::within(format!("/api/v1/beads/{bead}/land{wait}"), project);
    let mut landing: Landing = client.call(Method::POST, &path, NOTHING).await?;
    let again = here::within(format!("/api/v1/landings/{bead}"), project);
    let mut told = None;
    while !asked.no_wait && goes_on(&landing) {
        if !context.output.is_json() && told != landing.why {
            told.clone_from(&landing.why);
            say(context, &landing)?;
        }
        landing = client.call(Method::GET, &again, NOTHING).await?;
    }
    let exit = exit_of(&landing);
    if context.output.is_json() {
        context.output.value(&landing)?;
        return Ok(exit);
    }
    say(context, &landing)?;
    Ok(exit)
}

/// Tells whether waiting may help; what is in the way of a person is for the person to move.
fn goes_on(landing: &Landing) -> bool {
    let opening = landing.stage == "proposed" && link(landing).is_none();
    (opening || matches!(landing.stage.as_str(), "waiting" | "checking")) && landing.why.is_none()
}

/// Returns where the pull request of a landing is.
fn link(landing: &Landing) -> Option<String> {
    landing.pull_request.as_ref().and_then(|pull| pull.url.as_deref()).map(plain)
}

/// Says in few words how a pull request stands.
fn standing(landing: &Landing) -> Option<String> {
    let pull = landing.pull_request.as_ref()?;
    let word = |text: &Option<String>| text.as_deref().filter(|text| *text != "none").map(plain);
    let checks = word(&pull.checks).map(|checks| format!("checks {checks}"));
    let review = word(&pull.review).map(|review| review.replace('_', " "));
    let all = [link(landing), word(&pull.state), checks, review];
    Some(all.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Tells whether somebody has to do something about a landing.
pub(super) fn exit_of(landing: &Landing) -> Exit {
    match landing.stage.as_str() {
        "failed" | "removed" => Exit::Conflict,
        _ => Exit::Done,
    }
}

/// Says how one landing stands.
pub(super) fn say(context: &Context, landing: &Landing) -> Result<()> {
    let bead = &landing.bead;
    let target = landing.target.as_deref().map_or_else(|| "its branch".to_owned(), plain);
    let why = landing.why.as_deref().map(plain);
    let because = why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
    let output = context.output;
    match landing.stage.as_str() {
        "landed" | "pushing" => {
            let commit = landing.commit.as_deref().and_then(|id| id.get(..SHORT_ID));
            let commit = commit.map_or_else(String::new, |id| format!(" as {id}"));
            output.line(format_args!("{bead} is in {target}{commit}"))?;
            if landing.stage == "pushing" {
                output.note(format_args!("  it is still to be pushed{because}"));
            }
        }
        "mending" => {
            let mender = landing.mender.as_deref().map_or_else(String::new, plain);
            output.line(format_args!("{bead} is repaired by {mender} and lands then{because}"))?;
        }
        "proposed" => {
            let at = link(landing).map_or_else(String::new, |url| format!(" {url}"));
            output.line(format_args!("{bead} waits for its pull request{at}{because}"))?;
            output.note(
                "  hint: it is done when that is merged; `godel land status` shows how it stands",
            );
        }
        "waiting" | "checking" => {
            output.line(format_args!("{bead} is in the merge queue{because}"))?;
            output.note("  hint: `godel land status` shows the queue");
        }
        _ => {
            output.note(format_args!("{bead} is not in {target}{because}"));
            output.note(format_args!("  hint: `godel bead show {bead}` tells more"));
        }
    }
    Ok(())
}

async fn status(context: &Context, project: Option<&str>, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, project).await?;
    let past = if all { PAST } else { PAST_FEW };
    let path = here::within(format!("/api/v1/landings?past={past}"), project);
    let lines: LandingLines = found.client.call(Method::GET, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&lines)?;
        return Ok(Exit::Done);
    }
    if lines.items.iter().all(|line| line.landings.is_empty() && line.paused.is_none()) {
        context.output.line("nothing is to land")?;
        return Ok(Exit::Done);
    }
    let several = lines.items.len() > 1;
    for line in lines.items {
        if several {
            context.output.line(format_args!("project {}", line.project_id))?;
        }
        show(context, line)?;
    }
    Ok(Exit::Done)
}

fn show(context: &Context, line: LandingLine) -> Result<()> {
    if let Some(LandingPaused { by, reason, .. }) = &line.paused {
        let reason =
            reason.as_deref().map_or_else(String::new, |text| format!(": {}", plain(text)));
        context.output.note(format_args!("{} lets nothing land{reason}", plain(by)));
    }
    let now = SystemClock.now();
    let row = |landing: Landing| {
        let position = landing.position.map_or_else(|| "-".to_owned(), |place| place.to_string());
        let when = match (landing.eta_seconds, landing.ended_at) {
            (Some(seconds), _) => format!("in about {seconds} s"),
            (None, Some(ended)) => format!("{} ago", since(ended, now)),
            (None, None) => String::new(),
        };
        let what = landing.why.as_deref().and_then(|why| why.lines().next()).map(plain);
        let commit = landing.commit.as_deref().and_then(|id| id.get(..SHORT_ID));
        let pull = standing(&landing).filter(|_| landing.commit.is_none());
        let what = match (pull, what) {
            (Some(pull), Some(what)) => format!("{what} ({pull})"),
            (pull, what) => what.or(pull).or(commit.map(str::to_owned)).unwrap_or_default(),
        };
        [position, landing.bead, landing.stage, when, plain(&landing.title), what]
    };
    let rows = line.landings.into_iter().map(row).collect();
    context.output.table(["#", "BEAD", "STAGE", "WHEN", "TITLE", "WHAT"], rows)
}

async fn remove(context: &Context, asked: &OneLanding) -> Result<Exit> {
    let (client, project) = place(context, asked.project.as_deref()).await?;
    let path = here::within(format!("/api/v1/landings/{}", segment(&asked.bead)), project);
    let landing: Landing = client.call(Method::DELETE, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&landing)?;
        return Ok(Exit::Done);
    }
    context.output.line(format_args!("{} does not land", landing.bead))?;
    Ok(Exit::Done)
}

async fn reorder(context: &Context, asked: MoveLanding) -> Result<Exit> {
    let (client, project) = place(context, asked.project.as_deref()).await?;
    let path = here::within(format!("/api/v1/landings/{}/move", segment(&asked.bead)), project);
    let whither = Whither { before: asked.before, first: asked.first };
    let landing: Landing = client.call(Method::POST, &path, Some(&whither)).await?;
    if context.output.is_json() {
        context.output.value(&landing)?;
        return Ok(Exit::Done);
    }
    context.output.line(format_args!("{} has another place", landing.bead))?;
    context.output.note("  hint: `godel land status` shows the order");
    Ok(Exit::Done)
}

async fn revert(context: &Context, asked: &OneLanding) -> Result<Exit> {
    let (client, project) = place(context, asked.project.as_deref()).await?;
    let path = here::within(format!("/api/v1/beads/{}/revert", segment(&asked.bead)), project);
    let reverted: Reverted = client.call(Method::POST, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&reverted)?;
        return Ok(Exit::Done);
    }
    let commit = reverted.commit.get(..SHORT_ID).unwrap_or(&reverted.commit);
    let bead = &reverted.bead;
    context.output.line(format_args!("{bead} was taken back by {commit} and is open again"))?;
    Ok(Exit::Done)
}

async fn pause(
    context: &Context,
    what: &str,
    (reason, project): (Option<String>, Option<&str>),
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project_id = here::project_for_new(context, &found.client, project).await?;
    let asked = AskPause { project_id, reason };
    let path = format!("/api/v1/landings/{what}");
    let now: Option<LandingPaused> = found.client.call(Method::POST, &path, Some(&asked)).await?;
    if context.output.is_json() {
        context.output.value(&now)?;
        return Ok(Exit::Done);
    }
    let said = match now {
        Some(_) => "nothing lands here until `godel land resume`",
        None => "work lands again",
    };
    context.output.line(said)?;
    Ok(Exit::Done)
}

async fn place(context: &Context, project: Option<&str>) -> Result<(Client, Option<Uuid>)> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, project).await?;
    Ok((found.client, project))
}
