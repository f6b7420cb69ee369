//! Whether memory grows with the number of requests.

use super::stage::{REPLY_1K, Stage, side};
use crate::error::Result;
use crate::table::{Bar, Row};

const CONNECTIONS: usize = 64;
const WARMUP_REQUESTS: usize = 64_000;
const REQUESTS: usize = 200_000;
const LONG_REQUESTS: usize = 1_000_000;
/// What caches may still take in.
const GROWTH_MAX_MB: f64 = 8.0;

pub(super) async fn measure(stage: &Stage, long: bool) -> Result<Vec<Row>> {
    let requests = if long { LONG_REQUESTS } else { REQUESTS };
    let (front, process) = stage.godel();
    let request = front.request(REPLY_1K, 1_024, false);
    let mut side = side((front, process), request, CONNECTIONS).await?;
    side.round(WARMUP_REQUESTS).await?;
    let before = process.resident_bytes()?;
    let cost = side.round(requests).await?;
    let after = process.resident_bytes()?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let thousands = requests / 1_000;
    let growth = megabytes(after) - megabytes(before);
    Ok(vec![
        Row::told("server memory", megabytes(after), "MB"),
        Row::told(format!("growth over {thousands},000 requests"), growth, "MB")
            .bar(Bar::Below(GROWTH_MAX_MB)),
        Row::told("CPU per request meanwhile", cost.cpu_us, "us"),
    ])
}
