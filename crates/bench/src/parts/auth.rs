//! `auth`: what it costs to know the caller, to keep the record, and to check passwords.

use std::sync::Arc;
use std::time::Instant;

use godel_app::auth::login::{self, Login, Opened, Wanted};
use godel_app::auth::{self, Credential};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Origin, keys, projects, tenants, users};
use godel_model::{
    ApiKey, Clock as _, EventType, Limits, Mint, Payload, Project, Role, SystemClock,
};
use godel_store::{Config, DatabaseUrl, Store, Tx};
use tokio::task::JoinSet;

use super::{Bench, database};
use crate::bare;
use crate::error::{Error, Result, Told as _};
use crate::events::draft;
use crate::http::{self, Http};
use crate::process::own_cpu;
use crate::server::Server;
use crate::stats::{Samples, median};
use crate::table::{Bar, Row};

const CHECKS: usize = 100_000;
const LOGINS: usize = 1_000;
const USERS: usize = 20;
/// How many checks come before those that count: a server has prepared its statements long ago.
const WARM_UP: usize = 100;
const WRITERS: usize = 64;
const ROUND_EACH: usize = 10;
const ROUNDS: usize = 15;
const ASKED: usize = 1_500;
const CPU_MAX_US: f64 = 15.0;
/// How much slower other requests may become while passwords are hashed without a pause.
const SLOWER_MAX: f64 = 20.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let stage = Stage::open(bench).await?;
    let mut rows = stage.checks().await?;
    rows.extend(stage.record().await?);
    stage.app.store.close().await;
    rows.extend(passwords(bench).await?);
    Ok(rows)
}

/// The application on a store of its own.
struct Stage {
    app: App,
    call: Call,
    key: ApiKey,
}

impl Stage {
    async fn open(bench: &Bench) -> Result<Self> {
        let tried = "set the application up";
        let path = database(&bench.folder("auth"));
        let store = Store::open(&Config::new(DatabaseUrl::Sqlite(path))).await.told(tried)?;
        let master = MasterKey::random(Mint::system());
        let clock = Arc::new(SystemClock);
        let app = App::open(store, None, clock, AppConfig::default(), &master).await.told(tried)?;
        let tenant = tenants::ensure_first(&app).await.told(tried)?.id;
        let owner = tenants::owner_of(tenant);
        let made = keys::create_owners(&app, tenant, owner, keys::Older::Stay).await;
        let key = made.told(tried)?;
        let known = auth::identify(&app, &Credential::Key(key.clone())).await.told(tried)?;
        let origin = Origin { address: "127.0.0.1".parse().ok(), agent: Some("bench/1".into()) };
        let call = Call { actor: known.actor, trace_id: None, once: None, origin };
        Ok(Self { app, call, key })
    }

    /// Measures what it costs to know who shows a key or a token.
    async fn checks(&self) -> Result<Vec<Row>> {
        let tried = "check a credential";
        let mut tokens = Vec::new();
        for _ in 0..LOGINS {
            let by = Login::Key(self.key.clone());
            let opened = login::login(&self.app, by, Wanted::Tokens, &self.call.origin).await;
            if let (Opened::Tokens(pair), _) = opened.told(tried)? {
                tokens.push(Credential::Access(pair.access));
            }
        }
        let mut rows = vec![
            self.first("CPU of a key seen for the first time", &self.keys().await?).await?,
            self.first("CPU of a token seen for the first time", &tokens).await?,
        ];
        let token = tokens.pop().ok_or_else(|| Error::new("nobody could log in"))?;
        for (name, credential) in [
            ("CPU of a key check", Credential::Key(self.key.clone())),
            ("CPU of a token check", token),
        ] {
            let before = own_cpu();
            for _ in 0..CHECKS {
                auth::identify(&self.app, &credential).await.told(tried)?;
            }
            let each = (own_cpu() - before).as_secs_f64() * 1e6 / CHECKS as f64;
            rows.push(Row::told(name, each, "us").bar(Bar::AtMost(CPU_MAX_US)));
        }
        Ok(rows)
    }

    /// Makes keys of many users, and notes that each was used: that is done once a minute only.
    async fn keys(&self) -> Result<Vec<Credential>> {
        let tried = "make a key";
        let (mut keys, now, tenant) = (Vec::new(), SystemClock.now(), self.call.actor.tenant);
        for number in 0..USERS {
            let name = format!("user-{number}").parse().told(tried)?;
            let invited =
                users::invite(&self.app, &self.call, name, Role::Developer, Vec::new()).await;
            let user = invited.told(tried)?.0.id;
            let come = move |tx: &mut Tx<'_>| tx.users().came(tenant, user, now);
            let come = self.app.store.write::<_, godel_store::Error, _>(self.call.scope(), come);
            come.await.told(tried)?;
            for _ in 0..LOGINS / USERS {
                let new = keys::NewKey {
                    name: "bench".parse().told(tried)?,
                    user: Some(user),
                    scopes: Vec::new(),
                    expires_at: None,
                };
                let (key, record) = keys::create(&self.app, &self.call, new).await.told(tried)?;
                let used = move |tx: &mut Tx<'_>| tx.keys().used(tenant, record.id, now);
                let scope = self.call.scope();
                let used = self.app.store.write::<_, godel_store::Error, _>(scope, used);
                used.await.told(tried)?;
                keys.extend(key.map(Credential::Key));
            }
        }
        Ok(keys)
    }

