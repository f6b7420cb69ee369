//! `godel doctor`: is everything there that Godel needs?

mod data;
mod database;
mod machine;
mod master;
mod models;
mod repository;
mod server;

use std::ffi::OsString;

use godel_args::SettingFlags;
use godel_board::doctor::{self, Finding, Verdict};
use godel_console::locate::{self, Presence};
use godel_console::output::{BAD, GOOD, STRONG, WARN, styled};
use godel_console::{Context, Error, Exit, Result, root_cause};
use godel_model::Report as _;
use godel_settings::Loaded;
use serde_json::json;

/// Says what an error says.
fn failed(name: &'static str, error: &Error) -> Finding {
    let cause = root_cause(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    let hint = error.hint().map(|hint| format!("{hint}; ")).unwrap_or_default();
    let hint = format!("{hint}`godel explain {}` tells more", error.code());
    Finding::fail(name, format!("{error}{cause}"), hint)
}

/// Checks everything, and prints a line for each check.
pub(crate) async fn run(context: &Context, flags: &SettingFlags) -> Result<Exit> {
    let findings = check(context, flags).await;
    let count = |wanted| findings.iter().filter(|finding| finding.status == wanted).count();
    let (warned, failed) = (count(Verdict::Warn), count(Verdict::Fail));
    if context.output.is_json() {
        context.output.value(&json!({ "ok": failed == 0, "checks": findings }))?;
    } else {
        findings.iter().try_for_each(|finding| print(context, finding))?;
        let summary = match (failed, warned) {
            (0, 0) => "all is well".to_owned(),
            (0, warned) => format!("nothing is broken; {warned} to look at"),
            (failed, 0) => format!("{failed} broken"),
            (failed, warned) => format!("{failed} broken, {warned} to look at"),
        };
        context.output.line(format_args!("\n{}", styled(STRONG, summary)))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failure })
}

fn print(context: &Context, finding: &Finding) -> Result<()> {
    let Finding { name, status, message, hint } = finding;
    let word = match status {
        Verdict::Ok => styled(GOOD, "ok  "),
        Verdict::Skip => "skip".to_owned(),
        Verdict::Warn => styled(WARN, "warn"),
        Verdict::Fail => styled(BAD, "FAIL"),
    };
    context.output.line(format_args!("{word}  {name:<12} {message}"))?;
    match hint {
        Some(hint) => context.output.line(format_args!("                   hint: {hint}")),
        None => Ok(()),
    }
}

async fn check(context: &Context, flags: &SettingFlags) -> Vec<Finding> {
    let mut findings = vec![machine::clock(&context.data), doctor::git().mild()];
    findings.extend([doctor::walls(None).mild(), machine::gvisor(), machine::dashboard()]);
    findings.extend([data::directory(&context.data), data::space(&context.data)]);
    findings.push(data::owner_key(&context.data));
    findings.push(machine::variables(&context.environment));
    findings.extend([repository::beads(), repository::agents(&context.environment)]);
    let search = OsString::from(context.environment.get("PATH").unwrap_or_default());
    findings.push(doctor::harnesses(&search).await);
    let presence = locate::presence(&context.data).await;
    findings.push(server::running(&presence));
    let running = matches!(presence, Ok(Presence::Running(..)));
    match configured(context, flags) {
        Ok((loaded, server, store)) => {
            findings.push(machine::settings(&loaded));
            findings.push(server::address(server.listen, running));
            findings.push(server::protection(&server, &presence));
            findings.push(database::schema(&store).await);
            findings.push(database::soundness(&store, running));
            findings.extend(database::holders(&store).await);
            findings.push(master::key(&context.data, &server, &store, running).await);
            findings.push(models::providers(context, &server.providers_file(), running).await);
            findings.extend(database::redis(server.redis.as_ref()).await);
        }
        Err(error) => findings.push(failed("settings", &error)),
    }
    findings
}

fn configured(
    context: &Context,
    flags: &SettingFlags,
) -> Result<(Loaded, godel_server::Config, godel_store::Config)> {
    let loaded = context.settings(flags.flags())?;
    let (server, store) = (loaded.server()?, loaded.store()?);
    Ok((loaded, server, store))
}
