//! `godel worker run`: turns a program into a worker.

mod shift;
mod tell;

use std::sync::Arc;

use godel_api::NewWorker;
use godel_args::queue::RunWorker;
use godel_model::{Capability, PoolName};

use self::shift::Shift;
use super::group::Program;
use super::link::Link;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::locate;
use crate::patience::Patience;
use crate::signals::Signals;

/// How many characters of the name of a machine are used.
const HOST_MAX_CHARS: usize = 80;

/// How to work.
#[derive(Debug)]
struct Plan {
    program: Arc<Program>,
    new: NewWorker,
    once: bool,
    jobs: usize,
    drain_seconds: u64,
}

/// Takes tasks and runs the command for each, until it is asked to end.
pub(super) async fn run(context: &Context, asked: RunWorker) -> Result<Exit> {
    let plan = plan(asked)?;
    let found = locate::server(context).await?;
    let mut signals = Signals::listen()?;
    let link = Link(Patience::new(found.client, context.output));
    let worker = link.register(&plan.new).await?;
    let mut shift = Shift::new(context.output, link, plan);
    shift.begin(worker);
    let ended = shift.work(&mut signals).await;
    shift.leave(&mut signals).await;
    ended
}

fn plan(asked: RunWorker) -> Result<Plan> {
    let RunWorker { pool, name, capability, jobs, once, drain, command } = asked;
    pool.parse::<PoolName>()?;
    capability.iter().try_for_each(|word| word.parse::<Capability>().map(drop))?;
    let name = name.unwrap_or_else(default_name);
    let usage = |message: String| Error::usage(message, "for example -- ./handle.sh --fast");
    let program = Program::new(command).ok_or_else(|| usage("no command was given".to_owned()))?;
    if !program.is_there() {
        return Err(usage(format!("there is no program \"{}\" that may be run", program.name())));
    }
    let jobs = if once { 1 } else { jobs };
    let new = NewWorker { name, pool: Some(pool), capabilities: capability, capacity: Some(jobs) };
    Ok(Plan { program: Arc::new(program), new, once, jobs: jobs as usize, drain_seconds: drain })
}

fn default_name() -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let host: String = host.trim().chars().take(HOST_MAX_CHARS).collect();
    format!("{host}-{}", std::process::id())
}
