//! How much may be used in a while, and by how many at once, on one server and on two.

use std::time::Duration;

use godel_app::vault::MasterKey;
use godel_engines::{Binaries, Places, Redis};
use godel_llm::Dialect;
use godel_server::RedisUrl;
use godel_testkit::{Database, postgres_url};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{Asked, World, read_until, told};
use crate::harness::{Running, server_with};

fn hello() -> Asked<'static> {
    Asked::new(Dialect::Chat, "[[usage input=1000 output=500]]")
}

async fn ask(world: &World, server: &Running) -> u16 {
    let url = format!("{}{}", server.url, hello().path());
    let asked = world.server.http.post(url).bearer_auth(&world.token).json(&hello().body());
    asked.send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_and_it_is_told_when_there_are_more() {
    let world = World::one("limits.agent = { per_minute = 6 }").await;
    for left in (0..6).rev() {
        let answer = world.ask(&hello()).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["x-ratelimit-remaining"], left.to_string().as_str());
    }
    for dialect in Dialect::ALL {
        let answer = world.ask(&Asked::new(dialect, "hi")).send().await.unwrap();
        assert_eq!(answer.status(), 429);
        let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((8..=10).contains(&wait), "one comes back every ten seconds: {wait}");
        let (limit, remaining, reset) = match dialect {
            Dialect::Anthropic => (
                "anthropic-ratelimit-requests-limit",
                "anthropic-ratelimit-requests-remaining",
                "anthropic-ratelimit-requests-reset",
            ),
            Dialect::Chat | Dialect::Responses => (
                "x-ratelimit-limit-requests",
                "x-ratelimit-remaining-requests",
                "x-ratelimit-reset-requests",
            ),
            Dialect::Gemini => ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
        };
        let headers = answer.headers();
        assert_eq!(
            (&headers[limit], &headers[remaining]),
            (&"6".parse().unwrap(), &"0".parse().unwrap())
        );
        assert!(!headers[reset].is_empty(), "{headers:?}");
        let text = answer.text().await.unwrap();
        assert!(told(dialect, &text).1.contains("agent worker has used its 6 requests"), "{text}");
        assert_eq!(text.contains(&format!("\"{wait}s\"")), dialect == Dialect::Gemini, "{text}");
    }
    assert_eq!(world.stage.recorded().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_counted_as_the_provider_says() {
    let world = World::one("limits.agent = { tokens_per_hour = 4000 }").await;
    for _ in 0..3 {
        assert_eq!(ask(&world, &world.server).await, 200);
        world.settled().await;
    }
    let (status, text) = world.say(&hello()).await;
    assert_eq!(status, 429);
    assert!(text.contains("4000 tokens of this hour"), "{text}");
    assert_eq!(world.stage.recorded().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_go_on_at_once_and_who_leaves_makes_room() {
    let world = World::one("limits.user = { concurrent = 2 }").await;
    let slow = Asked::new(Dialect::Chat, "[[slow-first-byte=400]]");
    let all = futures_util::future::join_all((0..6).map(|_| world.say(&slow))).await;
    let served = all.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(served, 2, "{all:?}");
    // Clients that went away, and refusals by the provider, make room too.
    for prompt in ["[[slow-first-byte=3000]]", "[[fault 400]]", "[[slow-first-byte=3000]]"] {
        let asked = world.ask(&Asked::new(Dialect::Chat, prompt));
        drop(asked.timeout(Duration::from_millis(150)).send().await);
    }
    world.settled().await;
    let all = futures_util::future::join_all((0..2).map(|_| world.say(&slow))).await;
    assert!(all.iter().all(|(status, _)| *status == 200), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_limit_and_go_on_without_redis() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let Some(postgres) = postgres_url() else { return };
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let (url, key) = (redis.url(), MasterKey::new([6; 32]));
    let database = Database::postgres(postgres);
    let shared = database.url();
    let set_up = |config: &mut godel_server::Config| {
        config.redis = Some(RedisUrl(url.clone()));
        config.master_key = Some(key.clone());
    };
    let limits = "limits.agent = { per_minute = 10 }\nlimits.user = { tokens_per_day = 9000 }";
    let world = World::on(database, limits, set_up).await;
    let file = world.files.path().join("proxy.toml");
    let second = server_with(|config| {
        set_up(config);
        config.database = Some(shared.clone());
        config.providers = Some(file.clone());
    })
    .await;
    let mut served = 0;
    for _ in 0..8 {
        for server in [&world.server, &second] {
            served += u32::from(ask(&world, server).await == 200);
        }
    }
    // Six or seven of 1,500 tokens are a day's worth; the user's requests are not limited.
    assert!((6..=7).contains(&served), "{served} of 16 were served with 9,000 tokens a day");
    let (status, text) = world.say(&hello()).await;
    assert!(status == 429 && text.contains("9000 tokens of this day"), "{text}");
    // Another user has its own tokens, and shares the requests of the agent.
    let (_, key) = world.server.user("dev", "developer").await;
    let new = json!({ "name": "theirs", "agent": "worker" });
    let url = format!("{}/api/v1/agent-tokens", world.server.url);
    let made = world.server.http.post(url).bearer_auth(&key).json(&new).send().await.unwrap();
    let made: Value = made.json().await.unwrap();
    let world = World { token: made["data"]["token"].as_str().unwrap().to_owned(), ..world };
    for server in [&world.server, &second].repeat(5) {
        served += u32::from(ask(&world, server).await == 200);
    }
    assert!((10..=12).contains(&served), "{served} were served with 10 a minute");
    redis.kill().unwrap();
    // From now on each counts for itself: what is left of its own.
    let mut more = 0;
    for server in [&world.server, &second].repeat(8) {
        more += u32::from(ask(&world, server).await == 200);
    }
    assert!(more <= 10 && served + more <= 22, "{served} and {more}");
    assert!(more >= 1, "nobody is shut out because Redis is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_who_is_under_way_and_a_dead_one_makes_room() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let Some(postgres) = postgres_url() else { return };
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let (url, key) = (redis.url(), MasterKey::new([6; 32]));
    let database = Database::postgres(postgres);
    let shared = database.url();
    let set_up = |config: &mut godel_server::Config| {
        config.redis = Some(RedisUrl(url.clone()));
        config.master_key = Some(key.clone());
    };
    let world = World::on(database, "limits.agent = { concurrent = 2 }", set_up).await;
    let file = world.files.path().join("proxy.toml");
    let second = server_with(|config| {
        set_up(config);
        config.database = Some(shared.clone());
        config.providers = Some(file.clone());
    })
    .await;
    let slow = Asked::new(Dialect::Chat, "[[words 400]] [[pace 20]]").streamed();
    let mut under_way = Vec::new();
    for server in [&world.server, &second] {
        let url = format!("{}{}", server.url, slow.path());
        let asked = server.http.post(url).bearer_auth(&world.token).json(&slow.body());
        let mut answer = asked.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        read_until(&mut answer, "content").await;
        under_way.push(answer);
    }
    for server in [&world.server, &second] {
        assert_eq!(ask(&world, server).await, 429, "one on each server are two");
    }
    // Who goes makes room on the other server, too.
    drop(under_way.pop());
    until_served(&world, &world.server).await;
    // One that a dead server left there has a lease, which ends; time is made to pass in Redis.
    let mut talk = Talk::with(&url).await;
    let rooms = talk.say("KEYS *:rooms:agent:worker").await;
    let room =
        rooms.lines().find(|line| line.ends_with("worker")).unwrap_or_else(|| panic!("{rooms}"));
    for (ends, status) in [("9999999999999", 429), ("1", 200)] {
        let said = talk.say(&format!("ZADD {room} {ends} of-a-dead-server")).await;
        assert!(said.starts_with(':'), "{said}");
        assert_eq!(ask(&world, &second).await, status, "a lease that ends at {ends}");
    }
    // Without Redis each server counts for itself, and nobody is shut out.
    redis.kill().unwrap();
    assert_eq!(ask(&world, &second).await, 200);
    assert_eq!(ask(&world, &world.server).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_shared_again_when_redis_is_back() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let Some(postgres) = postgres_url() else { return };
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let (url, key) = (redis.url(), MasterKey::new([6; 32]));
    let database = Database::postgres(postgres);
    let shared = database.url();
    let set_up = |config: &mut godel_server::Config| {
        config.redis = Some(RedisUrl(url.clone()));
        config.master_key = Some(key.clone());
    };
    let limits = "limits.agent = { per_hour = 1000, concurrent = 2, tokens_per_hour = 1000000 }";
    let world = World::on(database, limits, set_up).await;
    let file = world.files.path().join("proxy.toml");
    let second = server_with(|config| {
        set_up(config);
        config.database = Some(shared.clone());
        config.providers = Some(file.clone());
    })
    .await;
    let count = async || {
        let keys = Talk::with(&url).await.say("KEYS *:agent:worker:requests:hour").await;
        keys.lines().any(|line| line.ends_with("agent:worker:requests:hour"))
    };
    for server in [&world.server, &second] {
        assert_eq!(ask(&world, server).await, 200);
    }
    assert!(count().await, "it is counted where both see it");
    // What this one used is known when it has ended, and Redis would hear of it with the next.
    let large = Asked::new(Dialect::Chat, "[[usage input=300000 output=500]]");
    let large = second.http.post(format!("{}{}", second.url, large.path())).json(&large.body());
    assert_eq!(large.bearer_auth(&world.token).send().await.unwrap().status(), 200);
    world.settled().await;
    redis.kill().unwrap();
    for server in [&world.server, &second].repeat(3) {
        assert_eq!(ask(&world, server).await, 200, "nobody is shut out meanwhile");
    }
    let mut redis = tokio::task::spawn_blocking(move || redis.restart().map(|()| redis))
        .await
        .unwrap()
        .unwrap();
    assert!(!count().await, "what it held is lost");
    let start = std::time::Instant::now();
    while !count().await {
        assert!(start.elapsed() < Duration::from_secs(30), "it is not asked again");
        assert_eq!(ask(&world, &second).await, 200);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let left = tokens_left(&url).await;
    assert!(left < 710_000.0, "what was used while nobody answered is not forgotten: {left}");
    // And those who are under way on one server are seen by the other again.
    let slow = Asked::new(Dialect::Chat, "[[words 2000]] [[pace 20]]").streamed();
    let mut under_way = Vec::new();
    for _ in 0..2 {
        let url = format!("{}{}", world.server.url, slow.path());
        let asked = world.server.http.post(url).bearer_auth(&world.token).json(&slow.body());
        let mut answer = asked.send().await.unwrap();
        read_until(&mut answer, "content").await;
        under_way.push(answer);
    }
    let start = std::time::Instant::now();
    while ask(&world, &second).await != 429 {
        assert!(start.elapsed() < Duration::from_secs(30), "two under way are as many as it may");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(under_way);
    redis.kill().unwrap();
}

/// Returns how many tokens of its hour an agent has left, as Redis counts.
async fn tokens_left(url: &str) -> f64 {
    let mut talk = Talk::with(url).await;
    let keys = talk.say("KEYS *:agent:worker:tokens:hour").await;
    let key = keys.lines().find(|line| line.ends_with("tokens:hour")).unwrap();
    let left = talk.say(&format!("HGET {key} tokens")).await;
    left.lines().nth(1).and_then(|left| left.parse().ok()).expect("a number")
}

async fn until_served(world: &World, server: &Running) {
    let start = std::time::Instant::now();
    while ask(world, server).await != 200 {
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Says something to Redis as a person would.
struct Talk(tokio::net::TcpStream);

impl Talk {
    async fn with(url: &str) -> Self {
        let address = url.trim_start_matches("redis://").trim_end_matches('/');
        Self(tokio::net::TcpStream::connect(address).await.unwrap())
    }

    async fn say(&mut self, line: &str) -> String {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
        let mut said = [0; 4_096];
        let length = self.0.read(&mut said).await.unwrap();
        String::from_utf8_lossy(&said[..length]).into_owned()
    }
}
