//! Finding the server to talk to, and the key that opens it.

use std::io;
use std::path::Path;
use std::time::Duration;

use godel_api::{Client, ClientError, Discovery, Fingerprint, Health, OWNER_KEY_FILE, Trust};
use godel_model::{ApiKey, Invalid, Report as _};
use rustix::process::{Pid, test_kill_process};

use crate::context::Context;
use crate::error::{Error, Result, is_absent};
use crate::saved;

/// How long a running server may take to show that it is one.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What was found out about the server of a data directory.
#[derive(Debug)]
pub enum Presence {
    /// None was started, or it has stopped.
    Absent,
    /// There is a discovery file, but no server as it says; why that is known.
    LeftOver(String),
    /// It runs.
    Running(Discovery, Health),
}

/// Finds out whether a server runs on a data directory.
pub async fn presence(data: &Path) -> Result<Presence> {
    let found = match Discovery::read(data) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Presence::Absent),
        Err(cause) if is_absent(&cause) => return Ok(Presence::Absent),
        Err(cause) if is_garbled(&cause) => {
            let why = format!("{} is damaged", Discovery::path(data).display());
            return Ok(Presence::LeftOver(why));
        }
        Err(cause) => return Err(Error::file(&Discovery::path(data).display(), "read", cause)),
    };
    // A running server holds the lock; a process with its old number may be anything.
    let held = godel_store::FileLock::is_held(&data.join(godel_server::LOCK_FILE));
    if !held || !is_alive(found.pid) {
        let why = format!("process {} has ended without cleaning up", found.pid);
        return Ok(Presence::LeftOver(why));
    }
    let client = Client::builder(&found.url).trust(found.trust()).build()?;
    match health(&client).await {
        Ok(health) => Ok(Presence::Running(found, health)),
        Err(why) => Ok(Presence::LeftOver(why)),
    }
}

async fn health(client: &Client) -> Result<Health, String> {
    match tokio::time::timeout(ANSWER_TIMEOUT, client.health()).await {
        Ok(Ok(health)) => Ok(health),
        Ok(Err(ClientError::Unreachable { url, .. })) => Err(format!("nothing answers at {url}")),
        Ok(Err(error @ ClientError::Untrusted { .. })) => Err(error.to_string()),
        Ok(Err(_)) => Err(format!("another program answers at {}", client.url())),
        Err(_) => Err(format!("{} does not answer", client.url())),
    }
}

