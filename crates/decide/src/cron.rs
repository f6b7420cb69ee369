//! When a schedule comes next: the five fields of cron, in a time zone.

use godel_model::{Invalid, code};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// A day that never comes within so many days never comes (29 February can be 8 years away).
const DAYS_MAX: i32 = 366 * 9;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule: sets of minutes, hours, days, months and weekdays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// If both days are restricted, one of them is enough: that is how cron has always read it.
    either_day: bool,
}

impl Cron {
    /// Understands five fields, or one of `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    ///
    /// # Errors
    /// If the text is nothing of that; the error tells which field is wrong.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(refuse("a schedule has five fields: minute hour day month weekday"));
        };
        let weekdays = field(weekday, "weekday", (0, 7), &DAYS)?;
        Ok(Self {
            minutes: field(minute, "minute", (0, 59), &[])?,
            hours: field(hour, "hour", (0, 23), &[])?,
            days: field(day, "day", (1, 31), &[])?,
            months: field(month, "month", (1, 12), &MONTHS)?,
            // Sunday is 0 and 7.
            weekdays: (weekdays | (weekdays >> 7)) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        })
    }

    /// Returns the first moment behind a given one, or none if there is no more.
    pub fn after(&self, at: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let start = zone.to_datetime(at);
        let mut date = start.date();
        for _ in 0..DAYS_MAX {
            if self.has_day(date) {
                let found = self.in_day(date, start).filter_map(|time| {
                    // A time that a clock skips is the same moment as the one that follows.
                    zone.to_ambiguous_timestamp(time).compatible().ok()
                });
                if let Some(next) = found.filter(|next| *next > at).min() {
                    return Some(next);
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let fits = if self.either_day { day || weekday } else { day && weekday };
        has(self.months, date.month()) && fits
    }

    /// Returns the times of a day, from an hour before `start` on: clocks may go back by one.
    fn in_day(&self, date: Date, start: DateTime) -> impl Iterator<Item = DateTime> + '_ {
        let from = start.checked_sub(1.hour()).unwrap_or(start);
        let hours = (0..24_i8).filter(|hour| has(self.hours, *hour));
        let minutes = move |hour| {
            (0..60_i8)
                .filter(|minute| has(self.minutes, *minute))
                .filter_map(move |minute| Time::new(hour, minute, 0, 0).ok())
        };
        let times = hours.flat_map(minutes).map(move |time| date.to_datetime(time));
        times.filter(move |time| *time >= from)
    }
}

fn has(set: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| set & (1 << number) != 0)
}

fn refuse(why: impl Into<String>) -> Invalid {
    Invalid::new(code::INVALID_FIELD, why)
        .with_hint("for example `*/15 9-17 * * mon-fri`, or @daily")
}

/// Understands one field: `*`, numbers, names, ranges, steps, and lists of them.
fn field(text: &str, what: &str, limits: (u32, u32), names: &[&str]) -> Result<u64, Invalid> {
    let wrong = || refuse(format!("`{}` is no {what} of a schedule", text.escape_debug()));
    let (low, high) = limits;
    let number = |text: &str| {
        let named = names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let named = named.and_then(|place| u32::try_from(place).ok()).map(|place| place + low);
        named.or_else(|| text.parse().ok()).filter(|number| (low..=high).contains(number))
    };
    let mut set = 0;
    for part in text.split(',') {
        let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
        let step: usize = match step {
            Some(step) => step.parse().ok().filter(|step| *step > 0).ok_or_else(wrong)?,
            None => 1,
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((from, to)) => (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?),
            None if part.contains('/') => (number(range).ok_or_else(wrong)?, high),
            None => {
                let one = number(range).ok_or_else(wrong)?;
                (one, one)
            }
        };
        if from > to {
            return Err(wrong());
        }
        for one in (from..=to).step_by(step) {
            set |= 1_u64 << one;
        }
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next(cron: &str, at: &str) -> String {
        let zone = TimeZone::UTC;
        let at: Timestamp = at.parse().unwrap();
        Cron::parse(cron).unwrap().after(at, &zone).map_or("never".to_owned(), |at| at.to_string())
    }

    #[test]
    fn schedules_come_when_they_say() {
        for (cron, at, wanted) in [
            ("*/15 * * * *", "2026-11-15T10:07:30Z", "2026-11-15T10:15:00Z"),
            ("0 9 * * mon-fri", "2026-11-14T10:00:00Z", "2026-11-16T09:00:00Z"),
            ("30 4 1,15 * *", "2026-11-15T04:30:00Z", "2026-12-01T04:30:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 0 13 * 5", "2026-11-12T00:00:00Z", "2026-11-13T00:00:00Z"),
            ("0 0 13 * 5", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"),
            ("@hourly", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            ("0 0 31 2 *", "2026-01-01T00:00:00Z", "never"),
            ("5/20 7 * jan *", "2026-11-15T00:00:00Z", "2027-01-01T07:05:00Z"),
            ("0 12 * * 7", "2026-11-15T00:00:00Z", "2026-11-15T12:00:00Z"),
        ] {
            assert_eq!(next(cron, at), wanted, "{cron} after {at}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_told_by_field() {
        for (bad, field) in [
            ("61 * * * *", "minute"),
            ("* 24 * * *", "hour"),
            ("* * 0 * *", "day"),
            ("* * * foo *", "month"),
            ("* * * * 5-1", "weekday"),
            ("*/0 * * * *", "minute"),
            ("* * * *", "five fields"),
        ] {
            let error = Cron::parse(bad).unwrap_err().to_string();
            assert!(error.contains(field), "{bad}: {error}");
        }
    }

    proptest! {
        #[test]
        fn the_next_moment_lies_behind_and_nothing_lies_between(
            minute in 0_u32..60, hour in 0_u32..24, at in 1_700_000_000_i64..1_900_000_000,
        ) {
            let cron = Cron::parse(&format!("{minute} {hour} * * *")).unwrap();
            let at = Timestamp::from_second(at).unwrap();
            let next = cron.after(at, &TimeZone::UTC).unwrap();
            let away = next.duration_since(at).as_secs();
            prop_assert!((1..=86_400).contains(&away));
            let shown = TimeZone::UTC.to_datetime(next);
            prop_assert_eq!((shown.hour() as u32, shown.minute() as u32), (hour, minute));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,30}") {
            drop(Cron::parse(&text));
        }
    }
}
