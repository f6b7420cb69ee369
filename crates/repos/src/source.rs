//! What can be cloned: addresses that git understands and that hold nothing secret.

use std::path::{Path, PathBuf};

use godel_model::{Invalid, code};
use percent_encoding::percent_decode_str;

/// The longest address, in bytes.
const ADDRESS_MAX_BYTES: usize = 2_048;
const HOST_MAX_BYTES: usize = 253;

/// What a repository is cloned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A folder of the server's machine.
    Local(PathBuf),
    /// A path on another machine, and whether that is reached by SSH.
    Far { host: String, path: String, ssh: bool },
}

impl Source {
    /// Reads an address. No complaint repeats it: it may hold a password.
    ///
    /// # Errors
    /// If git would not understand it, it is of a kind that is not cloned, or it holds a credential.
    pub(crate) fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > ADDRESS_MAX_BYTES || text.chars().any(char::is_control) {
            return Err(refused("an address to clone has at most 2,048 bytes on one line"));
        }
        let kind = if text.starts_with('/') {
            Kind::Local(PathBuf::from(text))
        } else if text.contains(char::is_whitespace) {
            return Err(unknown());
        } else {
            match text.split_once("://") {
                Some(("https" | "http" | "git", rest)) => far(rest, false)?,
                Some(("ssh", rest)) => far(rest, true)?,
                Some(("file", rest)) => local(rest)?,
                Some(_) => return Err(unknown()),
                None => short(text)?,
            }
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// Returns the address as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the folder that is cloned, if it is on this machine.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Local(folder) => Some(folder),
            Kind::Far { .. } => None,
        }
    }

    /// Returns the name of the other machine, if it is on another one.
    pub(crate) fn host(&self) -> Option<&str> {
        match &self.kind {
            Kind::Local(_) => None,
            Kind::Far { host, .. } => Some(host),
        }
    }

    /// Tells whether it is reached by SSH.
    pub(crate) fn is_ssh(&self) -> bool {
        matches!(self.kind, Kind::Far { ssh: true, .. })
    }

    /// Returns what git is told to clone.
    pub(crate) fn argument(&self) -> &std::ffi::OsStr {
        match &self.kind {
            Kind::Local(folder) => folder.as_os_str(),
            Kind::Far { .. } => self.text.as_ref(),
        }
    }

    /// Returns what the repository is called, if that can be a folder.
    pub(crate) fn name(&self) -> Option<String> {
        let path = match &self.kind {
            Kind::Local(folder) => folder.to_string_lossy().into_owned(),
            Kind::Far { path, .. } => path.clone(),
        };
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix("/.git").unwrap_or(path).trim_end_matches('/');
        let last = path.rsplit('/').next().unwrap_or_default();
        let name = last.strip_suffix(".git").unwrap_or(last);
        let fits = !name.is_empty() && name.len() <= 255 && !name.starts_with(['.', '-']);
        fits.then(|| name.to_owned())
    }
}

fn refused(why: &str) -> Invalid {
    Invalid::new(code::INVALID_FIELD, why).with_field("clone")
}

fn unknown() -> Invalid {
    refused("this is no address that can be cloned").with_hint(
        "give one that begins with https://, ssh://, git:// or file://, one like git@host:owner/name.git, or the \
         absolute path of a repository on the server's machine",
    )
}

fn secret() -> Invalid {
    refused("an address to clone must not hold a user or password").with_hint(
        "leave out what is before the `@`; git takes credentials from its own helper on the server's machine, or use \
         an SSH address",
    )
}

/// Reads what is behind the `://` of an address of another machine.
fn far(rest: &str, ssh: bool) -> Result<Kind, Invalid> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let host = match place.rsplit_once('@') {
        None => place,
        // A token is often given as the user, without a password.
        Some((user, host)) if ssh && is_word(user) => host,
        Some(_) => return Err(secret()),
    };
    if path.contains(['?', '#']) {
        return Err(refused("an address to clone must not have a `?` or `#`")
            .with_hint("leave out what is behind it; credentials do not belong there"));
    }
    if path.trim_matches('/').is_empty() {
        return Err(unknown());
    }
    let host = without_port(host).filter(|host| is_host(host)).ok_or_else(unknown)?;
    Ok(Kind::Far { host: host.to_owned(), path: path.to_owned(), ssh })
}

/// Reads the path of a `file://` address.
fn local(rest: &str) -> Result<Kind, Invalid> {
    let path = percent_decode_str(rest).decode_utf8().map_err(|_| unknown())?;
    // With a host in front it would not be this machine.
    if !path.starts_with('/') || path.chars().any(char::is_control) {
        return Err(unknown());
    }
    Ok(Kind::Local(PathBuf::from(path.as_ref())))
}

