//! The names under which a server can be reached.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use godel_tls::rustls::pki_types::ServerName;

/// How many names a certificate has at most; a machine may have any number of addresses.
const NAMES_MAX: usize = 100;

/// Returns the names and addresses that a certificate should have, sorted.
pub(super) fn all(listen: SocketAddr, extra: &[String]) -> Vec<String> {
    let mut names = BTreeSet::from(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    names.extend(extra.iter().map(|name| name.to_lowercase()));
    if !listen.ip().is_unspecified() {
        names.insert(listen.ip().to_string());
    }
    names.extend(machine());
    let machine = addresses().into_iter().map(|address| address.to_string());
    for address in machine {
        if names.len() < NAMES_MAX {
            names.insert(address);
        }
    }
    names.into_iter().collect()
}

/// Returns the name of this machine, if it can be one of a certificate.
pub(crate) fn machine() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_str().ok()?.to_lowercase();
    is_server_name(&name).then_some(name)
}

/// Tells whether a text is a host name or an address that a certificate can have.
pub fn is_server_name(text: &str) -> bool {
    ServerName::try_from(text).is_ok()
}

/// Returns the addresses of this machine that others can use.
fn addresses() -> BTreeSet<IpAddr> {
    let usable = |address: &IpAddr| match address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    };
    let found = if_addrs::get_if_addrs().unwrap_or_default();
    found.iter().map(if_addrs::Interface::ip).filter(usable).collect()
}
