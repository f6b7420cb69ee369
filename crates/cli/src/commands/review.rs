//! `godel review`: what people decide about the work of agents.

mod lines;
mod show;

use std::io::Write as _;
use std::path::Path;

use godel_api::{
    ApplyReview, ApproveReview, DecideReview, EditReview, NewReviewComment, RequestReviewChanges,
    Review, ReviewApplied, ReviewApproved, ReviewComment, ReviewConflicts, ReviewDiff, ReviewLines,
    ReviewPart, ReviewRequested, ReviewRow,
};
use godel_args::review::{Of, Parts, Place, Rest, Review as Asked};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::agent::text;
use super::land;
use godel_console::lookup::{self, NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, here, locate};
use godel_desk::Desk;

/// How much of a commit id people need to see.
const SHORT_ID: usize = 10;
/// The server takes no longer hunk.
const EDIT_MAX_BYTES: u64 = 256 * 1024;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::List { project, limit } => list(context, project.as_deref(), limit).await,
        Asked::Show(of) => tell(context, call(context, &of, "", Method::GET, NOTHING).await?),
        Asked::Diff { of, path } => diff(context, &of, path.as_deref()).await,
        Asked::Lines { of, path, from, to, old } => {
            lines::run(context, &of, lines::Wanted { path: &path, span: (from, to), old }).await
        }
        Asked::Comment { of, text: said, on, old, reply_to } => {
            let said = text(context, &said)?;
            comment(context, &of, (said, old), (on.as_ref(), reply_to.as_deref())).await
        }
        Asked::Accept(parts) => decide(context, &parts, "accepted").await,
        Asked::Reject(parts) => decide(context, &parts, "rejected").await,
        Asked::Undo(of) => {
            tell(context, call(context, &of, "/decisions", Method::DELETE, NOTHING).await?)
        }
        Asked::Edit { of, part: which, text: said } => {
            let body =
                EditReview { part: part(&which), text: exact(context, &said)?, commit: None };
            tell(context, call(context, &of, "/edits", Method::POST, Some(&body)).await?)
        }
        Asked::Apply { of, undecided } => apply(context, &of, undecided).await,
        Asked::Unapply { of, commit } => unapply(context, &of, commit.as_deref()).await,
        Asked::Conflicts(of) => conflicts(context, &of).await,
        Asked::Approve { of, note, commit, no_land } => {
            let body = ApproveReview { note, no_land, commit };
            approve(context, &of, &body).await
        }
        Asked::RequestChanges { of, text: said, no_agent } => {
            let said = said.as_deref().map(|said| text(context, said)).transpose()?;
            request(context, &of, &RequestReviewChanges { text: said, no_agent }).await
        }
        Asked::Export { of, undecided } => export(context, &of, undecided).await,
    }
}

/// Asks the server about one review.
async fn call<T: DeserializeOwned>(
    context: &Context,
    of: &Of,
    what: &str,
    method: Method,
    body: Option<&(impl Serialize + Sync)>,
) -> Result<T> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, of.project.as_deref()).await?;
    let path = here::within(format!("/api/v1/reviews/{}{what}", segment(&of.bead)), project);
    Ok(found.client.call(method, &path, body).await?)
}

/// Returns a path with one more thing to ask.
fn with(path: &str, name: &str, value: &str) -> String {
    let sign = if path.contains('?') { '&' } else { '?' };
    format!("{path}{sign}{name}={}", segment(value))
}

async fn list(context: &Context, project: Option<&str>, limit: u32) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = match project {
        Some(_) => here::project_if_known(context, &found.client, project).await?,
        None => None,
    };
    let path = here::within("/api/v1/reviews".to_owned(), project);
    let (mut rows, more) =
        lookup::first::<ReviewRow>(&found.client, &path, None, limit as usize).await?;
    // As on each page: what nobody approved comes first.
    rows.sort_by_key(|row| row.approval.is_some());
    show::list(context, &rows, more)?;
    Ok(Exit::Done)
}

async fn diff(context: &Context, of: &Of, path: Option<&str>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, of.project.as_deref()).await?;
    let base = here::within(format!("/api/v1/reviews/{}/diff", segment(&of.bead)), project);
    let base = path.map_or_else(|| base.clone(), |path| with(&base, "path", path));
    let mut diff: ReviewDiff = found.client.call(Method::GET, &base, NOTHING).await?;
    while let Some(next) = diff.next {
        let page = with(&base, "from", &next.to_string());
        let page: ReviewDiff = found.client.call(Method::GET, &page, NOTHING).await?;
        // A push in between would mix two changes.
        if page.head != diff.head {
            return Err(Error::usage("the work has changed meanwhile", "ask again"));
        }
        let known = |comment: &ReviewComment| diff.comments.iter().any(|one| one.id == comment.id);
        let news: Vec<_> = page.comments.into_iter().filter(|one| !known(one)).collect();
        diff.comments.extend(news);
        diff.files.extend(page.files);
        diff.next = page.next;
    }
    match context.output.is_json() {
        true => context.output.value(&diff)?,
        false => show::diff(context, &diff)?,
    }
    Ok(Exit::Done)
}

