//! Bare `godel`: what to do next.

use godel_api::User;
use godel_console::locate::{self, Found, Presence, presence};
use godel_console::output::{STRONG, styled};
use godel_console::{Context, Exit, Result};
use serde_json::{Value, json};

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
    if locate::named(context)?.is_some() {
        let found = locate::server(context).await?;
        return Ok(running(&found).await);
    }
    let data = context.data.display();
    Ok(match presence(&context.data).await? {
        Presence::Running(..) => running(&locate::server(context).await?).await,
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
                    (
                        "godel bead create TITLE".to_owned(),
                        "plan work in a repository, without a server",
                    ),
                ],
            }
        }
    })
}

async fn running(found: &Found) -> Situation {
    let url = found.client.url();
    let mut next = vec![
        (format!("{url}/dashboard/"), "open the dashboard"),
        ("godel status".to_owned(), "see how it is doing"),
        ("godel events tail".to_owned(), "watch what happens"),
        ("godel events publish hello:world".to_owned(), "record an event of your own"),
        ("godel agent spawn TASK".to_owned(), "let an agent work in a repository"),
        ("godel token create NAME".to_owned(), "let an agent or an SDK ask models"),
    ];
    if is_alone(found).await {
        next.push(("godel user invite NAME --role developer".to_owned(), "let somebody else in"));
    }
    Situation {
        state: "running",
        headline: format!("Godel {} is running at {url}", found.health.version),
        url: Some(url.to_owned()),
        next,
    }
}

/// Tells whether nobody but the owner has an account. Only an admin may know, and a question that is
/// refused would be on record.
async fn is_alone(found: &Found) -> bool {
    let me = found.client.me().await;
    if !me.is_ok_and(|me| me.role == "admin" && me.scopes.is_empty()) {
        return false;
    }
    let users = found.client.page::<User>("/api/v1/users", &[("limit", "2".to_owned())]).await;
    users.is_ok_and(|page| page.items.len() == 1)
}
