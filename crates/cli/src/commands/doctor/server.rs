//! Checks of the running server, and of the place where one would listen.

use std::io;
use std::net::{SocketAddr, TcpListener};

use godel_api::HealthStatus;

use super::Finding;
use crate::error::Result;
use crate::locate::Presence;

/// Checks the server of the data directory, if there is one.
pub(super) fn running(presence: &Result<Presence>) -> Finding {
    match presence {
        Err(error) => Finding::failed("server", error),
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
