//! `godel secret`: values that nobody gets to see again.

mod master;

use godel_api::{Secret, SecretList, SecretValue};
use godel_args::access::Secret as Asked;
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::span;
use godel_console::quietly::{self, Typed};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, SecretName, SystemClock};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::json;

/// From this age on, a secret deserves a new value.
const OLD_DAYS: i64 = 90;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Set { name } => set(context, &name).await,
        Asked::List => list(context).await,
        Asked::Remove { name, yes } => remove(context, &name, yes).await,
        Asked::RotateMaster(database) => master::rotate(context, &database).await,
        Asked::ResetMaster { yes, database } => master::reset(context, &database, yes).await,
    }
}

async fn set(context: &Context, name: &str) -> Result<Exit> {
    name.parse::<SecretName>()?;
    let found = locate::server(context).await?;
    let value = quietly::read(context, "value", Typed::Once).await?;
    let path = format!("/api/v1/secrets/{}", segment(name));
    let body = SecretValue { value };
    let secret: Secret = found.client.call(Method::PUT, &path, Some(&body)).await?;
    if context.output.is_json() {
        context.output.value(&secret)?;
    } else {
        let Secret { name, version, .. } = secret;
        context.output.line(format_args!("secret {name} is set, version {version}"))?;
    }
    Ok(Exit::Done)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let list: SecretList = found.client.call(Method::GET, "/api/v1/secrets", NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&list)?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let old: Vec<String> = list
        .items
        .iter()
        .filter(|secret| is_old(secret, now))
        .map(|one| one.name.clone())
        .collect();
    let rows = list.items.into_iter().map(|secret| {
        let ends = secret.last_four.as_deref().map_or("-".to_owned(), |last| format!("..{last}"));
        let age = span(age(&secret, now).as_secs_f64());
        let used = secret.used_at.map_or("never".to_owned(), |at| format!("{at:.0}"));
        [secret.name, secret.version.to_string(), ends, age, used]
    });
    context.output.table(["NAME", "VERSION", "ENDS WITH", "AGE", "USED"], rows.collect())?;
    if !old.is_empty() {
        context.output.note(format_args!(
            "note: older than {OLD_DAYS} days, get a new value for: {}",
            old.join(", ")
        ));
    }
    Ok(Exit::Done)
}

fn age(secret: &Secret, now: Timestamp) -> jiff::SignedDuration {
    now.duration_since(secret.updated_at)
}

fn is_old(secret: &Secret, now: Timestamp) -> bool {
    age(secret, now).as_hours() > OLD_DAYS * 24
}

async fn remove(context: &Context, name: &str, yes: bool) -> Result<Exit> {
    name.parse::<SecretName>()?;
    if !yes {
        let message = format!("removing secret {name} cannot be undone");
        return Err(Error::usage(message, "add --yes if that is what you want"));
    }
    let found = locate::server(context).await?;
    let path = format!("/api/v1/secrets/{}", segment(name));
    found.client.act(Method::DELETE, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "removed": name }))?;
    } else {
        context.output.line(format_args!("secret {name} is removed"))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_old_after_ninety_days() {
        let secret = |at: &str| -> Secret {
            let text = json!({ "name": "a", "version": 1, "createdAt": "2020-01-01T00:00:00Z",
                "updatedAt": at });
            serde_json::from_value(text).unwrap()
        };
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        assert!(is_old(&secret("2026-03-01T00:00:00Z"), now));
        assert!(!is_old(&secret("2026-04-01T00:00:00Z"), now));
    }
}
