//! Amounts as people type them.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

/// The longest span that is meant: a hundred years.
const SPAN_MAX_DAYS: i64 = 36_500;
/// What JSON can hold exactly in every language.
const EXACT_MAX: u64 = 1 << 53;

/// A limit that is set, or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap<T> {
    /// There is none.
    Off,
    /// It is this much.
    At(T),
}

impl<T> Cap<T> {
    /// Returns the limit, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::At(value) => Some(value),
        }
    }
}

/// A list of patterns of models; empty means all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models(pub Vec<String>);

/// What may be spent, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Millionths of a dollar.
    pub micros: i64,
    /// `total`, `daily` or `monthly`.
    pub period: &'static str,
}

/// A point in time: so far from now, or at a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// So long before now, or after it.
    Ago(SignedDuration),
    /// At this time.
    At(Timestamp),
}

impl When {
    /// Returns the time it stands for.
    pub fn time(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(span) => now.checked_sub(span).unwrap_or(Timestamp::UNIX_EPOCH),
            Self::At(time) => time,
        }
    }

    /// Returns the time it stands for if it is about the future.
    pub fn ahead(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(span) => now.checked_add(span).unwrap_or(Timestamp::MAX),
            Self::At(time) => time,
        }
    }
}

/// Splits a number from the unit behind it.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// Reads a decimal number in parts of `scale`, with at most so many digits behind the point.
fn scaled(text: &str, scale: u64, digits: usize) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let pointed = text.contains('.');
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(part) {
        return None;
    }
    if (pointed && part.is_empty()) || part.len() > digits {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let power = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let part: u128 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let sum = u128::from(whole) * u128::from(scale) + part * u128::from(scale) / power;
    u64::try_from(sum).ok().filter(|sum| *sum < EXACT_MAX)
}

fn cap<T>(text: &str, read: impl Fn(&str) -> Option<T>, wanted: &str) -> Result<Cap<T>, String> {
    if text == "none" {
        return Ok(Cap::Off);
    }
    read(text).map(Cap::At).ok_or_else(|| format!("write {wanted}, or none for no limit"))
}

/// Reads what may be spent in a month, in millionths of a dollar.
pub fn budget(text: &str) -> Result<Cap<u64>, String> {
    let read = |text: &str| {
        let amount = text.strip_suffix("/month").unwrap_or(text);
        let amount = amount.strip_prefix('$').unwrap_or(amount);
        scaled(amount, 1_000_000, 6).filter(|micros| *micros > 0)
    };
    cap(text, read, "dollars a month, such as 200/month or 49.50/month")
}

/// Reads what something may cost, in millionths of a dollar.
pub fn dollars(text: &str) -> Result<Cap<u64>, String> {
    let read = |text: &str| {
        let amount = text.strip_prefix('$').unwrap_or(text);
        scaled(amount, 1_000_000, 6).filter(|micros| *micros > 0)
    };
    cap(text, read, "dollars, such as 5.00")
}

/// Reads an amount that is more than nothing, in millionths of a dollar.
fn micros(text: &str) -> Option<i64> {
    let amount = text.strip_prefix('$').unwrap_or(text);
    let read = scaled(amount, 1_000_000, 6).filter(|micros| *micros > 0);
    read.and_then(|micros| i64::try_from(micros).ok())
}

/// Reads an amount of money, in millionths of a dollar.
pub fn money(text: &str) -> Result<i64, String> {
    micros(text).ok_or_else(|| "write dollars, such as 5 or 0.50".to_owned())
}

/// Reads what may be spent and how often.
pub fn allowance(text: &str) -> Result<Allowance, String> {
    let (amount, period) = match text.split_once('/') {
        None => (text, Some("total")),
        Some((amount, "day")) => (amount, Some("daily")),
        Some((amount, "month")) => (amount, Some("monthly")),
        Some((amount, _)) => (amount, None),
    };
    let read = micros(amount).zip(period).map(|(micros, period)| Allowance { micros, period });
    read.ok_or_else(|| "write dollars and how often: 200/month, 5/day, or 50 in all".to_owned())
}

/// Reads how long something may take, in minutes; a part of a minute counts as one.
pub fn minutes(text: &str) -> Result<Cap<u64>, String> {
    let read = |text: &str| {
        let seconds = u64::try_from(span(text).ok()?.as_secs()).ok()?;
        Some(seconds.div_ceil(60)).filter(|minutes| *minutes > 0)
    };
    cap(text, read, "a number and a unit: 90m, 2h or 3d")
}

/// Reads how many requests may be made in a minute.
pub fn rate(text: &str) -> Result<Cap<u32>, String> {
    let read = |text: &str| {
        let count = ["/min", "/minute"].iter().find_map(|unit| text.strip_suffix(unit));
        whole(count.unwrap_or(text))
    };
    cap(text, read, "requests a minute, such as 100/min")
}

