//! Act: the login link of the server is used as a browser would, and a second time in vain.

use serde_json::json;

use super::Stage;
use super::browser::{Answer, Browser};
use crate::failure::{Failure, Result};

/// Exchanges the link for a session, reads with the session, and tries the link again.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    let server = stage.server()?;
    let said = server.said();
    let token = token_of(&said)
        .ok_or_else(|| Failure::new("godel up does not say a login link").output(said.as_str()))?;
    let mut browser = Browser::new(server.url());
    expect("GET /dashboard/", 200, &browser.get("/dashboard/")?)?;
    expect("GET /api/v1/events, before the login", 401, &browser.get("/api/v1/events?limit=1")?)?;
    // The page takes the token from behind the `#` and sends it.
    let login = browser.post("/auth/login", &json!({ "token": token }))?;
    expect("POST /auth/login, with the token of the link", 200, &login)?;
    if !browser.has_cookie() {
        return Err(Failure::new("the login gave no session cookie"));
    }
    let page = browser.get("/api/v1/events?limit=1")?;
    expect("GET /api/v1/events, with the session cookie", 200, &page)?;
    let last = &page.body["data"]["items"][0];
    if last["type"] != "auth:login" {
        return Err(Failure::new(format!("the last event is not the login: {last}")));
    }
    println!("    the newest event is the login itself: {} by {}", text(last, "type"), actor(last));
    let again = Browser::new(server.url()).post("/auth/login", &json!({ "token": token }))?;
    expect("POST /auth/login, with the same link again", 401, &again)
}

/// Finds the token of the link in what the server said.
fn token_of(said: &str) -> Option<&str> {
    said.split_once("#token=").and_then(|(_, rest)| rest.split_whitespace().next())
}

/// Shows an answer, and fails if it is another than the one that was promised.
fn expect(asked: &str, status: u16, answer: &Answer) -> Result<()> {
    let why = answer.body["error"]["code"].as_str().unwrap_or_default();
    let line = format!("    {asked:<46} {} {why}", answer.status);
    println!("{}", line.trim_end());
    if answer.status == status {
        return Ok(());
    }
    Err(Failure::new(format!("{asked} should be answered with {status}"))
        .output(answer.body.to_string()))
}

fn text<'a>(event: &'a serde_json::Value, field: &str) -> &'a str {
    event[field].as_str().unwrap_or("?")
}

fn actor(event: &serde_json::Value) -> &str {
    text(&event["metadata"], "actor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_ends_with_its_line() {
        let said = "dashboard  http://127.0.0.1:1/dashboard/#token=abc_DEF-1\n  (once)\n";
        assert_eq!(token_of(said), Some("abc_DEF-1"));
        assert_eq!(token_of("no link here"), None);
    }
}
