//! Attempts to get an answer from a provider.

use godel_model::{
    BudgetId, CallEnd, CallId, CallStart, Held, Outcome, ProjectId, Purpose, TenantId, TokenId,
    Usage, UserId, from_micros, micros,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    OPEN = "call_open":
        "INSERT INTO model_call (tenant, id, request, attempt, at, node, person, project, agent, bead,
             convoy, agent_token, client_session, dialect, asked, provider, model, streamed, worst,
             held, paid_by, outcome)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, 'open')";
    SETTLE = "call_settle":
        "UPDATE model_call SET outcome = $1, status = $2, input = $3, cache_read = $4,
             cache_write_5m = $5, cache_write_1h = $6, output = $7, reasoning = $8,
             server_tools = $9, cost = $10, estimated = $11, first_byte = $12, ended_at = $13,
             error = $14
         WHERE tenant = $15 AND id = $16 AND outcome = 'open'";
    PAGE_DOWN = "call_page_down":
        "SELECT tenant, id, request, attempt, at, person, project, agent, bead, convoy, agent_token,
             client_session, dialect, asked, provider, model, streamed, worst, held, outcome, status,
             input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, server_tools,
             cost, estimated, first_byte, ended_at, error, paid_by
         FROM model_call WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    BY_ID = "call_by_id":
        "SELECT tenant, id, request, attempt, at, person, project, agent, bead, convoy, agent_token,
             client_session, dialect, asked, provider, model, streamed, worst, held, outcome, status,
             input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, server_tools,
             cost, estimated, first_byte, ended_at, error, paid_by
         FROM model_call WHERE tenant = $1 AND id = $2";
    DEAD = "call_dead":
        "SELECT tenant, id, request, attempt, at, person, project, agent, bead, convoy, agent_token,
             client_session, dialect, asked, provider, model, streamed, worst, held, outcome, status,
             input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, server_tools,
             cost, estimated, first_byte, ended_at, error, paid_by
         FROM model_call WHERE outcome = 'open' AND NOT EXISTS
             (SELECT 1 FROM model_node WHERE model_node.id = node AND alive_until >= $1)
         LIMIT $2";
    ALIVE = "node_alive":
        "INSERT INTO model_node (id, alive_until) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET alive_until = EXCLUDED.alive_until";
    GONE = "node_gone": "DELETE FROM model_node WHERE id = $1";
    FORGET_DEAD = "node_forget_dead": "DELETE FROM model_node WHERE alive_until < $1";
    FORGET_OTHERS = "node_forget_others": "DELETE FROM model_node WHERE id <> $1";
    TRIM = "call_trim":
        "DELETE FROM model_call WHERE outcome <> 'open' AND (tenant, id) IN
             (SELECT tenant, id FROM model_call WHERE tenant = $1 AND id < $2 ORDER BY id LIMIT $3)";
}

/// An attempt and how it ended, if it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// What was known before the provider was asked; the dialect is told apart.
    pub start: CallStart,
    /// How it ended.
    pub end: Option<CallEnd>,
}

/// The attempts of this server.
pub struct Calls<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Calls<'_, '_> {
    /// Writes that a provider is about to be asked.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn open(&mut self, call: &CallStart, node: Uuid) -> Result<()> {
        let (purpose, held) = (&call.purpose, held_bytes(&call.held));
        self.tx.reaches(purpose.tenant)?;
        let params = [
            Param::Uuid(purpose.tenant.uuid()),
            Param::Uuid(call.id.uuid()),
            Param::Uuid(call.request.uuid()),
            Param::Int(call.attempt.into()),
            Param::Int(micros(call.at)),
            Param::Uuid(node),
            Param::Uuid(purpose.user.uuid()),
            Param::from(purpose.project.map(ProjectId::uuid)),
            Param::from(purpose.agent.as_deref()),
            Param::from(purpose.bead.as_deref()),
            Param::from(purpose.convoy.as_deref()),
            Param::from(purpose.token.map(TokenId::uuid)),
            Param::from(call.session.as_deref()),
            Param::Text(call.dialect),
            Param::Text(&call.asked),
            Param::Text(&call.provider),
            Param::Text(&call.model),
            Param::Int(call.streamed.into()),
            opt(call.worst),
            Param::Bytes(&held),
            Param::Text(call.paid_by.as_str()),
        ];
        self.tx.conn.execute(&OPEN, &params).map(drop)
    }

    /// Writes how an attempt ended; `false` if somebody settled it before.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn settle(&mut self, tenant: TenantId, id: CallId, end: &CallEnd) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let count = |count: u64| Param::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let params = [
            Param::Text(end.outcome.as_str()),
            opt(end.status.map(i64::from)),
            count(end.usage.input),
            count(end.usage.cache_read),
            count(end.usage.cache_write_5m),
            count(end.usage.cache_write_1h),
            count(end.usage.output),
            count(end.usage.reasoning),
            count(end.usage.server_tools),
            opt(end.cost),
            Param::Int(end.estimated.into()),
            opt(end.first_byte_micros),
            Param::Int(micros(end.at)),
            Param::from(end.error.as_deref()),
            Param::Uuid(tenant.uuid()),
            Param::Uuid(id.uuid()),
        ];
        Ok(self.tx.conn.execute(&SETTLE, &params)? == 1)
    }

    /// Lists the attempts of the tenant before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn before(&mut self, before: Option<CallId>, limit: usize) -> Result<Vec<CallRecord>> {
        let before = before.map_or(Uuid::max(), CallId::uuid);
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(before), limit];
        self.tx.conn.query(&PAGE_DOWN, &params, read)
    }

    /// Finds an attempt of a tenant.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn by_id(&mut self, tenant: TenantId, id: CallId) -> Result<Option<CallRecord>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Finds attempts that are open and whose server is not alive any more.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn dead(&mut self, now: Timestamp, limit: usize) -> Result<Vec<CallRecord>> {
        self.tx.system()?;
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        self.tx.conn.query(&DEAD, &[Param::Int(micros(now)), limit], read)
    }

    /// Notes that a server lives at least until some time.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn alive(&mut self, node: Uuid, until: Timestamp) -> Result<()> {
        self.tx.system()?;
        self.tx.conn.execute(&ALIVE, &[Param::Uuid(node), Param::Int(micros(until))]).map(drop)
    }

    /// Notes that a server is gone.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn gone(&mut self, node: Uuid) -> Result<()> {
        self.tx.system()?;
        self.tx.conn.execute(&GONE, &[Param::Uuid(node)]).map(drop)
    }

    /// Forgets servers that have not been alive since some time.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn forget_dead(&mut self, since: Timestamp) -> Result<()> {
        self.tx.system()?;
        self.tx.conn.execute(&FORGET_DEAD, &[Param::Int(micros(since))]).map(drop)
    }

    /// Forgets all servers but one, which knows that it is alone with this database.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn forget_others(&mut self, node: Uuid) -> Result<()> {
        self.tx.system()?;
        self.tx.conn.execute(&FORGET_OTHERS, &[Param::Uuid(node)]).map(drop)
    }

    /// Removes the oldest attempts of the tenant before an id; returns how many.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn trim(&mut self, tenant: TenantId, before: CallId, limit: usize) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(before.uuid()), limit];
        self.tx.conn.execute(&TRIM, &params)
    }
}