/// Reads a number of agents.
pub fn count(text: &str) -> Result<Cap<u32>, String> {
    cap(text, whole, "a number larger than 0")
}

fn whole(text: &str) -> Option<u32> {
    let number = scaled(text, 1, 0).and_then(|number| u32::try_from(number).ok());
    number.filter(|number| *number > 0)
}

/// Reads a number of processor cores, in thousandths.
pub fn cpu(text: &str) -> Result<Cap<u32>, String> {
    let read = |text: &str| {
        let millis = match text.strip_suffix('m') {
            Some(millis) => scaled(millis, 1, 0),
            None => scaled(text, 1_000, 3),
        };
        millis.and_then(|millis| u32::try_from(millis).ok()).filter(|millis| *millis > 0)
    };
    cap(text, read, "a number of cores, such as 8, 0.5 or 500m")
}

/// Reads a number of bytes.
pub fn memory(text: &str) -> Result<Cap<u64>, String> {
    let read = |text: &str| {
        let (number, unit) = split(text);
        let scale = match unit.strip_suffix('B').unwrap_or(unit) {
            "" => 1,
            "K" | "k" => 1_000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            "T" => 1_000_000_000_000,
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            "Ti" => 1 << 40,
            _ => return None,
        };
        let digits = if scale == 1 { 0 } else { 3 };
        scaled(number, scale, digits).filter(|bytes| *bytes > 0)
    };
    cap(text, read, "a size, such as 16Gi, 512Mi or 1.5G")
}

/// Reads patterns of models.
pub fn models(text: &str) -> Result<Models, String> {
    if text == "all" {
        return Ok(Models(Vec::new()));
    }
    let list: Vec<String> = text.split(',').map(|model| model.trim().to_owned()).collect();
    let good = |model: &String| !model.is_empty() && !model.contains(char::is_whitespace);
    if list.iter().all(good) {
        return Ok(Models(list));
    }
    Err("write names with commas between them, such as \"claude-*,gpt-*\", or all".to_owned())
}

/// Reads a span of time.
pub fn span(text: &str) -> Result<SignedDuration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => 0,
    };
    let limit = SignedDuration::from_hours(SPAN_MAX_DAYS * 24);
    let read = scaled(number, seconds, 0).filter(|_| seconds > 0);
    let read = read.and_then(|seconds| i64::try_from(seconds).ok());
    read.map(SignedDuration::from_secs)
        .filter(|span| *span <= limit)
        .ok_or_else(|| "write a number and a unit: 45s, 90m, 24h, 30d or 2w".to_owned())
}

/// Reads a number of seconds, with or without a unit.
pub fn whole_seconds(text: &str) -> Result<u64, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = if plain { span(&format!("{text}s")) } else { span(text) };
    let read = read.ok().and_then(|span| u64::try_from(span.as_secs()).ok());
    read.ok_or_else(|| "write seconds, or a number and a unit: 90, 45s, 10m or 2h".to_owned())
}

/// Reads a number of seconds that is more than none, with or without a unit.
pub fn seconds(text: &str) -> Result<u64, String> {
    match whole_seconds(text)? {
        0 => Err("it must be longer than that".to_owned()),
        seconds => Ok(seconds),
    }
}

/// Reads a time in the future as the span until then; 0 would be over at once.
pub fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let span = span(text)?;
    if span.is_zero() { Err("it must be longer than that".to_owned()) } else { Ok(span) }
}

/// Reads a point in time.
pub fn when(text: &str) -> Result<When, String> {
    if let Ok(span) = span(text) {
        return Ok(When::Ago(span));
    }
    let midnight = format!("{text}T00:00:00Z");
    let time = text.parse().or_else(|error| match text.len() {
        10 => midnight.parse(),
        _ => Err(error),
    });
    time.map(When::At).map_err(|_| {
        "write a span such as 1d or 12h, a date such as 2026-06-01, or a time such as \
         2026-06-01T08:30:00Z"
            .to_owned()
    })
}

