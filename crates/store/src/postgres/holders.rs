//! Who keeps PostgreSQL from removing what is gone.

use super::session::connect_first;
use crate::{Error, Result};

// Whoever is not allowed to see the transactions of others sees those of its own user.
const OLDEST: &str = "
    SELECT who, seconds FROM (
        SELECT 'process ' || pid || COALESCE(' (' || NULLIF(application_name, '') || ')', '') AS who,
               extract(epoch FROM clock_timestamp() - xact_start)::bigint AS seconds
        FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND xact_start IS NOT NULL AND backend_xmin IS NOT NULL
        UNION ALL
        SELECT 'prepared transaction ' || gid,
               extract(epoch FROM clock_timestamp() - prepared)::bigint
        FROM pg_prepared_xacts WHERE database = current_database()
    ) AS holder ORDER BY seconds DESC LIMIT 1";

/// Somebody who holds on to an old state of the database: what was removed since then stays on disk,
/// and is in the way of everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The process, or the name of a prepared transaction.
    pub who: String,
    /// For how long.
    pub seconds: u64,
}

/// Returns who holds on to the oldest state.
pub(crate) fn oldest(url: &str) -> Result<Option<Holder>> {
    let mut client = connect_first(url)?;
    let rows =
        client.query(OLDEST, &[]).map_err(|cause| Error::postgres("oldest_holder", cause))?;
    Ok(rows.first().map(|row| Holder {
        who: row.get(0),
        seconds: u64::try_from(row.get::<_, i64>(1)).unwrap_or_default(),
    }))
}
