//! Secrets: set and used, never shown.

use godel_model::{AuditEntry, AuditResult, Reach, SecretName, TenantId};
use godel_store::{Scope, SecretRecord, Tx};
use serde::Serialize;
use tracing::instrument;

use crate::{App, Call, Error, Result};

/// The largest secret.
const SECRET_MAX_BYTES: usize = 64 * 1024;
/// From this length on, the last four characters are shown.
const SHOW_FROM_CHARS: usize = 16;

/// A secret value; it cannot be printed by accident.
#[derive(Clone)]
pub struct SecretValue(pub String);

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(..)")
    }
}

#[derive(Serialize)]
struct Told<'a> {
    name: &'a str,
    version: i64,
}

fn label(tenant: TenantId, name: &SecretName, version: i64) -> String {
    format!("secret {tenant} {version} {}", name.as_str())
}

/// Sets a secret; a secret that has a value gets another.
///
/// # Errors
/// If the caller may not, or the value is empty or too large.
#[instrument(level = "debug", name = "app.secrets.set", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn set(
    app: &App,
    call: &Call,
    name: SecretName,
    value: SecretValue,
) -> Result<SecretRecord> {
    call.may("secret", "update", Reach::Team)?;
    if value.0.is_empty() {
        return Err(Error::invalid_at("value", "a secret must not be empty"));
    }
    if value.0.len() > SECRET_MAX_BYTES {
        return Err(Error::invalid_at("value", "a secret must have at most 64 KiB"));
    }
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let before = tx.secrets().get(&name)?;
        let version = before.as_ref().map_or(0, |before| before.version) + 1;
        let label = label(call_.actor.tenant, &name, version);
        let (cipher, data_key) = app_.vault.seal(&label, value.0.as_bytes())?;
        let count = value.0.chars().count();
        let shown = count >= SHOW_FROM_CHARS && value.0.chars().all(|c| c.is_ascii_graphic());
        let secret = SecretRecord {
            name: name.clone(),
            version,
            cipher,
            data_key,
            last4: if shown { value.0.chars().skip(count - 4).collect() } else { String::new() },
            created_at: before.as_ref().map_or(now, |before| before.created_at),
            updated_at: now,
            used_at: before.and_then(|before| before.used_at),
        };
        tx.secrets().put(&secret)?;
        let told = Told { name: name.as_str(), version };
        let event = call_.event(&app_, "secret:set", &told, ("secretId", name.as_str()));
        call_.tell(&app_, tx, event)?;
        Ok::<_, Error>(secret)
    };
    let secret = app.store.write(call.scope(), work).await?.value;
    app.askers.forget_all();
    Ok(secret)
}

/// Lists secrets by name, without their values.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.secrets.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call) -> Result<Vec<SecretRecord>> {
    call.may("secret", "read", Reach::Team)?;
    app.store.read(call.scope(), |tx| Ok(tx.secrets().list()?)).await
}

/// Removes a secret.
///
/// # Errors
/// If the caller may not, or there is none with this name.
#[instrument(level = "debug", name = "app.secrets.delete", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn delete(app: &App, call: &Call, name: SecretName) -> Result<()> {
    call.may("secret", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let Some(secret) = tx.secrets().get(&name)? else {
            return Err(Error::NoSecret(name.to_string()));
        };
        tx.secrets().delete(&name)?;
        let told = Told { name: name.as_str(), version: secret.version };
        let event = call_.event(&app_, "secret:delete", &told, ("secretId", name.as_str()));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    app.askers.forget_all();
    Ok(())
}

/// Returns the value of a secret to the server's own work. Each use is on record.
///
/// # Errors
/// If there is none with this name, or it cannot be decrypted.
#[instrument(level = "debug", name = "app.secrets.reveal", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn reveal(app: &App, call: &Call, name: SecretName) -> Result<SecretValue> {
    call.may("secret", "execute", Reach::Team)?;
    let resource = format!("secret/{}", name.as_str());
    let act = call.act(app, "secret:use", resource, AuditResult::Ok);
    open(app, call.actor.tenant, name, act).await
}

/// Opens a secret for the server's own work, and puts that on record.
pub(crate) async fn open(
    app: &App,
    tenant: TenantId,
    name: SecretName,
    act: AuditEntry,
) -> Result<SecretValue> {
    let (app_, now) = (app.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let Some(secret) = tx.secrets().get(&name)? else {
            return Err(Error::NoSecret(name.to_string()));
        };
        let label = label(tenant, &name, secret.version);
        let value = app_.vault.open_secret(&secret.data_key, &label, &secret.cipher)?;
        let value = String::from_utf8(value).map_err(|_| Error::Undecipherable(label))?;
        tx.secrets().used(&name, now)?;
        tx.record_act(tenant, act.clone())?;
        Ok::<_, Error>(SecretValue(value))
    };
    Ok(app.store.write(Scope::Tenant(tenant), work).await?.value)
}
