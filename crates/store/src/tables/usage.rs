//! Sums of what models were asked for.

use godel_model::{TenantId, Usage, UsageKey, UsageSum};

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    ADD = "usage_add":
        "INSERT INTO usage_day (tenant, day, provider, model, project, person, agent, bead, convoy,
             requests, failed, unpriced, estimated, input, cache_read, cache_write_5m,
             cache_write_1h, output, reasoning, server_tools, cost, by_login, from_cache)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, $22, $23)
         ON CONFLICT (tenant, day, provider, model, project, person, agent, bead, convoy) DO UPDATE
         SET requests = usage_day.requests + EXCLUDED.requests,
             failed = usage_day.failed + EXCLUDED.failed,
             unpriced = usage_day.unpriced + EXCLUDED.unpriced,
             estimated = usage_day.estimated + EXCLUDED.estimated,
             input = usage_day.input + EXCLUDED.input,
             cache_read = usage_day.cache_read + EXCLUDED.cache_read,
             cache_write_5m = usage_day.cache_write_5m + EXCLUDED.cache_write_5m,
             cache_write_1h = usage_day.cache_write_1h + EXCLUDED.cache_write_1h,
             output = usage_day.output + EXCLUDED.output,
             reasoning = usage_day.reasoning + EXCLUDED.reasoning,
             server_tools = usage_day.server_tools + EXCLUDED.server_tools,
             cost = usage_day.cost + EXCLUDED.cost,
             by_login = usage_day.by_login + EXCLUDED.by_login,
             from_cache = usage_day.from_cache + EXCLUDED.from_cache";
    BETWEEN = "usage_between":
        "SELECT day, provider, model, project, person, agent, bead, convoy, requests, failed,
             unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output,
             reasoning, server_tools, cost, by_login, from_cache
         FROM usage_day WHERE tenant = $1 AND day >= $2 AND day <= $3 ORDER BY day";
    OF_AGENT = "usage_of_agent":
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(unpriced), 0) AS BIGINT)
         FROM usage_day WHERE tenant = $1 AND agent = $2 AND agent <> ''";
}

/// The sums of this server.
pub struct UsageSums<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl UsageSums<'_, '_> {
    /// Adds to a sum.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn add(&mut self, tenant: TenantId, key: &UsageKey, sum: &UsageSum) -> Result<()> {
        self.tx.reaches(tenant)?;
        let count = |count: u64| Param::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Int(key.day),
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
        ];
        self.tx.conn.execute(&ADD, &params).map(drop)
    }

    /// Reads the sums of the tenant from one day to another, both included.
    ///
    /// # Errors
    /// If the database fails.
    pub fn between(&mut self, from: i64, to: i64) -> Result<Vec<(UsageKey, UsageSum)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Int(from), Param::Int(to)];
        self.tx.conn.query(&BETWEEN, &params, read)
    }

    /// Reads what an agent has spent since ever, and how many of its requests have no price.
    ///
    /// # Errors
    /// If the database fails.
    pub fn of_agent(&mut self, agent: &str) -> Result<(i64, i64)> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(agent)];
        let found = self.tx.conn.query(&OF_AGENT, &params, |row| Ok((row.int(0)?, row.int(1)?)))?;
        Ok(found.first().copied().unwrap_or_default())
    }
}

fn read(row: &Row<'_>) -> Result<(UsageKey, UsageSum)> {
    let count = |at: usize| row.int(at).map(|count| u64::try_from(count).unwrap_or(0));
    let key = UsageKey {
        day: row.int(0)?,
        provider: row.text(1)?,
        model: row.text(2)?,
        project: row.text(3)?,
        user: row.text(4)?,
        agent: row.text(5)?,
        bead: row.text(6)?,
        convoy: row.text(7)?,
    };
    let usage = Usage {
        input: count(12)?,
        cache_read: count(13)?,
        cache_write_5m: count(14)?,
        cache_write_1h: count(15)?,
        output: count(16)?,
        reasoning: count(17)?,
        server_tools: count(18)?,
    };
    let sum = UsageSum {
        requests: count(8)?,
        failed: count(9)?,
        unpriced: count(10)?,
        estimated: count(11)?,
        usage,
        cost_micros: row.int(19)?,
        by_login: count(20)?,
        from_cache: count(21)?,
    };
    Ok((key, sum))
}