fn opt(int: Option<i64>) -> Param<'static> {
    int.map_or(Param::Null, Param::Int)
}

const HELD_BYTES: usize = 24;

fn held_bytes(held: &[Held]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(held.len() * HELD_BYTES);
    for one in held {
        bytes.extend_from_slice(one.budget.uuid().as_bytes());
        bytes.extend_from_slice(&one.amount.to_be_bytes());
    }
    bytes
}

fn read_held(bytes: &[u8]) -> Vec<Held> {
    let one = |bytes: &[u8; HELD_BYTES]| {
        let (id, amount) = bytes.split_at(16);
        let budget = BudgetId::from_uuid(Uuid::from_slice(id).unwrap_or_default());
        Held { budget, amount: i64::from_be_bytes(amount.try_into().unwrap_or_default()) }
    };
    bytes.as_chunks::<HELD_BYTES>().0.iter().map(one).collect()
}

fn read(row: &Row<'_>) -> Result<CallRecord> {
    let unreadable =
        |cause: godel_model::Invalid| Error::Unreadable { what: "call", cause: cause.into() };
    let count = |at: usize| row.int(at).map(|count| u64::try_from(count).unwrap_or(0));
    let purpose = Purpose {
        tenant: TenantId::from_uuid(row.uuid(0)?),
        user: UserId::from_uuid(row.uuid(5)?),
        project: row.opt_uuid(6)?.map(ProjectId::from_uuid),
        agent: row.opt_text(7)?,
        bead: row.opt_text(8)?,
        convoy: row.opt_text(9)?,
        token: row.opt_uuid(10)?.map(TokenId::from_uuid),
    };
    let start = CallStart {
        id: CallId::from_uuid(row.uuid(1)?),
        request: CallId::from_uuid(row.uuid(2)?),
        attempt: u32::try_from(row.int(3)?).unwrap_or(u32::MAX),
        at: from_micros(row.int(4)?),
        purpose,
        session: row.opt_text(11)?,
        dialect: dialect(&row.text(12)?),
        asked: row.text(13)?,
        provider: row.text(14)?,
        model: row.text(15)?,
        streamed: row.int(16)? != 0,
        paid_by: row.text(33)?.parse().map_err(unreadable)?,
        worst: row.opt_int(17)?,
        held: read_held(&row.bytes(18)?),
    };
    let outcome: Outcome = row.text(19)?.parse().map_err(unreadable)?;
    if outcome == Outcome::Open {
        return Ok(CallRecord { start, end: None });
    }
    let usage = Usage {
        input: count(21)?,
        cache_read: count(22)?,
        cache_write_5m: count(23)?,
        cache_write_1h: count(24)?,
        output: count(25)?,
        reasoning: count(26)?,
        server_tools: count(27)?,
    };
    let end = CallEnd {
        at: from_micros(row.opt_int(31)?.unwrap_or(0)),
        outcome,
        status: row.opt_int(20)?.and_then(|status| u16::try_from(status).ok()),
        usage,
        cost: row.opt_int(28)?,
        estimated: row.int(29)? != 0,
        first_byte_micros: row.opt_int(30)?,
        error: row.opt_text(32)?,
    };
    Ok(CallRecord { start, end: Some(end) })
}

/// The names are few, so none needs memory of its own.
fn dialect(name: &str) -> &'static str {
    ["chat", "responses", "anthropic", "gemini"]
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or("unknown")
}
