//! Bare `godel`: what to do next.

use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::locate::{self, Presence, presence};
use crate::output::{STRONG, styled};

/// Where the user stands.
struct Situation {
    state: &'static str,
    headline: String,
    url: Option<String>,
    next: Vec<(String, &'static str)>,
}

/// Tells what to do next.
pub(crate) async fn run(context: &Context) -> Result<Exit> {
    let situation = look(context).await?;
    let output = context.output;
    if output.is_json() {
        let next: Vec<Value> = situation
            .next
            .iter()
            .map(|(command, why)| json!({ "command": command, "why": why }))
            .collect();
        output.value(&json!({
            "state": situation.state,
            "url": situation.url,
            "dataDir": context.data,
            "next": next,
        }))?;
        return Ok(Exit::Done);
    }
    output.line(format_args!("{}\n", styled(STRONG, &situation.headline)))?;
    output.pairs(situation.next.into_iter().map(|(one, why)| [one, why.to_owned()]).collect())?;
    output.line("\n`godel --help` shows all commands.")?;
    Ok(Exit::Done)
}

async fn look(context: &Context) -> Result<Situation> {
    if context.server.is_some() {
        let found = locate::server(context).await?;
        return Ok(running(&found.health.version, found.client.url()));
    }
    let data = context.data.display();
    Ok(match presence(&context.data).await? {
        Presence::Running(found, _) => running(&found.version, &found.url),
        absent => {
            let known = context.data.join("godel.db").exists()
                || context.data.join(godel_api::OWNER_KEY_FILE).exists();
            let headline = match absent {
                Presence::LeftOver(why) => {
                    format!("Godel is not running ({why}); its data is in {data}")
                }
                _ if known => format!("Godel is not running; its data is in {data}"),
                _ => "Welcome to Godel. Nothing is set up yet, and nothing needs to be".to_owned(),
            };
            Situation {
                state: if known { "stopped" } else { "new" },
                headline,
                url: None,
                next: vec![
                    ("godel up".to_owned(), "start a server on this machine"),
                    ("godel doctor".to_owned(), "check that all it needs is there"),
                ],
            }
        }
    })
}

fn running(version: &str, url: &str) -> Situation {
    Situation {
        state: "running",
        headline: format!("Godel {version} is running at {url}"),
        url: Some(url.to_owned()),
        next: vec![
            (format!("{url}/dashboard/"), "open the dashboard"),
            ("godel status".to_owned(), "see how it is doing"),
            ("godel events tail".to_owned(), "watch what happens"),
            ("godel events publish hello:world".to_owned(), "record an event of your own"),
        ],
    }
}
