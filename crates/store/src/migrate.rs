//! Migrations: one text for both engines, forward and back.

use crate::{Error, Result};

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version that the schema has after it.
    pub version: i64,
    /// What it brings.
    pub name: &'static str,
    up: &'static str,
    down: &'static str,
}

macro_rules! migrations {
    ($($version:literal $number:literal $name:literal;)+) => {
        &[$(Migration {
            version: $version,
            name: $name,
            up: include_str!(concat!("../migrations/", $number, "_", $name, ".up.sql")),
            down: include_str!(concat!("../migrations/", $number, "_", $name, ".down.sql")),
        }),+]
    };
}

static KNOWN: &[Migration] = migrations! {
    1 "0001" "spine";
    2 "0002" "callers";
    3 "0003" "people";
    4 "0004" "beads";
    5 "0005" "spend";
    6 "0006" "queue";
    7 "0007" "quotas";
    8 "0008" "open_calls";
    9 "0009" "loads";
    10 "0010" "agents";
    11 "0011" "long_leases";
    12 "0012" "usage_of_agents";
    13 "0013" "usage_by_quarter";
    14 "0014" "moments";
    15 "0015" "allowances";
    16 "0016" "ended_calls";
};

/// Returns all migrations that this binary knows, in order.
pub fn known() -> &'static [Migration] {
    KNOWN
}

/// Returns the newest version that this binary knows.
pub(crate) fn newest() -> i64 {
    KNOWN.last().map_or(0, |migration| migration.version)
}

/// Where the schema of a database stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaStatus {
    /// The version in the database; 0 if it is empty.
    pub found: i64,
    /// The newest version that this binary knows.
    pub known: i64,
}

/// What a migration needs from an engine. Each call is made inside one transaction.
pub(crate) trait Migrator {
    /// The engine's name, as in `--sqlite:` lines.
    const ENGINE: &'static str;

    /// Returns the versions and checksums that were applied, in order; makes the table if needed.
    fn applied(&mut self) -> Result<Vec<(i64, String)>>;

    /// Runs a script and then notes (`Some(checksum)`) or forgets (`None`) the version.
    fn step(&mut self, migration: &Migration, script: &str, checksum: Option<&str>) -> Result<()>;
}

/// Brings the schema to a version, forward or back.
pub(crate) fn migrate<M: Migrator>(engine: &mut M, to: i64) -> Result<SchemaStatus> {
    let applied = engine.applied()?;
    let found = applied.last().map_or(0, |(version, _)| *version);
    if found > newest() {
        return Err(Error::SchemaNewer { found, known: newest() });
    }
    check(&applied)?;
    for migration in KNOWN.iter().filter(|m| m.version > found && m.version <= to) {
        let script = for_engine(migration.up, M::ENGINE);
        engine.step(migration, &script, Some(&checksum(migration.up)))?;
    }
    for migration in KNOWN.iter().rev().filter(|m| m.version <= found && m.version > to) {
        engine.step(migration, &for_engine(migration.down, M::ENGINE), None)?;
    }
    Ok(SchemaStatus { found: to.clamp(0, newest()), known: newest() })
}

/// Refuses migrations that were changed after they had been applied.
pub(crate) fn check(applied: &[(i64, String)]) -> Result<()> {
    for migration in KNOWN {
        let noted = applied.iter().find(|(version, _)| *version == migration.version);
        if let Some((_, noted)) = noted
            && *noted != checksum(migration.up)
        {
            return Err(Error::Migration {
                version: migration.version,
                name: migration.name.to_owned(),
                why: "it was changed after it had been applied".to_owned(),
            });
        }
    }
    Ok(())
}

/// Picks the lines of a script that count on one engine.
fn for_engine(script: &str, engine: &str) -> String {
    let own = format!("--{engine}:");
    let lines = script.lines().map(|line| line.strip_prefix(own.as_str()).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a fingerprint of a script (FNV-1a): it detects an accident, not an attack.
fn checksum(script: &str) -> String {
    let hash = script.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_up_from_one() {
        for (index, migration) in KNOWN.iter().enumerate() {
            assert_eq!(migration.version, index as i64 + 1, "{}", migration.name);
        }
    }

    #[test]
    fn a_line_for_one_engine_counts_only_there() {
        let script = "a\n--sqlite:b\n--postgres:c";
        assert_eq!(for_engine(script, "sqlite"), "a\nb\n--postgres:c");
        assert_eq!(for_engine(script, "postgres"), "a\n--sqlite:b\nc");
    }
}
