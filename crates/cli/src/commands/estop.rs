//! `godel estop` and `godel resume`: everything stands still, or goes on.

use godel_api::{AskEstop, Estop};
use godel_console::lookup::NOTHING;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use reqwest::Method;

/// Where it is.
pub(super) const PATH: &str = "/api/v1/estop";

/// Lets everything stand still.
pub(crate) async fn stop(context: &Context, reason: Option<String>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let body = AskEstop { reason };
    let stop: Estop = found.client.call(Method::POST, PATH, Some(&body)).await?;
    present(context, &stop)
}

/// Lets everything go on.
pub(crate) async fn resume(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let stop: Estop = found.client.call(Method::DELETE, PATH, NOTHING).await?;
    present(context, &stop)
}

/// Tells whether everything stands still.
pub(crate) async fn show(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let stop: Estop = found.client.call(Method::GET, PATH, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&stop)?;
        return Ok(Exit::Done);
    }
    let reason = because(&stop);
    context.output.line(match stop.stopped {
        true => format!("everything stands still{reason}; `godel resume` lets it go on"),
        false => "nothing is stopped".to_owned(),
    })?;
    Ok(Exit::Done)
}

fn present(context: &Context, stop: &Estop) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(stop)?;
        return Ok(Exit::Done);
    }
    context.output.line(in_words(stop))?;
    Ok(Exit::Done)
}

fn because(stop: &Estop) -> String {
    let reason = stop.reason.as_deref().filter(|reason| !reason.is_empty());
    reason.map_or_else(String::new, |reason| format!(" ({})", plain(reason)))
}

fn in_words(stop: &Estop) -> String {
    let agents = match stop.agents {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    };
    match stop.stopped {
        true => format!(
            "everything stands still{}: {agents} paused, all worktrees kept; `godel resume` lets it \
             go on",
            because(stop)
        ),
        false => format!("everything goes on: {agents} resumed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_happened_and_how_to_undo_it() {
        let stop =
            Estop { stopped: true, reason: Some("wrong\u{1b} branch".to_owned()), agents: 1 };
        let told = in_words(&stop);
        assert!(told.starts_with("everything stands still (wrong\u{fffd} branch): 1 agent paused"));
        assert!(told.contains("godel resume"));
        let on = Estop { stopped: false, reason: None, agents: 3 };
        assert_eq!(in_words(&on), "everything goes on: 3 agents resumed");
    }
}
