//! Models: tokens of agents, what they cost, and budgets, as people see them through the commands.

use std::time::{Duration, Instant};

use godel_scripted::{Options, Scripted, Switch};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::home::{Answer, Home, Server};
use crate::people::{developer, piped};

const PATIENCE: Duration = Duration::from_secs(20);
const PROVIDER_KEY: &str = "sk-scripted-leakcanary-0042";

/// A server with one provider that does what it is told, and a model of it with a price.
struct World {
    home: Home,
    server: Server,
    provider: Scripted,
    http: reqwest::Client,
}

impl World {
    async fn new() -> Self {
        godel_tls::install();
        let provider = Scripted::start(Options::with_key(PROVIDER_KEY)).await.unwrap();
        let home = Home::new();
        let models = home.path().join("models.toml");
        std::fs::write(
            &models,
            "[[model]]\nname = \"house-1\"\nprovider = \"house\"\noutput = 1000\n\
             prices = [{ input = 2.0, output = 10.0 }]\n\
             [[model]]\nname = \"house-2\"\nprovider = \"house\"\n",
        )
        .unwrap();
        let file = home.path().join("house.toml");
        let text = format!(
            "models = {models:?}\n[providers.house]\nchat = \"{base}/v1\"\n\
             [providers.plan]\nanthropic = \"{base}\"\nsubscription = true\nprefixes = [\"plan-\"]\n",
            base = provider.base_url()
        );
        std::fs::write(&file, text).unwrap();
        let home = home.with("GODEL_PROXY_FILE", file.to_str().unwrap());
        let server = home.up();
        piped(&home, &["secret", "set", "house"], PROVIDER_KEY).expect(0);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { home, server, provider, http }
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        self.home.run(arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).expect(0).json()
    }

    /// Makes a token and returns it.
    fn token(&self, arguments: &[&str]) -> String {
        let made = self.run(&[&["token", "create"][..], arguments].concat()).expect(0);
        made.stdout.trim_end().to_owned()
    }

