//! Durations as people write them: `90`, `1.5`, `500ms`, `90s`, `1h30m`, `2d`.

use std::time::Duration;

use super::super::limits::DURATION_MAX;

/// Reads a duration; a bare number counts seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let duration = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => parse_parts(text)?,
    };
    (duration <= DURATION_MAX).then_some(duration)
}

fn parse_parts(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum = Duration::ZERO;
    // Each unit may follow only a larger one, so that `1m1h` is taken for the slip that it is.
    let mut before = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let millis: u64 = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        if millis >= before {
            return None;
        }
        before = millis;
        rest = rest[letters..].trim_start();
        let part = Duration::from_millis(millis).as_secs_f64() * number;
        sum = sum.checked_add(Duration::try_from_secs_f64(part).ok()?)?;
    }
    (before != u64::MAX).then_some(sum)
}

/// Writes a duration so that [`parse_duration`] reads the same, to the millisecond.
pub fn duration_text(duration: Duration) -> String {
    let mut millis = duration.as_millis();
    if millis == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, size) in
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)]
    {
        if millis >= size {
            text.push_str(&format!("{}{unit}", millis / size));
            millis %= size;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("90", 90_000),
            ("1.5", 1_500),
            ("500ms", 500),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2d", 172_800_000),
            ("0.5s", 500),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "", "x", "-1", "-1s", "1x", "1m1h", "1s1s", "s", "9999d", "nan", "inf", "1e40", "1 h m",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(millis in 0_u64..31_000_000_000) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(parse_duration(&duration_text(duration)), Some(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,20}") {
            let _ = parse_duration(&text);
        }
    }
}
