//! `godel worker run`: turns a program into a worker.

use std::sync::Arc;

use godel_api::NewWorker;
use godel_args::queue::RunWorker;
use godel_console::{Context, Error, Exit, Result, Signals, locate};
use godel_model::{Capability, PoolName};
use godel_worker::{Halt, Plan, Program, Shift};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::tell::notes;

/// How many characters of the name of a machine are used.
const HOST_MAX_CHARS: usize = 80;

/// Takes tasks and runs the command for each, until it is asked to end.
pub(super) async fn run(context: &Context, asked: RunWorker) -> Result<Exit> {
    let plan = plan(asked)?;
    let found = locate::server(context).await?;
    let mut signals = Signals::listen()?;
    let (send, mut asked) = mpsc::channel(1);
    // It ends with this function.
    let mut ears = JoinSet::new();
    ears.spawn(async move {
        loop {
            signals.next().await;
            if send.send(()).await.is_err() {
                return;
            }
        }
    });
    let mut shift = Shift::new(found.client, notes(context.output), plan);
    shift.register().await?;
    let ended = shift.work(&mut asked).await;
    shift.leave(&mut asked).await;
    Ok(match ended? {
        Halt::Done => Exit::Done,
        Halt::AtOnce => Exit::Failure,
    })
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

/// Names a worker after the machine and the process.
pub(super) fn default_name() -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let host: String = host.trim().chars().take(HOST_MAX_CHARS).collect();
    format!("{host}-{}", std::process::id())
}