/// Reads an address of SSH as people write it: `git@host:owner/name.git`.
fn short(text: &str) -> Result<Kind, Invalid> {
    let (place, path) = text.split_once(':').ok_or_else(unknown)?;
    let (user, host) = match place.split_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, place),
    };
    // Two colons would name a program that git starts, and a second `@` hides a password.
    if path.is_empty() || path.starts_with([':', '-']) || path.contains('@') {
        return Err(if path.contains('@') { secret() } else { unknown() });
    }
    if !is_host(host) || user.is_some_and(|user| !is_word(user)) {
        return Err(unknown());
    }
    Ok(Kind::Far { host: host.to_owned(), path: path.to_owned(), ssh: true })
}

fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rsplit_once(':') {
        // A colon inside of brackets belongs to an address of IPv6.
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    port.is_none_or(|port| port.parse::<u16>().is_ok()).then_some(name)
}

fn is_host(text: &str) -> bool {
    if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return inside.parse::<std::net::Ipv6Addr>().is_ok();
    }
    text.len() <= HOST_MAX_BYTES && is_word(text)
}

/// Tells whether a text is a plain name, which no program takes for an option.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    #[test]
    fn what_git_understands_can_be_cloned() {
        for (text, host, name) in [
            ("https://github.com/owner/app.git", Some("github.com"), "app"),
            ("https://example.com:8443/a/b/app/", Some("example.com"), "app"),
            ("http://127.0.0.1:3000/app", Some("127.0.0.1"), "app"),
            ("ssh://git@github.com/owner/app.git", Some("github.com"), "app"),
            ("ssh://git@[::1]:2222/owner/app", Some("[::1]"), "app"),
            ("git@github.com:owner/app.git", Some("github.com"), "app"),
            ("host:app", Some("host"), "app"),
            ("git://example.com/app", Some("example.com"), "app"),
            ("/srv/git/an app.git", None, "an app"),
            ("/srv/app/.git", None, "app"),
            ("file:///srv/an%20app", None, "an app"),
        ] {
            let source = Source::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((source.host(), source.name().as_deref()), (host, Some(name)), "{text}");
            assert_eq!(source.text(), text);
        }
        let file = Source::parse("file:///srv/an%20app").unwrap();
        assert_eq!(file.argument(), "/srv/an app");
    }

    #[test]
    fn credentials_are_refused_and_not_repeated() {
        for text in [
            "https://ann:hunter2@example.com/app",
            "https://hunter2@example.com/app",
            "https://ann:hunter2@example.com",
            "http://:hunter2@example.com/app",
            "ssh://git:hunter2@example.com/app",
            "git:hunter2@example.com:app",
            "https://example.com/app?token=hunter2",
            "https://example.com/app#hunter2",
            "https://ann:hun/ter2@example.com/app",
        ] {
            let error = Source::parse(text).expect_err(text);
            let told = format!("{error} {:?}", error.hint());
            assert!(!told.contains("hunter2") && !told.contains("ter2@"), "{text}: {told}");
            assert_eq!((error.code(), error.field()), (code::INVALID_FIELD, Some("clone")));
        }
    }

    #[test]
    fn what_would_start_a_program_or_be_an_option_is_refused() {
        for text in [
            "",
            "app",
            "./app",
            "../app",
            "-u/bin/sh",
            "--upload-pack=/bin/sh",
            "ext::sh -c id",
            "ext::sh",
            "fd::17",
            "host::app",
            "ftp://example.com/app",
            "HTTPS://example.com/app",
            "ssh://-oProxyCommand=id/app",
            "ssh://git@-oProxyCommand=id/app",
            "ssh://%2DoProxyCommand=id/app",
            "-oProxyCommand=id:app",
            "git@-oProxyCommand=id:app",
            "host:-app",
            "https:///app",
            "https://example.com",
            "https://example.com/",
            "https://example.com:99999/app",
            "https://exa mple.com/app",
            "https://example.com/app\nx",
            "file://other.machine/app",
            "file:///app%00",
            "file:///app%ff",
        ] {
            assert!(Source::parse(text).is_err(), "{text:?}");
        }
        assert!(Source::parse(&format!("https://example.com/{}", "a".repeat(2_048))).is_err());
    }

    #[test]
    fn a_name_that_is_no_folder_is_none() {
        for text in ["https://example.com/.git", "https://example.com/..", "host:a/-b", "/"] {
            assert_eq!(Source::parse(text).unwrap().name(), None, "{text}");
        }
    }
}
