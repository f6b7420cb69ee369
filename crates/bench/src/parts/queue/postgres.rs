//! Rate, cost and pick-up on PostgreSQL, with one server and with two.

use std::time::Duration;

use godel_store::DatabaseUrl;

use super::dispatcher::{self, Dispatcher};
use super::sqlite::BARE_MIN;
use super::{Borrowed, Stage, flow};
use crate::error::{Error, Result, Told as _};
use crate::process::family_cpu;
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 7;
const CPU_MAX_US: f64 = 150.0;
const RATE_AIM: f64 = 6_000.0;
const PICK_UP_MS: (f64, f64) = (3.0, 20.0);
/// Two servers are not slower than one; what a machine does besides is granted.
const TWO_MIN: f64 = 0.95;

/// What a round took, on both sides of the wire.
struct Round {
    own: flow::Cost,
    server: Duration,
}

impl Round {
    fn cpu_us(&self) -> f64 {
        self.own.cpu_us() + self.server.as_secs_f64() * 1e6 / self.own.tasks as f64
    }
}

pub(super) async fn measure() -> Result<Vec<Row>> {
    let (Some(borrowed), Some(plain)) = (Borrowed::find()?, Borrowed::find()?) else {
        return Ok(Vec::new());
    };
    let url = borrowed.database.url();
    let first = Stage::open(url.clone()).await?;
    let (own, other) = (postmaster(&url).await?, postmaster(&plain.database.url()).await?);
    let DatabaseUrl::Postgres(address) = plain.database.url() else {
        return Err(Error::new("a borrowed database is no PostgreSQL"));
    };
    let mut bare = Dispatcher::open(&address).await?;
    flow::round(&first, 2_000).await?;
    let (mut ones, mut twos, mut bares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = family_cpu(own)?;
        let one = flow::round(&first, flow::TASKS).await?;
        ones.push(Round { own: one, server: family_cpu(own)?.saturating_sub(before) });
        // A second server costs something even while it does nothing: it hears of all that the first does.
        let second = Stage::open(url.clone()).await?;
        let before = family_cpu(own)?;
        let two = flow::round_of(&[&first, &second], flow::TASKS).await?;
        twos.push(Round { own: two, server: family_cpu(own)?.saturating_sub(before) });
        second.close().await;
        let before = family_cpu(other)?;
        let round = bare.round().await?;
        bares.push(Round { own: round, server: family_cpu(other)?.saturating_sub(before) });
    }
    let rates = |rounds: &[Round]| median(rounds.iter().map(|round| round.own.rate()));
    let costs = |rounds: &[Round]| median(rounds.iter().map(Round::cpu_us));
    let ratio = |of: &[Round], to: &[Round]| {
        median(of.iter().zip(to).map(|(one, other)| one.own.rate() / other.own.rate()))
    };
    let mut rows = vec![
        Row::told("tasks", rates(&ones), "/s").bar(Bar::AtLeast(RATE_AIM)),
        Row::told("bare dispatcher", rates(&bares), "/s"),
        Row::told("rate, ratio to the bare dispatcher", ratio(&ones, &bares), "x")
            .bar(Bar::AtLeast(BARE_MIN)),
        Row::told("tasks, two servers", rates(&twos), "/s"),
        Row::told("rate, ratio of two servers to one", ratio(&twos, &ones), "x")
            .bar(Bar::AtLeast(TWO_MIN)),
        Row::told("CPU per task, both sides", costs(&ones), "us").bar(Bar::AtMost(CPU_MAX_US)),
        Row::told("CPU per task, this side", median(ones.iter().map(|one| one.own.cpu_us())), "us"),
        Row::told("CPU per task, both sides, two servers", costs(&twos), "us"),
        Row::told("CPU per task, both sides, bare", costs(&bares), "us"),
    ];
    rows.extend(flow::pick_up(&first, PICK_UP_MS).await?);
    first.close().await;
    Ok(rows)
}

/// Finds the process whose children serve a database.
async fn postmaster(url: &DatabaseUrl) -> Result<u32> {
    let tried = "find the database's process";
    let DatabaseUrl::Postgres(address) = url else { return Err(Error::new("no PostgreSQL")) };
    let (client, _wire) = dispatcher::connect(address).await?;
    let row = client.query_one("SELECT pg_backend_pid()", &[]).await.told(tried)?;
    let pid: i32 = row.get(0);
    crate::process::parent(u32::try_from(pid).told(tried)?)
}
