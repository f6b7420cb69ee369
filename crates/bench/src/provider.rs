//! The scripted provider in a process of its own.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::{Result, Told as _};
use crate::pass::first_line;
use crate::process::Process;
use crate::server;

/// The key of the provider, which clients of Godel never see.
pub(crate) const KEY: &str = "sk-bench-0123456789abcdef";

/// The scripted provider.
#[derive(Debug)]
pub(crate) struct Provider {
    _process: Process,
    pub(crate) address: SocketAddr,
}

impl Provider {
    /// Starts it.
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new(server::provider()?);
        command.args(["--key", KEY]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let line = first_line(&mut process)?;
        let told: Value = serde_json::from_str(&line).told("understand the provider")?;
        let place = told["url"].as_str().unwrap_or_default().trim_start_matches("http://");
        let address = place.parse().told("understand the address of the provider")?;
        Ok(Self { _process: process, address })
    }
}