/// Tells whether a file was read, but does not hold what it should.
fn is_garbled(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Tells whether a process exists, also one of another user.
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// A server that answers, and how to talk to it.
#[derive(Debug)]
pub struct Found {
    /// How to talk to it.
    pub client: Client,
    /// How it is doing.
    pub health: Health,
    /// What it says about itself in the data directory, unless it was named by its address.
    pub discovery: Option<Discovery>,
}

/// Returns the address of the server that is meant, unless it is the one of the data directory: a
/// flag or a variable names it, or a login.
pub fn named(context: &Context) -> Result<Option<String>> {
    match &context.server {
        Some(url) => server_url(url).map(Some),
        None => Ok(saved::read(&context.data)?.map(|login| login.url)),
    }
}

/// Finds the server that was asked for, or the one of the data directory.
pub async fn server(context: &Context) -> Result<Found> {
    if let Some(url) = named(context)? {
        let key = key(context, &url, is_this_machine(&url))?;
        let client = Client::builder(&url).key(key).trust(trust(context, &url)?).build()?;
        let health = client.health().await.inspect_err(|_| {
            if context.server.is_none() && !context.output.is_json() {
                let told = "note: the login names this server; `godel logout` forgets it";
                context.output.note(told);
            }
        })?;
        return Ok(Found { client, health, discovery: None });
    }
    let not_running = |found| Error::NotRunning { data: context.data.clone(), found };
    match presence(&context.data).await? {
        Presence::Absent => Err(not_running(None)),
        Presence::LeftOver(why) => Err(not_running(Some(why))),
        Presence::Running(discovery, health) => {
            // It is known by the data directory that holds the key, whatever its address.
            let (key, trust) = (key(context, &discovery.url, true)?, discovery.trust());
            let client = Client::builder(&discovery.url).key(key).trust(trust).build()?;
            Ok(Found { client, health, discovery: Some(discovery) })
        }
    }
}

/// Returns whom to trust: what was given now or at the login, or the server of the data directory if
/// it is the one that is called, or else the authorities of this machine.
pub fn trust(context: &Context, url: &str) -> Result<Trust> {
    let login = saved::read(&context.data)?.filter(|login| login.url == url);
    if let Some(ca) = context.ca.clone().or(login.and_then(|login| login.ca)) {
        return Ok(match ca.parse::<Fingerprint>() {
            Ok(fingerprint) => Trust::Fingerprint(fingerprint),
            Err(_) => Trust::Authorities(
                godel_tls::read_certificates(Path::new(&ca)).map_err(ClientError::from)?,
            ),
        });
    }
    let own = Discovery::read(&context.data).ok().flatten().filter(|found| found.url == url);
    Ok(own.map_or(Trust::System, |own| own.trust()))
}

/// Checks the address of a server as a person types it.
pub fn server_url(given: &str) -> Result<String> {
    let url = reqwest::Url::parse(given).ok().filter(reqwest::Url::has_host);
    match url.as_ref().map(reqwest::Url::scheme) {
        Some("http" | "https") => Ok(given.trim_end_matches('/').to_owned()),
        _ => Err(Error::usage(
            format!("\"{given}\" is not the address of a server"),
            "for example --server http://127.0.0.1:7373",
        )),
    }
}

/// Returns the key for a server: of the environment, of the login, or of the data directory.
///
/// The key of a login goes to its server only, and the owner's key of this machine to no other one.
fn key(context: &Context, url: &str, is_own: bool) -> Result<Option<ApiKey>> {
    if let Some(text) = context.environment.get("GODEL_KEY") {
        let key = text.trim().parse().map_err(|invalid: Invalid| {
            let hint = invalid.hint().unwrap_or_default();
            Invalid::new(invalid.code(), "GODEL_KEY is not a Godel API key").with_hint(hint)
        });
        return Ok(Some(key?));
    }
    let login = saved::read(&context.data)?;
    if let Some(login) = login.filter(|login| login.url == url) {
        return login.key(&context.data).map(Some);
    }
    if !is_own {
        return Ok(None);
    }
    let path = context.data.join(OWNER_KEY_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().parse().map_err(|invalid: Invalid| {
            let message = format!("{} does not hold a Godel API key", path.display());
            Invalid::new(invalid.code(), message)
                .with_hint("stop the server and start it again: it makes a new key if needed")
        })?)),
        Err(cause) if is_absent(&cause) => Ok(None),
        Err(cause) => Err(Error::file(&path.display(), "read", cause)),
    }
}

/// Tells whether an address leads to this machine.
pub fn is_this_machine(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.is_some_and(|host| {
        let bare = host.trim_matches(['[', ']']);
        host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owners_key_stays_on_this_machine() {
        for url in ["http://127.0.0.1:7373", "http://[::1]:1", "http://localhost:9"] {
            assert!(is_this_machine(url), "{url}");
        }
        for url in
            ["http://10.0.0.1:7373", "http://localhost.evil.org", "http://127.0.0.1.evil.org", ""]
        {
            assert!(!is_this_machine(url), "{url}");
        }
    }

    #[test]
    fn an_address_is_checked_before_it_is_called() {
        assert_eq!(server_url("http://127.0.0.1:7373/").unwrap(), "http://127.0.0.1:7373");
        assert_eq!(server_url("https://x.org:7373").unwrap(), "https://x.org:7373");
        for bad in ["", "127.0.0.1:7373", "localhost:7373", "ftp://x.org", "file:///etc/passwd"] {
            assert!(server_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn this_process_is_alive_and_an_absurd_one_is_not() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(0));
        assert!(!is_alive(u32::MAX));
        assert!(!is_alive(i32::MAX as u32));
    }
}
