//! Where agents of this server work, and who leads them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use godel_app::{App, Crew};
use godel_fleet::{Fleet, Settings};
use godel_runtime::{Gvisor, Helper, RuntimeProvider, Worktrees};
use godel_tls::Trust;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::tls::Tls;
use crate::{Config, StartError};

/// How this binary is asked to be the helper of sandboxes.
pub const SANDBOX_HELPER: &str = "sandbox-init";
/// How many events of sandboxes may wait to be told.
const EVENTS_MAX: usize = 4_096;
/// How many bytes of files that git ignores a snapshot keeps.
const IGNORED_MAX_BYTES: u64 = 512 << 20;

/// Begins to run agents, and to keep going what brings several of them together.
pub(crate) async fn start(fleet: &Fleet) -> godel_fleet::Result<()> {
    fleet.start().await?;
    godel_studio::attempts::keep_going(fleet);
    godel_meter::keep_going(fleet);
    godel_purse::keep_going(fleet);
    Ok(())
}

/// Puts the fleet together; nothing runs yet.
pub(crate) fn fleet(
    app: &App,
    crew: &Crew,
    config: &Config,
    address: SocketAddr,
) -> Result<Fleet, StartError> {
    let own = || std::env::current_exe().unwrap_or_else(|_| PathBuf::from("godel"));
    let helper = Helper {
        program: config.agents.helper.clone().unwrap_or_else(own),
        args: vec![SANDBOX_HELPER.to_owned()],
    };
    let data = config.data_dir.clone();
    let state = config.agents.state_dir.clone().unwrap_or_else(|| data.join("state"));
    let (tell, heard) = mpsc::channel(EVENTS_MAX);
    let places = godel_runtime::Settings {
        data: data.clone(),
        helper: helper.clone(),
        bubblewrap: config.agents.bubblewrap.clone(),
        ignored_max_bytes: IGNORED_MAX_BYTES,
        clock: Arc::clone(&app.clock),
        // One that comes when too many wait is not told; the walls hold all the same.
        listener: Arc::new(move |event| drop(tell.try_send(event))),
    };
    let mut runtimes: Vec<Arc<dyn RuntimeProvider>> = Vec::new();
    match Worktrees::open(places.clone()) {
        Ok(worktrees) => runtimes.push(Arc::new(worktrees)),
        Err(error) => tracing::warn!(%error, "agents cannot work on this server"),
    }
    match Gvisor::open(places, None) {
        Ok(gvisor) => runtimes.push(Arc::new(gvisor)),
        Err(error) => tracing::debug!(%error, "the runtime gvisor is not offered"),
    }
    let settings = Settings {
        api: format!("http://{address}"),
        http: client()?,
        data,
        state,
        helper,
        search: std::env::var_os("PATH").unwrap_or_default(),
        bubblewrap: config.agents.bubblewrap.clone(),
        capacity: config.agents.capacity,
    };
    let fleet = Fleet::new(app.clone(), crew.clone(), settings, runtimes);
    fleet.hear(heard);
    Ok(fleet)
}

/// Opens the door by which agents reach a server that speaks TLS: plain HTTP that never leaves this machine,
/// so that no program of an agent has to be told whose certificate to trust. Returns where agents go.
pub(crate) async fn door(
    tls: &Tls,
    address: SocketAddr,
) -> Result<(Option<TcpListener>, SocketAddr), StartError> {
    if *tls == Tls::Off {
        return Ok((None, address));
    }
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listen = |cause| StartError::Listen { address: wanted, cause };
    let door = TcpListener::bind(wanted).await.map_err(listen)?;
    let address = door.local_addr().map_err(listen)?;
    Ok((Some(door), address))
}

/// Makes the client by which built-in agents reach this very server.
fn client() -> Result<reqwest::Client, StartError> {
    // A client wants to know whom it trusts even if it speaks without TLS.
    let tls = godel_tls::client_config(&Trust::Nobody)?;
    reqwest::Client::builder()
        .user_agent(concat!("godel/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .tls_backend_preconfigured(tls)
        .build()
        .map_err(|error| StartError::Signing(error.to_string()))
}
