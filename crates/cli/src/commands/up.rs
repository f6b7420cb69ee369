//! `godel up`: runs the server.

use std::path::Path;

use godel_api::OWNER_KEY_FILE;
use godel_app::spend;
use godel_args::SettingFlags;
use godel_console::locate::{Presence, presence};
use godel_console::output::{STRONG, WARN, styled};
use godel_console::{Context, Error, Exit, Result, Signals, saved};
use godel_model::{Report as _, code};
use godel_server::{Server, StartError};
use serde_json::json;
use tokio::sync::oneshot;

/// What to do if the owner cannot log in.
const CLOSED: &str = "
warning: the owner's account is closed, so there is no login link and no owner key
  hint: log in as another admin; `godel user enable owner` opens it again";

/// Starts a server and runs it until a signal comes.
pub(crate) async fn run(context: &Context, flags: &SettingFlags) -> Result<Exit> {
    let loaded = context.settings(flags.flags())?;
    let mut config = loaded.server()?;
    // What a person agreed to for a repository counts for agents in it too.
    config.agents.state_dir = super::worktree::state_dir(context).ok();
    check_providers(&config.providers_file())?;
    let logs = godel_telemetry::init(&loaded.telemetry())?;
    let mut signals = Signals::listen()?;
    let started = tokio::select! {
        started = Box::pin(Server::start(config)) => started,
        () = signals.next() => {
            context.output.note("stopped before it was up");
            return Ok(Exit::Failure);
        }
    };
    let exit = match started {
        Ok(server) => serve(context, server, signals).await,
        Err(error) => {
            tell_where_it_runs(context, &error).await;
            Err(error.into())
        }
    };
    logs.shutdown();
    exit
}

/// Refuses a file of providers that makes no sense, by its name.
fn check_providers(file: &Path) -> Result<()> {
    let Err(error) = spend::load(file) else { return Ok(()) };
    let (told, place) = (error.to_string(), file.display().to_string());
    let message = if told.contains(&place) { told } else { format!("{place}: {told}") };
    Err(Error::config(message, "docs/reference/proxy-toml.md describes the file of providers"))
}

/// Names the server that is in the way, if it is the one of the same data directory.
async fn tell_where_it_runs(context: &Context, error: &StartError) {
    if error.code() != code::DATA_DIR_LOCKED || context.output.is_json() {
        return;
    }
    if let Ok(Presence::Running(found, _)) = presence(&context.data).await {
        context.output.note(format_args!("note: Godel is up already, at {}", found.url));
    }
}

async fn serve(context: &Context, server: Server, mut signals: Signals) -> Result<Exit> {
    let output = context.output;
    if let Err(error) = announce(context, &server) {
        // It serves, even if nobody hears what it says.
        output.failure(&error);
    }
    let (stop, stopping) = oneshot::channel::<()>();
    let second_signal = async {
        signals.next().await;
        output.remark("stopping when requests are finished; Ctrl-C again stops at once");
        // Without a receiver the server has ended already.
        stop.send(()).ok();
        signals.next().await;
    };
    let stopped = async {
        // A sender that is gone means the same: stop.
        stopping.await.ok();
    };
    tokio::select! {
        ended = Box::pin(server.run_until(stopped)) => {
            ended?;
            output.remark("stopped");
            Ok(Exit::Done)
        }
        () = second_signal => {
            output.note("stopped at once");
            Ok(Exit::Failure)
        }
    }
}

fn announce(context: &Context, server: &Server) -> Result<()> {
    let output = context.output;
    if output.is_json() {
        return output.value(&json!({
            "url": server.url(),
            "loginLink": server.login_link(),
            "pid": std::process::id(),
            "dataDir": context.data,
            "fingerprint": server.certificate().map(|facts| facts.fingerprint.to_string()),
            "insecure": server.is_insecure(),
        }));
    }
    let version = env!("CARGO_PKG_VERSION");
    let headline = format!("Godel {version} is up at {}", server.url());
    output.line(format_args!("{}\n", styled(STRONG, headline)))?;
    let key = context.data.join(OWNER_KEY_FILE);
    let mut rows = match server.login_link() {
        Some(link) => vec![
            ["dashboard".to_owned(), link.to_owned()],
            ["".to_owned(), "(this link works once, within an hour)".to_owned()],
        ],
        None => vec![["dashboard".to_owned(), format!("{}/dashboard/", server.url())]],
    };
    rows.push(["API".to_owned(), format!("{0}/api/v1, described at {0}/docs", server.url())]);
    if server.login_link().is_some() {
        rows.push(["owner key".to_owned(), key.display().to_string()]);
    }
    rows.push(["data".to_owned(), context.data.display().to_string()]);
    if let Some(elsewhere) = server.elsewhere() {
        rows.push(["elsewhere".to_owned(), elsewhere.to_owned()]);
    }
    if let Some(facts) = server.certificate() {
        rows.push(["fingerprint".to_owned(), facts.fingerprint.to_string()]);
        rows.push(["".to_owned(), "(SHA-256; clients on other machines give it as --ca)".into()]);
    }
    output.pairs(rows)?;
    if server.is_insecure() {
        output.note(styled(WARN, "\nwarning: other machines can reach it without TLS"));
    }
    if server.login_link().is_none() {
        output.note(styled(WARN, CLOSED));
    }
    if server.is_first_start() {
        output.line("\nThe owner key was just made; whoever has it may do everything here.")?;
    }
    if let Ok(Some(login)) = saved::read(&context.data)
        && login.url != server.url()
    {
        let told = "note: there is a login to";
        output.note(format_args!("{told} {}; other commands use that one", login.url));
    }
    output.line(
        "\nCtrl-C stops it. In another terminal: `godel status`, `godel events tail`, `godel doctor`.",
    )
}