    /// Measures what it costs to know callers that were not seen of late.
    async fn first(&self, name: &'static str, credentials: &[Credential]) -> Result<Row> {
        let (warm_up, counted) = credentials.split_at(WARM_UP.min(credentials.len()));
        let check = async |credentials: &[Credential]| {
            for credential in credentials {
                auth::identify(&self.app, credential).await.told("check a credential")?;
            }
            Ok::<_, Error>(())
        };
        check(warm_up).await?;
        let before = own_cpu();
        check(counted).await?;
        let each = (own_cpu() - before).as_secs_f64() * 1e6 / counted.len().max(1) as f64;
        Ok(Row::told(name, each, "us").bar(Bar::AtMost(CPU_MAX_US)))
    }

    /// Measures what the record of acts adds to a change: the same change with and without it.
    async fn record(&self) -> Result<Vec<Row>> {
        let mut rounds = Vec::new();
        for _ in 0..=ROUNDS {
            rounds.push((self.round(true).await?, self.round(false).await?));
        }
        // The first round warms up.
        let with = median(rounds.iter().skip(1).map(|(with, _)| *with));
        let without = median(rounds.iter().skip(1).map(|(_, without)| *without));
        let added = median(rounds.iter().skip(1).map(|(with, without)| with - without));
        Ok(vec![
            Row::told("CPU of a change, on record, 64 callers", with, "us"),
            Row::told("CPU of a change, not on record, 64 callers", without, "us"),
            Row::told("CPU that the record adds", added, "us").bar(Bar::AtMost(CPU_MAX_US)),
        ])
    }

    /// Makes projects from many callers at once; returns the processor time of each.
    async fn round(&self, recorded: bool) -> Result<f64> {
        let before = own_cpu();
        let mut tasks = JoinSet::new();
        for _ in 0..WRITERS {
            let (app, call) = (self.app.clone(), self.call.clone());
            tasks.spawn(async move {
                for _ in 0..ROUND_EACH {
                    change(&app, &call, recorded).await?;
                }
                Ok::<_, Error>(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.told("finish a writer")??;
        }
        Ok((own_cpu() - before).as_secs_f64() * 1e6 / (WRITERS * ROUND_EACH) as f64)
    }
}

async fn change(app: &App, call: &Call, recorded: bool) -> Result<()> {
    let tried = "make a project";
    let name = Mint::system().secret().parse().told(tried)?;
    if recorded {
        let made = projects::create(app, call, projects::NewProject::named(name)).await;
        return made.map(drop).told(tried);
    }
    let now = SystemClock.now();
    let project = Project::new(Mint::system().id(), name, String::new(), Limits::default(), now);
    let project = project.told(tried)?;
    let mut event = draft(0)?;
    event.kind = EventType::known("project:create");
    event.payload = Payload::of(&project);
    event.metadata = event.metadata.about("projectId", project.id);
    let work = move |tx: &mut Tx<'_>| {
        tx.projects().insert(&project)?;
        tx.record(event.clone())
    };
    let written = app.store.write::<_, godel_store::Error, _>(call.scope(), work).await;
    written.map(drop).told(tried)
}

/// Measures other requests while passwords are hashed without a pause.
async fn passwords(bench: &Bench) -> Result<Vec<Row>> {
    const PASSWORD: &str = "correct horse battery staple";
    const BROWSERS: usize = 4;
    let folder = bench.stocked("passwords", 1_000).await?;
    let server = Server::start(&bench.program, &folder).await?;
    let mut http = Http::connect(server.address).await?;
    let body = format!(r#"{{"password":"{PASSWORD}"}}"#);
    let set =
        String::from_utf8_lossy(&http::post("/auth/password", &server.key, &body)).into_owned();
    http.send(set.replacen("POST", "PUT", 1).as_bytes()).await?;
    let quiet = ask(&server).await?;
    let (stop, mut browsers) =
        (Arc::new(std::sync::atomic::AtomicBool::new(false)), JoinSet::new());
    let started = Instant::now();
    for _ in 0..BROWSERS {
        let (stop, address) = (Arc::clone(&stop), server.address);
        let body = format!(r#"{{"name":"owner","password":"{PASSWORD}"}}"#);
        browsers.spawn(async move {
            let request = format!(
                "POST /auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut http = Http::connect(address).await?;
            let mut count = 0_usize;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                http.expect(request.as_bytes(), 200).await?;
                count += 1;
            }
            Ok::<_, Error>(count)
        });
    }
    let busy = ask(&server).await?;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut logins = 0;
    while let Some(done) = browsers.join_next().await {
        logins += done.told("finish a browser")??;
    }
    let rate = logins as f64 / started.elapsed().as_secs_f64();
    Ok(vec![
        Row::told("logins with password, 4 browsers", rate, "/s"),
        Row::told("request alone, p50", quiet[0], "us"),
        Row::told("request beside the logins, p50", busy[0], "us"),
        Row::told("request beside the logins, p99", busy[1], "us"),
        Row::told("p50 beside the logins, ratio to alone", busy[0] / quiet[0], "x")
            .bar(Bar::AtMost(SLOWER_MAX)),
    ])
}

/// Asks again and again; returns how long it took, p50 and p99 in microseconds.
async fn ask(server: &Server) -> Result<[f64; 2]> {
    let request = http::get(&format!("{}?limit=20", bare::PATH), Some(&server.key));
    let mut http = Http::connect(server.address).await?;
    let mut took = Vec::with_capacity(ASKED);
    for _ in 0..ASKED {
        let start = Instant::now();
        http.expect(&request, 200).await?;
        took.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    let took = Samples::new(took);
    Ok([50.0, 99.0].map(|part| took.percentile(part) as f64 / 1e3))
}
