//! The address of a PostgreSQL server, with what it asks of TLS.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::{Error, Result};

/// What the address asks of TLS, in the words and with the meaning of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// None.
    Disable,
    /// If the server can; proves nothing.
    Prefer,
    /// Always; with `sslrootcert` as `verify-ca`, else it proves nothing.
    Require,
    /// Always, and a trusted authority has signed the certificate.
    VerifyCa,
    /// Always, and the certificate is for this server's name.
    VerifyFull,
}

/// The address of a PostgreSQL server.
#[derive(Debug)]
pub(crate) struct Address {
    /// What the driver understands.
    pub(crate) config: Config,
    /// What it asks of TLS.
    pub(crate) encryption: Encryption,
    /// The file with the authorities to trust instead of those of this machine.
    pub(crate) root: Option<PathBuf>,
}

impl Address {
    /// Reads an address; the driver knows neither `verify-full` nor `sslrootcert`.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let (place, query) = split(url);
        let (mut encryption, mut root, mut rest) = (Encryption::Prefer, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => encryption = mode(value)?,
                "sslrootcert" => root = file(value),
                _ => rest.push(pair),
            }
        }
        let url = match rest.is_empty() {
            true => place.to_owned(),
            false => format!("{place}?{}", rest.join("&")),
        };
        let mut config: Config =
            url.parse().map_err(|error: postgres::Error| Error::BadUrl(error.to_string()))?;
        // There is no TLS on a socket in the file system, and no need for it.
        let sockets = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        if sockets && !config.get_hosts().is_empty() {
            encryption = Encryption::Disable;
        }
        config.ssl_mode(match encryption {
            Encryption::Disable => SslMode::Disable,
            Encryption::Prefer => SslMode::Prefer,
            Encryption::Require | Encryption::VerifyCa | Encryption::VerifyFull => SslMode::Require,
        });
        Ok(Self { config, encryption, root })
    }
}

/// Parts an address from its parameters as the driver does: a password may hold a `?`.
fn split(url: &str) -> (&str, &str) {
    let user_ends = url.find('@').unwrap_or_default();
    match url[user_ends..].find('?') {
        Some(at) => (&url[..user_ends + at], &url[user_ends + at + 1..]),
        None => (url, ""),
    }
}

fn mode(value: &str) -> Result<Encryption> {
    Ok(match value {
        "disable" => Encryption::Disable,
        "allow" | "prefer" => Encryption::Prefer,
        "require" => Encryption::Require,
        "verify-ca" => Encryption::VerifyCa,
        "verify-full" => Encryption::VerifyFull,
        _ => {
            let known = "disable, prefer, require, verify-ca or verify-full";
            return Err(Error::BadUrl(format!("`sslmode` is none of {known}")));
        }
    })
}

/// Returns the file of `sslrootcert`; `system` stands for the authorities of this machine.
fn file(value: &str) -> Option<PathBuf> {
    let path = percent_decode_str(value).decode_utf8_lossy();
    (!path.is_empty() && path != "system").then(|| PathBuf::from(path.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_asks_of_tls_is_read() {
        for (query, encryption, root) in [
            ("", Encryption::Prefer, None),
            ("?sslmode=disable", Encryption::Disable, None),
            ("?application_name=x&sslmode=require", Encryption::Require, None),
            (
                "?sslmode=verify-ca&sslrootcert=/etc/a%20b.pem&connect_timeout=3",
                Encryption::VerifyCa,
                Some("/etc/a b.pem"),
            ),
            ("?sslrootcert=system&sslmode=verify-full", Encryption::VerifyFull, None),
        ] {
            let url = format!("postgres://ann:s3c?ret@db:5432/godel{query}");
            let address = Address::parse(&url).unwrap();
            assert_eq!(address.encryption, encryption, "{query}");
            assert_eq!(address.root, root.map(PathBuf::from), "{query}");
            assert_eq!(address.config.get_password(), Some(&b"s3c?ret"[..]));
            assert_eq!(address.config.get_dbname(), Some("godel"));
        }
        let socket = Address::parse("postgres:///x?host=/run/postgresql&sslmode=require").unwrap();
        assert_eq!(socket.encryption, Encryption::Disable);
        for bad in ["postgres://db/x?sslmode=yes", "postgres://db/x?sslcert=/x"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
