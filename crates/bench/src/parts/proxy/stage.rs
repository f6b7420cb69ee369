//! The provider, the bare proxy, and Godel with everything on.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::nginx::Nginx;
use crate::error::{Error, Result, Told as _};
use crate::http::{self, Http, Load};
use crate::parts::rest::Side;
use crate::parts::{Bench, allow_files};
use crate::pass::BareProxy;
use crate::process::Process;
use crate::provider::{KEY as PROVIDER_KEY, Provider};
use crate::server::Server;

const KEY_VARIABLE: &str = "BENCH_PROVIDER_KEY";
const AGENT: &str = "builder-7";
/// No budget is used up, and no limit is reached, but all are counted.
const BUDGET_MICROS: i64 = 1_000_000_000_000_000;
pub(in crate::parts) const LIMITS: &str = "per_minute = 400000000\nper_hour = 4000000000\nper_day = 4000000000\n\
    tokens_per_minute = 4000000000\ntokens_per_hour = 4000000000\ntokens_per_day = 4000000000\n\
    concurrent = 100000\n";
/// How long the budgets may take to know what was spent.
const PATIENCE: Duration = Duration::from_secs(5);
/// Streams have two connections each in a proxy, and as many in this process.
const FILES: u64 = 8_000;
/// What an agent reads and writes all day, with everything that JSON has to write in another way.
const TEXT: &str = "fn settle(task: &Running, now: Timestamp) -> Option<Event> {\n    \
    let said = \"the lease of task 17 ended\";\n    tracing::info!(task = %task.id, said);\n}\n";

/// The answers that the provider gives at once.
pub(super) const REPLY_1K: &str = "bench-1024";
pub(super) const REPLY_64K: &str = "bench-65536";

/// Godel with a token of an agent.
#[derive(Debug)]
pub(super) struct Godel {
    pub(super) server: Server,
    token: String,
}

/// Everything that is measured.
#[derive(Debug)]
pub(super) struct Stage {
    provider: Provider,
    bare: BareProxy,
    nginx: Option<Nginx>,
    pub(super) godel: Godel,
}

/// Where requests are sent, and by which path and key.
#[derive(Debug, Clone)]
pub(super) struct Front {
    pub(super) address: SocketAddr,
    path: &'static str,
    key: String,
}

impl Stage {
    pub(super) async fn open(bench: &Bench) -> Result<Self> {
        allow_files(FILES)?;
        let provider = Provider::start()?;
        let bare = BareProxy::start(provider.address)?;
        let nginx = Nginx::start(&bench.folder("nginx"), provider.address).await?;
        let folder = bench.folder("proxy");
        let godel = Godel::open(bench, &folder, provider.address, &[]).await?;
        Ok(Self { provider, bare, nginx, godel })
    }

    /// Starts another Godel with the same provider.
    pub(super) async fn another(
        &self,
        bench: &Bench,
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Godel> {
        Godel::open(bench, folder, self.provider.address, variables).await
    }

    /// The provider without anything in between.
    pub(super) fn direct(&self) -> Front {
        Front::plain(self.provider.address)
    }

    pub(super) fn bare(&self) -> (Front, &Process) {
        (Front::plain(self.bare.address), &self.bare.process)
    }

    pub(super) fn godel(&self) -> (Front, &Process) {
        (self.godel.front(), &self.godel.server.process)
    }

    pub(super) fn nginx(&self) -> Option<(Front, &Process)> {
        let nginx = self.nginx.as_ref()?;
        Some((Front::plain(nginx.address), &nginx.process))
    }
}

impl Front {
    fn plain(address: SocketAddr) -> Self {
        Self { address, path: "/v1/chat/completions", key: PROVIDER_KEY.to_owned() }
    }

    /// Writes a request whose body has about so many bytes.
    pub(super) fn request(&self, model: &str, bytes: usize, stream: bool) -> Vec<u8> {
        http::post(self.path, &self.key, &body(model, bytes, stream, ""))
    }

    /// Writes a request for a stream of so many words, all at once, each an event and a chunk.
    pub(super) fn words(&self, words: usize) -> Vec<u8> {
        let body = body("scripted", 1_024, true, &format!("[[words {words}]]"));
        http::post(self.path, &self.key, &body)
    }
}

/// Opens connections to a front, on which a request is repeated.
pub(super) async fn side<'a>(
    (front, process): (Front, &'a Process),
    request: Vec<u8>,
    connections: usize,
) -> Result<Side<'a>> {
    Ok(Side::new(process, Load::open(front.address, request, connections).await?))
}

