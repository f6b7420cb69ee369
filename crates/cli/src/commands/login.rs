//! `godel login`, `logout` and `whoami`: who this program is to a server.

use std::time::Duration;

use godel_api::{
    Client, ClientError, DeviceAnswer, DeviceAsk, DeviceRequest, DeviceStart, Session,
};
use godel_args::access::Login as Asked;
use godel_console::lookup::NOTHING;
use godel_console::output::{STRONG, styled};
use godel_console::quietly::{self, Typed};
use godel_console::saved::{self, Login};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{ApiKey, Invalid, KeyName, Report as _, code};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

/// How long a person may take, whatever the server says.
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// How often the server is asked at most, and at least.
const ASK_MIN: Duration = Duration::from_secs(1);
const ASK_MAX: Duration = Duration::from_secs(30);

/// Logs in to a server, and keeps the key.
pub(crate) async fn login(context: &Context, asked: Asked) -> Result<Exit> {
    let url = locate::server_url(&asked.url)?;
    if url.starts_with("http://") && !locate::is_this_machine(&url) {
        context.output.note("note: http is not encrypted: others on the network can read the key");
    }
    let key = if asked.key_stdin {
        let text = quietly::read(context, "key", Typed::Once).await?;
        text.trim().parse::<ApiKey>()?
    } else {
        let name: KeyName = asked.name.unwrap_or_else(default_name).parse()?;
        tokio::select! {
            key = by_device(context, &url, name) => key?,
            _ = tokio::signal::ctrl_c() => {
                context.output.note("not logged in");
                return Ok(Exit::Failure);
            }
        }
    };
    let trust = locate::trust(context, &url)?;
    let client = Client::builder(&url).key(Some(key.clone())).trust(trust).build()?;
    let session = client.me().await?;
    let mut login = Login::new(&url, &key, !asked.key_stdin);
    login.ca = kept_ca(context);
    let path = saved::write(&context.data, &login)?;
    if context.output.is_json() {
        let mut answer = shown(&session, &url);
        answer["status"] = json!("approved");
        context.output.value(&answer)?;
    } else {
        let name = bare(&session.actor);
        context.output.line(format_args!(
            "logged in to {url} as {name} ({}, tenant {})",
            session.role, session.tenant.name
        ))?;
        context.output.remark(format_args!("the key is in {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Returns whom the login trusts: a fingerprint as it is, a file by its full path.
fn kept_ca(context: &Context) -> Option<String> {
    let ca = context.ca.as_deref()?;
    let full = std::path::absolute(ca).ok().filter(|path| path.exists());
    Some(full.map_or_else(|| ca.to_owned(), |path| path.display().to_string()))
}

fn default_name() -> String {
    let system = rustix::system::uname();
    let host: String = system.nodename().to_string_lossy().chars().take(80).collect();
    format!("godel on {host}")
}

/// Shows a code, and waits until a person has let this program in.
async fn by_device(context: &Context, url: &str, name: KeyName) -> Result<ApiKey> {
    let client = Client::builder(url).trust(locate::trust(context, url)?).build()?;
    let request = DeviceRequest { name: name.into() };
    let start: DeviceStart = client.call(Method::POST, "/auth/device", Some(&request)).await?;
    let page = format!("{url}{}?code={}", start.verification_path, start.user_code);
    if context.output.is_json() {
        context.output.value(&json!({
            "status": "waiting",
            "verificationUrl": page,
            "userCode": start.user_code,
            "expiresAt": start.expires_at,
        }))?;
    } else {
        let code = styled(STRONG, &start.user_code);
        context
            .output
            .line(format_args!("Open {page}\nand let in the program with the code {code}"))?;
        context.output.remark("waiting; Ctrl-C ends it");
    }
    wait(&client, start).await
}

async fn wait(client: &Client, start: DeviceStart) -> Result<ApiKey> {
    let pause = Duration::from_secs(start.interval.into()).clamp(ASK_MIN, ASK_MAX);
    let ask = DeviceAsk { device_code: start.device_code };
    let begun = Instant::now();
    while begun.elapsed() < WAIT_MAX {
        tokio::time::sleep(pause).await;
        let answer = client.call(Method::POST, "/auth/device/token", Some(&ask)).await;
        match answer {
            Ok(DeviceAnswer { key: Some(key), .. }) => return Ok(key.parse::<ApiKey>()?),
            Ok(_) => {}
            Err(error) if error.code() == code::DEVICE_CODE_INVALID => break,
            // A server that starts again, or a network that is away for a moment.
            Err(ClientError::Unreachable { .. }) => {}
            Err(error) if error.kind().retryable() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Invalid::new(code::DEVICE_CODE_INVALID, "nobody let this program in in time")
        .with_hint("run `godel login` again, and open the page within ten minutes")
        .into())
}

/// Ends the key of the login, and forgets it.
pub(crate) async fn logout(context: &Context) -> Result<Exit> {
    // A damaged login cannot be ended, but forgotten all the same.
    let login = saved::read(&context.data);
    let revoked = match &login {
        // A key that was brought along may be in use elsewhere.
        Ok(Some(login)) if login.own => revoke(context, login).await,
        Ok(_) => Ok(false),
        Err(error) => {
            context.output.note(format_args!("note: {error}"));
            Ok(false)
        }
    };
    let revoked = revoked.unwrap_or_else(|error| {
        context.output.note(format_args!("note: the key of the login was not revoked: {error}"));
        false
    });
    let removed = saved::remove(&context.data)?;
    if context.output.is_json() {
        context.output.value(&json!({ "loggedOut": removed, "keyRevoked": revoked }))?;
    } else if !removed {
        context.output.line("there was no login")?;
    } else if revoked {
        context.output.line("logged out; the key works no more")?;
    } else {
        context.output.line("logged out; the key itself was not revoked")?;
    }
    Ok(Exit::Done)
}

async fn revoke(context: &Context, login: &Login) -> Result<bool> {
    let key = Some(login.key(&context.data)?);
    let trust = locate::trust(context, &login.url)?;
    let client = Client::builder(&login.url).key(key).trust(trust).build()?;
    let session = match client.me().await {
        Ok(session) => session,
        // It has ended already.
        Err(error) if error.code() == code::UNAUTHORIZED => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let Some(id) = session.key_id else { return Ok(false) };
    client.act(Method::DELETE, &format!("/api/v1/keys/{id}"), NOTHING).await?;
    Ok(true)
}

/// Prints who this program is to the server.
pub(crate) async fn whoami(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let session = found.client.me().await.map_err(Error::from)?;
    let url = found.client.url();
    if context.output.is_json() {
        context.output.value(&shown(&session, url))?;
        return Ok(Exit::Done);
    }
    let scopes = match session.scopes.is_empty() {
        true => "all that the role may do".to_owned(),
        false => session.scopes.join(", "),
    };
    let until = session.expires_at.map_or("no end".to_owned(), |at| format!("{at:.0}"));
    context.output.pairs(vec![
        ["tenant".to_owned(), session.tenant.name],
        ["user".to_owned(), bare(&session.actor).to_owned()],
        ["role".to_owned(), session.role],
        ["scopes".to_owned(), scopes],
        ["until".to_owned(), until],
        ["server".to_owned(), url.to_owned()],
    ])?;
    Ok(Exit::Done)
}

/// Returns the name of a user without what events put before it.
fn bare(actor: &str) -> &str {
    actor.strip_prefix("user:").unwrap_or(actor)
}

fn shown(session: &Session, url: &str) -> Value {
    json!({
        "server": url,
        "tenant": session.tenant,
        "user": bare(&session.actor),
        "userId": session.user_id,
        "role": session.role,
        "scopes": session.scopes,
        "keyId": session.key_id,
        "expiresAt": session.expires_at,
    })
}
