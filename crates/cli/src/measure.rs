//! Numbers for people.

/// Writes a time span with its two largest units.
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{whole} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", whole % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// Writes a number of bytes with a fitting unit.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (count.max(1).ilog2() / 10).min(4);
    let value = count as f64 / f64::powi(1024.0, power as i32);
    let unit = units[power as usize];
    if power == 0 { format!("{count} B") } else { format!("{value:.1} {unit}") }
}

/// Writes an amount of money, given in millionths of a dollar.
pub(crate) fn dollars(micros: u64) -> String {
    let part = format!("{:06}", micros % 1_000_000);
    let part = part.trim_end_matches('0');
    match part.len() {
        0 => format!("${}", micros / 1_000_000),
        _ => format!("${}.{part:0<2}", micros / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
