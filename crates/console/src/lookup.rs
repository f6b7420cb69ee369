//! Finding things by the name that a person typed.

use godel_api::{Agent, Client, Page, Project, User};
use godel_model::{Code, Invalid, ProjectId, ProjectName, Report as _, UserId, UserName, code};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::Context;
use crate::error::{Error, Result};

/// The largest page that a server gives.
pub const PAGE_MAX: u32 = 100;
/// The most that a list shows; a server has a limit too.
pub const LIST_MAX: usize = 10_000;

/// Where agents are.
const AGENTS: &str = "/api/v1/agents";
/// How many letters of an id are enough.
const PART_MIN_CHARS: usize = 4;
/// How many things are named when a part or a name is not enough.
const NAMED_MAX: usize = 10;
/// Among how many of the newest agents a part of an id is looked for.
const NEWEST_AGENTS: usize = 1_000;

/// What no call needs.
pub const NOTHING: Option<&()> = None;

/// Returns a whole list, page by page; says so if it was cut short.
pub async fn all<T: DeserializeOwned>(
    context: &Context,
    client: &Client,
    path: &str,
    filter: Option<Value>,
) -> Result<Vec<T>> {
    let (found, more) = first(client, path, filter, LIST_MAX).await?;
    if more {
        // Also for programs: what is not there must not be taken for what does not exist.
        context.output.note(format_args!("note: only the first {} are listed", found.len()));
    }
    Ok(found)
}

/// Returns the first items of a list, page by page, and whether there is more.
pub async fn first<T: DeserializeOwned>(
    client: &Client,
    path: &str,
    filter: Option<Value>,
    limit: usize,
) -> Result<(Vec<T>, bool)> {
    let mut found: Vec<T> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let missing = limit.saturating_sub(found.len()).clamp(1, PAGE_MAX as usize);
        let mut query = vec![("limit", missing.to_string())];
        query.extend(filter.as_ref().map(|filter| ("filter", filter.to_string())));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page: Page<T> = client.page(path, &query).await?;
        found.extend(page.items);
        cursor = page.pagination.cursor.filter(|_| page.pagination.has_more);
        if cursor.is_none() || found.len() >= limit {
            return Ok((found, cursor.is_some()));
        }
    }
}

/// A part of an id, or a name, that stands for one thing of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// What was typed.
    pub given: &'a str,
    /// What it is called.
    pub kind: &'static str,
    /// What is told if there is none: the code, and where to look.
    pub missing: (Code, &'static str),
}

impl Part<'_> {
    /// Tells whether it can be a part of an id at all.
    pub fn is_of_an_id(self) -> bool {
        let letters = self.given.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        letters && self.given.len() >= PART_MIN_CHARS
    }

    /// Picks the one that is meant: by name, or by the beginning or the end of its id.
    pub fn pick<T>(
        self,
        items: Vec<T>,
        shown: impl Fn(&T) -> (Uuid, String),
        is_named: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let part = self.given.to_ascii_lowercase();
        let is_meant = |item: &T| {
            let id = shown(item).0.to_string();
            is_named(item) || (self.is_of_an_id() && (id.starts_with(&part) || id.ends_with(&part)))
        };
        let mut meant: Vec<T> = items.into_iter().filter(is_meant).collect();
        let (given, kind) = (self.given.escape_debug(), self.kind);
        if meant.len() > 1 {
            let line = |item: &T| {
                let (id, more) = shown(item);
                format!("{id}  {more}")
            };
            let lines: Vec<String> = meant.iter().take(NAMED_MAX).map(line).collect();
            return Err(Error::usage(
                format!("\"{given}\" stands for {} {kind}s", meant.len()),
                format!("name one of them by its whole id:\n{}", lines.join("\n")),
            ));
        }
        meant.pop().ok_or_else(|| {
            let (code, hint) = self.missing;
            Invalid::new(code, format!("no {kind} is found by \"{given}\"")).with_hint(hint).into()
        })
    }
}

/// Finds a user by name or id.
pub async fn user(client: &Client, given: &str) -> Result<User> {
    if let Ok(id) = given.parse::<UserId>() {
        return Ok(client.call(Method::GET, &format!("/api/v1/users/{id}"), NOTHING).await?);
    }
    let name: UserName = given.parse()?;
    // Everybody may see its own account; only admins may look for others.
    let me = client.me().await?;
    if me.actor == format!("user:{name}") {
        let path = format!("/api/v1/users/{}", me.user_id);
        return Ok(client.call(Method::GET, &path, NOTHING).await?);
    }
    let filter = json!({ "name": name.as_str() });
    let found: Vec<User> = first(client, "/api/v1/users", Some(filter), 1).await?.0;
    found.into_iter().next().ok_or_else(|| {
        let message = format!("there is no user \"{name}\"");
        Invalid::new(code::USER_NOT_FOUND, message)
            .with_hint("`godel user list` shows all users")
            .into()
    })
}

/// Finds a project by name or id.
pub async fn project(client: &Client, given: &str) -> Result<Project> {
    if let Ok(id) = given.parse::<ProjectId>() {
        return Ok(client.call(Method::GET, &format!("/api/v1/projects/{id}"), NOTHING).await?);
    }
    let name: ProjectName = given.parse()?;
    let filter = json!({ "name": name.as_str() });
    let found: Vec<Project> = first(client, "/api/v1/projects", Some(filter), 1).await?.0;
    found.into_iter().next().ok_or_else(|| {
        let message = format!("there is no project \"{name}\"");
        Invalid::new(code::PROJECT_NOT_FOUND, message)
            .with_hint("`godel project list` shows all projects")
            .into()
    })
}

/// Finds projects by name or id.
pub async fn projects(client: &Client, given: &[String]) -> Result<Vec<Project>> {
    let mut found = Vec::new();
    for name in given {
        found.push(project(client, name).await?);
    }
    Ok(found)
}

/// Finds an agent by its name, its id, or a part of its id.
pub async fn agent(client: &Client, given: &str) -> Result<Agent> {
    let path = format!("{AGENTS}/{}", segment(given));
    let missing = (code::AGENT_NOT_FOUND, "`godel agent list` shows all agents");
    let part = Part { given, kind: "agent", missing };
    match client.call::<Agent>(Method::GET, &path, NOTHING).await {
        Err(error) if error.code() == code::AGENT_NOT_FOUND && part.is_of_an_id() => {
            let (newest, _) = first::<Agent>(client, AGENTS, None, NEWEST_AGENTS).await?;
            part.pick(newest, |agent| (agent.id, agent.label.clone()), |_| false)
        }
        found => Ok(found?),
    }
}

/// Writes a name as a part of a path.
pub fn segment(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let write = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_part_of_a_path() {
        assert_eq!(segment("anthropic"), "anthropic");
        assert_eq!(segment("a/b c?d#e%"), "a%2Fb%20c%3Fd%23e%25");
        assert_eq!(segment("käse"), "k%C3%A4se");
    }
}
