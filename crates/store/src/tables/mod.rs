//! One file a table: its statements and what can be done with its rows.

pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod keys;
pub(crate) mod logins;
pub(crate) mod projects;
pub(crate) mod snapshots;
pub(crate) mod tenants;

use crate::statement::Statement;

/// Every statement of every table.
pub(crate) fn statements() -> impl Iterator<Item = &'static Statement> {
    [
        events::ALL,
        idempotency::ALL,
        keys::ALL,
        logins::ALL,
        projects::ALL,
        snapshots::ALL,
        tenants::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
