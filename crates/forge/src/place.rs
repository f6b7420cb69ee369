//! The same repository as its forge knows it, and the address of the forge's API.

use godel_model::ForgeKind;
use reqwest::Url;

use crate::error::{Error, Result};
use crate::remote::{Remote, Scheme};

pub use godel_model::ForgeKind as Kind;

/// What a project says about its forge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// Which it is; told by the host if it is not said.
    pub kind: Option<Kind>,
    /// Its address, or that of its API; that of the remote if it is not said.
    pub url: Option<String>,
}

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which forge it is.
    pub kind: Kind,
    /// The address of its API, without a slash at its end.
    pub api: String,
    /// The host of the API.
    pub host: String,
    /// The path of the repository, such as `group/name`.
    pub repo: String,
    /// The secret that holds the token. Its name follows from the host, so that no other host is ever sent it,
    /// whatever a file of the repository says.
    pub secret: String,
}

impl Place {
    /// Finds the repository of a remote on its forge.
    ///
    /// # Errors
    /// If it is not clear which forge it is, or the address is none that a token may be sent to.
    pub fn of(remote: &Remote, wish: &Wish) -> Result<Self> {
        let Some(kind) = wish.kind.or_else(|| guess(remote.host())) else {
            return Err(Error::Unclear(format!(
                "it is not clear whether {} is a GitHub or a GitLab: say \
                 `forge = \"github\"` or `forge = \"gitlab\"` in [landing]",
                remote.host()
            )));
        };
        let api = match &wish.url {
            Some(url) => said(kind, url)?,
            None => usual(kind, remote)?,
        };
        let host = api.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let host = host.to_owned();
        let parts = below(&api, kind, &remote.parts);
        if kind == Kind::GitHub && parts.len() != 2 {
            let path = parts.join("/");
            return Err(Error::Unclear(format!("{path} is not an owner and a repository")));
        }
        let secret = match host.as_str() {
            "api.github.com" => "github".to_owned(),
            "gitlab.com" => "gitlab".to_owned(),
            _ => host.clone(),
        };
        let api = api.as_str().trim_end_matches('/').to_owned();
        Ok(Self { kind, api, host, repo: parts.join("/"), secret })
    }

    /// Returns the owner of the repository: all of its path but the last part.
    pub(crate) fn owner(&self) -> &str {
        self.repo.rsplit_once('/').map_or("", |(owner, _)| owner)
    }
}

fn guess(host: &str) -> Option<Kind> {
    let has = |word: &str| host.split('.').any(|part| part.split('-').any(|bit| bit == word));
    match host {
        "github.com" => Some(Kind::GitHub),
        "gitlab.com" => Some(Kind::GitLab),
        _ if host.ends_with(".ghe.com") || has("github") => Some(Kind::GitHub),
        _ if has("gitlab") => Some(Kind::GitLab),
        _ => None,
    }
}

/// Where the API is below the address of a forge.
fn tail(kind: ForgeKind) -> &'static str {
    match kind {
        ForgeKind::GitHub => "/api/v3",
        ForgeKind::GitLab => "/api/v4",
    }
}

