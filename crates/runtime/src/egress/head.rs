//! Reads the head of a request to the proxy.

use super::rules::Endpoint;

/// How large a head may be.
pub(super) const HEAD_MAX_BYTES: usize = 32 << 10;

/// What a client asks the proxy for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A tunnel.
    Tunnel(Endpoint),
    /// A plain request, and its head as the server shall see it.
    Plain(Endpoint, Vec<u8>),
}

/// Finds the end of a head.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Reads a whole head; nothing if it is not one for a proxy.
pub(super) fn read(head: &[u8]) -> Option<Asked> {
    let text = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target, version) = (first.next()?, first.next()?, first.next()?);
    let token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    if first.next().is_some() || !token || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return None;
    }
    if method == "CONNECT" {
        return Endpoint::parse(target, None).map(Asked::Tunnel);
    }
    let rest = target.strip_prefix("http://")?;
    let cut = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(cut);
    let endpoint = Endpoint::parse(authority, Some(80))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nhost: {authority}\r\n");
    for line in lines {
        let (name, _) = line.split_once(':')?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        // The host is the one that was allowed, and one connection serves one request.
        if name == "host" || name.starts_with("proxy-") || name == "connection" {
            continue;
        }
        head.push_str(line);
        head.push_str("\r\n");
    }
    head.push_str("connection: close\r\n\r\n");
    Some(Asked::Plain(endpoint, head.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_and_a_plain_request_are_read() {
        let asked = read(b"CONNECT Example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!(asked, Asked::Tunnel(Endpoint { host: "example.com".into(), port: 443 }));
        let asked = read(
            b"GET http://a.de/x?y HTTP/1.1\r\nHost: other.de\r\nProxy-Authorization: secret\r\n\
              Connection: keep-alive\r\nAccept: */*\r\n\r\n",
        );
        let head = b"GET /x?y HTTP/1.1\r\nhost: a.de\r\nAccept: */*\r\nconnection: close\r\n\r\n";
        let endpoint = Endpoint { host: "a.de".into(), port: 80 };
        assert_eq!(asked, Some(Asked::Plain(endpoint, head.to_vec())));
    }

    #[test]
    fn what_is_no_request_for_a_proxy_is_refused() {
        for bad in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"GET https://a.de/ HTTP/1.1\r\n\r\n",
            b"CONNECT a.de HTTP/1.1\r\n\r\n",
            b"CONNECT a.de:443 HTTP/2\r\n\r\n",
            b"GET http://u:p@a.de/ HTTP/1.1\r\n\r\n",
            b"GET http://a.de/ HTTP/1.1\r\n folded\r\n\r\n",
            b"G\nT http://a.de/ HTTP/1.1\r\n\r\n",
            b"\r\n\r\n",
            b"\xff\r\n\r\n",
        ] {
            assert_eq!(read(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
