//! Sums of what models were asked for.

use godel_model::{QUARTERS_PER_DAY, Saved, TenantId, Usage, UsageKey, UsageSum};

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

/// Adds to the sums of one table; they are kept by day and by quarter of an hour.
macro_rules! add {
    ($table:literal, $time:literal) => {
        concat!(
            "INSERT INTO ", $table, " AS known (tenant, ", $time, ", provider, model, project, person,
                 agent, bead, convoy, requests, failed, unpriced, estimated, input, cache_read,
                 cache_write_5m, cache_write_1h, output, reasoning, server_tools, cost, by_login,
                 from_cache, saved_by_cache, saved_by_routing)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20, $21, $22, $23, $24, $25)
             ON CONFLICT (tenant, ", $time, ", provider, model, project, person, agent, bead, convoy)
             DO UPDATE SET requests = known.requests + EXCLUDED.requests,
                 failed = known.failed + EXCLUDED.failed, unpriced = known.unpriced + EXCLUDED.unpriced,
                 estimated = known.estimated + EXCLUDED.estimated, input = known.input + EXCLUDED.input,
                 cache_read = known.cache_read + EXCLUDED.cache_read,
                 cache_write_5m = known.cache_write_5m + EXCLUDED.cache_write_5m,
                 cache_write_1h = known.cache_write_1h + EXCLUDED.cache_write_1h,
                 output = known.output + EXCLUDED.output, cost = known.cost + EXCLUDED.cost,
                 reasoning = known.reasoning + EXCLUDED.reasoning,
                 server_tools = known.server_tools + EXCLUDED.server_tools,
                 by_login = known.by_login + EXCLUDED.by_login,
                 from_cache = known.from_cache + EXCLUDED.from_cache,
                 saved_by_cache = known.saved_by_cache + EXCLUDED.saved_by_cache,
                 saved_by_routing = known.saved_by_routing + EXCLUDED.saved_by_routing"
        )
    };
}

statements! {
    ADD = "usage_add": add!("usage_day", "day");
    ADD_QUARTER = "usage_add_quarter": add!("usage_quarter", "quarter");
    BETWEEN = "usage_between":
        "SELECT day, provider, model, project, person, agent, bead, convoy, requests, failed,
             unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output,
             reasoning, server_tools, cost, by_login, from_cache, saved_by_cache, saved_by_routing
         FROM usage_day WHERE tenant = $1 AND day >= $2 AND day <= $3 ORDER BY day";
    QUARTERS = "usage_quarters":
        "SELECT quarter, provider, model, project, person, agent, bead, convoy, requests, failed,
             unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output,
             reasoning, server_tools, cost, by_login, from_cache, saved_by_cache, saved_by_routing
         FROM usage_quarter WHERE tenant = $1 AND quarter >= $2 AND quarter <= $3 ORDER BY quarter";
    OF_AGENT = "usage_of_agent":
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(unpriced), 0) AS BIGINT)
         FROM usage_day WHERE tenant = $1 AND agent = $2 AND agent <> ''
             AND provider NOT IN ('runtime', 'storage')";
}

/// The sums of this server.
pub struct UsageSums<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl UsageSums<'_, '_> {
    /// Adds to the sums of a day and of a quarter of an hour.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn add(&mut self, tenant: TenantId, key: &UsageKey, sum: &UsageSum) -> Result<()> {
        self.tx.reaches(tenant)?;
        let count = |count: u64| Param::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let mut params = [
            Param::Uuid(tenant.uuid()),
            Param::Int(key.day()),
            Param::Text(&key.provider),
            Param::Text(&key.model),
            Param::Text(&key.project),
            Param::Text(&key.user),
            Param::Text(&key.agent),
            Param::Text(&key.bead),
            Param::Text(&key.convoy),
            count(sum.requests),
            count(sum.failed),
            count(sum.unpriced),
            count(sum.estimated),
            count(sum.usage.input),
            count(sum.usage.cache_read),
            count(sum.usage.cache_write_5m),
            count(sum.usage.cache_write_1h),
            count(sum.usage.output),
            count(sum.usage.reasoning),
            count(sum.usage.server_tools),
            Param::Int(sum.cost_micros),
            count(sum.by_login),
            count(sum.from_cache),
            Param::Int(sum.saved.saved_by_cache_micros),
            Param::Int(sum.saved.saved_by_routing_micros),
        ];
        self.tx.conn.execute(&ADD, &params)?;
        params[1] = Param::Int(key.quarter);
        self.tx.conn.execute(&ADD_QUARTER, &params).map(drop)
    }

    /// Reads the sums of the tenant from one day to another, both included.
    ///
    /// # Errors
    /// If the database fails.
    pub fn between(&mut self, from: i64, to: i64) -> Result<Vec<(UsageKey, UsageSum)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Int(from), Param::Int(to)];
        self.tx.conn.query(&BETWEEN, &params, |row| read(row, QUARTERS_PER_DAY))
    }

    /// Reads the sums of the tenant from one quarter of an hour to another, both included.
    ///
    /// # Errors
    /// If the database fails.
    pub fn quarters(&mut self, from: i64, to: i64) -> Result<Vec<(UsageKey, UsageSum)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Int(from), Param::Int(to)];
        self.tx.conn.query(&QUARTERS, &params, |row| read(row, 1))
    }

    /// Reads what an agent has spent on models since ever, as its budget counts it, and how many of its requests have no price.
    ///
    /// # Errors
    /// If the database fails.
    pub fn of_agent(&mut self, agent: &str) -> Result<(i64, i64)> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(agent)];
        let found = self.tx.conn.query(&OF_AGENT, &params, |row| Ok((row.int(0)?, row.int(1)?)))?;
        Ok(found.first().copied().unwrap_or_default())
    }
}

fn read(row: &Row<'_>, quarters: i64) -> Result<(UsageKey, UsageSum)> {
    let count = |at: usize| row.int(at).map(|count| u64::try_from(count).unwrap_or(0));
    let key = UsageKey {
        quarter: row.int(0)?.saturating_mul(quarters),
        provider: row.text(1)?,
        model: row.text(2)?,
        project: row.text(3)?,
        user: row.text(4)?,
        agent: row.text(5)?,
        bead: row.text(6)?,
        convoy: row.text(7)?,
    };
    let usage = tokens(row, 12)?;
    let sum = UsageSum {
        requests: count(8)?,
        failed: count(9)?,
        unpriced: count(10)?,
        estimated: count(11)?,
        usage,
        cost_micros: row.int(19)?,
        by_login: count(20)?,
        from_cache: count(21)?,
        saved: saved(row, 22)?,
    };
    Ok((key, sum))
}

/// Reads what was not spent from a column on.
pub(super) fn saved(row: &Row<'_>, from: usize) -> Result<Saved> {
    Ok(Saved { saved_by_cache_micros: row.int(from)?, saved_by_routing_micros: row.int(from + 1)? })
}

/// Reads the kinds of tokens from a column on.
pub(super) fn tokens(row: &Row<'_>, from: usize) -> Result<Usage> {
    let count = |at: usize| row.int(from + at).map(|count| u64::try_from(count).unwrap_or(0));
    Ok(Usage {
        input: count(0)?,
        cache_read: count(1)?,
        cache_write_5m: count(2)?,
        cache_write_1h: count(3)?,
        output: count(4)?,
        reasoning: count(5)?,
        server_tools: count(6)?,
        ..Usage::default()
    })
}