/// Takes the address that a project gives, of the forge or of its API.
fn said(kind: Kind, text: &str) -> Result<Url> {
    let bad = |why: &str| Error::Unclear(format!("`forge-url` cannot be used: {why}"));
    let mut url: Url = text.parse().map_err(|_| bad("it is no address"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("a token belongs into a secret: godel secret set NAME"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it has more than a host and a path"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let whole = match url.host_str() {
        Some("github.com") => return usual_of(Kind::GitHub, "https", "github.com", None),
        Some("api.github.com") => path,
        Some(host) if host.starts_with("api.") && host.ends_with(".ghe.com") => path,
        Some(_) if path.ends_with(tail(kind)) => path,
        Some(_) => format!("{path}{}", tail(kind)),
        None => return Err(bad("it has no host")),
    };
    url.set_path(&whole);
    safe(url)
}

/// Finds the API of a remote that nothing more is said about.
fn usual(kind: Kind, remote: &Remote) -> Result<Url> {
    let scheme = if remote.scheme == Scheme::Http { "http" } else { "https" };
    usual_of(kind, scheme, &remote.host, remote.port)
}

fn usual_of(kind: Kind, scheme: &str, host: &str, port: Option<u16>) -> Result<Url> {
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let text = match host {
        "github.com" => "https://api.github.com".to_owned(),
        _ if kind == Kind::GitHub && host.ends_with(".ghe.com") => format!("https://api.{host}"),
        _ => format!("{scheme}://{host}{port}{}", tail(kind)),
    };
    let url = text.parse().map_err(|_| Error::Unclear(format!("{text} is no address")))?;
    safe(url)
}

/// A token is sent encrypted, or not off this machine.
fn safe(url: Url) -> Result<Url> {
    let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => Ok(url),
        "http" if here => Ok(url),
        _ => Err(Error::Unclear(format!(
            "a token is not sent to {} without encryption: say `forge-url = \"https://..\"`",
            url.host_str().unwrap_or_default()
        ))),
    }
}

/// Takes the folder away in which a forge lives that has a host not for itself.
fn below(api: &Url, kind: Kind, parts: &[String]) -> Vec<String> {
    let path = api.path().trim_end_matches('/');
    let folder = path.strip_suffix(tail(kind)).unwrap_or_default().trim_matches('/');
    let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let inside = parts.len() >= folder.len() + 2 && parts.iter().zip(&folder).all(|(a, b)| a == b);
    if inside { parts[folder.len()..].to_vec() } else { parts.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(remote: &str, kind: Option<Kind>, url: Option<&str>) -> Result<Place> {
        let wish = Wish { kind, url: url.map(str::to_owned) };
        Place::of(&remote.parse().unwrap(), &wish)
    }

    #[test]
    fn the_api_follows_from_the_remote() {
        for (remote, kind, api, repo, secret) in [
            ("git@github.com:a/b.git", None, "https://api.github.com", "a/b", "github"),
            ("https://gitlab.com/a/b/c.git", None, "https://gitlab.com/api/v4", "a/b/c", "gitlab"),
            ("git@acme.ghe.com:a/b", None, "https://api.acme.ghe.com", "a/b", "api.acme.ghe.com"),
            (
                "https://github.acme.com:8443/a/b",
                None,
                "https://github.acme.com:8443/api/v3",
                "a/b",
                "github.acme.com",
            ),
            (
                "ssh://git@code.acme.com:2222/a/b/c",
                Some(Kind::GitLab),
                "https://code.acme.com/api/v4",
                "a/b/c",
                "code.acme.com",
            ),
            (
                "http://127.0.0.1:9/a/b",
                Some(Kind::GitHub),
                "http://127.0.0.1:9/api/v3",
                "a/b",
                "127.0.0.1",
            ),
        ] {
            let found = place(remote, kind, None).unwrap();
            assert_eq!((found.api.as_str(), found.repo.as_str()), (api, repo), "{remote}");
            assert_eq!(found.secret, secret);
        }
    }

    #[test]
    fn an_address_that_is_said_counts_and_chooses_the_secret() {
        let remote = "git@github.com:a/b.git";
        let other = place(remote, Some(Kind::GitHub), Some("https://evil.example/")).unwrap();
        assert_eq!(other.api, "https://evil.example/api/v3");
        assert_eq!(other.secret, "evil.example", "and not that of github.com");
        let lab = Some("https://acme.com/lab/api/v4/");
        let found = place("https://acme.com/lab/one/two.git", Some(Kind::GitLab), lab).unwrap();
        assert_eq!(
            (found.api.as_str(), found.repo.as_str()),
            ("https://acme.com/lab/api/v4", "one/two")
        );
        let hub = place(remote, None, Some("https://github.com")).unwrap();
        assert_eq!(hub.api, "https://api.github.com");
    }

    #[test]
    fn no_token_goes_unencrypted_to_another_machine() {
        for (remote, url) in [
            ("http://gitlab.acme.com/a/b", None),
            ("git@gitlab.com:a/b", Some("http://gitlab.com")),
            ("git@gitlab.com:a/b", Some("https://me:token@gitlab.com")),
            ("git@gitlab.com:a/b", Some("https://gitlab.com/?private_token=1")),
            ("git@gitlab.com:a/b", Some("ftp://gitlab.com")),
            ("git@code.acme.com:a/b", None),
            ("git@github.com:a/b/c", None),
        ] {
            let error = place(remote, None, url).unwrap_err();
            assert!(matches!(error, Error::Unclear(_)), "{remote} {url:?}: {error}");
            assert!(!error.to_string().contains("me:token"), "{error}");
        }
    }
}