/// Writes what an agent sends: a conversation of some messages.
fn body(model: &str, bytes: usize, stream: bool, last: &str) -> String {
    let mut messages = Vec::new();
    let mut length = 200;
    while length < bytes {
        let role = if messages.len() % 2 == 0 { "user" } else { "assistant" };
        let left = (bytes - length).min(2_000);
        let text: String = TEXT.chars().cycle().take(left * 9 / 10).collect();
        length += left + 30;
        messages.push(json!({"role": role, "content": text}));
    }
    messages.push(json!({"role": "user", "content": last}));
    let mut body = json!({"model": model, "max_tokens": 4_000, "messages": messages});
    if stream {
        body["stream"] = true.into();
        // What Godel would ask for by itself, so that all get the same stream.
        body["stream_options"] = json!({"include_usage": true});
    }
    body.to_string()
}

impl Godel {
    /// Starts Godel and gives an agent its token; a folder that was used before has it already.
    async fn open(
        bench: &Bench,
        folder: &Path,
        provider: SocketAddr,
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        std::fs::create_dir_all(folder).told("make a directory")?;
        let models = folder.join("models.toml");
        std::fs::write(&models, model_list()).told("write the models")?;
        let settings = format!(
            "models = {models:?}\n[providers.bench]\nchat = \"http://{provider}/v1\"\n\
             env = [\"{KEY_VARIABLE}\"]\n[limits.user]\n{LIMITS}[limits.project]\n{LIMITS}\
             [limits.agent]\n{LIMITS}"
        );
        std::fs::write(folder.join("proxy.toml"), settings).told("write the providers")?;
        let mut all = variables.to_vec();
        all.push((KEY_VARIABLE, PROVIDER_KEY));
        let server = Server::start_with(&bench.program, folder, &all).await?;
        let token = folder.join("token");
        if let Ok(token) = std::fs::read_to_string(&token) {
            return Ok(Self { server, token });
        }
        let godel = Self { token: give_token(&server).await?, server };
        std::fs::write(&token, &godel.token).told("keep the token")?;
        godel.check().await?;
        Ok(godel)
    }

    pub(super) fn front(&self) -> Front {
        let path = "/proxy/v1/chat/completions";
        Front { address: self.server.address, path, key: self.token.clone() }
    }

    /// Makes sure that what is measured is done: one request is in all three budgets.
    async fn check(&self) -> Result<()> {
        let mut http = Http::connect(self.server.address).await?;
        http.expect(&self.front().request(REPLY_1K, 1_024, false), 200).await?;
        let (start, ask) = (Instant::now(), http::get("/api/v1/budgets", Some(&self.server.key)));
        loop {
            let answer: Value = serde_json::from_slice(http.expect(&ask, 200).await?)
                .told("understand the budgets")?;
            let items = answer["data"]["items"].as_array().cloned().unwrap_or_default();
            let spent = |budget: &&Value| {
                budget["spentMicros"].as_i64() > Some(0) && budget["heldMicros"] == 0
            };
            if items.iter().filter(spent).count() == 3 {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(Error::new(format!("a request is not in the budgets: {answer}")));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Makes a project, a token of an agent with a budget, and budgets of the agent and of all.
async fn give_token(server: &Server) -> Result<String> {
    let mut http = Http::connect(server.address).await?;
    let project = json!({"name": "bench"}).to_string();
    let request = http::post("/api/v1/projects", &server.key, &project);
    let made: Value =
        serde_json::from_slice(http.expect(&request, 201).await?).told("understand the project")?;
    for scope in ["tenant", &format!("agent:{AGENT}")] {
        let budget = json!({"scope": scope, "period": "daily", "capMicros": BUDGET_MICROS});
        let request = http::with_body("PUT", "/api/v1/budgets", &server.key, &budget.to_string());
        http.expect(&request, 200).await?;
    }
    let token = json!({
        "name": "bench", "projectId": made["data"]["id"], "agent": AGENT, "bead": "gd-a1b2",
        "convoy": "convoy-3", "budgetMicros": BUDGET_MICROS,
    });
    let request = http::post("/api/v1/agent-tokens", &server.key, &token.to_string());
    let made: Value =
        serde_json::from_slice(http.expect(&request, 201).await?).told("understand the token")?;
    let token = made["data"]["token"].as_str();
    token.map(ToOwned::to_owned).ok_or_else(|| Error::new("the token is not in the answer"))
}

/// Says what the models of the scripted provider cost.
fn model_list() -> String {
    let streams = [super::events::BURST, super::latency::STREAM, super::streams::PACED];
    let names = [REPLY_1K, REPLY_64K, "scripted"].into_iter().chain(streams);
    let entry = |name: &str| {
        format!(
            "[[model]]\nname = \"{name}\"\nprovider = \"bench\"\ncontext = 1000000\n\
             output = 64000\nprices = [{{ input = 1.0, output = 5.0 }}]\n"
        )
    };
    names.map(entry).collect()
}
