//! Attempts to get an answer from a provider.

use std::collections::HashSet;

use godel_model::receipt::{self, EndedWriter, NoReceipt};
use godel_model::{CallEnd, CallId, CallStart, Outcome, TenantId, micros};
use jiff::Timestamp;
use uuid::Uuid;

use crate::postgres::session::Session;
use crate::statement::{Conn, Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    SETTLE = "call_settle":
        "INSERT INTO model_ended (tenant, id, call) VALUES ($1, $2, $3)
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
    PAGE_DOWN = "call_page_down":
        "SELECT tenant, id, call FROM model_ended WHERE tenant = $1 AND id < $2
         ORDER BY id DESC LIMIT $3";
    BY_ID = "call_by_id": "SELECT tenant, id, call FROM model_ended WHERE tenant = $1 AND id = $2";
    ALIVE = "node_alive":
        "INSERT INTO model_node (id, alive_until) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET alive_until = EXCLUDED.alive_until";
    GONE = "node_gone": "DELETE FROM model_node WHERE id = $1";
    FORGET_DEAD = "node_forget_dead": "DELETE FROM model_node WHERE alive_until < $1";
    FORGET_OTHERS = "node_forget_others": "DELETE FROM model_node WHERE id <> $1";
    TRIM = "call_trim":
        "DELETE FROM model_ended WHERE (tenant, id) IN
             (SELECT tenant, id FROM model_ended WHERE tenant = $1 AND id < $2 ORDER BY id LIMIT $3)";
}

/// The same for all that have ended together; returns those that were not there.
const SETTLE_ALL: &str = "
    INSERT INTO model_ended (tenant, id, call)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[])
    ON CONFLICT (tenant, id) DO NOTHING RETURNING tenant, id";

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
        let text = receipt::write_open(calls).map_err(unreadable)?;
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

    /// Writes attempts that have ended; tells of each whether nobody settled it before.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn settle(&mut self, calls: &[(&CallStart, &CallEnd)]) -> Result<Vec<bool>> {
        for (call, _) in calls {
            self.tx.reaches(call.purpose.tenant)?;
        }
        let mut writer = EndedWriter::default();
        if let Conn::Postgres(session) = &mut self.tx.conn {
            let mut texts = Vec::with_capacity(calls.len());
            for (call, end) in calls {
                let mut text = String::new();
                writer.write(call, end, &mut text).map_err(unreadable)?;
                texts.push(text);
            }
            return settle_all(session, calls, &texts);
        }
        let (mut text, mut fresh) = (String::new(), Vec::with_capacity(calls.len()));
        for (call, end) in calls {
            writer.write(call, end, &mut text).map_err(unreadable)?;
            let tenant = Param::Uuid(call.purpose.tenant.uuid());
            let params = [tenant, Param::Uuid(call.id.uuid()), Param::Text(&text)];
            fresh.push(self.tx.conn.execute(&SETTLE, &params)? == 1);
        }
        Ok(fresh)
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
    let calls = receipt::read_open(&row.text(3)?, tenant).map_err(unreadable)?;
    Ok(OpenCalls { tenant, node: row.uuid(1)?, batch: row.int(2)?, calls })
}

fn read(row: &Row<'_>) -> Result<CallRecord> {
    let (tenant, id) = (TenantId::from_uuid(row.uuid(0)?), CallId::from_uuid(row.uuid(1)?));
    let (start, end) = receipt::read_ended(tenant, id, &row.text(2)?).map_err(unreadable)?;
    // What a server of long ago left open was never settled.
    Ok(CallRecord { start, end: Some(end).filter(|end| end.outcome != Outcome::Open) })
}

fn settle_all(
    session: &mut Session,
    calls: &[(&CallStart, &CallEnd)],
    texts: &[String],
) -> Result<Vec<bool>> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let place = |call: &CallStart| (call.purpose.tenant.uuid(), call.id.uuid());
    let (tenants, ids): (Vec<Uuid>, Vec<Uuid>) = calls.iter().map(|(call, _)| place(call)).unzip();
    let rows = session.query_raw("call_settle_all", SETTLE_ALL, &[&tenants, &ids, &texts])?;
    let mut fresh = HashSet::with_capacity(rows.len());
    for row in &rows {
        let row = Row::Postgres(row);
        fresh.insert((row.uuid(0)?, row.uuid(1)?));
    }
    // One that is there twice is settled once.
    Ok(calls.iter().map(|(call, _)| fresh.remove(&place(call))).collect())
}

fn unreadable(cause: NoReceipt) -> Error {
    Error::Unreadable { what: "call", cause: cause.into() }
}
