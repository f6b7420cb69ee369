//! Checks of the running server, and of the place where one would listen.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use godel_api::{Discovery, HealthStatus};
use godel_console::Result;
use godel_console::locate::Presence;
use godel_model::{Clock as _, SystemClock};
use godel_server::{Config, Tls, inspect_tls};

use super::{Finding, failed};

/// Checks the server of the data directory, if there is one.
pub(super) fn running(presence: &Result<Presence>) -> Finding {
    match presence {
        Err(error) => failed("server", error),
        Ok(Presence::Absent) => Finding::ok("server", "not running; `godel up` starts it"),
        Ok(Presence::LeftOver(why)) => Finding::warn(
            "server",
            format!("not running: {why}"),
            "`godel up` cleans up; nothing that was answered is lost",
        ),
        Ok(Presence::Running(found, health)) => {
            let shown = format!("running at {} (process {})", found.url, found.pid);
            let parts: Vec<String> = health
                .checks
                .iter()
                .filter(|(_, check)| check.status != HealthStatus::Healthy)
                .map(|(name, check)| {
                    format!("{name}: {}", check.message.as_deref().unwrap_or("not as it should be"))
                })
                .collect();
            let hint = parts.join("; ");
            match health.status {
                HealthStatus::Healthy => Finding::ok("server", format!("{shown}, healthy")),
                HealthStatus::Degraded => {
                    Finding::warn("server", format!("{shown}, degraded"), hint)
                }
                HealthStatus::Unhealthy => {
                    Finding::fail("server", format!("{shown}, unhealthy"), hint)
                }
            }
        }
    }
}

/// Checks what protects the way to the server: its certificate, if other machines can reach it.
pub(super) fn protection(config: &Config, presence: &Result<Presence>) -> Finding {
    let insecure = matches!(presence, Ok(Presence::Running(found, _)) if found.insecure);
    if insecure || config.is_exposed() {
        return Finding::warn(
            "tls",
            "other machines can reach the server without TLS: `insecure` is on",
            "use --tls auto, or --tls-cert FILE --tls-key FILE",
        );
    }
    if config.tls == Tls::Off {
        // It may have been started with flags that this command was not given.
        if let Ok(Presence::Running(Discovery { fingerprint: Some(shown), .. }, _)) = presence {
            return Finding::ok("tls", format!("the running server shows {shown}"));
        }
        return Finding::skip("tls", "not needed: the server serves this machine only");
    }
    let now = SystemClock.now();
    match inspect_tls(&config.tls, &config.data_dir, now) {
        Err(error) => failed("tls", &error.into()),
        Ok(None) => Finding::ok("tls", "an authority will be made at the first start"),
        Ok(Some(facts)) => {
            let until = facts.until.map(|until| format!(", until {until:.0}"));
            let shown = format!("{}{}", facts.fingerprint, until.unwrap_or_default());
            if facts.until.is_some_and(|until| until < now) {
                let hint = "replace the files; a running server takes the new ones by itself";
                return Finding::fail("tls", format!("the certificate has expired: {shown}"), hint);
            }
            if let Some(path) = config.tls.key_path(&config.data_dir).filter(|key| is_open(key)) {
                let message = format!("all users may read the private key {}", path.display());
                return Finding::fail("tls", message, format!("chmod 600 {}", path.display()));
            }
            if facts.ends_soon(now) {
                let hint = "replace the files soon; a running server takes them by itself";
                return Finding::warn("tls", shown, hint);
            }
            Finding::ok("tls", shown)
        }
    }
}

/// Tells whether every user of this machine may read a file; a group may have been let in on purpose.
fn is_open(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o007 != 0)
}

/// Checks that a server could listen.
pub(super) fn address(listen: SocketAddr, running: bool) -> Finding {
    if running {
        return Finding::skip("address", "the server is running");
    }
    match TcpListener::bind(listen) {
        Ok(_) if listen.port() == 0 => Finding::ok("address", "any free port"),
        Ok(_) => Finding::ok("address", format!("{listen} is free")),
        Err(cause) if cause.kind() == io::ErrorKind::AddrInUse => Finding::fail(
            "address",
            format!("another program listens on {listen}"),
            "stop it, or choose another address with --listen",
        ),
        Err(cause) => Finding::fail(
            "address",
            format!("{listen} cannot be used: {cause}"),
            "choose another address with --listen",
        ),
    }
}
