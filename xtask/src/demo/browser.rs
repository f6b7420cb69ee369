//! As much of a browser as logging in takes: one request a connection, and one cookie.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Failure, Result, Told};

/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const ANSWER_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A browser that keeps the cookie it was given.
#[derive(Debug)]
pub(super) struct Browser {
    address: String,
    cookie: Option<String>,
}

/// What the server answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    cookie: Option<String>,
    /// The body; `null` if it is no JSON.
    pub(super) body: Value,
}

impl Browser {
    /// Opens a browser without cookies for the server at `url`.
    pub(super) fn new(url: &str) -> Self {
        Self { address: url.trim_start_matches("http://").to_owned(), cookie: None }
    }

    /// Tells whether it was given a cookie.
    pub(super) fn has_cookie(&self) -> bool {
        self.cookie.is_some()
    }

    /// Asks for a page.
    pub(super) fn get(&mut self, path: &str) -> Result<Answer> {
        self.send("GET", path, "")
    }

    /// Sends JSON.
    pub(super) fn post(&mut self, path: &str, body: &Value) -> Result<Answer> {
        self.send("POST", path, &body.to_string())
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Answer> {
        let cookie = self.cookie.as_ref().map(|cookie| format!("Cookie: {cookie}\r\n"));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            cookie.unwrap_or_default(),
            body.len(),
        );
        let text = exchange(&self.address, &request).told(format!("{method} {path}"))?;
        let answer = parse(&text).ok_or_else(|| {
            Failure::new(format!("{method} {path} got no HTTP answer")).output(text)
        })?;
        if answer.cookie.is_some() {
            self.cookie.clone_from(&answer.cookie);
        }
        Ok(answer)
    }
}

fn exchange(address: &str, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(ANSWER_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let cookie = lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .and_then(|(_, value)| value.split(';').next())
        .map(ToOwned::to_owned);
    Some(Answer { status, cookie, body: serde_json::from_str(body).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_the_status_and_the_body_are_read() {
        let text = "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; HttpOnly\r\n\r\n{\"x\":1}";
        let answer = parse(text).unwrap();
        assert_eq!((answer.status, answer.cookie.as_deref()), (200, Some("a=b")));
        assert_eq!(answer.body["x"], 1);
        assert!(parse("nonsense").is_none());
    }
}
