//! `crowd`: 200 built-in agents at once on one server.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::yard::Yard;
use crate::error::{Error, Result};
use crate::process::whole_cpu;
use crate::table::{Bar, Row};

const AGENTS: usize = 200;
/// How long the model waits before each event, so that all are at work at once.
const PACE_MS: u64 = 5_000;
const PATIENCE: Duration = Duration::from_secs(900);
const MEMORY_MAX_MIB: f64 = 4_096.0;

pub(super) async fn measure() -> Result<Vec<Row>> {
    let yard = Yard::open(100).await?;
    yard.keep_ready(2)?;
    let mut beads = Vec::with_capacity(AGENTS);
    for at in 0..AGENTS {
        beads.push(yard.bead(&format!("[[pace {PACE_MS}]] [[work crowd-{at}.txt here]]")).await?);
    }
    let (pid, asked) = (yard.server.process.pid(), yard.asked().await?);
    let (cpu, start) = (whole_cpu(pid)?, Instant::now());
    for bead in &beads {
        yard.spawn(bead).await?;
    }
    let (mut most, mut done) = (0.0_f64, 0.0);
    while done < AGENTS as f64 {
        let told = yard.ask("GET", "/api/v1/metrics/agents", &Value::Null).await?;
        most = most.max(told["running"].as_f64().unwrap_or_default());
        done = told["states"]["completed"].as_f64().unwrap_or_default();
        let failed = told["states"]["failed"].as_f64().unwrap_or_default();
        if failed > 0.0 || start.elapsed() > PATIENCE {
            return Err(Error::new(format!("not all agents did their work: {told}")));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let took = start.elapsed().as_secs_f64();
    let spent = (whole_cpu(pid)? - cpu).as_secs_f64() * 1_000.0;
    let turns = yard.asked().await? - asked;
    let peak = yard.server.process.peak_bytes()? as f64 / f64::from(1 << 20);
    Ok(vec![
        Row::told("agents at once", most, "").bar(Bar::AtLeast(AGENTS as f64)),
        Row::told("all of them done", took, "s"),
        Row::told("turns of a model", turns, ""),
        Row::told("CPU of the server and its children for a turn", spent / turns, "ms"),
        Row::told("CPU of the server and its children for an agent", spent / AGENTS as f64, "ms"),
        Row::told("memory of the server at most", peak, "MiB").bar(Bar::Below(MEMORY_MAX_MIB)),
    ])
}
