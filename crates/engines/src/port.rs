//! Free loopback ports.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Asks the system for a loopback port that nobody listens on.
///
/// Another process may take it before the server does; the callers try again with a new one.
pub(crate) fn free() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
