//! `godel convoy start`, `stop` and `watch`: a convoy that agents work on.

use std::time::Duration;

use godel_api::{ConvoyRun, StartConvoy};
use godel_args::convoy::{Convoy, Driven, StartConvoy as Asked, What};
use godel_args::local::Local;
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::money;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, here, locate};
use godel_desk::Desk;
use reqwest::Method;
use uuid::Uuid;

use super::agent::{walls, warn_without_walls};
use crate::commands::worker::notes;
use godel_worker::Patience;

/// How often to look how a convoy is.
const LOOK: Duration = Duration::from_secs(1);

/// Does what was asked for in a repository, by the server if it is about agents.
pub(crate) async fn run(context: &Context, asked: Local) -> Result<Exit> {
    match asked {
        Local::Convoy(Convoy { what: What::Driven(asked), .. }) => driven(context, asked).await,
        asked => godel_desk::run(Desk::new(context.environment.clone(), context.output)?, asked),
    }
}

async fn driven(context: &Context, asked: Driven) -> Result<Exit> {
    match asked {
        Driven::Start(asked) => start(context, *asked).await,
        Driven::Stop { convoy, project } => {
            let found = locate::server(context).await?;
            let known = here::project_if_known(context, &found.client, project.as_deref()).await?;
            let path = path(&convoy, "stop", known);
            present(context, &found.client.call(Method::POST, &path, NOTHING).await?)
        }
        Driven::Watch { convoy, once, project } => {
            let found = locate::server(context).await?;
            let known = here::project_if_known(context, &found.client, project.as_deref()).await?;
            if once {
                let path = path(&convoy, "run", known);
                return present(context, &found.client.call(Method::GET, &path, NOTHING).await?);
            }
            watch(context, Patience::new(found.client, notes(context.output)), (&convoy, known))
                .await
        }
    }
}

fn path(convoy: &str, verb: &str, project: Option<Uuid>) -> String {
    here::within(format!("/api/v1/convoys/{}/{verb}", segment(convoy)), project)
}

async fn start(context: &Context, asked: Asked) -> Result<Exit> {
    let sandbox = asked.walls.profile(false).map_err(walls)?;
    let found = locate::server(context).await?;
    let project = here::project(context, &found.client, asked.project.as_deref()).await?;
    warn_without_walls(context.output, sandbox.as_deref());
    let how = StartConvoy {
        agents: asked.agents,
        budget_micros: asked.budget,
        harness: asked.kind.harness,
        model: asked.kind.model,
        role: asked.kind.role,
        runtime: asked.runtime,
        sandbox,
        together: asked.together.then_some(true),
    };
    let path = path(&asked.convoy, "start", project);
    let run: ConvoyRun = found.client.call(Method::POST, &path, Some(&how)).await?;
    if !asked.wait {
        context
            .output
            .remark("`godel agent list` shows who works, `godel convoy watch` how it goes");
        return present(context, &run);
    }
    let server = Patience::new(found.client, notes(context.output));
    watch(context, server, (&run.convoy, project)).await
}

/// Looks until a convoy is over; a server that is gone for a while does not matter.
async fn watch(
    context: &Context,
    server: Patience,
    (convoy, project): (&str, Option<Uuid>),
) -> Result<Exit> {
    let path = path(convoy, "run", project);
    let mut told = String::new();
    let run = loop {
        let look = || server.client.call::<ConvoyRun>(Method::GET, &path, NOTHING);
        let run = server.until_answered(look).await?;
        if run.state != "running" {
            break run;
        }
        let now = in_words(&run);
        if now != told {
            context.output.remark(&now);
            told = now;
        }
        tokio::time::sleep(LOOK).await;
    };
    present(context, &run)?;
    Ok(if run.state == "done" { Exit::Done } else { Exit::Failure })
}

fn present(context: &Context, run: &ConvoyRun) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(run)?;
    } else {
        context.output.line(in_words(run))?;
    }
    Ok(Exit::Done)
}

/// Says how a convoy is run, in a line.
fn in_words(run: &ConvoyRun) -> String {
    let budget = run.budget_micros.map(|budget| format!(", at most {}", money(budget)));
    let agents = match run.state.as_str() {
        "running" => format!(": {} of {} agents at work", run.running, run.agents),
        _ if run.running > 0 => format!(": {} agents are still at work", run.running),
        _ => String::new(),
    };
    let note = run.note.as_deref().map(|note| format!("; {}", plain(note)));
    let whole = run.whole.as_ref().map(|whole| format!(", lands as one in {whole}"));
    let (budget, whole) = (budget.unwrap_or_default(), whole.unwrap_or_default());
    let note = note.unwrap_or_default();
    format!("{} is {}{agents}{budget}{whole}{note}", run.convoy, run.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_a_convoy_is_run() {
        let mut run = ConvoyRun {
            runtime: None,
            whole: None,
            convoy: "convoy-20261115-k3d".to_owned(),
            state: "running".to_owned(),
            agents: 6,
            running: 4,
            budget_micros: Some(5_000_000),
            note: Some("2 beads wait".to_owned()),
        };
        let told =
            "convoy-20261115-k3d is running: 4 of 6 agents at work, at most $5; 2 beads wait";
        assert_eq!(in_words(&run), told);
        run = ConvoyRun {
            state: "done".to_owned(),
            running: 0,
            budget_micros: None,
            note: None,
            ..run
        };
        assert_eq!(in_words(&run), "convoy-20261115-k3d is done");
    }
}
