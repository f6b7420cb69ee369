//! Where a repository is pushed to, as git writes it.

use std::str::FromStr;

/// The longest address that is read.
const ADDRESS_MAX_BYTES: usize = 2_000;
/// The most parts of a path.
const PARTS_MAX: usize = 25;

/// How a remote is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
    Ssh,
}

/// The address of a remote, without whoever uses it: `git@host:group/name.git` and all its sisters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub(crate) scheme: Scheme,
    pub(crate) host: String,
    /// Given for http and https only: that of ssh says nothing about the API.
    pub(crate) port: Option<u16>,
    pub(crate) parts: Vec<String>,
}

/// That an address is not one of a forge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the remote is not an address of a forge: {0}")]
pub struct NotARemote(&'static str);

impl Remote {
    /// Returns the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the path of the repository, such as `group/name`.
    pub fn path(&self) -> String {
        self.parts.join("/")
    }
}

impl FromStr for Remote {
    type Err = NotARemote;

    fn from_str(text: &str) -> Result<Self, NotARemote> {
        if text.len() > ADDRESS_MAX_BYTES {
            return Err(NotARemote("it is too long"));
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => {
                let scheme = match scheme.to_ascii_lowercase().as_str() {
                    "https" => Scheme::Https,
                    "http" => Scheme::Http,
                    "ssh" | "git+ssh" | "ssh+git" => Scheme::Ssh,
                    _ => return Err(NotARemote("only https, http and ssh lead to one")),
                };
                (scheme, rest)
            }
            None => return short(text),
        };
        let (place, path) = rest.split_once('/').ok_or(NotARemote("it names no repository"))?;
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) => {
                let port = port.parse().map_err(|_| NotARemote("its port is no number"))?;
                (host, Some(port))
            }
            None => (place, None),
        };
        let port = port.filter(|_| scheme != Scheme::Ssh);
        Ok(Self { scheme, host: host_of(host)?, port, parts: parts(path)? })
    }
}

/// Reads what git has besides addresses: `user@host:path`.
fn short(text: &str) -> Result<Remote, NotARemote> {
    let local = NotARemote("it is a folder of this machine");
    let (place, path) = text.split_once(':').ok_or(local.clone())?;
    // Git itself tells a folder by a slash before the first colon.
    if place.contains('/') {
        return Err(local);
    }
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let scheme = Scheme::Ssh;
    Ok(Remote { scheme, host: host_of(host)?, port: None, parts: parts(path)? })
}

fn host_of(text: &str) -> Result<String, NotARemote> {
    let label = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !part.is_empty() && part.len() <= 63 && part.chars().all(known) && !part.starts_with('-')
    };
    if text.len() > 253 || !text.split('.').all(label) {
        return Err(NotARemote("its host is no name"));
    }
    let host = text.to_ascii_lowercase();
    // Both offer ssh on the port of https under another name.
    Ok(match host.as_str() {
        "ssh.github.com" => "github.com".to_owned(),
        "altssh.gitlab.com" => "gitlab.com".to_owned(),
        _ => host,
    })
}

fn parts(path: &str) -> Result<Vec<String>, NotARemote> {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let good = |part: &str| {
        let dots = part.chars().all(|c| c == '.');
        !dots && part.len() <= 255 && part.chars().all(known)
    };
    let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if parts.len() < 2 {
        return Err(NotARemote("it names no owner and repository"));
    }
    if parts.len() > PARTS_MAX || !parts.iter().all(|part| good(part)) {
        return Err(NotARemote("its path is none of a forge"));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Remote {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn all_ways_to_write_an_address_are_the_same_repository() {
        for text in [
            "https://github.com/acme/widgets",
            "https://github.com/acme/widgets.git",
            "https://github.com/acme/widgets/",
            "https://someone:secret@github.com/acme/widgets.git",
            "HTTPS://GitHub.com/acme/widgets.git",
            "ssh://git@github.com/acme/widgets.git",
            "ssh://git@ssh.github.com:443/acme/widgets.git",
            "git@github.com:acme/widgets.git",
            "git@github.com:/acme/widgets.git",
            "github.com:acme/widgets",
        ] {
            let remote = read(text);
            assert_eq!((remote.host(), remote.path().as_str()), ("github.com", "acme/widgets"));
            assert_eq!(remote.port, None, "{text}");
        }
        let deep = read("ssh://git@git.example.com:2222/one/two/three/name.git");
        assert_eq!((deep.path().as_str(), deep.port), ("one/two/three/name", None));
        assert_eq!(read("http://127.0.0.1:8080/acme/widgets.git").port, Some(8080));
    }

    #[test]
    fn what_leads_to_no_forge_is_refused() {
        for text in [
            "/srv/git/widgets.git",
            "../widgets",
            "./a:b/c",
            "file:///srv/git/widgets.git",
            "ext::sh -c true",
            "https://github.com",
            "https://github.com/widgets",
            "https:///acme/widgets",
            "https://github.com:x/acme/widgets",
            "https://github.com/acme/../widgets",
            "https://github.com/acme/wid gets",
            "https://github.com/acme/widgets?token=1",
            "https://git_hub..com/acme/widgets",
            "git@-oProxyCommand=x:acme/widgets",
            "",
        ] {
            assert!(text.parse::<Remote>().is_err(), "{text}");
        }
        assert!(format!("https://a.b/{}/c", "x".repeat(5_000)).parse::<Remote>().is_err());
    }

    proptest! {
        #[test]
        fn an_address_is_read_back_however_it_is_written(
            host in "[a-z][a-z0-9]{0,8}(\\.[a-z][a-z0-9]{0,8}){1,3}",
            parts in prop::collection::vec("[A-Za-z0-9][A-Za-z0-9_-]{0,10}", 2..6),
            user in "([a-z]{1,8}(:[A-Za-z0-9]{1,8})?@)?",
            port in prop::option::of(1u16..),
            git in any::<bool>(),
        ) {
            let path = parts.join("/");
            let end = if git { ".git" } else { "" };
            let at = port.map(|port| format!(":{port}")).unwrap_or_default();
            for text in [
                format!("https://{user}{host}{at}/{path}{end}"),
                format!("ssh://{user}{host}{at}/{path}{end}"),
                format!("git@{host}:{path}{end}"),
            ] {
                let remote = read(&text);
                prop_assert_eq!(&remote.parts, &parts);
                let shown = format!("{remote:?}");
                prop_assert!(!user.contains(':') || !shown.contains(user.trim_end_matches('@')));
            }
        }

        #[test]
        fn no_text_is_too_strange_to_be_refused(text in "\\PC{0,60}") {
            if let Ok(remote) = text.parse::<Remote>() {
                prop_assert!(remote.parts.len() >= 2 && remote.parts.iter().all(|part| !part.is_empty()));
                prop_assert!(!remote.path().contains(['?', '#', '%', '@', ' ']));
            }
        }
    }
}
