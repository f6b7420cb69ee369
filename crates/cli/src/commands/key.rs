//! `godel key`: API keys.

use godel_api::{Client, Key, KeyMade, KeyRotation, NewKey, User};
use godel_args::access::Key as Asked;
use godel_console::lookup::{self, NOTHING};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, KeyId, KeyName, Permission, SystemClock, code};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::json;

/// How many keys are named when a name is not enough.
const NAMED_MAX: usize = 10;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create { name, user, scopes, expires } => {
            let end = expires.and_then(|span| SystemClock.now().checked_add(span).ok());
            create(context, name, user, (scopes, end)).await
        }
        Asked::List { user, all } => list(context, user, all).await,
        Asked::Rotate { key, grace } => rotate(context, &key, grace).await,
        Asked::Revoke { key } => revoke(context, &key).await,
    }
}

async fn create(
    context: &Context,
    name: String,
    user: Option<String>,
    (scopes, expires_at): (Vec<String>, Option<Timestamp>),
) -> Result<Exit> {
    name.parse::<KeyName>()?;
    scopes.iter().try_for_each(|scope| scope.parse::<Permission>().map(drop))?;
    let found = locate::server(context).await?;
    let user = match user {
        Some(user) => Some(lookup::user(&found.client, &user).await?),
        None => None,
    };
    let user_id = user.map(|user| user.id);
    let new = NewKey { name, user_id, scopes, expires_at };
    let made = found.client.call(Method::POST, "/api/v1/keys", Some(&new)).await?;
    hand_over(context, made, None)
}

/// Prints a new key: it alone goes to stdout, so that it can be piped.
fn hand_over(context: &Context, made: KeyMade, old: Option<(&Key, Timestamp)>) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&made)?;
        return Ok(Exit::Done);
    }
    let KeyMade { info, key } = made;
    let until = info.expires_at.map_or("without an end".to_owned(), |at| format!("until {at:.0}"));
    let scopes = match info.scopes.is_empty() {
        true => String::new(),
        false => format!(", only {}", info.scopes.join(", ")),
    };
    context.output.note(format_args!("key \"{}\" {until}{scopes}; id {}", info.name, info.id));
    if let Some((old, ends)) = old {
        let ends = old.expires_at.map_or(ends, |planned| planned.min(ends));
        context.output.note(format_args!("the old one ({}) goes on until {ends:.0}", old.prefix));
    }
    context.output.note("it is shown now and never again:");
    context.output.line(key.unwrap_or_default())?;
    Ok(Exit::Done)
}

async fn list(context: &Context, user: Option<String>, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    let filter = match (user, all) {
        (_, true) => None,
        (Some(user), _) => Some(json!({ "userId": lookup::user(client, &user).await?.id })),
        (None, false) => Some(json!({ "userId": client.me().await?.user_id })),
    };
    let keys: Vec<Key> = lookup::all(context, client, "/api/v1/keys", filter).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": keys }))?;
        return Ok(Exit::Done);
    }
    let users: Vec<User> = match all {
        true => lookup::all(context, client, "/api/v1/users", None).await?,
        false => Vec::new(),
    };
    let now = SystemClock.now();
    let owner = |key: &Key| users.iter().find(|user| user.id == key.user_id);
    let rows = keys.iter().map(|key| {
        let used = key.used_at.map_or("never".to_owned(), |at| format!("{at:.0}"));
        let owner = owner(key).map_or_else(String::new, |user| user.name.clone());
        let scopes = key.scopes.join(" ");
        [key.name.clone(), key.prefix.clone(), state(key, now), used, scopes, owner]
    });
    let header = ["NAME", "BEGINS WITH", "STATUS", "USED", "SCOPES", if all { "USER" } else { "" }];
    context.output.table(header, rows.collect())?;
    Ok(Exit::Done)
}

/// Says whether a key works.
fn state(key: &Key, now: Timestamp) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(at)) if at <= now => "ended".to_owned(),
        (None, Some(at)) => format!("until {at:.0}"),
        (None, None) => "active".to_owned(),
    }
}

fn is_live(key: &Key, now: Timestamp) -> bool {
    key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now)
}

