//! One file for each command.

mod agent;
mod attempt;
mod audit;
mod backup;
mod completions;
mod config;
mod db;
mod dead;
mod doctor;
mod drive;
mod estop;
mod events;
mod explain;
mod inbox;
mod intent;
mod key;
mod land;
mod login;
mod mail;
mod next;
pub(crate) mod own;
mod portable;
pub(crate) mod preview;
mod project;
mod queue;
mod reference;
mod restore;
mod review;
mod role;
mod schedule;
mod secret;
mod session;
mod status;
mod task;
mod team;
mod tenant;
mod uninstall;
mod up;
mod user;
mod version;
mod view;
mod worker;
mod workflow;
mod worktree;

use godel_args::{Command, Config, Db, Events};
use godel_console::{Context, Exit, Result};

/// Does what was asked for.
pub(crate) async fn run(context: &Context, command: Option<Command>) -> Result<Exit> {
    match command {
        None => next::run(context).await,
        Some(Command::Up(flags)) => up::run(context, &flags).await,
        Some(Command::Status) => status::run(context).await,
        Some(Command::Demo(asked)) => godel_demo::run(context, &asked).await,
        Some(Command::DemoProvider) => godel_demo::provide(context).await,
        Some(Command::Local(asked)) => Box::pin(drive::run(context, asked)).await,
        Some(Command::Doctor(flags)) => doctor::run(context, &flags).await,
        Some(Command::Login(asked)) => login::login(context, asked).await,
        Some(Command::Logout) => login::logout(context).await,
        Some(Command::Whoami) => login::whoami(context).await,
        Some(Command::User(asked)) => user::run(context, asked).await,
        Some(Command::Key(asked)) => key::run(context, asked).await,
        Some(Command::Project(asked)) => project::run(context, asked).await,
        Some(Command::Tenant(asked)) => tenant::run(context, asked).await,
        Some(Command::Secret(asked)) => secret::run(context, asked).await,
        Some(Command::Audit(asked)) => audit::run(context, asked).await,
        Some(Command::Preview(asked)) => Box::pin(preview::run(context, asked)).await,
        Some(Command::View(asked)) => view::run(context, asked).await,
        Some(Command::Settings(asked)) => portable::run(context, asked).await,
        Some(Command::Intents(asked)) => Box::pin(intent::run(context, asked)).await,
        Some(Command::Agents(asked)) => Box::pin(agent::run(context, asked)).await,
        Some(Command::Own(asked)) => Box::pin(own::run(context.output, asked)).await,
        Some(Command::Models(asked)) => godel_till::run(context, asked).await,
        Some(Command::Queueing(asked)) => queue::run(context, asked).await,
        Some(Command::Joined(asked)) => workflow::run(context, asked).await,
        Some(Command::Worktree(asked)) => worktree::run(context, asked).await,
        Some(Command::Events(Events::Tail { patterns, after, limit })) => {
            events::tail(context, patterns, after, limit).await
        }
        Some(Command::Events(Events::Publish { kind, payload, idempotency_key, correlation })) => {
            let draft = events::Draft { kind, payload, idempotency_key, correlation };
            events::publish(context, draft).await
        }
        Some(Command::Events(Events::List { limit, kind, cursor })) => {
            events::list(context, limit, kind, cursor).await
        }
        Some(Command::Config(Config::Show { origin, flags })) => {
            config::show(context, origin, &flags)
        }
        Some(Command::Db(Db::Status(database))) => db::status(context, &database).await,
        Some(Command::Db(Db::Migrate { to, yes, database })) => {
            db::migrate(context, &database, to, yes).await
        }
        Some(Command::Db(Db::Check(database))) => db::check(context, &database).await,
        Some(Command::Backup(backup)) => backup::run(context, &backup).await,
        Some(Command::Restore { file, force, database }) => {
            restore::run(context, &file, force, &database).await
        }
        Some(Command::Completions { shell }) => completions::run(context, shell),
        Some(Command::Explain { code }) => explain::run(context, code.as_deref()),
        Some(Command::Uninstall { yes, data_too }) => uninstall::run(context, yes, data_too),
        Some(Command::Version) => version::run(context),
        Some(Command::Reference { write }) => reference::run(context, write.as_deref()),
    }
}
