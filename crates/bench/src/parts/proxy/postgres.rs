//! Cost and time on PostgreSQL: told without bars, and without the time of its own processes.

use godel_store::DatabaseUrl;

use super::cost::in_turns;
use super::latency;
use super::stage::{REPLY_1K, Stage, side};
use crate::error::Result;
use crate::parts::{Bench, Borrowed};
use crate::stats::median;
use crate::table::Row;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 5;
const ROUND_REQUESTS: usize = 3_200;

pub(super) async fn measure(bench: &Bench, stage: &Stage) -> Result<Vec<Row>> {
    let Some(borrowed) = Borrowed::find()? else { return Ok(Vec::new()) };
    let DatabaseUrl::Postgres(url) = borrowed.database.url() else { return Ok(Vec::new()) };
    let variables = [("GODEL_DATABASE_URL", url.as_str())];
    let godel = stage.another(bench, &bench.folder("proxy-postgres"), &variables).await?;
    let front = godel.front();
    let request = |front: &super::stage::Front| front.request(REPLY_1K, 1_024, false);
    let ours = (front.clone(), &godel.server.process);
    let mut sides = [
        side(ours, request(&front), CONNECTIONS).await?,
        side(stage.bare(), request(&stage.bare().0), CONNECTIONS).await?,
    ];
    let rounds = in_turns(&mut sides, ROUNDS, ROUND_REQUESTS).await?;
    let ratio = median(rounds.iter().map(|costs| costs[0].cpu_us / costs[1].cpu_us));
    let took = median(rounds.iter().map(|costs| costs[0].took.as_secs_f64()));
    let mut rows = vec![
        Row::told("CPU per request, 1 KiB", median(rounds.iter().map(|c| c[0].cpu_us)), "us"),
        Row::told("CPU per request, ratio to bare, 1 KiB", ratio, "x"),
        Row::told("requests, all at once", ROUND_REQUESTS as f64 / took, "/s"),
    ];
    let fronts = [stage.direct(), stage.bare().0, front];
    rows.extend(latency::whole(&fronts).await?.into_iter().map(Row::without_bar));
    godel.server.stop().await?;
    Ok(rows)
}