    /// Asks a model for so many tokens of input and output.
    async fn ask(
        &self,
        token: &str,
        model: &str,
        (input, output): (u32, u32),
    ) -> (StatusCode, Value) {
        let content = format!("[[say hello]] [[usage input={input} output={output}]]");
        let body = json!({ "model": model, "max_tokens": 1_000,
            "messages": [{ "role": "user", "content": content }] });
        let url = format!("{}/proxy/v1/chat/completions", self.server.url());
        let answer = self.http.post(url).bearer_auth(token).json(&body).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    /// Waits until so many attempts are in the sums.
    fn counted(&self, attempts: u64) {
        let started = Instant::now();
        while self.json(&["usage"])["total"]["requests"] != attempts {
            assert!(started.elapsed() < PATIENCE, "{}", self.json(&["usage"]));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Reads comma-separated values without quotes.
fn table(csv: &str) -> Vec<Vec<&str>> {
    assert!(csv.ends_with("\r\n") && !csv.contains('"'), "{csv:?}");
    csv.lines().map(|line| line.split(',').collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_asks_a_model_all_reports_show_it_and_revoked_it_opens_nothing() {
    let world = World::new().await;
    world.run(&["project", "create", "web", "--budget", "200/month"]).expect(0);
    let scope = ["--project", "web", "--agent", "b1", "--bead", "godel-a1", "--convoy", "launch"];
    let made = [&["token", "create", "builder", "--models", "house-*"][..], &scope].concat();
    let made = world.run(&[&made[..], &["--budget", "5", "--expires", "8h"]].concat()).expect(0);
    let token = made.stdout.trim_end();
    assert!(token.starts_with("godel_at_") && !token.contains(char::is_whitespace), "{token}");
    let base = format!("{}/proxy", world.server.url());
    for part in [
        "for project web, agent b1, bead godel-a1, convoy launch, at most $5, only house-*",
        &format!("export ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN=$GODEL_TOKEN"),
        &format!("export OPENAI_BASE_URL={base}/v1 OPENAI_API_KEY=$GODEL_TOKEN"),
        &format!("codex -c openai_base_url={base}/v1"),
        &format!("export GOOGLE_GEMINI_BASE_URL={base} GEMINI_API_KEY=$GODEL_TOKEN"),
    ] {
        assert!(made.stderr.contains(part), "no {part:?} in {}", made.stderr);
    }
    assert!(!made.stderr.contains(token), "the token is shown once");

    let (status, said) = world.ask(token, "house-1", (1_000, 100)).await;
    assert_eq!(
        (status, &said["choices"][0]["message"]["content"]),
        (StatusCode::OK, &json!("hello"))
    );
    let (status, _) = world.ask(token, "house-2", (10, 1)).await;
    assert_eq!(status, StatusCode::OK);
    let (status, said) = world.ask(token, "gpt-5", (10, 1)).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{said}");
    world.counted(2);

    reports(&world);
    calls(&world);
    let listed = world.json(&["token", "list"]);
    assert_eq!(listed["items"][0]["name"], "builder");
    assert!(!listed.to_string().contains(token));

    let said = world.run(&["token", "revoke", "builder"]).expect(0).stdout;
    assert!(said.contains("token \"builder\"") && said.contains("works no more"), "{said}");
    let (status, said) = world.ask(token, "house-1", (1, 1)).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(said["error"]["message"].as_str().unwrap().contains("revoked"), "{said}");
    world.run(&["token", "revoke", "builder"]).refused(3, &["no token that works", "token list"]);
    assert_eq!(world.json(&["token", "list"])["items"], json!([]));
    assert_eq!(world.json(&["token", "list", "--all"])["items"][0]["name"], "builder");
    assert!(world.run(&["token", "list", "--all"]).expect(0).stdout.contains("revoked"));
    assert!(!world.home.log().contains(token), "the token is in the log");
}

fn reports(world: &World) {
    let usage = world.json(&["usage", "--project", "web", "--by", "model,project"]);
    assert_eq!(usage["total"]["costMicros"], 3_000, "{usage}");
    assert_eq!(
        (&usage["total"]["unpriced"], &usage["rows"][0]["group"]["model"]),
        (&json!(1), &json!("house-1"))
    );
    let keys: Vec<&String> = usage.as_object().unwrap().keys().collect();
    let wanted = ["byAgent", "byProvider", "from", "rows", "timeZone", "to", "total", "totalCost"];
    assert_eq!(keys, wanted);

    let said = world.run(&["usage"]).expect(0);
    for part in ["2 requests, 20", "MODEL", "house-1", "1,000", "$0.003", "total", "NO PRICE"] {
        assert!(said.stdout.contains(part), "no {part:?} in {}", said.stdout);
    }
    assert!(said.stderr.contains("1 request has no known price"), "{}", said.stderr);

    let cost = world.run(&["cost", "--convoy", "launch", "--by", "project,user"]).expect(0).stdout;
    let lines: Vec<&str> = cost.lines().collect();
    assert!(lines[0].starts_with("$0.003 for 2 requests, 20"), "{cost}");
    let row: Vec<&str> = lines[3].split_whitespace().collect();
    assert_eq!(row, ["web", "owner", "2", "$0.003", "100%", "1"], "{cost}");
    let none = world.run(&["cost", "--agent", "nobody"]).expect(0).stdout;
    assert!(none.starts_with("$0 for 0 requests, ") && none.lines().count() == 1, "{none}");

    let csv = world.run(&["cost", "--by", "agent,project", "--csv"]).expect(0).stdout;
    let csv = table(&csv);
    assert_eq!(csv[0][..3], ["agent", "project", "requests"]);
    let cost = csv[0].iter().position(|name| *name == "costMicros").unwrap();
    assert_eq!((csv[1][..3].to_vec(), csv[1][cost]), (vec!["b1", "web", "2"], "3000"));

    for (arguments, part) in [
        (&["usage", "--by", "planet"][..], "possible values: day, hour, provider"),
        (&["usage", "--from", "yesterday"], "write a day such as 2026-11-01"),
        (&["usage", "--from", "2026-12-01", "--to", "2026-11-01"], "begins before it ends"),
        (&["cost", "--since", "7d", "--from", "2026-11-01"], "cannot be used with"),
    ] {
        world.run(arguments).refused(2, &[part]);
    }
    world.run(&["cost", "--project", "nope"]).refused(3, &["there is no project \"nope\""]);
    world.run(&["cost", "--csv", "--json"]).expect(2);
}

fn calls(world: &World) {
    let calls = world.json(&["calls", "--since", "1h", "--limit", "1"]);
    assert_eq!((&calls["hasMore"], calls["items"].as_array().unwrap().len()), (&json!(true), 1));
    let call =
        world.json(&["calls", "--model", "house-1", "--bead", "godel-a1"])["items"][0].clone();
    for (field, value) in [
        ("agentId", json!("b1")),
        ("provider", json!("house")),
        ("outcome", json!("ok")),
        ("inputTokens", json!(1_000)),
        ("outputTokens", json!(100)),
        ("costMicros", json!(3_000)),
        ("estimated", json!(false)),
    ] {
        assert_eq!(call[field], value, "{field}");
    }
    let said = world.run(&["calls"]).expect(0).stdout;
    for part in ["house/house-1", "house/house-2", "unknown", "$0.003", "b1"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let csv = world.run(&["calls", "--csv"]).expect(0).stdout;
    let csv = table(&csv);
    let column = |name| csv[0].iter().position(|column| *column == name).unwrap();
    assert!(csv.len() == 3 && csv.iter().all(|line| line.len() == csv[0].len()), "{csv:?}");
    assert_eq!((csv[2][column("user")], csv[2][column("project")]), ("owner", "web"));
    assert_eq!((csv[2][column("costMicros")], csv[1][column("costMicros")]), ("3000", ""));
    let old = world.json(&["calls", "--since", "2020-01-01", "--user", "owner"]);
    assert_eq!(old["items"].as_array().unwrap().len(), 2);
    let providers = world.json(&["provider", "list"]);
    assert_eq!(
        (&providers["items"][0]["provider"], &providers["items"][0]["state"]),
        (&json!("house"), &json!("up"))
    );
    assert!(world.run(&["provider", "list"]).expect(0).stdout.starts_with("PROVIDER"));
    assert_eq!(world.json(&["provider", "routing"])["order"][0], "house");
    let routing = world.run(&["provider", "routing"]).expect(0).stdout;
    assert!(routing.starts_with("providers   house"), "{routing}");
    assert!(routing.contains("(in this order)") && routing.contains("3 tries"), "{routing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_are_set_hold_and_go() {
    let world = World::new().await;
    assert_eq!(world.json(&["budget", "list"]), json!({ "items": [] }));
    world.run(&["project", "create", "web", "--budget", "200/month"]).expect(0);
    let token = world.token(&["ci", "--project", "web", "--agent", "b1", "--budget", "5"]);
    let said = world.run(&["budget", "set", "project:web", "$300/month", "--warn", "70"]);
    assert_eq!(
        said.expect(0).stdout,
        "project:web may spend $300/month, it was $200/month; $0 spent so far, a warning comes at 70%\n"
    );
    // Whatever else changes of the project, its budget stays what was said last.
    world.run(&["project", "update", "web", "--description", "x"]).expect(0);
    assert!(world.run(&["project", "show", "web"]).expect(0).stdout.contains("$300/month"));
    world.run(&["budget", "set", "user:owner", "1/day"]).expect(0);
    world.run(&["budget", "set", "token:ci", "4"]).expect(0);
    let set = world.json(&["budget", "set", "agent:b1", "0.011"]);
    assert_eq!((&set["scope"], &set["period"]), (&json!("agent:b1"), &json!("total")));
    assert_eq!((&set["capMicros"], &set["warnPercent"]), (&json!(11_000), &json!(80)));

    // It fits in by what could be known before; what it came to leaves nothing for the next one.
    let (status, said) = world.ask(&token, "house-1", (1_500, 900)).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    world.counted(1);
    let (status, said) = world.ask(&token, "house-1", (1, 1)).await;
    assert_eq!(status, StatusCode::PAYMENT_REQUIRED, "{said}");
    let why = said["error"]["message"].as_str().unwrap();
    assert!(why.contains("agent:b1") && why.contains("godel budget set"), "{why}");
    // What a limit would have done can be asked before it is set.
    let tried = world.json(&["budget", "try", "project:web", "0.01", "--days", "2"]);
    assert_eq!((&tried["requests"], &tried["spentMicros"]), (&json!(1), &json!(12_000)));
    let said = world.run(&["budget", "try", "tenant", "5/day"]).expect(0).stdout;
    let wanted =
        "tenant spent $0.012 within 7 days (requests: 1)\nthis limit would have stopped nothing\n";
    assert_eq!(said, wanted);

    let listed = world.run(&["budget", "list"]).expect(0).stdout;
    for (scope, rest) in [
        ("agent:b1", ["used up", "$0.012", "-$0.001"]),
        ("project:web", ["ok", "$300/month", "70%"]),
        ("token:ci", ["ok", "$4", "never"]),
        ("user:owner", ["ok", "$1/day", "80%"]),
    ] {
        let line = listed.lines().find(|line| line.starts_with(scope)).unwrap_or_default();
        assert!(rest.iter().all(|part| line.contains(part)), "{scope}: {listed}");
    }
    // Raised, the work goes on; and what is deleted no longer counts.
    world.run(&["budget", "set", "agent:b1", "1"]).expect(0);
    assert_eq!(world.ask(&token, "house-1", (1, 1)).await.0, StatusCode::OK);
    let id = set["id"].as_str().unwrap();
    assert_eq!(world.json(&["budget", "delete", id]), json!({ "deleted": id }));
    let gone = world.run(&["budget", "delete", "project:web"]).expect(0).stdout;
    assert_eq!(gone, "the budget of $300/month for project:web is deleted\n");
    assert!(!world.run(&["project", "show", "web"]).expect(0).stdout.contains("/month"));
    world.run(&["budget", "set", "tenant", "1/day"]).expect(0);
    world.run(&["budget", "set", "tenant", "9/month"]).expect(0);
    world.run(&["budget", "delete", "tenant"]).refused(2, &["tenant has 2 budgets", "$1/day"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_makes_no_sense_is_refused_with_what_to_do() {
    let world = World::new().await;
    for (arguments, code, part) in [
        (["set", "planet:x", "5"], 2, "\"planet:x\" is no scope of a budget"),
        (["set", "project", "5"], 2, "as in project:web"),
        (["set", "agent:", "5"], 2, "is no scope"),
        (["set", "agent:a b", "5"], 2, "no such scope"),
        (["set", "project:nope", "5"], 3, "there is no project \"nope\""),
        (["set", "user:nope", "5"], 3, "there is no user \"nope\""),
        (["set", "token:nope", "5"], 3, "no token that works is called \"nope\""),
        (["set", "tenant", "five"], 2, "write dollars and how often"),
        (["set", "tenant", "5/week"], 2, "200/month, 5/day, or 50 in all"),
        (["set", "tenant", "0"], 2, "write dollars"),
        (["set", "tenant", "9999999999"], 2, "write dollars"),
        (["delete", "tenant", "--json"], 3, "budget_not_found"),
        (["delete", "nothing", "--json"], 2, "is no scope"),
    ] {
        world.run(&[&["budget"][..], &arguments].concat()).refused(code, &[part]);
    }
    for (arguments, part) in [
        (&["x", "--budget", "0"][..], "write dollars, such as 5"),
        (&["x", "--expires", "0h"], "it must be longer"),
        (&["x", "--agent", "a b"], "without blanks"),
        (&["x", "--models", "a,,b"], "with commas between them"),
        (&[""], "a token needs a name"),
    ] {
        world.run(&[&["token", "create"][..], arguments].concat()).refused(2, &[part]);
    }
    let invited = || developer(&world.server, &world.home, "dev", "developer", &[]);
    let dev = tokio::task::block_in_place(invited);
    dev.run(&["budget", "set", "tenant", "5"]).refused(5, &["more: godel explain forbidden"]);
    let token = dev.run(&["token", "create", "own", "--agent", "d1"]).expect(0).stdout;
    assert_eq!(world.ask(token.trim_end(), "house-1", (10, 1)).await.0, StatusCode::OK);
    world.counted(1);
    let mine = dev.run(&["cost", "--by", "user"]).expect(0).stdout;
    assert!(mine.contains("dev"), "{mine}");
    let all = world.run(&["token", "list"]).expect(0).stdout;
    assert!(all.contains("own") && all.contains("dev"), "{all}");
}

#[test]
fn the_file_of_providers_is_checked_before_anything_runs() {
    let home = Home::new().with("OPENAI_API_KEY", "sk-zebra-1").with("GODEL_TOKEN", "x");
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(0).stdout;
    assert!(doctor.contains("keys: openai (OPENAI_API_KEY)"), "{doctor}");
    assert!(doctor.contains("every GODEL_ variable is known"), "{doctor}");
    assert!(!doctor.contains("sk-zebra"), "{doctor}");
    let file = home.data().join("proxy.toml");
    let shown = home.run(&["config", "show", "--json"]).expect(0).json();
    assert_eq!(shown["proxy.file"], json!(file));
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(&file, "[providers.house]\nkey = \"sk\"\n").unwrap();
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(1).stdout;
    assert!(doctor.contains("FAIL  models") && doctor.contains("unknown field `key`"), "{doctor}");
    home.run(&["up", "--listen", "127.0.0.1:0"])
        .refused(2, &["proxy.toml: provider house", "unknown field `key`"]);
    let home = home.with("GODEL_PROXY_FILE", "elsewhere.toml");
    let parts = ["`proxy.file` is no file", "elsewhere.toml", "environment GODEL_PROXY_FILE"];
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(2, &parts);
}

/// Returns the blocks of TOML in a page.
fn examples(page: &str) -> Vec<String> {
    let path = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(str::to_owned).collect()
}

#[test]
fn the_examples_of_the_pages_are_understood() {
    let home = Home::new();
    let pages = ["how-to/models.md", "reference/proxy-toml.md"];
    let all: Vec<String> = pages.into_iter().flat_map(examples).collect();
    // Codex has a file of its own.
    let ours: Vec<&String> = all.iter().filter(|text| !text.contains("model_provider")).collect();
    assert!(ours.len() >= 5, "{ours:?}");
    for text in ours {
        let list = home.path().join("models.toml");
        let is_list = text.starts_with("[[model]]");
        std::fs::write(&list, if is_list { text } else { "" }).unwrap();
        let text = if is_list { format!("models = {list:?}") } else { text.clone() };
        let read = godel_proxy::Config::read(&text);
        assert!(read.is_ok(), "{}: {text}", read.err().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_shows_tokens_and_its_quota_and_no_dollars() {
    let world = World::new().await;
    let token = world.token(&["laptop", "--agent", "a1"]);
    let login = "sk-ant-oat01-leakcanary-7";
    world.provider.switch(Switch::keys([PROVIDER_KEY, login]));
    world.provider.switch(Switch::headers([
        ("anthropic-ratelimit-unified-5h-utilization", "0.42"),
        ("anthropic-ratelimit-unified-5h-reset", "4102444800"),
        ("anthropic-ratelimit-unified-7d-utilization", "0.9"),
        ("anthropic-ratelimit-unified-7d-status", "allowed_warning"),
    ]));
    let body = json!({ "model": "plan-1", "max_tokens": 100,
        "messages": [{ "role": "user", "content": "[[usage input=1200 output=7]]" }] });
    let url = format!("{}/proxy/v1/messages", world.server.url());
    let asked = world.http.post(url).header("x-godel-token", token).bearer_auth(login);
    let asked = asked.header("anthropic-version", "2023-06-01").json(&body).send().await.unwrap();
    assert_eq!(asked.status(), 200);
    world.counted(1);
    for report in ["usage", "cost"] {
        let told = world.run(&[report]).expect(0);
        let (shown, notes) = (&told.stdout, &told.stderr);
        for part in ["plan-1", "subscription", "5h", "42%", "2100-01-01", "90% (allowed_warning)"] {
            assert!(shown.contains(part), "{report} lacks {part}: {shown}");
        }
        assert!(notes.contains("by a subscription, which has a quota and no price"), "{notes}");
    }
    let usage = world.json(&["usage"]);
    assert_eq!((&usage["total"]["byLogin"], &usage["total"]["costMicros"]), (&json!(1), &json!(0)));
    let listed = world.run(&["provider", "list"]).expect(0).stdout;
    assert!(listed.contains("Quotas of subscriptions") && listed.contains("42%"), "{listed}");
    let calls = world.run(&["calls"]).expect(0).stdout;
    assert!(calls.contains("subscription") && calls.contains("1,200"), "{calls}");
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_are_tried_and_what_is_wrong_is_told_with_what_to_do() {
    let world = World::new().await;
    let told = world.run(&["provider", "test"]).expect(0).stdout;
    assert!(told.contains("house: works: ") && told.contains(" models, answered in "), "{told}");
    assert!(!told.contains("anthropic"), "who has no key is not meant: {told}");
    piped(&world.home, &["secret", "set", "house"], "sk-wrong-leakcanary-01").expect(0);
    let told = world.run(&["provider", "test", "house"]).expect(1).stdout;
    for part in ["does not take the key", "to do: set a good one with `godel secret set house`"] {
        assert!(told.contains(part) && !told.contains("leakcanary"), "{told}");
    }
    let told = world.run(&["provider", "test", "--json"]).expect(1).json();
    assert_eq!(
        (&told["items"][0]["works"], &told["items"][0]["status"]),
        (&json!(false), &json!(401))
    );
    world
        .run(&["provider", "test", "nobody"])
        .refused(3, &["provider_not_found", "godel provider list"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_is_shown_and_what_was_said_only_if_it_was_kept() {
    let world = World::new().await;
    let token = world.token(&["laptop", "--agent", "a1"]);
    assert_eq!(world.ask(&token, "house-1", (10, 5)).await.0, 200);
    world.counted(1);
    let id = world.json(&["calls"])["items"][0]["id"].as_str().unwrap().to_owned();
    let shown = world.run(&["calls", "show", &id]).expect(0).stdout;
    assert!(shown.contains("house-1") && shown.contains("paidBy"), "{shown}");
    world.run(&["calls", "show", &id, "--body"]).refused(3, &["body_not_kept", "[capture]"]);
    let file = world.home.path().join("house.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}[capture]\nenabled = true\n")).unwrap();
    let started = Instant::now();
    loop {
        assert_eq!(world.ask(&token, "house-1", (10, 5)).await.0, 200);
        let id = world.json(&["calls"])["items"][0]["id"].as_str().unwrap().to_owned();
        let shown = world.run(&["calls", "show", &id, "--body"]);
        if shown.code == 0 {
            assert!(
                shown.stdout.contains("Asked (") && shown.stdout.contains("hello"),
                "{shown:?}"
            );
            let told = world.json(&["calls", "show", &id, "--body"]);
            assert!(told["body"]["reply"].as_str().unwrap().contains("hello"), "{told}");
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{shown:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
