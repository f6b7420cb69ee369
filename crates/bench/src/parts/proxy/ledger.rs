//! Whether a long ledger costs more than a short one.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, params};

use super::cost::in_turns;
use super::note;
use super::stage::{Godel, REPLY_1K, Stage, side};
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http};
use crate::parts::{Bench, database};
use crate::stats::{Samples, median};
use crate::table::{Bar, Row};

const ROWS: u64 = 1_000_000;
const LONG_ROWS: u64 = 10_000_000;
/// The ledger tells of so many days up to today, of which a report covers a third unless asked.
const DAYS: u64 = 90;
const AGENTS: u64 = 50;
const MODELS: [&str; 3] = ["claude-sonnet-5", "gpt-5", "gemini-3-pro"];
/// How many beads an agent works on in a day.
const BEADS_A_DAY: u64 = 5;
const CONNECTIONS: usize = 64;
const ROUNDS: usize = 7;
const ROUND_REQUESTS: usize = 3_200;
const REPORTS: usize = 11;
const REPORT_MAX_MS: f64 = 300.0;
const RATE_RATIO_MIN: f64 = 0.9;
const DAY_MILLIS: u64 = 86_400_000;

pub(super) async fn measure(bench: &Bench, stage: &Stage, long: bool) -> Result<Vec<Row>> {
    let rows = if long { LONG_ROWS } else { ROWS };
    let folder = bench.folder("proxy-ledger");
    stage.another(bench, &folder, &[]).await?.server.stop().await?;
    let start = Instant::now();
    let file = database(&folder);
    tokio::task::block_in_place(|| fill(&file, rows)).told("fill a ledger")?;
    note(&format!("{rows} rows were made in {:.1?}", start.elapsed()));
    let full = stage.another(bench, &folder, &[]).await?;
    let empty = stage.another(bench, &bench.folder("proxy-empty"), &[]).await?;
    let (report, lines) = report(&full, "").await?;
    let all = format!("&from={}", "2020-01-01");
    let (whole, _) = self::report(&full, &all).await?;
    let (rates, costs) = compare(&full, &empty).await?;
    let name = |what: &str| format!("{what}, {} million rows", rows / 1_000_000);
    let told = vec![
        Row::told(name("usage by day, agent and model, 30 days"), report, "ms")
            .bar(Bar::Below(REPORT_MAX_MS)),
        Row::told(name("the same, 90 days"), whole, "ms"),
        Row::told("rows of that report, 30 days", lines, ""),
        Row::told(name("requests, ratio to an empty ledger"), rates, "x")
            .bar(Bar::AtLeast(RATE_RATIO_MIN)),
        Row::told(name("CPU per request, ratio to an empty ledger"), costs, "x"),
    ];
    full.server.stop().await?;
    empty.server.stop().await?;
    Ok(told)
}

/// Asks for a report again and again; returns how long it takes and how many rows it has.
async fn report(godel: &Godel, more: &str) -> Result<(f64, f64)> {
    let mut http = Http::connect(godel.server.address).await?;
    let path = format!("/proxy/v1/usage?groupBy=day,agent,model{more}");
    let request = http::get(&path, Some(&godel.server.key));
    let (mut took, mut lines) = (Vec::new(), 0);
    for _ in 0..REPORTS {
        let start = Instant::now();
        let body = http.expect(&request, 200).await?;
        took.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        lines = memchr::memmem::find_iter(body, b"\"group\":").count();
    }
    if lines == 0 {
        return Err(Error::new("the report is empty"));
    }
    Ok((Samples::new(took).millis(50.0), lines as f64))
}

/// Measures requests with the full and the empty ledger in turns: the ratios of rate and cost.
async fn compare(full: &Godel, empty: &Godel) -> Result<(f64, f64)> {
    let mut sides = Vec::new();
    for godel in [full, empty] {
        let front = godel.front();
        let request = front.request(REPLY_1K, 1_024, false);
        sides.push(side((front, &godel.server.process), request, CONNECTIONS).await?);
    }
    let rounds = in_turns(&mut sides, ROUNDS, ROUND_REQUESTS).await?;
    let took = |costs: &[crate::parts::rest::Cost], at: usize| costs[at].took.as_secs_f64();
    let rate = median(rounds.iter().map(|costs| took(costs, 1) / took(costs, 0)));
    let cost = median(rounds.iter().map(|costs| costs[0].cpu_us / costs[1].cpu_us));
    Ok((rate, cost))
}

const CALL: &str = "INSERT INTO model_ended (tenant, id, call) VALUES (?1, ?2,
    json_object('person', ?3, 'agent', ?4, 'bead', ?5, 'dialect', 'anthropic', 'asked', ?6, 'provider',
        'bench', 'streamed', 1, 'at', ?7, 'worst', 90000, 'outcome', 'ok', 'status', 200, 'input', 900,
        'cache_read', 8000, 'output', 350, 'cost', 4200, 'first_byte', 450000, 'ended_at', ?7 + 6000000,
        'price', '$1/$5'))";
/// Whatever the rows say is what the sums must say.
const SUMS: &str = "INSERT INTO usage_day (tenant, day, provider, model, project, person, agent,
        bead, convoy, requests, failed, unpriced, estimated, input, cache_read, cache_write_5m,
        cache_write_1h, output, reasoning, server_tools, cost)
    SELECT tenant, (call ->> 'at') / 86400000000, call ->> 'provider', call ->> 'asked', '', ?1,
        call ->> 'agent', call ->> 'bead', '', count(*), 0, 0, 0, sum(call ->> 'input'),
        sum(call ->> 'cache_read'), 0, 0, sum(call ->> 'output'), 0, 0, sum(call ->> 'cost')
    FROM model_ended WHERE call ->> 'agent' <> ?2 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9";

/// Writes rows as if they had come over many days, in the order in which they would have come.
fn fill(file: &Path, rows: u64) -> rusqlite::Result<()> {
    let mut conn = Connection::open(file)?;
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")?;
    conn.pragma_update(None, "cache_size", -200_000)?;
    let (tenant, person): (Vec<u8>, Vec<u8>) =
        conn.query_row("SELECT tenant, id FROM person LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let user = uuid_text(&person);
    let now: f64 = conn.query_row("SELECT unixepoch('subsec')", [], |row| row.get(0))?;
    let start = (now * 1_000.0) as u64 - DAYS * DAY_MILLIS;
    let tx = conn.transaction()?;
    {
        let mut insert = tx.prepare(CALL)?;
        for number in 0..rows {
            let millis = start + number * (DAYS * DAY_MILLIS) / rows;
            let (agent, model) = (number % AGENTS, MODELS[(number / AGENTS) as usize % 3]);
            // A bead is worked on for a part of the day.
            let bead = (millis % DAY_MILLIS) * BEADS_A_DAY / DAY_MILLIS;
            let bead = format!("gd-{}-{agent}-{bead}", millis / DAY_MILLIS);
            let id = (u128::from(millis) << 80) | (7 << 76) | (2 << 62) | u128::from(number);
            insert.execute(params![
                tenant,
                id.to_be_bytes(),
                user,
                format!("agent-{agent}"),
                bead,
                model,
                (millis * 1_000) as i64,
            ])?;
        }
    }
    tx.execute(SUMS, params![user, "builder-7"])?;
    tx.commit()?;
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")
}

/// Writes an id as the sums have it.
fn uuid_text(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let place = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    [place(0, 8), place(8, 12), place(12, 16), place(16, 20), place(20, 32)].join("-")
}
