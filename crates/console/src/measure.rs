//! Numbers for people.

use jiff::Timestamp;

/// Writes a time span with its two largest units.
pub fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{whole} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", whole % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// Returns how long ago something was, for people.
pub fn since(at: Timestamp, now: Timestamp) -> String {
    span(now.duration_since(at).as_secs_f64())
}

/// Writes a number of bytes with a fitting unit.
pub fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (count.max(1).ilog2() / 10).min(4);
    let value = count as f64 / f64::powi(1024.0, power as i32);
    let unit = units[power as usize];
    if power == 0 { format!("{count} B") } else { format!("{value:.1} {unit}") }
}

/// Writes an amount of money, given in millionths of a dollar.
pub fn dollars(micros: u64) -> String {
    let part = format!("{:06}", micros % 1_000_000);
    let part = part.trim_end_matches('0');
    match part.len() {
        0 => format!("${}", micros / 1_000_000),
        _ => format!("${}.{part:0<2}", micros / 1_000_000),
    }
}

/// Writes an amount of money to its last part, given in millionths of a dollar.
pub fn money(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}", dollars(micros.unsigned_abs()))
}

/// Writes amounts to the same number of digits, so that they can stand below each other: as many as
/// the one with the smallest part needs.
pub fn money_column(amounts: impl Iterator<Item = i64> + Clone) -> Vec<String> {
    let digits = |micros: i64| {
        let part = format!("{:06}", micros.unsigned_abs() % 1_000_000);
        part.trim_end_matches('0').len().max(2)
    };
    let most = amounts.clone().map(digits).max().unwrap_or(2);
    let write = |micros: i64| {
        let (sign, whole) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
        let part = format!("{:06}", whole % 1_000_000);
        format!("{sign}${}.{}", whole / 1_000_000, &part[..most])
    };
    amounts.map(write).collect()
}

/// Writes a whole number in groups of three digits.
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes how long something took, given in milliseconds.
pub fn millis(millis: f64) -> String {
    match millis {
        short if short < 10.0 => format!("{short:.1} ms"),
        some if some < 1_000.0 => format!("{some:.0} ms"),
        long if long < 60_000.0 => format!("{:.1} s", long / 1_000.0),
        long => span(long / 1_000.0),
    }
}

/// Writes a share of a whole.
pub fn percent(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "-".to_owned();
    }
    let share = part as f64 * 100.0 / whole as f64;
    if share > 0.0 && share < 1.0 { "<1%".to_owned() } else { format!("{share:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_below_each_other_have_the_same_digits() {
        let column = money_column([1_500_000, 123, -20_000, 0].into_iter());
        assert_eq!(column, ["$1.500000", "$0.000123", "-$0.020000", "$0.000000"]);
        assert_eq!(money_column([5_000_000, 0].into_iter()), ["$5.00", "$0.00"]);
        assert_eq!((money(-1), money(123)), ("-$0.000001".to_owned(), "$0.000123".to_owned()));
    }

    #[test]
    fn numbers_are_easy_to_read() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(count), text);
        }
        for (took, text) in
            [(0.42, "0.4 ms"), (120.4, "120 ms"), (3_210.0, "3.2 s"), (61_000.0, "1 min 1 s")]
        {
            assert_eq!(millis(took), text);
        }
        assert_eq!((percent(1, 3), percent(1, 1_000)), ("33%".to_owned(), "<1%".to_owned()));
        assert_eq!((percent(0, 5), percent(1, 0)), ("0%".to_owned(), "-".to_owned()));
    }

    #[test]
    fn money_is_shown_to_the_last_part() {
        for (micros, text) in
            [(200_000_000, "$200"), (49_500_000, "$49.50"), (1, "$0.000001"), (10_000, "$0.01")]
        {
            assert_eq!(dollars(micros), text);
        }
    }

    #[test]
    fn spans_and_sizes_are_short() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (59.9, "59 s"),
            (61.0, "1 min 1 s"),
            (3_660.0, "1 h 1 min"),
            (90_000.0, "1 d 1 h"),
        ] {
            assert_eq!(span(seconds), text);
        }
        for (count, text) in
            [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (3 << 30, "3.0 GiB")]
        {
            assert_eq!(bytes(count), text);
        }
    }
}
