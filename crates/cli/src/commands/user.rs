//! `godel user`: people and what they may do.

use std::path::Path;

use godel_api::{
    Client, Invitation, NewUser, PasswordRequest, Project, User, UserExport, UserPatch,
};
use godel_app::auth::login::INVITE_HOURS;
use godel_args::access::User as Asked;
use godel_console::lookup::{self, NOTHING};
use godel_console::quietly::{self, Typed};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, Report as _, SystemClock, UserName, code};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::json;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Invite { name, role, projects } => invite(context, name, role, &projects).await,
        Asked::List => list(context).await,
        Asked::Show { name } => show(context, &name).await,
        Asked::Role { name, role } => {
            let patch = UserPatch { role: Some(role), ..UserPatch::default() };
            change(context, &name, patch).await
        }
        Asked::Project { name, set, .. } => assign(context, &name, &set).await,
        Asked::Disable { name } => change(context, &name, closed(true)).await,
        Asked::Enable { name } => change(context, &name, closed(false)).await,
        Asked::Link { name } => link(context, &name).await,
        Asked::Erase { name, yes } => erase(context, &name, yes).await,
        Asked::Export { name } => export(context, &name).await,
        Asked::Password { current_file } => password(context, current_file.as_deref()).await,
    }
}

fn closed(disabled: bool) -> UserPatch {
    UserPatch { disabled: Some(disabled), ..UserPatch::default() }
}

async fn invite(
    context: &Context,
    name: String,
    role: String,
    projects: &[String],
) -> Result<Exit> {
    name.parse::<UserName>()?;
    let found = locate::server(context).await?;
    let projects = lookup::projects(&found.client, projects).await?;
    let projects = projects.into_iter().map(|project| project.id).collect();
    let new = NewUser { name, role, projects };
    let made = found.client.call(Method::POST, "/api/v1/users", Some(&new)).await?;
    hand_over(context, &found.client, made, "is invited as")
}

async fn link(context: &Context, name: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let user = lookup::user(&found.client, name).await?;
    let path = format!("/api/v1/users/{}/link", user.id);
    let made = found.client.call(Method::POST, &path, NOTHING).await?;
    hand_over(context, &found.client, made, "gets a new link as")
}

/// Returns until when a link works that was made just now.
pub(super) fn link_ends(now: Timestamp) -> Timestamp {
    now.saturating_add(SignedDuration::from_hours(INVITE_HOURS)).unwrap_or(now)
}

/// Prints a link that opens an account: it alone goes to stdout, so that it can be piped.
fn hand_over(context: &Context, client: &Client, made: Invitation, verb: &str) -> Result<Exit> {
    let Invitation { user, link_path } = made;
    let link = link_path.map(|path| format!("{}{path}", client.url())).unwrap_or_default();
    let until = link_ends(SystemClock.now());
    if context.output.is_json() {
        let answer = json!({ "user": user, "link": link, "expiresAt": until });
        context.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    context.output.note(format_args!(
        "{} {verb} {}; the link works once, until {until:.0}:",
        user.name, user.role
    ));
    context.output.line(link)?;
    Ok(Exit::Done)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let users: Vec<User> = lookup::all(context, &found.client, "/api/v1/users", None).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": users }))?;
        return Ok(Exit::Done);
    }
    let rows = users.into_iter().map(|user| {
        let projects = match user.projects.len() {
            0 => "all".to_owned(),
            count => count.to_string(),
        };
        let seen = user.seen_at.map_or("never".to_owned(), |at| format!("{at:.0}"));
        [user.name, user.role, user.status, projects, seen]
    });
    context.output.table(["NAME", "ROLE", "STATUS", "PROJECTS", "SEEN"], rows.collect())?;
    Ok(Exit::Done)
}

async fn show(context: &Context, name: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let user = lookup::user(&found.client, name).await?;
    present(context, &found.client, user).await
}

