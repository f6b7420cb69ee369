//! Attempts to get an answer from a provider.

mod open;

use std::collections::HashSet;
use std::sync::Arc;

use godel_model::{
    CallEnd, CallId, CallStart, Held, Outcome, ProjectId, Purpose, TenantId, TokenId, UserId,
    from_micros, micros,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

/// Reads attempts of a tenant that have ended.
macro_rules! ended {
    ($which:literal) => {
        concat!(
            "SELECT tenant, id, request, attempt, at, person, project, agent, bead, convoy, agent_token,
                 client_session, dialect, asked, provider, model, streamed, worst, held, outcome, status,
                 input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, server_tools,
                 cost, estimated, first_byte, ended_at, error, paid_by, price, saved_by_cache,
                 saved_by_routing
             FROM model_call WHERE tenant = $1 AND ", $which
        )
    };
}

statements! {
    SETTLE = "call_settle":
        "INSERT INTO model_call (tenant, id, request, attempt, at, node, person, project, agent, bead,
             convoy, agent_token, client_session, dialect, asked, provider, model, streamed, worst,
             held, paid_by, outcome, status, input, cache_read, cache_write_5m, cache_write_1h,
             output, reasoning, server_tools, cost, estimated, first_byte, ended_at, error, price,
             saved_by_cache, saved_by_routing)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
             $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38)
         ON CONFLICT (tenant, id) DO NOTHING";
    OPEN = "call_open":
        "INSERT INTO model_open (tenant, node, batch, calls) VALUES ($1, $2, $3, $4)";
    OPENED = "call_opened":
        "SELECT tenant, node, batch, calls FROM model_open
         WHERE tenant = $1 AND node = $2 AND batch = $3";
    CLOSE = "call_close": "DELETE FROM model_open WHERE tenant = $1 AND node = $2 AND batch = $3";
    UNDER_WAY = "call_under_way":
        "SELECT tenant, node, batch, calls FROM model_open WHERE tenant = $1";
    DEAD = "call_dead":
        "SELECT tenant, node, batch, calls FROM model_open WHERE NOT EXISTS
             (SELECT 1 FROM model_node WHERE model_node.id = node AND alive_until >= $1)
         LIMIT $2";
    PAGE_DOWN = "call_page_down": ended!("id < $2 ORDER BY id DESC LIMIT $3");
    BY_ID = "call_by_id": ended!("id = $2");
    ALIVE = "node_alive":
        "INSERT INTO model_node (id, alive_until) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET alive_until = EXCLUDED.alive_until";
    GONE = "node_gone": "DELETE FROM model_node WHERE id = $1";
    FORGET_DEAD = "node_forget_dead": "DELETE FROM model_node WHERE alive_until < $1";
    FORGET_OTHERS = "node_forget_others": "DELETE FROM model_node WHERE id <> $1";
    TRIM = "call_trim":
        "DELETE FROM model_call WHERE (tenant, id) IN
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

/// The calls of a tenant that began in one commit of a server and are not all in the ledger yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCalls {
    /// The tenant.
    pub tenant: TenantId,
    /// The server.
    pub node: Uuid,
    /// Which commit of the server it was.
    pub batch: i64,
    /// The calls; some may be in the ledger already.
    pub calls: Vec<CallStart>,
}

