//! What a request costs in processor time, and how many there can be.

use super::stage::{Front, REPLY_1K, REPLY_64K, Stage, side};
use crate::error::Result;
use crate::parts::rest::{Cost, Side};
use crate::process::Process;
use crate::stats::median;
use crate::table::{Bar, Row};

const RATIO_MAX: f64 = 2.0;
const NGINX_RATIO_MAX: f64 = 1.3;
const RATE_RATIO_MIN: f64 = 0.5;

/// One load.
struct Plan {
    name: &'static str,
    request_bytes: usize,
    reply: &'static str,
    connections: usize,
    requests: usize,
    rounds: usize,
    has_bar: bool,
}

const PLANS: [Plan; 4] = [
    Plan {
        name: "1 KiB",
        request_bytes: 1_024,
        reply: REPLY_1K,
        connections: 64,
        requests: 6_400,
        rounds: 11,
        has_bar: true,
    },
    Plan {
        name: "64 KiB",
        request_bytes: 65_536,
        reply: REPLY_1K,
        connections: 64,
        requests: 3_200,
        rounds: 9,
        has_bar: true,
    },
    Plan {
        name: "64 KiB and as much back",
        request_bytes: 65_536,
        reply: REPLY_64K,
        connections: 64,
        requests: 2_560,
        rounds: 7,
        has_bar: true,
    },
    Plan {
        name: "1 KiB, 4 connections",
        request_bytes: 1_024,
        reply: REPLY_1K,
        connections: 4,
        requests: 2_000,
        rounds: 7,
        has_bar: false,
    },
];

pub(super) async fn measure(stage: &Stage) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for plan in &PLANS {
        let mut fronts = vec![stage.godel(), stage.bare()];
        // Whether the baseline is a fair one shows once.
        fronts.extend(stage.nginx().filter(|_| plan.name == PLANS[0].name));
        let rounds = plan.run(fronts).await?;
        let [cpu, bare] = [0, 1].map(|at| median(rounds.iter().map(|costs| costs[at].cpu_us)));
        let ratio = median(rounds.iter().map(|costs| costs[0].cpu_us / costs[1].cpu_us));
        let name = |what: &str| format!("{what}, {}", plan.name);
        let ratio = Row::told(name("CPU per request, ratio to bare"), ratio, "x");
        rows.extend([
            Row::told(name("CPU per request"), cpu, "us"),
            Row::told(name("CPU per request, bare"), bare, "us"),
            if plan.has_bar { ratio.bar(Bar::AtMost(RATIO_MAX)) } else { ratio },
        ]);
        if plan.name == PLANS[0].name {
            rows.extend(saturation(plan, &rounds));
        }
    }
    Ok(rows)
}

/// Tells how many requests there can be, and how the bare proxy compares with nginx.
fn saturation(plan: &Plan, rounds: &[Vec<Cost>]) -> Vec<Row> {
    let rate = |cost: &Cost| plan.requests as f64 / cost.took.as_secs_f64();
    let ratio = median(rounds.iter().map(|costs| rate(&costs[0]) / rate(&costs[1])));
    let mut rows = vec![
        Row::told("requests, all at once", median(rounds.iter().map(|c| rate(&c[0]))), "/s"),
        Row::told("requests, all at once, bare", median(rounds.iter().map(|c| rate(&c[1]))), "/s"),
        Row::told("requests, ratio to bare", ratio, "x").bar(Bar::AtLeast(RATE_RATIO_MIN)),
    ];
    if rounds.iter().all(|costs| costs.len() == 3) {
        let ratio = median(rounds.iter().map(|costs| costs[1].cpu_us / costs[2].cpu_us));
        let cpu = median(rounds.iter().map(|costs| costs[2].cpu_us));
        let what = "CPU per request, bare, ratio to nginx";
        rows.push(Row::told("CPU per request, nginx, 1 KiB", cpu, "us"));
        rows.push(Row::told(what, ratio, "x").bar(Bar::AtMost(NGINX_RATIO_MAX)));
    }
    rows
}

impl Plan {
    /// Measures all fronts in turns; a round has a cost for each of them.
    async fn run(&self, fronts: Vec<(Front, &Process)>) -> Result<Vec<Vec<Cost>>> {
        let mut sides = Vec::new();
        for front in fronts {
            let request = front.0.request(self.reply, self.request_bytes, false);
            sides.push(side(front, request, self.connections).await?);
        }
        in_turns(&mut sides, self.rounds, self.requests).await
    }
}

/// Lets every side have its turn in each round, after one that does not count.
pub(super) async fn in_turns(
    sides: &mut [Side<'_>],
    rounds: usize,
    requests: usize,
) -> Result<Vec<Vec<Cost>>> {
    let mut all = Vec::new();
    for _ in 0..=rounds {
        let mut costs = Vec::new();
        for side in sides.iter_mut() {
            costs.push(side.round(requests).await?);
        }
        all.push(costs);
    }
    Ok(all.split_off(1))
}
