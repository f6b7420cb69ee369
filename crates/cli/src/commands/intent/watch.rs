//! `godel watch`: a line for each bead of a convoy whenever something changes, and what needs a person.

use std::collections::BTreeMap;
use std::time::Duration;

use godel_api::{Agent, Client, ConvoyRun, ConvoyWaves, Notice, Page};
use godel_worker::Patience;
use reqwest::Method;
use uuid::Uuid;

use crate::commands::worker::notes;
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::money;
use godel_console::output::{Output, WARN, plain, styled};
use godel_console::{Context, Exit, Result, here, locate};

/// How long to wait for an event before looking again.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How long events are gathered before looking, so that a burst of them is one look.
const GATHER: Duration = Duration::from_millis(200);

/// Watches a convoy until it is over, or until Ctrl-C.
pub(crate) async fn run(context: &Context, convoy: &str, project: Option<&str>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let project = here::project_if_known(context, &found.client, project).await?;
    let output = context.output;
    output.remark(format_args!("watching {convoy}; Ctrl-C ends the watching, the work goes on"));
    let mut events =
        found.client.follow(["agent:*", "bead:*", "convoy:*"].map(str::to_owned).to_vec(), None);
    let server = Patience::new(found.client, notes(output));
    let mut told = BTreeMap::new();
    loop {
        let looked = server.until_answered(|| look(&server.client, convoy, project));
        let seen = tokio::select! {
            seen = looked => seen?,
            _ = tokio::signal::ctrl_c() => return detached(output, convoy),
        };
        seen.tell(output, &mut told)?;
        if seen.run.state != "running" {
            return end(output, &seen.run);
        }
        tokio::select! {
            // Whatever happened, and also if the line was lost: it is time to look.
            _ = events.next() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = tokio::signal::ctrl_c() => return detached(output, convoy),
        }
    }
}

fn detached(output: Output, convoy: &str) -> Result<Exit> {
    output.note(format_args!("it goes on; `godel watch {convoy}` comes back"));
    Ok(Exit::Done)
}

fn end(output: Output, run: &ConvoyRun) -> Result<Exit> {
    if output.is_json() {
        output.value(run)?;
    } else {
        output.line(format_args!("{} is {}", run.convoy, run.state))?;
    }
    Ok(if run.state == "done" { Exit::Done } else { Exit::Failure })
}

/// How a convoy is.
struct Seen {
    run: ConvoyRun,
    waves: ConvoyWaves,
    agents: Vec<Agent>,
    notices: Vec<Notice>,
}

async fn look(
    client: &Client,
    convoy: &str,
    project: Option<Uuid>,
) -> Result<Seen, godel_api::ClientError> {
    let path =
        |verb: &str| here::within(format!("/api/v1/convoys/{}/{verb}", segment(convoy)), project);
    let run: ConvoyRun = client.call(Method::GET, &path("run"), NOTHING).await?;
    let waves = client.call(Method::GET, &path("waves"), NOTHING).await?;
    let filter = segment(&serde_json::json!({ "convoy": run.convoy }).to_string());
    let of_convoy = format!("/api/v1/agents?limit=100&filter={filter}");
    let agents: Page<Agent> = client.call(Method::GET, &of_convoy, NOTHING).await?;
    let notices: Page<Notice> =
        client.call(Method::GET, "/api/v1/inbox?limit=100", NOTHING).await?;
    Ok(Seen { run, waves, agents: agents.items, notices: notices.items })
}

impl Seen {
    /// Tells what is new.
    fn tell(&self, output: Output, told: &mut BTreeMap<String, String>) -> Result<()> {
        let mut news = Vec::new();
        for bead in self.waves.waves.iter().flatten() {
            let mine: Vec<&Agent> =
                self.agents.iter().filter(|agent| agent.bead == bead.id).collect();
            let cost: i64 = mine.iter().filter_map(|agent| agent.spent_micros).sum();
            let who = mine.first().map_or("-", |agent| agent.label.as_str());
            let state = if bead.blocked { "waits" } else { bead.status.as_str() };
            let line = format!(
                "{}  {state:<11}  {:<10}  {:>8}  {}",
                bead.id,
                plain(who),
                money(cost),
                plain(&bead.title)
            );
            news.push((bead.id.clone(), line));
        }
        let ours = |notice: &&Notice| {
            notice.bead.as_ref().is_some_and(|bead| news.iter().any(|(id, _)| id == bead))
        };
        let notices: Vec<(String, String)> =
            self.notices.iter().filter(ours).map(needs_you).collect();
        for (key, line) in news.into_iter().chain(notices) {
            if told.get(&key) != Some(&line) && !output.is_json() {
                output.line(&line)?;
            }
            told.insert(key, line);
        }
        Ok(())
    }
}

fn needs_you(notice: &Notice) -> (String, String) {
    let first = plain(notice.text.lines().next().unwrap_or_default());
    let mark = styled(WARN, "needs you:");
    (notice.id.to_string(), format!("{mark} {first}  (`godel inbox` answers)"))
}