/// Reads a day.
pub fn day(text: &str) -> Result<Date, String> {
    let read = if text.len() == 10 { text.parse().ok() } else { None };
    read.ok_or_else(|| "write a day such as 2026-11-01".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        assert_eq!(budget("200/month"), Ok(Cap::At(200_000_000)));
        assert_eq!(budget("$49.50"), Ok(Cap::At(49_500_000)));
        assert_eq!(budget("0.000001"), Ok(Cap::At(1)));
        assert_eq!(budget("none"), Ok(Cap::Off));
        assert_eq!(rate("100/min"), Ok(Cap::At(100)));
        assert_eq!(rate("100/minute"), Ok(Cap::At(100)));
        assert_eq!(count("20"), Ok(Cap::At(20)));
        assert_eq!(cpu("8"), Ok(Cap::At(8_000)));
        assert_eq!(cpu("0.5"), Ok(Cap::At(500)));
        assert_eq!(cpu("250m"), Ok(Cap::At(250)));
        assert_eq!(memory("16Gi"), Ok(Cap::At(16 << 30)));
        assert_eq!(memory("1.5GiB"), Ok(Cap::At(3 << 29)));
        assert_eq!(memory("2G"), Ok(Cap::At(2_000_000_000)));
        assert_eq!(memory("1000"), Ok(Cap::At(1_000)));
        let two = Models(vec!["claude-*".to_owned(), "gpt-*".to_owned()]);
        assert_eq!(models("claude-*, gpt-*"), Ok(two));
        assert_eq!(models("all"), Ok(Models(Vec::new())));
    }

    #[test]
    fn amounts_that_make_no_sense_are_refused() {
        for bad in ["", "0", "-1", "200/year", "1.2345678", "1.", ".5", "200 /month", "9999999999"]
        {
            assert!(budget(bad).is_err(), "budget {bad:?}");
        }
        for bad in ["", "0", "0/min", "1.5", "100/s", "4294967296", "+1"] {
            assert!(rate(bad).is_err(), "rate {bad:?}");
        }
        for bad in ["", "0", "1.5", "many", "0x10"] {
            assert!(count(bad).is_err(), "count {bad:?}");
        }
        for bad in ["", "0", "0.0001", "8 cores", "1.5m", "m"] {
            assert!(cpu(bad).is_err(), "cpu {bad:?}");
        }
        for bad in ["", "0", "Gi", "16 Gi", "16gi", "1.5", "16GiBB", "99999999Ti"] {
            assert!(memory(bad).is_err(), "memory {bad:?}");
        }
        for bad in ["", ",", "a,,b", "a b"] {
            assert!(models(bad).is_err(), "models {bad:?}");
        }
    }

    #[test]
    fn an_allowance_is_an_amount_and_how_often() {
        let of = |micros, period| Ok(Allowance { micros, period });
        assert_eq!(allowance("200/month"), of(200_000_000, "monthly"));
        assert_eq!(allowance("$5/day"), of(5_000_000, "daily"));
        assert_eq!(allowance("0.50"), of(500_000, "total"));
        assert_eq!(money("$0.000001"), Ok(1));
        for bad in ["", "0", "0/day", "-5", "5/week", "5/", "/day", "5 /day", "5/day/day", "five"] {
            assert!(allowance(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "0", "5/day", "1.0000001", "$", "$-1", "1e3"] {
            assert!(money(bad).is_err(), "{bad:?}");
        }
        assert!(day("2026-11-01").is_ok());
        for bad in ["", "7d", "2026-13-01", "2026-11-01T00:00:00", "1.11.2026", "2026-11-1"] {
            assert!(day(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_are_spans_dates_or_instants() {
        let now: Timestamp = "2026-06-02T08:30:00Z".parse().unwrap();
        let at = |text: &str| when(text).unwrap().time(now).to_string();
        assert_eq!(at("1d"), "2026-06-01T08:30:00Z");
        assert_eq!(at("90m"), "2026-06-02T07:00:00Z");
        assert_eq!(at("2026-05-01"), "2026-05-01T00:00:00Z");
        assert_eq!(at("2026-05-01T10:00:00+02:00"), "2026-05-01T08:00:00Z");
        assert_eq!(lifetime("30d"), Ok(SignedDuration::from_hours(720)));
        assert!(lifetime("0d").is_err());
        assert_eq!(span("0s"), Ok(SignedDuration::ZERO));
        assert_eq!((seconds("90"), seconds("10m"), whole_seconds("0")), (Ok(90), Ok(600), Ok(0)));
        for bad in ["", "0", "0s", "-1", "1.5", "m", "1y", "99999999999999999999"] {
            assert!(seconds(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "d", "1", "1y", "-1d", "1.5d", "99999999999999999999d", "40000d"] {
            assert!(span(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "yesterday", "2026-13-01", "2026-06-01T25:00:00Z", "06/01/2026", "é"] {
            assert!(when(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_parser(text in "\\PC{0,24}") {
            let readers = (budget(&text), rate(&text), count(&text), cpu(&text), memory(&text));
            let others = (models(&text), span(&text), lifetime(&text), when(&text));
            let others = (others, money(&text), allowance(&text), day(&text));
            let shown = format!("{readers:?}{others:?}");
            prop_assert!(shown.len() > 10);
        }

        #[test]
        fn money_is_exact(dollars in 0_u64..1_000_000, micros in 0_u64..1_000_000) {
            let text = format!("{dollars}.{micros:06}/month");
            let sum = dollars * 1_000_000 + micros;
            prop_assert_eq!(budget(&text).ok(), (sum > 0).then_some(Cap::At(sum)));
        }

        #[test]
        fn whole_sizes_are_exact(number in 1_u64..8_000) {
            prop_assert_eq!(memory(&format!("{number}Gi")), Ok(Cap::At(number << 30)));
            prop_assert_eq!(cpu(&format!("{number}")).ok(), Some(Cap::At(number as u32 * 1_000)));
        }
    }
}
