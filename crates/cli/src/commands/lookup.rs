//! Finding things by the name that a person typed.

use godel_api::{Client, Page, Project, User};
use godel_model::{Invalid, ProjectId, ProjectName, UserId, UserName, code};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Result;

/// The largest page that a server gives.
pub(super) const PAGE_MAX: u32 = 100;
/// The most that a list shows; a server has a limit too.
pub(super) const LIST_MAX: usize = 10_000;

/// What no call needs.
pub(super) const NOTHING: Option<&()> = None;

/// Returns a whole list, page by page; says so if it was cut short.
pub(super) async fn all<T: DeserializeOwned>(
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
pub(super) async fn first<T: DeserializeOwned>(
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

/// Finds a user by name or id.
pub(super) async fn user(client: &Client, given: &str) -> Result<User> {
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
pub(super) async fn project(client: &Client, given: &str) -> Result<Project> {
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
pub(super) async fn projects(client: &Client, given: &[String]) -> Result<Vec<Project>> {
    let mut found = Vec::new();
    for name in given {
        found.push(project(client, name).await?);
    }
    Ok(found)
}

/// Writes a name as a part of a path.
pub(super) fn segment(name: &str) -> String {
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
