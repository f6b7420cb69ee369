//! One file a table: its statements and what can be done with its rows.

pub(crate) mod agent_tokens;
pub(crate) mod attic;
pub(crate) mod audit;
pub(crate) mod bodies;
pub(crate) mod budgets;
pub(crate) mod callers;
pub(crate) mod calls;
pub(crate) mod census;
pub(crate) mod devices;
pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod incidents;
pub(crate) mod keys;
pub(crate) mod lanes;
pub(crate) mod papers;
pub(crate) mod pools;
pub(crate) mod projects;
pub(crate) mod quotas;
pub(crate) mod runs;
pub(crate) mod schedules;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod shelves;
pub(crate) mod snapshots;
pub(crate) mod tasks;
pub(crate) mod tenants;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod workers;
pub(crate) mod workflows;

use crate::statement::Statement;

/// Every statement of every table.
pub(crate) fn statements() -> impl Iterator<Item = &'static Statement> {
    [
        agent_tokens::ALL,
        attic::ALL,
        audit::ALL,
        bodies::ALL,
        budgets::ALL,
        budgets::HOT,
        callers::ALL,
        calls::ALL,
        census::ALL,
        devices::ALL,
        events::ALL,
        events::HOT,
        idempotency::ALL,
        keys::ALL,
        lanes::ALL,
        incidents::ALL,
        papers::ALL,
        pools::ALL,
        projects::ALL,
        runs::ALL,
        quotas::ALL,
        schedules::ALL,
        secrets::ALL,
        sessions::ALL,
        shelves::ALL,
        snapshots::ALL,
        tasks::CLAIM,
        tasks::READ,
        tasks::ROWS,
        tasks::UPKEEP,
        tenants::ALL,
        tokens::ALL,
        usage::ALL,
        users::ALL,
        workers::ALL,
        workflows::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
