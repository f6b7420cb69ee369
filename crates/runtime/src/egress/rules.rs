//! Which hosts a sandbox may reach.

use std::fmt;

use godel_model::{Invalid, code};

/// How many rules there may be.
const RULES_MAX: usize = 1_000;
/// How long a name may be.
const HOST_MAX: usize = 253;
const WEB_PORTS: [u16; 2] = [80, 443];

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// A name in lower case, or an address; never with brackets.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl Endpoint {
    /// Reads `host:port`, `[address]:port`, or a host alone if there is a port by default.
    pub(crate) fn parse(text: &str, default: Option<u16>) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']')?;
                host.parse::<std::net::Ipv6Addr>().ok()?;
                (host, after.strip_prefix(':'))
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) if !host.contains(':') => (host, Some(port)),
                Some(_) => return None,
                None => (text, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port != 0)?,
            None => default?,
        };
        Some(Self { host: clean(host)?, port })
    }

    /// Reads the authority of a base URL such as `http://127.0.0.1:7420/proxy`.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let default = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        if authority.contains('@') {
            return None;
        }
        Self::parse(authority, Some(default))
    }
}

/// Brings a host into the one form in which hosts are compared.
fn clean(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let address = host.parse::<std::net::Ipv6Addr>().is_ok();
    let good = (1..=HOST_MAX).contains(&host.len())
        && host.bytes().all(known)
        && (address || !host.contains(':'))
        && !host.contains("..")
        && !host.starts_with('.');
    good.then_some(host)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Any,
    One(String),
    Below(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    hosts: Hosts,
    port: Option<u16>,
}

/// The list of hosts that a sandbox may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    /// Reads the list.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, Invalid> {
        if texts.len() > RULES_MAX {
            return Err(Invalid::new(
                code::INVALID_FIELD,
                format!("at most {RULES_MAX} hosts can be allowed"),
            ));
        }
        texts.iter().map(|text| rule(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Tells whether an endpoint is on the list.
    pub(crate) fn allow(&self, endpoint: &Endpoint) -> bool {
        self.0.iter().any(|rule| {
            let port = match rule.port {
                Some(port) => port == endpoint.port,
                None => WEB_PORTS.contains(&endpoint.port),
            };
            port && match &rule.hosts {
                Hosts::Any => true,
                Hosts::One(host) => *host == endpoint.host,
                Hosts::Below(domain) => {
                    let before = endpoint.host.strip_suffix(domain.as_str());
                    before.is_some_and(|before| before.len() > 1 && before.ends_with('.'))
                }
            }
        })
    }
}

fn rule(text: &str) -> Result<Rule, Invalid> {
    let refuse = || {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
        Invalid::new(code::INVALID_FIELD, format!("\"{shown}\" names no host that can be allowed"))
            .with_hint("write example.com, *.example.com or example.com:8443")
    };
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => {
            (host, Some(port.parse().ok().filter(|port| *port != 0).ok_or_else(refuse)?))
        }
        _ => (text, None),
    };
    let hosts = match host.strip_prefix("*.") {
        Some(domain) => Hosts::Below(clean(domain).ok_or_else(refuse)?),
        None if host == "*" => Hosts::Any,
        None => Hosts::One(clean(host).ok_or_else(refuse)?),
    };
    Ok(Rule { hosts, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Rules {
        Rules::parse(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    fn at(text: &str) -> Endpoint {
        Endpoint::parse(text, None).unwrap()
    }

    #[test]
    fn a_host_is_allowed_by_name_by_domain_and_by_port() {
        let rules = rules(&["Crates.io", "*.github.com", "example.com:8443"]);
        for good in [
            "crates.io:443",
            "CRATES.IO.:80",
            "api.github.com:443",
            "a.b.github.com:443",
            "example.com:8443",
        ] {
            assert!(rules.allow(&at(good)), "{good}");
        }
        for bad in [
            "crates.io:22",
            "static.crates.io:443",
            "github.com:443",
            "evilgithub.com:443",
            "github.com.evil.com:443",
            "example.com:443",
            "[::1]:443",
        ] {
            assert!(!rules.allow(&at(bad)), "{bad}");
        }
        assert!(!Rules::default().allow(&at("crates.io:443")));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for bad in ["", "a b", "http://x", "x:0", "x:99999", "a/b", "..", "*.", "ä.de", ".x", "*x"]
        {
            assert!(Rules::parse(&[bad.to_owned()]).is_err(), "{bad}");
        }
        for bad in ["x", "x:", "x:0", "[::1", "[x]:1", "a@b:1", "::1:80"] {
            assert_eq!(Endpoint::parse(bad, None), None, "{bad}");
        }
    }

    #[test]
    fn the_authority_of_a_url_is_read() {
        assert_eq!(Endpoint::of_url("http://127.0.0.1:7420/x"), Some(at("127.0.0.1:7420")));
        assert_eq!(Endpoint::of_url("https://godel.example"), Some(at("godel.example:443")));
        assert_eq!(Endpoint::of_url("http://[::1]:7420"), Some(at("[::1]:7420")));
        for bad in ["ftp://x", "x:80", "http://", "http://u:p@x/"] {
            assert_eq!(Endpoint::of_url(bad), None, "{bad}");
        }
    }
}