async fn change(context: &Context, name: &str, patch: UserPatch) -> Result<Exit> {
    let found = locate::server(context).await?;
    let user = lookup::user(&found.client, name).await?;
    let path = format!("/api/v1/users/{}", user.id);
    let user: User = found.client.call(Method::PATCH, &path, Some(&patch)).await?;
    present(context, &found.client, user).await
}

async fn assign(context: &Context, name: &str, set: &[String]) -> Result<Exit> {
    let found = locate::server(context).await?;
    let projects = lookup::projects(&found.client, set).await?;
    let projects = projects.into_iter().map(|project| project.id).collect();
    change(context, name, UserPatch { projects: Some(projects), ..UserPatch::default() }).await
}

async fn present(context: &Context, client: &Client, user: User) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&user)?;
        return Ok(Exit::Done);
    }
    let projects = project_names(client, &user).await;
    let seen = user.seen_at.map_or("never".to_owned(), |at| format!("{at:.0}"));
    context.output.pairs(vec![
        ["name".to_owned(), user.name],
        ["id".to_owned(), user.id.to_string()],
        ["role".to_owned(), user.role],
        ["status".to_owned(), user.status],
        ["projects".to_owned(), projects],
        ["since".to_owned(), format!("{:.0}", user.created_at)],
        ["seen".to_owned(), seen],
    ])?;
    Ok(Exit::Done)
}

/// Names the projects of a user; one that is gone since goes by its id.
async fn project_names(client: &Client, user: &User) -> String {
    if user.projects.is_empty() {
        return "all".to_owned();
    }
    let mut names = Vec::new();
    for id in &user.projects {
        let path = format!("/api/v1/projects/{id}");
        let found: Result<Project, _> = client.call(Method::GET, &path, NOTHING).await;
        names.push(found.map_or_else(|_| id.to_string(), |project| project.name));
    }
    names.join(", ")
}

async fn erase(context: &Context, name: &str, yes: bool) -> Result<Exit> {
    if !yes {
        return Err(Error::usage(
            format!("erasing {name} cannot be undone"),
            "`godel user export NAME` keeps a copy; then add --yes",
        ));
    }
    let found = locate::server(context).await?;
    let user = lookup::user(&found.client, name).await?;
    found.client.act(Method::DELETE, &format!("/api/v1/users/{}", user.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "erased": user.id }))?;
    } else {
        context.output.line(format_args!("user {} is erased", user.id))?;
    }
    Ok(Exit::Done)
}

/// Prints what the server knows of a person, for people with room to read; JSON either way.
async fn export(context: &Context, name: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let user = lookup::user(&found.client, name).await?;
    let path = format!("/api/v1/users/{}/export", user.id);
    let all: UserExport = found.client.call(Method::GET, &path, NOTHING).await?;
    context.output.value(&all)?;
    Ok(Exit::Done)
}

async fn password(context: &Context, current_file: Option<&Path>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let current_password = current_file.map(quietly::from_file).transpose()?;
    let password = quietly::read(context, "new password", Typed::Twice).await?;
    let mut request = PasswordRequest { password, current_password };
    let set = found.client.act(Method::PUT, "/auth/password", Some(&request)).await;
    match set {
        // Only the server knows whether there is one to be asked for.
        Err(error) if error.code() == code::CURRENT_PASSWORD_NEEDED => {
            if !quietly::can_ask() {
                let hint = "give it with --current-file FILE";
                return Err(Invalid::new(error.code(), error.to_string()).with_hint(hint).into());
            }
            let current = quietly::read(context, "current password", Typed::Once).await?;
            request.current_password = Some(current);
            found.client.act(Method::PUT, "/auth/password", Some(&request)).await?;
        }
        other => other?,
    }
    if context.output.is_json() {
        context.output.value(&json!({ "set": true }))?;
    } else {
        context.output.line("the password is set; all your other logins have ended")?;
    }
    Ok(Exit::Done)
}
