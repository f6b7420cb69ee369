//! The baseline on PostgreSQL: a bare dispatcher that does the same writes in groups.
//!
//! One connection; what has arrived while the last group was under way is the next one, and all its
//! statements are sent at once. No rules, no tenants, no JSON, no dependencies.

use std::collections::VecDeque;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use super::flow::{CALLERS, Cost, TASKS};
use crate::error::{Error, Result, Told as _};
use crate::process::own_cpu;

const BATCH_MAX: usize = 512;

const SCHEMA: &str = "
    CREATE TABLE task (id BIGINT PRIMARY KEY, tier BIGINT, spec TEXT);
    CREATE TABLE ready (tier BIGINT, id BIGINT, PRIMARY KEY (tier, id));
    CREATE TABLE lease (id BIGINT PRIMARY KEY, attempt BIGINT, worker BIGINT);
    CREATE TABLE outcome (id BIGINT PRIMARY KEY, attempt BIGINT, at BIGINT);
    CREATE TABLE event (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind TEXT, task BIGINT,
                        body TEXT)";

const ADD: &str = "
    WITH a AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS a (id, tier, spec)),
    t AS (INSERT INTO task SELECT id, tier, spec FROM a),
    e AS (INSERT INTO event (kind, task, body) SELECT 'queued', id, $4::text FROM a)
    INSERT INTO ready SELECT tier, id FROM a";

const END: &str = "
    WITH d AS (DELETE FROM lease l USING unnest($1::bigint[]) AS u (id)
               WHERE l.id = u.id AND l.attempt = 1 RETURNING l.id),
    e AS (INSERT INTO event (kind, task, body) SELECT 'ended', id, $2::text FROM d)
    INSERT INTO outcome SELECT id, 1, id FROM d";

const CLAIM: &str = "
    WITH c AS MATERIALIZED (SELECT tier, id FROM ready ORDER BY tier, id LIMIT $1
                            FOR UPDATE SKIP LOCKED),
    d AS (DELETE FROM ready r USING c WHERE r.tier = c.tier AND r.id = c.id RETURNING r.id),
    l AS (INSERT INTO lease SELECT id, 1, 0 FROM d RETURNING id),
    e AS (INSERT INTO event (kind, task, body) SELECT 'started', id, $2::text FROM d)
    SELECT l.id, t.spec FROM l JOIN task t ON t.id = l.id";

const BODY: &str = "{\"attempt\":1,\"pool\":\"default\",\"priority\":\"medium\"}";

enum Op {
    Add { tier: i64, spec: String, reply: oneshot::Sender<()> },
    Claim { reply: oneshot::Sender<i64> },
    End { id: i64, reply: oneshot::Sender<()> },
}

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
    add: Statement,
    end: Statement,
    claim: Statement,
    next: i64,
    _wire: Wire,
}

impl Dispatcher {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let tried = "set the bare dispatcher up";
        let (client, wire) = connect(url).await?;
        client.batch_execute(SCHEMA).await.told(tried)?;
        client.batch_execute("SET synchronous_commit = on").await.told(tried)?;
        let add = client.prepare(ADD).await.told(tried)?;
        let end = client.prepare(END).await.told(tried)?;
        let claim = client.prepare(CLAIM).await.told(tried)?;
        Ok(Self { client, add, end, claim, next: 0, _wire: wire })
    }

    /// Lets tasks go through.
    pub(super) async fn round(&mut self) -> Result<Cost> {
        let (send, receive) = mpsc::channel::<Op>(1_024);
        let (start, cpu) = (Instant::now(), own_cpu());
        let mut crowd: JoinSet<Result<()>> = JoinSet::new();
        for caller in 0..CALLERS {
            let (adds, takes) = (send.clone(), send.clone());
            crowd.spawn(async move {
                for number in (caller..TASKS).step_by(CALLERS) {
                    let (reply, answer) = oneshot::channel();
                    let tier = i64::try_from(number % 4).unwrap_or(0);
                    ask(&adds, Op::Add { tier, spec: "x".repeat(450), reply }).await?;
                    answer.await.told("add")?;
                }
                Ok(())
            });
            crowd.spawn(async move {
                for _ in (caller..TASKS).step_by(CALLERS) {
                    let (reply, answer) = oneshot::channel();
                    ask(&takes, Op::Claim { reply }).await?;
                    let id = answer.await.told("claim")?;
                    let (reply, answer) = oneshot::channel();
                    ask(&takes, Op::End { id, reply }).await?;
                    answer.await.told("end")?;
                }
                Ok(())
            });
        }
        drop(send);
        self.work(receive).await?;
        while let Some(done) = crowd.join_next().await {
            done.map_err(|_| Error::new("a caller panicked"))??;
        }
        Ok(Cost { tasks: TASKS, took: start.elapsed(), cpu: own_cpu() - cpu })
    }

    async fn work(&mut self, mut ops: mpsc::Receiver<Op>) -> Result<()> {
        let mut parked: VecDeque<oneshot::Sender<i64>> = VecDeque::new();
        while let Some(first) = ops.recv().await {
            let mut batch = vec![first];
            while batch.len() < BATCH_MAX
                && let Ok(next) = ops.try_recv()
            {
                batch.push(next);
            }
            self.group(batch, &mut parked).await?;
        }
        Ok(())
    }

    async fn group(
        &mut self,
        batch: Vec<Op>,
        parked: &mut VecDeque<oneshot::Sender<i64>>,
    ) -> Result<()> {
        let (mut ids, mut tiers, mut specs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ends, mut replies) = (Vec::new(), Vec::new());
        for op in batch {
            match op {
                Op::Add { tier, spec, reply } => {
                    self.next += 1;
                    ids.push(self.next);
                    tiers.push(tier);
                    specs.push(spec);
                    replies.push(reply);
                }
                Op::Claim { reply } => parked.push_back(reply),
                Op::End { id, reply } => {
                    ends.push(id);
                    replies.push(reply);
                }
            }
        }
        let limit = i64::try_from(parked.len()).unwrap_or(0);
        type Params<'p> = &'p [&'p (dyn ToSql + Sync)];
        let adding: Params<'_> = &[&ids, &tiers, &specs, &BODY];
        let ending: Params<'_> = &[&ends, &BODY];
        let claiming: Params<'_> = &[&limit, &BODY];
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

async fn ask(to: &mpsc::Sender<Op>, op: Op) -> Result<()> {
    to.send(op).await.map_err(|_| Error::new("the bare dispatcher is gone"))
}
