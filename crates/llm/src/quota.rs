//! What a provider says of the quota of a subscription, in the headers of its replies.
//!
//! A subscription has no price for a request. It has windows, such as five hours and seven days, and
//! in each a part is used. Two ways of saying so are known:
//! - `anthropic-ratelimit-unified-5h-utilization: 0.42`, with `-reset` (seconds since 1970, or a time)
//!   and `-status` beside it;
//! - `x-codex-primary-used-percent: 42`, with `-window-minutes` and `-reset-at` or
//!   `-reset-after-seconds` beside it.

use godel_model::QuotaWindow;
use jiff::{SignedDuration, Timestamp};

/// How many windows are read at most, and how long the name of one may be.
const WINDOWS_MAX: usize = 16;
const NAME_MAX: usize = 40;

const UNIFIED: &str = "anthropic-ratelimit-unified-";
const CODEX: &str = "x-codex-";

/// Tells whether a header is about the quota of a subscription.
pub fn is_quota_header(name: &str) -> bool {
    name.starts_with(UNIFIED) || name.starts_with(CODEX)
}

/// Reads the windows that headers tell of, by name; none of them if there is nothing about it.
pub fn read_quota(headers: &[(&str, &str)], now: Timestamp) -> Vec<QuotaWindow> {
    let value = |wanted: String| {
        let found = headers.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.trim())
    };
    let mut windows = Vec::new();
    for (header, text) in headers {
        let unified =
            header.strip_prefix(UNIFIED).and_then(|rest| rest.strip_suffix("-utilization"));
        let codex = header.strip_prefix(CODEX).and_then(|rest| rest.strip_suffix("-used-percent"));
        let Some(name) = unified.or(codex).filter(|name| is_name(name)) else { continue };
        let scale = if unified.is_some() { 1e6 } else { 1e4 };
        let Some(used) = number(text) else { continue };
        let beside = |what: &str| {
            let prefix = if unified.is_some() { UNIFIED } else { CODEX };
            value(format!("{prefix}{name}-{what}"))
        };
        let minutes = match unified {
            Some(name) => length(name),
            None => beside("window-minutes").and_then(|text| text.parse().ok()),
        };
        // A kind of login that has no such window says so with zeros.
        if codex.is_some() && used == 0.0 && minutes == Some(0) {
            continue;
        }
        let after = beside("reset-after-seconds").and_then(number);
        let after = after.and_then(|seconds| {
            now.checked_add(SignedDuration::from_secs(seconds.min(1e9) as i64)).ok()
        });
        let resets_at = beside("reset").or_else(|| beside("reset-at")).and_then(time).or(after);
        let state = beside("status").filter(|state| is_name(state)).map(ToOwned::to_owned);
        let used_ppm = (used * scale).min(1e12).round() as i64;
        windows.push(QuotaWindow { name: name.to_owned(), used_ppm, minutes, resets_at, state });
        if windows.len() == WINDOWS_MAX {
            break;
        }
    }
    windows.sort_by(|a, b| (a.minutes, &a.name).cmp(&(b.minutes, &b.name)));
    windows.dedup_by(|a, b| a.name == b.name);
    windows
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(fits)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// Reads a time: seconds since 1970, or as text.
fn time(text: &str) -> Option<Timestamp> {
    match text.parse::<i64>() {
        Ok(seconds) => Timestamp::from_second(seconds).ok().filter(|_| seconds > 0),
        Err(_) => text.parse().ok(),
    }
}

/// Reads how many minutes a window has whose name begins with its length, such as `5h` or `7d_x`.
fn length(name: &str) -> Option<u32> {
    let digits = name.find(|c: char| !c.is_ascii_digit())?;
    let count: u32 = name[..digits].parse().ok()?;
    let minutes = match name[digits..].chars().next()? {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        _ => return None,
    };
    count.checked_mul(minutes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(headers: &[(&str, &str)]) -> Vec<QuotaWindow> {
        read_quota(headers, Timestamp::from_second(1_000).unwrap())
    }

    fn window(name: &str, used_ppm: i64, minutes: Option<u32>, resets: Option<i64>) -> QuotaWindow {
        let resets_at = resets.map(|second| Timestamp::from_second(second).unwrap());
        QuotaWindow { name: name.to_owned(), used_ppm, minutes, resets_at, state: None }
    }

    #[test]
    fn both_ways_of_saying_it_are_read() {
        let told = read(&[
            ("content-type", "text/event-stream"),
            ("anthropic-ratelimit-unified-status", "allowed"),
            ("anthropic-ratelimit-unified-7d-utilization", "0.1"),
            ("anthropic-ratelimit-unified-7d-reset", "1970-01-01T01:00:00Z"),
            ("anthropic-ratelimit-unified-5h-utilization", "0.425"),
            ("anthropic-ratelimit-unified-5h-reset", "2000"),
            ("anthropic-ratelimit-unified-5h-status", "allowed_warning"),
            ("anthropic-ratelimit-unified-overage-utilization", "0.0"),
            ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
        ]);
        let state = Some("allowed_warning".to_owned());
        let expected = [
            window("overage", 0, None, None),
            QuotaWindow { state, ..window("5h", 425_000, Some(300), Some(2_000)) },
            window("7d", 100_000, Some(10_080), Some(3_600)),
        ];
        assert_eq!(told, expected);
        let told = read(&[
            ("x-codex-primary-used-percent", "42.5"),
            ("x-codex-primary-window-minutes", "300"),
            ("x-codex-primary-reset-at", "5000"),
            ("x-codex-secondary-used-percent", "13"),
            ("x-codex-secondary-window-minutes", "10080"),
            ("x-codex-secondary-reset-after-seconds", "60"),
            ("x-codex-other-primary-used-percent", "0"),
            ("x-codex-other-primary-window-minutes", "0"),
        ]);
        let expected = [
            window("primary", 425_000, Some(300), Some(5_000)),
            window("secondary", 130_000, Some(10_080), Some(1_060)),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_makes_no_sense_is_not_told() {
        for (name, value) in [
            ("anthropic-ratelimit-unified--utilization", "0.1"),
            ("anthropic-ratelimit-unified-utilization", "0.1"),
            ("anthropic-ratelimit-unified-5h-utilization", "NaN"),
            ("anthropic-ratelimit-unified-5h-utilization", "-1"),
            ("anthropic-ratelimit-unified-5h-utilization", ""),
            ("anthropic-ratelimit-unified-5\u{7f}h-utilization", "0.1"),
            ("x-codex-primary-used-percent", "much"),
            ("x-codex-turn-metadata", "{}"),
        ] {
            assert_eq!(read(&[(name, value)]), [], "{name}: {value}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(
            headers in prop::collection::vec(
                ("(anthropic-ratelimit-unified-|x-codex-)?[0-9a-z-]{0,12}(-utilization|-used-percent|-reset|-reset-after-seconds|-window-minutes)?",
                 "[0-9.e+-]{0,12}"), 0..40),
        ) {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let windows = read_quota(&headers, Timestamp::UNIX_EPOCH);
            prop_assert!(windows.len() <= WINDOWS_MAX);
            prop_assert!(windows.iter().all(|window| window.used_ppm >= 0));
        }
    }
}
