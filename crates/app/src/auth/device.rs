//! Logging a program in: it shows a code, and a person lets it in from a browser.

use godel_model::{ApiKey, KeyName, LoginToken, Reach, UserStatus};
use godel_store::{DeviceStatus, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tracing::instrument;

use crate::call::Origin;
use crate::{App, Call, Error, Result, keys};

/// For how long a program waits.
pub const WAIT_MINUTES: i64 = 10;
/// How often it asks, in seconds.
pub const ASK_EVERY_SECS: u32 = 2;
/// How many programs may wait at the same time; anybody can ask.
const WAITING_MAX: i64 = 200;
/// For how long the key of a program works.
const KEY_DAYS: i64 = 90;
/// Letters and digits that nobody takes for each other; no vowels, so no words.
const ALPHABET: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ23456789";
const CODE_CHARS: usize = 8;

/// A program that waits for a person.
#[derive(Debug)]
pub struct Waiting {
    /// The secret by which the program asks again.
    pub device_code: LoginToken,
    /// What a person enters, such as `BCDF-GHJK`.
    pub user_code: String,
    /// Until when it waits.
    pub expires_at: Timestamp,
}

/// What the program gets when it asks.
#[derive(Debug)]
pub enum Answer {
    /// Nobody has answered yet.
    Waiting,
    /// It was let in; this is its key.
    Key(ApiKey),
}

/// Writes a code as it is shown: `BCDF-GHJK`. What people type in between is ignored.
fn normal(code: &str) -> Result<String> {
    let letters: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .take(CODE_CHARS + 1)
        .collect();
    if letters.len() != CODE_CHARS {
        return Err(Error::DeviceCode);
    }
    Ok(format!("{}-{}", &letters[..4], &letters[4..]))
}

/// Lets a program wait.
///
/// # Errors
/// If too many wait already.
pub async fn begin(app: &App, name: KeyName, origin: &Origin) -> Result<Waiting> {
    let now = app.clock.now();
    app.throttle.device(origin.address, now)?;
    // 28 letters, so a byte below 252 takes each with the same chance.
    let mut code = String::new();
    while code.len() < CODE_CHARS {
        let bytes: [u8; 16] = app.mint.bytes();
        let fair = bytes.iter().filter(|byte| usize::from(**byte) < ALPHABET.len() * 9);
        code.extend(fair.map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])));
    }
    let user_code = normal(&code[..CODE_CHARS])?;
    let device_code = LoginToken::new(app.mint);
    let expires_at = now.saturating_add(SignedDuration::from_mins(WAIT_MINUTES)).unwrap_or(now);
    let (hash, shown) = (device_code.hash(), user_code.clone());
    let work = move |tx: &mut Tx<'_>| {
        // Looked at before anything is written: a refusal must cost nobody else anything.
        if tx.devices().count(now)? >= WAITING_MAX {
            return Err(Error::Throttled { retry_ms: 60_000 });
        }
        Ok(tx.devices().insert(hash, &shown, name.as_str(), expires_at)?)
    };
    app.store.write(Scope::System, work).await?;
    Ok(Waiting { device_code, user_code, expires_at })
}

/// Tells a person what the program calls itself.
///
/// # Errors
/// If no program shows this code.
#[instrument(level = "debug", name = "app.device.look", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn look(app: &App, call: &Call, code: &str) -> Result<String> {
    call.may("key", "create", Reach::Own)?;
    let (code, now) = (normal(code)?, app.clock.now());
    app.throttle.check(call.origin.address, None, now)?;
    let find = move |tx: &mut Tx<'_>| tx.devices().by_code(&code);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let waiting = |device: &godel_store::DeviceRecord| {
        device.status == DeviceStatus::Waiting && device.expires_at > now
    };
    match found.filter(waiting) {
        Some(device) => Ok(device.name),
        None => {
            app.throttle.failed(call.origin.address, None, now);
            Err(Error::DeviceCode)
        }
    }
}

#[derive(Serialize)]
struct Answered {
    approved: bool,
}

/// Lets a program in, or not.
///
/// # Errors
/// If no program shows this code, or somebody answered before.
#[instrument(level = "debug", name = "app.device.answer", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn answer(app: &App, call: &Call, code: &str, approve: bool) -> Result<()> {
    call.may("key", "create", Reach::Own)?;
    call.whole()?;
    look(app, call, code).await?;
    let code = normal(code)?;
    let status = if approve { DeviceStatus::Approved } else { DeviceStatus::Refused };
    let told = Answered { approved: approve };
    let event = call.event(app, "auth:device", &told, ("userId", call.actor.user));
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let by = (call_.actor.tenant, call_.actor.user);
        if !tx.devices().answer(&code, by, status)? {
            return Err(Error::DeviceCode);
        }
        call_.tell(&app_, tx, event.clone())
    };
    app.store.write(Scope::System, work).await.map(drop)
}

/// Asks whether a person has let the program in; the key is handed out once.
///
/// # Errors
/// If it was not let in, or waited too long.
pub async fn ask(app: &App, device_code: &LoginToken, origin: &Origin) -> Result<Answer> {
    let (hash, now) = (device_code.hash(), app.clock.now());
    let find = move |tx: &mut Tx<'_>| tx.devices().by_hash(hash);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let Some(device) = found.filter(|device| device.expires_at > now) else {
        if app.throttle.failed(origin.address, None, now) {
            return Err(Error::Throttled { retry_ms: 1_000 });
        }
        return Err(Error::DeviceCode);
    };
    let by = match (device.status, device.by) {
        (DeviceStatus::Waiting, _) => return Ok(Answer::Waiting),
        (DeviceStatus::Approved, Some(by)) => by,
        _ => return Err(Error::DeviceRefused),
    };
    let name: KeyName = device.name.parse()?;
    let expires_at = now.saturating_add(SignedDuration::from_hours(24 * KEY_DAYS)).unwrap_or(now);
    let (key, made) = keys::draft(app, by, name, Vec::new(), Some(expires_at));
    let (app_, origin_) = (app.clone(), origin.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.devices().delete(hash)? {
            return Err(Error::DeviceCode);
        }
        // Who let it in may have been shut out since.
        let user = tx.users().by_id(by.0, by.1)?;
        if user.is_none_or(|user| user.status != UserStatus::Active) {
            return Err(Error::DeviceRefused);
        }
        keys::check_room(tx, by, now)?;
        made.store(&app_, tx, &origin_)
    };
    app.store.write(Scope::System, work).await?;
    Ok(Answer::Key(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it() {
        for typed in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "b-c-d-f-g-h-j-k"] {
            assert_eq!(normal(typed).unwrap(), "BCDF-GHJK");
        }
        for bad in ["", "BCDF", "BCDF-GHJKL", "ÄÖÜ"] {
            assert!(normal(bad).is_err(), "{bad:?}");
        }
    }
}
