//! Checks of the machine and the program.

use std::path::Path;
use std::time::UNIX_EPOCH;

use godel_board::doctor::{self, Verdict};
use godel_model::{Clock as _, SystemClock};
use godel_settings::{Environment, Key, Loaded, Settings, nearest};
use jiff::{SignedDuration, Timestamp};

use super::Finding;

/// Before this, nobody had this program.
const EARLIEST_YEAR_SECS: i64 = 1_767_225_600; // 2026-01-01
const LATEST_YEAR_SECS: i64 = 4_102_444_800; // 2100-01-01
/// How far the newest data may seem to be in the future.
const SKEW_SECS: i64 = 60;

/// Variables that are no settings.
const OTHER_VARIABLES: &[&str] = &[
    "GODEL_DATA",
    "GODEL_CA",
    "GODEL_CONFIG",
    "GODEL_SERVER",
    "GODEL_KEY",
    "GODEL_AGENT",
    "GODEL_LEASE_TOKEN",
    "GODEL_TOKEN",
    "GODEL_TASK_ID",
    "GODEL_TASK_ATTEMPT",
    "GODEL_TASK_TITLE",
    "GODEL_TASK_POOL",
    "GODEL_TASK_PRIORITY",
    "GODEL_WORKER_ID",
];
/// Beginnings of variables that tests use.
const TEST_VARIABLES: &[&str] = &["GODEL_TEST_", "GODEL_TORTURE_", "GODEL_FUZZ_", "GODEL_BENCH_"];

/// Checks that the clock can be right: times and login links depend on it.
pub(super) fn clock(data: &Path) -> Finding {
    let now = SystemClock.now();
    judge_clock(now, modified(&data.join("godel.db")))
}

fn judge_clock(now: Timestamp, newest: Option<Timestamp>) -> Finding {
    let hint = "set the clock of this machine, for example with `timedatectl set-ntp true`";
    if !(EARLIEST_YEAR_SECS..LATEST_YEAR_SECS).contains(&now.as_second()) {
        return Finding::fail("clock", format!("it says {now}, which cannot be"), hint);
    }
    let limit = now.saturating_add(SignedDuration::from_secs(SKEW_SECS)).unwrap_or(now);
    match newest {
        Some(newest) if newest > limit => {
            let message = format!("it says {now}, but the database was written at {newest}");
            Finding::warn("clock", message, hint)
        }
        _ => Finding::ok("clock", format!("{now:.0}")),
    }
}

fn modified(path: &Path) -> Option<Timestamp> {
    let at = std::fs::metadata(path).ok()?.modified().ok()?;
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_second(i64::try_from(since.as_secs()).ok()?).ok()
}

/// Checks that agents can have a kernel of their own, if the program for it is there at all.
pub(super) fn gvisor() -> Finding {
    match doctor::kernel() {
        found if found.status == Verdict::Ok => found,
        found if found.message.contains("is not installed") => {
            Finding::skip("gvisor", "runsc is not installed; the runtime gvisor is not offered")
        }
        found => found.mild(),
    }
}

/// Tells whether the dashboard is part of this program.
pub(super) fn dashboard() -> Finding {
    if godel_server::has_dashboard() {
        Finding::ok("dashboard", "part of this program")
    } else {
        Finding::warn(
            "dashboard",
            "not part of this program; the API and all commands work without it",
            "build it with `npm ci && npm run build` in web/, then build godel again",
        )
    }
}

/// Tells where the settings come from.
pub(super) fn settings(loaded: &Loaded) -> Finding {
    match &loaded.file {
        Some(file) => Finding::ok("settings", format!("understood, with {}", file.display())),
        None => Finding::ok("settings", "understood; there is no configuration file"),
    }
}

/// Looks for variables that look like settings and are none.
pub(super) fn variables(environment: &Environment) -> Finding {
    let known: Vec<String> = Settings::keys()
        .iter()
        .map(Key::variable)
        .chain(OTHER_VARIABLES.iter().map(|name| (*name).to_owned()))
        .collect();
    let is_strange = |name: &&str| {
        name.starts_with("GODEL_")
            && !known.iter().any(|known| known == name)
            && !TEST_VARIABLES.iter().any(|start| name.starts_with(start))
    };
    let Some(strange) = environment.names().find(is_strange) else {
        return Finding::ok("environment", "every GODEL_ variable is known");
    };
    let lower: Vec<String> = known.iter().map(|name| name.to_lowercase()).collect();
    let hint = nearest(strange, lower.iter().map(String::as_str)).map_or_else(
        || "`godel config show` lists all settings".to_owned(),
        |near| format!("did you mean {}?", near.to_uppercase()),
    );
    Finding::warn("environment", format!("{strange} has no meaning"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cannot_be_right_is_noticed() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-06-01T00:00:00Z");
        assert_eq!(judge_clock(now, None).status, Verdict::Ok);
        assert_eq!(judge_clock(now, Some(now)).status, Verdict::Ok);
        assert_eq!(judge_clock(now, Some(at("2026-06-02T00:00:00Z"))).status, Verdict::Warn);
        assert_eq!(judge_clock(at("1970-01-01T00:00:09Z"), None).status, Verdict::Fail);
    }

    #[test]
    fn a_variable_with_a_slip_is_noticed() {
        let good =
            [("GODEL_LISTEN", "x"), ("GODEL_KEY", "x"), ("PATH", "x"), ("GODEL_TEST_X", "1")];
        assert_eq!(variables(&good.into()).status, Verdict::Ok);
        let found = variables(&[("GODEL_LISTN", "x")].into());
        assert_eq!(found.status, Verdict::Warn);
        assert_eq!(found.hint.as_deref(), Some("did you mean GODEL_LISTEN?"));
    }
}