async fn rotate(context: &Context, given: &str, grace: SignedDuration) -> Result<Exit> {
    let seconds = u32::try_from(grace.as_secs()).ok();
    let found = locate::server(context).await?;
    let key = find(context, &found.client, given).await?;
    let path = format!("/api/v1/keys/{}/rotate", key.id);
    let rotation = KeyRotation { grace_seconds: Some(seconds.unwrap_or(u32::MAX)) };
    let made = found.client.call(Method::POST, &path, Some(&rotation)).await?;
    let now = SystemClock.now();
    hand_over(context, made, Some((&key, now.saturating_add(grace).unwrap_or(now))))
}

async fn revoke(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let key = find(context, &found.client, given).await?;
    found.client.act(Method::DELETE, &format!("/api/v1/keys/{}", key.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "revoked": key.id }))?;
    } else {
        let Key { name, prefix, .. } = key;
        context.output.line(format_args!("key \"{name}\" ({prefix}..) works no more"))?;
    }
    Ok(Exit::Done)
}

/// Finds a key by its id, its beginning or its name; among those of everybody, if the caller may
/// see them.
async fn find(context: &Context, client: &Client, given: &str) -> Result<Key> {
    if let Ok(id) = given.parse::<KeyId>() {
        return Ok(client.call(Method::GET, &format!("/api/v1/keys/{id}"), NOTHING).await?);
    }
    let me = client.me().await?;
    let all = me.role == "admin" && me.scopes.is_empty();
    let filter = (!all).then(|| json!({ "userId": me.user_id }));
    let keys: Vec<Key> = lookup::all(context, client, "/api/v1/keys", filter).await?;
    pick(keys, given, SystemClock.now())
}

/// Picks the one key that is meant.
fn pick(keys: Vec<Key>, given: &str, now: Timestamp) -> Result<Key> {
    // A whole key on a command line is seen by others; its beginning is enough.
    let is_meant = |key: &Key| key.name == given || key.prefix == given;
    let mut meant: Vec<Key> =
        keys.into_iter().filter(|key| is_live(key, now) && is_meant(key)).collect();
    if meant.len() > 1 {
        let line = |key: &Key| format!("{}  {}..  {}", key.id, key.prefix, key.name);
        let lines: Vec<String> = meant.iter().take(NAMED_MAX).map(line).collect();
        return Err(Error::usage(
            format!("\"{given}\" stands for {} keys", meant.len()),
            format!("name one of them by its id:\n{}", lines.join("\n")),
        ));
    }
    meant.pop().ok_or_else(|| {
        Invalid::new(code::KEY_NOT_FOUND, format!("no key that works is called \"{given}\""))
            .with_hint("`godel key list` shows your keys; admins see all with --all")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    fn key(number: u8, name: &str, prefix: &str, ended: bool) -> Key {
        let id = format!("00000000-0000-7000-8000-0000000000{number:02}");
        let end = ended.then_some("2026-01-01T00:00:00Z");
        let text = json!({ "id": id, "userId": id, "name": name, "prefix": prefix, "scopes": [],
            "createdAt": "2025-01-01T00:00:00Z", "expiresAt": end });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_name_must_stand_for_one_key_that_works() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let keys = || {
            vec![
                key(1, "ci", "godel_sk_aaaa", true),
                key(2, "ci", "godel_sk_bbbb", false),
                key(3, "two", "godel_sk_cccc", false),
                key(4, "two", "godel_sk_dddd", false),
            ]
        };
        assert_eq!(pick(keys(), "ci", now).unwrap().prefix, "godel_sk_bbbb");
        assert_eq!(pick(keys(), "godel_sk_cccc", now).unwrap().name, "two");
        let error = pick(keys(), "two", now).unwrap_err();
        assert_eq!(error.code(), code::INVALID_REQUEST);
        let hint = error.hint().unwrap();
        assert!(hint.contains("godel_sk_cccc") && hint.contains("godel_sk_dddd"), "{hint}");
        for unknown in ["three", "godel_sk_aaaa", "godel_sk_", ""] {
            assert_eq!(pick(keys(), unknown, now).unwrap_err().code(), code::KEY_NOT_FOUND);
        }
    }
}