/// The attempts of this server.
pub struct Calls<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Calls<'_, '_> {
    /// Writes that providers are about to be asked: calls of one tenant that begin together.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn open<'a>(
        &mut self,
        (tenant, node, batch): (TenantId, Uuid, i64),
        calls: impl IntoIterator<Item = &'a CallStart>,
    ) -> Result<()> {
        self.tx.reaches(tenant)?;
        let text = open::text_of(calls)?;
        let [a, b, c] = place(tenant, node, batch);
        self.tx.conn.execute(&OPEN, &[a, b, c, Param::Text(&text)]).map(drop)
    }

    /// Finds calls that began together; none if all of them are in the ledger.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn opened(
        &mut self,
        (tenant, node, batch): (TenantId, Uuid, i64),
    ) -> Result<Option<OpenCalls>> {
        self.tx.reaches(tenant)?;
        self.tx.conn.first(&OPENED, &place(tenant, node, batch), read_open)
    }

    /// Forgets calls that began together, because all of them are in the ledger.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn close(&mut self, (tenant, node, batch): (TenantId, Uuid, i64)) -> Result<()> {
        self.tx.reaches(tenant)?;
        self.tx.conn.execute(&CLOSE, &place(tenant, node, batch)).map(drop)
    }

    /// Writes an attempt that has ended; `false` if somebody settled it before.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn settle(&mut self, call: &CallStart, node: Uuid, end: &CallEnd) -> Result<bool> {
        let (purpose, held) = (&call.purpose, Held::pack(&call.held));
        self.tx.reaches(purpose.tenant)?;
        let count = |count: u64| Param::Int(i64::try_from(count).unwrap_or(i64::MAX));
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
            Param::from(end.price.as_deref()),
            Param::Int(end.saved.saved_by_cache_micros),
            Param::Int(end.saved.saved_by_routing_micros),
        ];
        Ok(self.tx.conn.execute(&SETTLE, &params)? == 1)
    }

    /// Lists the attempts of the tenant before an id, the newest first, those under way among them.
    ///
    /// # Errors
    /// If the database fails.
    pub fn before(&mut self, before: Option<CallId>, limit: usize) -> Result<Vec<CallRecord>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let most = before.map_or(Uuid::max(), CallId::uuid);
        let rows = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let mut page = self.tx.conn.query(&PAGE_DOWN, &[tenant, Param::Uuid(most), rows], read)?;
        // What comes after the last row of a full page belongs to the next one.
        let full = page.len() == limit;
        let least = page.last().filter(|_| full).map_or(Uuid::nil(), |last| last.start.id.uuid());
        let open = self.tx.conn.query(&UNDER_WAY, &[tenant], read_open)?;
        let ended: HashSet<CallId> = page.iter().map(|record| record.start.id).collect();
        let open = open.into_iter().flat_map(|open| open.calls).filter(|start| {
            let id = start.id.uuid();
            id < most && id > least && !ended.contains(&start.id)
        });
        page.extend(open.map(|start| CallRecord { start, end: None }));
        page.sort_unstable_by_key(|record| std::cmp::Reverse(record.start.id));
        page.truncate(limit);
        Ok(page)
    }

    /// Finds an attempt of a tenant, ended or under way.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn by_id(&mut self, tenant: TenantId, id: CallId) -> Result<Option<CallRecord>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        if let Some(ended) = self.tx.conn.first(&BY_ID, &params, read)? {
            return Ok(Some(ended));
        }
        let open = self.tx.conn.query(&UNDER_WAY, &params[..1], read_open)?;
        let mut open = open.into_iter().flat_map(|open| open.calls);
        let found = open.find(|start| start.id == id);
        Ok(found.map(|start| CallRecord { start, end: None }))
    }

    /// Finds calls that are open and whose server is not alive any more.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn dead(&mut self, now: Timestamp, limit: usize) -> Result<Vec<OpenCalls>> {
        self.tx.system()?;
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        self.tx.conn.query(&DEAD, &[Param::Int(micros(now)), limit], read_open)
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

fn place(tenant: TenantId, node: Uuid, batch: i64) -> [Param<'static>; 3] {
    [Param::Uuid(tenant.uuid()), Param::Uuid(node), Param::Int(batch)]
}

fn read_open(row: &Row<'_>) -> Result<OpenCalls> {
    let tenant = TenantId::from_uuid(row.uuid(0)?);
    let calls = open::calls_in(&row.text(3)?, tenant)?;
    Ok(OpenCalls { tenant, node: row.uuid(1)?, batch: row.int(2)?, calls })
}

fn opt(int: Option<i64>) -> Param<'static> {
    int.map_or(Param::Null, Param::Int)
}

fn read(row: &Row<'_>) -> Result<CallRecord> {
    let unreadable =
        |cause: godel_model::Invalid| Error::Unreadable { what: "call", cause: cause.into() };
    let purpose = Arc::new(Purpose {
        tenant: TenantId::from_uuid(row.uuid(0)?),
        user: UserId::from_uuid(row.uuid(5)?),
        project: row.opt_uuid(6)?.map(ProjectId::from_uuid),
        agent: row.opt_text(7)?,
        bead: row.opt_text(8)?,
        convoy: row.opt_text(9)?,
        token: row.opt_uuid(10)?.map(TokenId::from_uuid),
    });
    let start = CallStart {
        id: CallId::from_uuid(row.uuid(1)?),
        request: CallId::from_uuid(row.uuid(2)?),
        attempt: u32::try_from(row.int(3)?).unwrap_or(u32::MAX),
        at: from_micros(row.int(4)?),
        purpose,
        session: row.opt_text(11)?,
        dialect: dialect(&row.text(12)?),
        asked: row.text(13)?.into(),
        provider: row.text(14)?.into(),
        model: row.text(15)?.into(),
        streamed: row.int(16)? != 0,
        paid_by: row.text(33)?.parse().map_err(unreadable)?,
        worst: row.opt_int(17)?,
        held: Held::unpack(&row.bytes(18)?),
    };
    let outcome: Outcome = row.text(19)?.parse().map_err(unreadable)?;
    let end = CallEnd {
        at: from_micros(row.opt_int(31)?.unwrap_or(0)),
        outcome,
        status: row.opt_int(20)?.and_then(|status| u16::try_from(status).ok()),
        usage: super::usage::tokens(row, 21)?,
        cost: row.opt_int(28)?,
        price: row.opt_text(34)?.map(Into::into),
        saved: super::usage::saved(row, 35)?,
        estimated: row.int(29)? != 0,
        first_byte_micros: row.opt_int(30)?,
        error: row.opt_text(32)?,
    };
    // An older server that is still at work writes here what is under way.
    Ok(CallRecord { start, end: Some(end).filter(|end| end.outcome != Outcome::Open) })
}

/// The names are few, so none needs memory of its own.
fn dialect(name: &str) -> &'static str {
    ["chat", "responses", "anthropic", "gemini"]
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or("unknown")
}
