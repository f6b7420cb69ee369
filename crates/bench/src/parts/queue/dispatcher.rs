//! The baseline on PostgreSQL: a bare dispatcher that does the same writes in groups.
//!
//! One connection; what has arrived while the last group was under way is the next one, and all its
//! statements are sent at once. It keeps the same facts as the bare writer, and knows as few rules.

use std::time::Instant;

use godel_model::Mint;
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

use super::bare;
use super::crowd::{self, Op, Parked};
use super::flow::{Cost, TASKS};
use crate::error::{Result, Told as _};
use crate::process::own_cpu;

const SCHEMA: &str = "
    CREATE TABLE task (tenant UUID, id UUID, pool TEXT, tier BIGINT, spec TEXT, created_at BIGINT,
                       max_attempts BIGINT, idem TEXT, PRIMARY KEY (tenant, id));
    CREATE UNIQUE INDEX task_by_idem ON task (tenant, idem) WHERE idem IS NOT NULL;
    CREATE TABLE ready (tenant UUID, pool TEXT, tier BIGINT, at BIGINT, id UUID, attempt BIGINT,
                        PRIMARY KEY (tenant, pool, tier, at, id));
    CREATE TABLE lease (tenant UUID, id UUID, attempt BIGINT, worker UUID, started_at BIGINT,
                        deadline BIGINT, PRIMARY KEY (tenant, id));
    CREATE TABLE outcome (tenant UUID, id UUID, state TEXT, attempt BIGINT, worker UUID, at BIGINT,
                          result TEXT, PRIMARY KEY (tenant, id));
    CREATE TABLE event (tenant UUID, seq BIGINT GENERATED ALWAYS AS IDENTITY, id UUID, kind TEXT,
                        at BIGINT, task UUID, body TEXT, PRIMARY KEY (tenant, seq))";

const ADD: &str = "
    WITH a AS (SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::text[]) AS a (id, tier, spec)),
    t AS (INSERT INTO task SELECT $1, id, 'default', tier, spec, 0, 3, NULL FROM a),
    e AS (INSERT INTO event (tenant, id, kind, at, task, body)
          SELECT $1, id, 'task:queued', 0, id, $5::text FROM a)
    INSERT INTO ready SELECT $1, 'default', tier, 0, id, 0 FROM a";

const END: &str = "
    WITH d AS (DELETE FROM lease l USING unnest($2::uuid[]) AS u (id)
               WHERE l.tenant = $1 AND l.id = u.id AND l.attempt = 1 RETURNING l.id, l.worker),
    e AS (INSERT INTO event (tenant, id, kind, at, task, body)
          SELECT $1, id, 'task:succeeded', 0, id, $3::text FROM d)
    INSERT INTO outcome SELECT $1, id, 'succeeded', 1, worker, 0, NULL FROM d";

const CLAIM: &str = "
    WITH c AS MATERIALIZED (SELECT tier, at, id FROM ready WHERE tenant = $1 AND pool = 'default'
                            ORDER BY tier, at, id LIMIT $2 FOR UPDATE SKIP LOCKED),
    d AS (DELETE FROM ready r USING c WHERE r.tenant = $1 AND r.pool = 'default'
              AND r.tier = c.tier AND r.at = c.at AND r.id = c.id RETURNING r.id),
    l AS (INSERT INTO lease SELECT $1, id, 1, $1, 0, NULL FROM d RETURNING id),
    e AS (INSERT INTO event (tenant, id, kind, at, task, body)
          SELECT $1, id, 'task:started', 0, id, $3::text FROM d)
    SELECT l.id, t.spec FROM l JOIN task t ON t.tenant = $1 AND t.id = l.id";

/// What carries a client's words; it ends with this value.
pub(super) type Wire = JoinSet<std::result::Result<(), tokio_postgres::Error>>;

/// Connects to a database.
pub(super) async fn connect(url: &str) -> Result<(Client, Wire)> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.told("connect")?;
    let mut wire = JoinSet::new();
    wire.spawn(connection);
    Ok((client, wire))
}

/// A bare queue in a database.
pub(super) struct Dispatcher {
    client: Client,
    tenant: Uuid,
    add: Statement,
    end: Statement,
    claim: Statement,
    _wire: Wire,
}

impl Dispatcher {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let tried = "set the bare dispatcher up";
        let (client, wire) = connect(url).await?;
        client.batch_execute(SCHEMA).await.told(tried)?;
        // Planned anew for each group, it is three times as slow as it can be.
        let settings = "SET synchronous_commit = on; SET plan_cache_mode = force_generic_plan";
        client.batch_execute(settings).await.told(tried)?;
        let add = client.prepare(ADD).await.told(tried)?;
        let end = client.prepare(END).await.told(tried)?;
        let claim = client.prepare(CLAIM).await.told(tried)?;
        Ok(Self { client, tenant: Mint::system().id::<Uuid>(), add, end, claim, _wire: wire })
    }

    /// Lets tasks go through.
    pub(super) async fn round(&mut self) -> Result<Cost> {
        let (start, cpu) = (Instant::now(), own_cpu());
        let (crowd, mut ops) = crowd::enter();
        let mut parked = Parked::new();
        while let Some(first) = ops.recv().await {
            let batch = crowd::gather(first, &mut ops);
            self.group(batch, &mut parked).await?;
        }
        crowd.leave().await?;
        Ok(Cost { tasks: TASKS, took: start.elapsed(), cpu: own_cpu() - cpu })
    }

    async fn group(&mut self, batch: Vec<Op>, parked: &mut Parked) -> Result<()> {
        let (mut ids, mut tiers, mut specs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ends, mut replies) = (Vec::new(), Vec::new());
        for op in batch {
            match op {
                Op::Add { tier, spec, reply } => {
                    ids.push(Mint::system().id::<Uuid>());
                    tiers.push(tier);
                    specs.push(spec);
                    replies.push(reply);
                }
                Op::Claim { reply } => parked.push_back(reply),
                Op::End { id, reply, next } => {
                    ends.push(id);
                    parked.extend(next);
                    replies.push(reply);
                }
            }
        }
        let limit = i64::try_from(parked.len()).unwrap_or(0);
        type Params<'p> = &'p [&'p (dyn ToSql + Sync)];
        let body = bare::body(self.tenant);
        let adding: Params<'_> = &[&self.tenant, &ids, &tiers, &specs, &body];
        let ending: Params<'_> = &[&self.tenant, &ends, &body];
        let claiming: Params<'_> = &[&self.tenant, &limit, &body];
        // Polled together, all of them go out in one packet.
        let (begun, added, ended, claimed, committed) = tokio::join!(
            self.client.batch_execute("BEGIN"),
            self.client.execute(&self.add, adding),
            self.client.execute(&self.end, ending),
            self.client.query(&self.claim, claiming),
            self.client.batch_execute("COMMIT"),
        );
        let tried = "write in the bare dispatcher";
        begun.told(tried)?;
        added.told(tried)?;
        ended.told(tried)?;
        committed.told(tried)?;
        for row in claimed.told(tried)? {
            if let Some(reply) = parked.pop_front() {
                reply.send(row.get(0)).ok();
            }
        }
        for reply in replies {
            reply.send(()).ok();
        }
        Ok(())
    }
}