async fn comment(
    context: &Context,
    of: &Of,
    (text, old): (String, bool),
    (on, reply_to): (Option<&Place>, Option<&str>),
) -> Result<Exit> {
    let (path, line) = on.map(|on| (on.path.clone(), on.hunk)).unzip();
    let line = line.flatten();
    let unknown = |_| Error::usage("that is no id of a comment", "`godel review show` lists them");
    let reply_to = reply_to.map(str::parse::<Uuid>).transpose().map_err(unknown)?;
    let side = old.then(|| "old".to_owned());
    let body = NewReviewComment { text, path, line, side, reply_to, commit: None };
    let made: ReviewComment = call(context, of, "/comments", Method::POST, Some(&body)).await?;
    if context.output.is_json() {
        context.output.value(&made)?;
        return Ok(Exit::Done);
    }
    context.output.line(made.id)?;
    let next = format!("the agent is told by `godel review request-changes {}`", of.bead);
    context.output.remark(next);
    Ok(Exit::Done)
}

async fn decide(context: &Context, parts: &Parts, verdict: &str) -> Result<Exit> {
    let body = DecideReview {
        verdict: verdict.to_owned(),
        parts: parts.parts.iter().map(part).collect(),
        all: parts.all,
        commit: None,
    };
    tell(context, call(context, &parts.of, "/decisions", Method::POST, Some(&body)).await?)
}

fn part(place: &Place) -> ReviewPart {
    let lines = place.lines.map(|(from, to)| ReviewLines { from, to });
    ReviewPart { key: None, path: Some(place.path.clone()), hunk: place.hunk, lines }
}

/// Reads a text as it is; `-` stands for stdin.
fn exact(context: &Context, given: &str) -> Result<String> {
    let desk = Desk::new(context.environment.clone(), context.output)?;
    if given == "-" { desk.read(Path::new("-"), EDIT_MAX_BYTES) } else { Ok(given.to_owned()) }
}

fn tell(context: &Context, review: Review) -> Result<Exit> {
    match context.output.is_json() {
        true => context.output.value(&review)?,
        false => show::review(context, &review)?,
    }
    Ok(Exit::Done)
}

async fn apply(context: &Context, of: &Of, undecided: Option<Rest>) -> Result<Exit> {
    let undecided = undecided.map(|rest| rest.as_str().to_owned());
    let body = ApplyReview { undecided, commit: None };
    let done: ReviewApplied = call(context, of, "/apply", Method::POST, Some(&body)).await?;
    let exit = if done.conflicts.is_empty() { Exit::Done } else { Exit::Conflict };
    if context.output.is_json() {
        context.output.value(&done)?;
        return Ok(exit);
    }
    match &done.commit {
        Some(commit) => context.output.line(commit)?,
        None => context.output.remark("all was accepted as it is; there is nothing to commit"),
    }
    for file in &done.conflicts {
        context.output.note(format_args!("conflicts with the target: {}", plain(file)));
    }
    Ok(exit)
}

async fn unapply(context: &Context, of: &Of, commit: Option<&str>) -> Result<Exit> {
    let what = commit.map_or_else(|| "/apply".to_owned(), |id| with("/apply", "commit", id));
    let done: ReviewApplied = call(context, of, &what, Method::DELETE, NOTHING).await?;
    match (context.output.is_json(), &done.commit) {
        (true, _) => context.output.value(&done)?,
        (false, Some(commit)) => context.output.line(commit)?,
        (false, None) => context.output.remark("there was nothing to take back"),
    }
    Ok(Exit::Done)
}

async fn conflicts(context: &Context, of: &Of) -> Result<Exit> {
    let found: ReviewConflicts = call(context, of, "/conflicts", Method::GET, NOTHING).await?;
    match context.output.is_json() {
        true => context.output.value(&found)?,
        false => show::conflicts(context, &found)?,
    }
    Ok(if found.files.is_empty() { Exit::Done } else { Exit::Conflict })
}

async fn approve(context: &Context, of: &Of, body: &ApproveReview) -> Result<Exit> {
    let done: ReviewApproved = call(context, of, "/approve", Method::POST, Some(body)).await?;
    let exit = done.landing.as_ref().map_or(Exit::Done, land::exit_of);
    if context.output.is_json() {
        context.output.value(&done)?;
        return Ok(exit);
    }
    let commit = &done.approval.commit;
    let commit = commit.get(..SHORT_ID).unwrap_or(commit);
    context.output.line(format_args!("{} is approved at {commit}", of.bead))?;
    if let Some(landing) = &done.landing {
        land::say(context, landing)?;
    }
    Ok(exit)
}

async fn request(context: &Context, of: &Of, body: &RequestReviewChanges) -> Result<Exit> {
    let what = "/request-changes";
    let done: ReviewRequested = call(context, of, what, Method::POST, Some(body)).await?;
    if context.output.is_json() {
        context.output.value(&done)?;
        return Ok(Exit::Done);
    }
    context.output.quote(&done.message)?;
    context.output.remark(match &done.agent {
        Some(agent) => format!("\n{agent} goes on with it (round {})", done.round),
        None => format!("\nthe next agent on {} is told this (round {})", of.bead, done.round),
    });
    Ok(Exit::Done)
}

async fn export(context: &Context, of: &Of, undecided: Option<Rest>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, of.project.as_deref()).await?;
    let path = here::within(format!("/api/v1/reviews/{}/patch", segment(&of.bead)), project);
    let path =
        undecided.map_or_else(|| path.clone(), |rest| with(&path, "undecided", rest.as_str()));
    let mut patch = found.client.download(&path, "patch").await?;
    // A patch is text for people as well: a terminal may show it.
    let mut stdout = std::io::stdout().lock();
    let failed = |cause| Error::file("stdout", "written", cause);
    while let Some(bytes) = patch.next().await? {
        stdout.write_all(&bytes).map_err(failed)?;
    }
    stdout.flush().map_err(failed)?;
    Ok(Exit::Done)
}
