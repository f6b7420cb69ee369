//! How long a forge wants to be left alone.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderMap;

/// The longest that a forge is believed.
pub(crate) const LONGEST: Duration = Duration::from_secs(3_600);

/// Reads from the head of an answer when to ask again: in seconds, at a date, or when the hour is over.
pub(crate) fn told(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let until = |at: Timestamp| {
        let left = at.duration_since(now).as_secs().max(0);
        Duration::from_secs(u64::try_from(left).unwrap_or(0))
    };
    let asked = text("retry-after").and_then(|said| match said.trim().parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => jiff::fmt::rfc2822::parse(said.trim()).ok().map(|at| until(at.timestamp())),
    });
    let spent =
        ["x-ratelimit-remaining", "ratelimit-remaining"].iter().any(|name| text(name) == Some("0"));
    let reset = ["x-ratelimit-reset", "ratelimit-reset"].iter().find_map(|name| text(name));
    let reset = reset.filter(|_| spent).and_then(|said| said.trim().parse().ok());
    let reset = reset.and_then(|second| Timestamp::from_second(second).ok()).map(until);
    asked.or(reset).map(|wait| wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_forge_is_left_alone_as_long_as_it_says() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let wait = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_str(value).unwrap());
            }
            told(&headers, now).map(|wait| wait.as_secs())
        };
        assert_eq!(wait(&[("retry-after", "7")]), Some(7));
        assert_eq!(wait(&[("retry-after", "Tue, 14 Nov 2023 22:13:50 GMT")]), Some(30));
        assert_eq!(wait(&[("retry-after", "Tue, 14 Nov 2000 22:13:50 GMT")]), Some(0));
        assert_eq!(wait(&[("retry-after", "999999999")]), Some(3_600), "but not for ever");
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        let reset = ("x-ratelimit-reset", "1700000060");
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), reset]), Some(60));
        assert_eq!(wait(&[("x-ratelimit-remaining", "9"), reset]), None);
        assert_eq!(
            wait(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "1700000002")]),
            Some(2)
        );
    }
}
