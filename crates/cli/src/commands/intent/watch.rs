//! `godel watch`: a bar for each bead of a convoy, drawn anew when something changes, and what needs a person; where
//! nothing can be drawn, a line for each change.

use std::collections::BTreeMap;
use std::time::Duration;

use godel_api::{Agent, BeadRow, Client, ConvoyRun, ConvoyWaves, Notice, Page};
use godel_worker::Patience;
use reqwest::Method;
use uuid::Uuid;

use super::board::{self, Lane};
use crate::commands::worker::notes;
use godel_console::lookup::{NOTHING, segment};
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
    let (mut told, mut drawn) = (BTreeMap::new(), 0);
    loop {
        let looked = server.until_answered(|| look(&server.client, convoy, project));
        let seen = tokio::select! {
            seen = looked => seen?,
            _ = tokio::signal::ctrl_c() => return detached(output, convoy),
        };
        match output.screen() {
            Some(size) => drawn = seen.draw(output, drawn, size)?,
            None => seen.tell(output, &mut told)?,
        }
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
    let of_convoy = format!("/api/v1/agents?limit=1000&filter={filter}");
    let agents: Page<Agent> = client.call(Method::GET, &of_convoy, NOTHING).await?;
    let notices: Page<Notice> =
        client.call(Method::GET, "/api/v1/inbox?limit=100", NOTHING).await?;
    Ok(Seen { run, waves, agents: agents.items, notices: notices.items })
}

impl Seen {
    /// Draws how everything is over the last so many lines, and returns how many there are now.
    fn draw(&self, output: Output, before: usize, size: (usize, usize)) -> Result<usize> {
        let lanes: Vec<Lane<'_>> = self.beads().map(|bead| self.lane(bead)).collect();
        let needs: Vec<String> = self.ours().map(first_line).collect();
        let lines = board::picture(&self.run, &lanes, &needs, size);
        output.redraw(before, &lines)?;
        Ok(lines.len())
    }

    /// Returns the beads of the convoy.
    fn beads(&self) -> impl Iterator<Item = &BeadRow> {
        self.waves.waves.iter().flatten().chain(&self.waves.tangled)
    }

    fn lane<'a>(&'a self, bead: &'a BeadRow) -> Lane<'a> {
        let own: Vec<&Agent> = self.agents.iter().filter(|agent| agent.bead == bead.id).collect();
        Lane::of(bead, &own)
    }

    /// Returns what needs a person for a bead of the convoy, or for the one that it lands in as a whole.
    fn ours(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter().filter(|notice| {
            let Some(about) = &notice.bead else { return false };
            self.run.whole.as_ref() == Some(about) || self.beads().any(|bead| bead.id == *about)
        })
    }

    /// Tells what is new.
    fn tell(&self, output: Output, told: &mut BTreeMap<String, String>) -> Result<()> {
        let news: Vec<(String, String)> =
            self.beads().map(|bead| (bead.id.clone(), self.lane(bead).words())).collect();
        let notices: Vec<(String, String)> = self.ours().map(needs_you).collect();
        for (key, line) in news.into_iter().chain(notices) {
            if told.get(&key) != Some(&line) && !output.is_json() {
                output.line(&line)?;
            }
            told.insert(key, line);
        }
        Ok(())
    }
}

fn first_line(notice: &Notice) -> String {
    let first = plain(notice.text.lines().next().unwrap_or_default());
    format!("needs you: {first}  (`godel inbox` answers)")
}

fn needs_you(notice: &Notice) -> (String, String) {
    (notice.id.to_string(), styled(WARN, first_line(notice)))
}
