//! Budgets, and where they stand.

use godel_model::{
    Allowance, Budget, BudgetId, BudgetScope, Period, TenantId, UserId, from_micros, micros,
};
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    PUT = "budget_put":
        "INSERT INTO budget (tenant, id, scope, period, cap, warn_percent, starts, spent, held,
             created_at, stops, grace_percent, tell)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (tenant, scope, period) DO UPDATE
         SET cap = EXCLUDED.cap, warn_percent = EXCLUDED.warn_percent, stops = EXCLUDED.stops,
             grace_percent = EXCLUDED.grace_percent, tell = EXCLUDED.tell";
    BY_SCOPE = "budget_by_scope":
        "SELECT tenant, id, scope, period, cap, warn_percent, starts, spent, held, created_at,
             stops, grace_percent, tell FROM budget WHERE tenant = $1 AND scope = $2 AND period = $3";
    LIST = "budget_list":
        "SELECT tenant, id, scope, period, cap, warn_percent, starts, spent, held, created_at,
             stops, grace_percent, tell FROM budget WHERE tenant = $1 ORDER BY scope, period";
    DELETE = "budget_delete": "DELETE FROM budget WHERE tenant = $1 AND id = $2";
    DELETE_SCOPE = "budget_delete_scope":
        "DELETE FROM budget WHERE tenant = $1 AND scope = $2 AND period = $3";
    MOVE = "budget_move":
        "UPDATE budget SET starts = $1, spent = $2, held = $3 WHERE tenant = $4 AND id = $5";
}

// A budget is locked before it is changed, in the order of ids, so that two servers never wait for
// each other. SQLite has one writer and needs no lock.
static LOCK: crate::statement::Statement = crate::statement::Statement {
    name: "budget_lock",
    sqlite: "SELECT tenant, id, scope, period, cap, warn_percent, starts, spent, held, created_at,
                 stops, grace_percent, tell FROM budget WHERE tenant = $1 AND id = $2",
    postgres:
        "SELECT tenant, id, scope, period, cap, warn_percent, starts, spent, held, created_at,
                   stops, grace_percent, tell FROM budget WHERE tenant = $1 AND id = $2 FOR UPDATE",
};
pub(crate) static HOT: &[&crate::statement::Statement] = &[&LOCK];

/// The budgets of this server.
pub struct Budgets<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Budgets<'_, '_> {
    /// Adds a budget, or gives the one of the same scope and period another limit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn put(&mut self, budget: &Budget) -> Result<()> {
        let (scope, tenant) = (budget.scope.to_string(), self.tx.tenant()?);
        let allows = &budget.allows;
        let tell: Vec<u8> = allows.tell.iter().flat_map(|user| user.uuid().into_bytes()).collect();
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(budget.id.uuid()),
            Param::Text(&scope),
            Param::Text(budget.period.as_str()),
            Param::Int(allows.cap),
            Param::Int(allows.warn_percent.into()),
            Param::Int(micros(budget.starts)),
            Param::Int(budget.spent),
            Param::Int(budget.held),
            Param::Int(micros(budget.created_at)),
            Param::Int(allows.stops.into()),
            Param::Int(allows.grace_percent.into()),
            Param::Bytes(&tell),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Finds the budget of a scope and a period.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_scope(&mut self, scope: &BudgetScope, period: Period) -> Result<Option<Budget>> {
        let (tenant, scope) = (self.tx.tenant()?, scope.to_string());
        let params =
            [Param::Uuid(tenant.uuid()), Param::Text(&scope), Param::Text(period.as_str())];
        self.tx.conn.first(&BY_SCOPE, &params, read)
    }

    /// Lists the budgets of a tenant.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn list(&mut self, tenant: TenantId) -> Result<Vec<Budget>> {
        self.tx.reaches(tenant)?;
        self.tx.conn.query(&LIST, &[Param::Uuid(tenant.uuid())], read)
    }

    /// Removes a budget; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, id: BudgetId) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Removes the budget of a scope and a period; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete_scope(&mut self, scope: &BudgetScope, period: Period) -> Result<bool> {
        let (tenant, scope) = (self.tx.tenant()?, scope.to_string());
        let params =
            [Param::Uuid(tenant.uuid()), Param::Text(&scope), Param::Text(period.as_str())];
        Ok(self.tx.conn.execute(&DELETE_SCOPE, &params)? == 1)
    }

    /// Reads a budget to change it; nobody else can until the transaction ends.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lock(&mut self, tenant: TenantId, id: BudgetId) -> Result<Option<Budget>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&LOCK, &params, read)
    }

    /// Writes where a budget stands.
    ///
    /// # Errors
    /// If the database fails.
    pub fn store(&mut self, tenant: TenantId, budget: &Budget) -> Result<()> {
        self.tx.reaches(tenant)?;
        let params = [
            Param::Int(micros(budget.starts)),
            Param::Int(budget.spent),
            Param::Int(budget.held),
            Param::Uuid(tenant.uuid()),
            Param::Uuid(budget.id.uuid()),
        ];
        self.tx.conn.execute(&MOVE, &params).map(drop)
    }
}

fn read(row: &Row<'_>) -> Result<Budget> {
    let unreadable =
        |cause: godel_model::Invalid| Error::Unreadable { what: "budget", cause: cause.into() };
    let tell = row.bytes(12)?;
    let tell = tell.as_chunks::<16>().0.iter().map(|id| UserId::from_uuid(Uuid::from_bytes(*id)));
    let percent = |at, most: u32| row.int(at).map(|found| u32::try_from(found).unwrap_or(most));
    let allows = Allowance {
        cap: row.int(4)?,
        warn_percent: percent(5, 100)?,
        stops: row.int(10)? != 0,
        grace_percent: percent(11, 0)?,
        tell: tell.collect(),
    };
    Ok(Budget {
        id: BudgetId::from_uuid(row.uuid(1)?),
        scope: row.text(2)?.parse().map_err(unreadable)?,
        period: row.text(3)?.parse().map_err(unreadable)?,
        allows,
        starts: from_micros(row.int(6)?),
        spent: row.int(7)?,
        held: row.int(8)?,
        created_at: from_micros(row.int(9)?),
    })
}
