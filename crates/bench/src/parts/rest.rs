//! `rest`: what an authenticated list of 20 events costs the server, compared with a bare route.

use std::time::Duration;

use godel_api::{Page, Success};

use super::Bench;
use crate::bare::{self, BareRoute};
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http, Load};
use crate::process::Process;
use crate::server::Server;
use crate::stats::median;
use crate::table::{Bar, Row};

const EVENTS: usize = 1_000;
const CONNECTIONS: [usize; 2] = [4, 16];
const ROUNDS: usize = 25;
const ROUND_REQUESTS: usize = 3_000;
const WARMUP_REQUESTS: usize = 2_000;
const RATIO_MAX: f64 = 3.0;

/// One load on one process.
pub(super) struct Side<'a> {
    process: &'a Process,
    load: Load,
}

/// What a round cost.
pub(super) struct Cost {
    /// Processor time of the server, in microseconds per request.
    pub(super) cpu_us: f64,
    pub(super) took: Duration,
}

impl<'a> Side<'a> {
    pub(super) fn new(process: &'a Process, load: Load) -> Self {
        Self { process, load }
    }

    pub(super) async fn round(&mut self, requests: usize) -> Result<Cost> {
        let before = self.process.cpu()?;
        let took = self.load.run(requests).await?;
        let cpu = self.process.cpu()?.since(&before);
        let cpu_us = cpu.as_secs_f64() * 1e6 / requests as f64;
        Ok(Cost { cpu_us, took })
    }
}

/// Returns the request that is measured.
pub(super) fn request(server: &Server) -> Vec<u8> {
    http::get(&format!("{}?limit=20", bare::PATH), Some(&server.key))
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.stocked("rest", EVENTS).await?;
    let server = Server::start(&bench.program, &folder).await?;
    let request = request(&server);
    let mut http = Http::connect(server.address).await?;
    let body = http.expect(&request, 200).await?.to_vec();
    let file = folder.join("answer.json");
    std::fs::write(&file, &body).told("write the answer")?;
    let bare = BareRoute::start(&file)?;
    let mut plain = Http::connect(bare.address).await?;
    if plain.expect(&request, 200).await? != body {
        return Err(Error::new("the bare route answers with other bytes"));
    }
    let mut rows = vec![Row::told("size of the answer", body.len() as f64, "bytes")];
    for connections in CONNECTIONS {
        let load = Load::open(server.address, request.clone(), connections).await?;
        let mut ours = Side::new(&server.process, load);
        let load = Load::open(bare.address, request.clone(), connections).await?;
        let mut base = Side::new(&bare.process, load);
        let [cpu, bare, ratio, rate] = compare(&mut ours, &mut base).await?;
        let name = |what: &str| format!("{what}, {connections} connections");
        rows.extend([
            Row::told(name("CPU per request"), cpu, "us"),
            Row::told(name("CPU per bare request"), bare, "us"),
            Row::told(name("CPU, ratio to bare"), ratio, "x").bar(Bar::AtMost(RATIO_MAX)),
            Row::told(name("requests"), rate, "/s"),
        ]);
    }
    // The newest events are in memory; what lies behind them is read from the database.
    let path = format!("{}?limit=20&cursor={}", bare::PATH, cursor(&body)?);
    let second = http::get(&path, Some(&server.key));
    let load = Load::open(server.address, second, CONNECTIONS[0]).await?;
    let mut ours = Side::new(&server.process, load);
    let load = Load::open(bare.address, request, CONNECTIONS[0]).await?;
    let mut base = Side::new(&bare.process, load);
    let [cpu, _, ratio, _] = compare(&mut ours, &mut base).await?;
    rows.push(Row::told("CPU per request, an older page", cpu, "us"));
    rows.push(Row::told("CPU, ratio to bare, an older page", ratio, "x"));
    Ok(rows)
}

/// Takes the cursor of the next page out of an answer.
fn cursor(body: &[u8]) -> Result<String> {
    let page: Success<Page<serde_json::Value>> =
        serde_json::from_slice(body).told("understand the answer")?;
    page.data.pagination.cursor.ok_or_else(|| Error::new("the answer has no cursor"))
}

/// Measures both in turns: the processor times in microseconds, their ratio, and our rate.
async fn compare(ours: &mut Side<'_>, base: &mut Side<'_>) -> Result<[f64; 4]> {
    ours.round(WARMUP_REQUESTS).await?;
    base.round(WARMUP_REQUESTS).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let own = ours.round(ROUND_REQUESTS).await?;
        rounds.push((own, base.round(ROUND_REQUESTS).await?));
    }
    let rate = |cost: &Cost| ROUND_REQUESTS as f64 / cost.took.as_secs_f64();
    Ok([
        median(rounds.iter().map(|(own, _)| own.cpu_us)),
        median(rounds.iter().map(|(_, bare)| bare.cpu_us)),
        median(rounds.iter().map(|(own, bare)| own.cpu_us / bare.cpu_us)),
        median(rounds.iter().map(|(own, _)| rate(own))),
    ])
}
