//! Runs an app, and leads those who come to it in.

use std::sync::Arc;
use std::time::Duration;

use godel_fleet::Fleet;
use godel_runtime::{Command, Exit, Inlet, Limit, Process, Profile, Reader};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::doc::State;
use crate::scene::{Scene, Stage};
use crate::window::{Pane, TIME};
use crate::{Error, Result};

/// How many connections there may be to one app at a time.
const CONNECTIONS_MAX: usize = 256;
/// How often it is asked whether it answers.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// How long one answer may take.
const ASK_TIME: Duration = Duration::from_secs(5);
/// After how many questions without an answer it is said that there is none.
const QUIET_ASKS: u32 = 25;
/// How long processes have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
/// How long the last words of a command are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a preview ended: the exit code of its command, and why.
pub(crate) type End = (Option<i32>, String);

/// Shows an app until that is over.
pub(crate) async fn show(fleet: &Fleet, pane: &Arc<Pane>, scene: &Scene, door: TcpListener) -> End {
    let stage = match scene.set(fleet).await {
        Ok(stage) => stage,
        Err(error) => return (None, error.to_string()),
    };
    let end = perform(fleet, pane, &stage, door).await;
    scene.strike(fleet, stage).await;
    end.unwrap_or_else(|error| (None, error.to_string()))
}

/// Returns the port that the app serves inside: without walls it cannot be the one outside.
async fn inner_port(profile: Profile, outer: u16) -> Result<u16> {
    if profile != Profile::None {
        return Ok(outer);
    }
    let free = TcpListener::bind(("127.0.0.1", 0)).await.and_then(|free| free.local_addr());
    free.map(|address| address.port()).map_err(|error| Error::Paper(error.to_string()))
}

async fn perform(fleet: &Fleet, pane: &Arc<Pane>, stage: &Stage, door: TcpListener) -> Result<End> {
    let outer = pane.look().port;
    let port = inner_port(stage.profile, outer).await?;
    let command = Command::shell(pane.look().command)
        .env("PORT", port.to_string())
        .env("HOST", "127.0.0.1")
        .env("BROWSER", "none")
        .serving(port)
        .within(TIME);
    let mut process = stage.runtime.exec(stage.sandbox, &command).await?;
    let Some(inlet) = process.inlet.clone() else {
        return Ok((None, "there is no way in to its sandbox".to_owned()));
    };
    let mut listened = JoinSet::new();
    listened.spawn(read(process.stdout.take(), Arc::clone(pane)));
    listened.spawn(read(process.stderr.take(), Arc::clone(pane)));
    let stopping = fleet.crew().stopping();
    let end = tokio::select! {
        exit = process.wait() => how(pane, exit?),
        () = let_in(door, inlet.clone()) => (None, "nobody can come in any more".to_owned()),
        () = watch(fleet, pane, inlet) => (None, String::new()),
        () = pane.stop.cancelled() => (None, pane.stopped_by()),
        () = stopping.cancelled() => (None, "the server stopped".to_owned()),
    };
    finish(&process).await;
    let last_words = async { while listened.join_next().await.is_some() {} };
    drop(tokio::time::timeout(LAST_WORDS, last_words).await);
    Ok(end)
}

async fn finish(process: &Process) {
    if let Err(error) = process.kill(GRACE).await {
        tracing::info!(%error, "the command of a preview was not ended");
    }
    // What it has open is gone when it is.
    drop(tokio::time::timeout(GRACE * 4, process.wait()).await);
}

fn how(pane: &Pane, exit: Exit) -> End {
    let (code, why) = match exit {
        Exit::Code { code } => (Some(code), format!("its command ended with code {code}")),
        Exit::Signal { signal } => (None, format!("its command was ended by signal {signal}")),
        Exit::Limit { limit: Limit::Time } => (None, "its time is over".to_owned()),
        Exit::Limit { limit } => (None, format!("it used up what its sandbox has: {limit:?}")),
    };
    let one = pane.look();
    match &one.agent {
        // The sandbox ends with its agent, and everything in it.
        Some((_, name)) if one.is_live() && code.is_none() => {
            (None, format!("{name} is not at work any more, or {why}"))
        }
        _ => (code, why),
    }
}

/// Keeps the last of what a command writes.
async fn read(from: Option<Reader>, pane: Arc<Pane>) {
    let Some(mut from) = from else { return };
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        pane.hear(&buffer[..count]);
    }
}

/// Leads everybody in who comes.
async fn let_in(door: TcpListener, inlet: Inlet) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut guests = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((mut outside, _)) = door.accept().await else {
            tokio::time::sleep(ASK_EVERY).await;
            continue;
        };
        while guests.try_join_next().is_some() {}
        let inlet = inlet.clone();
        guests.spawn(async move {
            // Either side may go away at any time.
            let _ = inlet.lead_in(&mut outside).await;
            drop(place);
        });
    }
}

/// Waits until somebody answers, and tells so; never ends.
async fn watch(fleet: &Fleet, pane: &Arc<Pane>, inlet: Inlet) {
    let mut asked = 0;
    while !tokio::time::timeout(ASK_TIME, inlet.answers()).await.unwrap_or(false) {
        asked += 1;
        if asked == QUIET_ASKS {
            let port = pane.look().port;
            pane.change(|one| {
                one.why = Some(format!(
                    "nothing answers on port {port} yet; the command is told the port as $PORT"
                ));
            });
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    pane.change(|one| (one.state, one.why) = (State::Ready, None));
    pane.tell(fleet.app(), "preview:ready").await;
    std::future::pending::<()>().await;
}
