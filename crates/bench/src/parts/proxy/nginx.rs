//! nginx as a plain proxy, where there is one: it tells whether the bare proxy is a fair baseline.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::note;
use crate::error::{Error, Result, Told as _};
use crate::http::Http;
use crate::process::Process;

const START_MAX: Duration = Duration::from_secs(10);

/// A running nginx.
#[derive(Debug)]
pub(super) struct Nginx {
    pub(super) process: Process,
    pub(super) address: SocketAddr,
}

impl Nginx {
    /// Starts one, if this machine has it.
    pub(super) async fn start(folder: &Path, upstream: SocketAddr) -> Result<Option<Self>> {
        let Some(program) = program() else {
            note("not compared with nginx: there is none on this machine");
            return Ok(None);
        };
        std::fs::create_dir_all(folder).told("make a directory")?;
        let address = free_address()?;
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings(folder, address, upstream)).told("write the settings")?;
        let mut command = Command::new(program);
        command.arg("-p").arg(folder).arg("-c").arg(&file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process::start(&mut command)?;
        let start = Instant::now();
        while Http::connect(address).await.is_err() {
            process.check()?;
            if start.elapsed() > START_MAX {
                return Err(Error::new("nginx was not ready in time"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(Some(Self { process, address }))
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(usual);
    folders.map(|folder| folder.join("nginx")).find(|file| file.is_file())
}

fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").told("find a port")?;
    listener.local_addr().told("find a port")
}

/// One process that does all, keeps its connections, and writes nothing to the disk.
fn settings(folder: &Path, address: SocketAddr, upstream: SocketAddr) -> String {
    let folder = folder.display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let places = kinds.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n")).concat();
    format!(
        "daemon off;
master_process off;
worker_rlimit_nofile 8000;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4000; }}
http {{
{places}access_log off;
keepalive_requests 1000000000;
client_body_buffer_size 256k;
upstream provider {{ server {upstream}; keepalive 1000; keepalive_requests 1000000000; }}
server {{
listen {address};
location / {{
proxy_pass http://provider;
proxy_http_version 1.1;
proxy_set_header Connection \"\";
proxy_buffering off;
}}
}}
}}
"
    )
}
