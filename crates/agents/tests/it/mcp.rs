//! Godel's verbs over the Model Context Protocol, with a server that stands for Godel's edge.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use godel_agents::mcp::{Godel, MESSAGE_MAX_BYTES, Refusal, serve, verbs};
use godel_agents::{TEXT_MAX_BYTES, Todo, TodoState};
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::JoinSet;

const TOKEN: &str = "gdl_agent_token";

/// To make a client takes long.
static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| {
    godel_tls::install();
    reqwest::Client::new()
});

/// What was asked: the method, the path, and the body.
type Asked = (String, String, Value);

/// Stands for Godel: answers from lists, and writes down what it was asked.
#[derive(Clone, Default)]
struct Edge {
    asked: Arc<Mutex<Vec<Asked>>>,
    /// What is said about a question, one after the other; then it is left open for ever.
    looks: Arc<Mutex<VecDeque<(StatusCode, Value)>>>,
    verdicts: Arc<Mutex<VecDeque<Value>>>,
}

impl Edge {
    async fn answer(self, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
        if headers.get("authorization").is_none_or(|value| value != &format!("Bearer {TOKEN}")) {
            let error = json!({ "message": "this token is not known", "hint": "ask for another" });
            let body = json!({ "success": false, "error": error });
            return (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response();
        }
        let path = uri.path_and_query().unwrap().as_str().to_owned();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        self.asked.lock().unwrap().push((method.to_string(), path.clone(), body));
        let short = path.strip_prefix("/api/v1/self").unwrap_or("?");
        let data = match (method.as_str(), short) {
            ("GET", "") => json!({
                "agent": { "id": "a-1", "name": "ada", "role": "worker", "state": "working" },
                "bead": { "id": "shop-1", "title": "Sum up", "description": "All of it.", "status": "in_progress" },
                "task": "Sum up the cart.",
                "todos": [{ "text": "read", "state": "completed" }, { "text": "write", "state": "pending" }],
                "unread": 2,
            }),
            ("PUT", "/todos") => json!({}),
            ("GET", "/mail") => json!({ "mail": [
                { "id": "m-1", "from": "ann", "text": "Use integers.", "sentAt": "2026-11-15T08:00:00Z" },
            ] }),
            ("POST", "/mail") => json!({ "id": "m-2" }),
            ("GET", "/tools") => json!({ "tools": [
                { "name": "bead_list", "description": "List beads.", "inputSchema": { "type": "object" } },
            ] }),
            ("POST", "/tools/bead_list") => json!({ "text": "shop-2 open high Pay" }),
            ("POST", "/questions") => json!({ "id": "q-1" }),
            ("GET", "/questions/q-1?waitSeconds=25") => {
                let next = self.looks.lock().unwrap().pop_front();
                match next {
                    Some((status, look)) => return (status, axum::Json(look)).into_response(),
                    None => std::future::pending().await,
                }
            }
            ("POST", "/done") => self.verdicts.lock().unwrap().pop_front().unwrap(),
            _ => return StatusCode::NOT_FOUND.into_response(),
        };
        axum::Json(json!({ "success": true, "data": data })).into_response()
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// An edge that listens, and a client of it.
struct World {
    edge: Edge,
    godel: Godel,
    _tasks: JoinSet<()>,
}

async fn world() -> World {
    godel_tls::install();
    let (edge, mut tasks) = (Edge::default(), JoinSet::new());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/proxy", listener.local_addr().unwrap());
    let answers = edge.clone();
    let router = axum::Router::new().fallback(
        move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            answers.clone().answer(method, uri, headers, body)
        },
    );
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let godel = Godel::new(reqwest::Client::new(), &base, SecretString::from(TOKEN));
    World { edge, godel, _tasks: tasks }
}

/// A client of the protocol, which checks what it hears.
struct Client {
    input: tokio::io::WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    server: JoinSet<std::io::Result<()>>,
}

impl Client {
    fn new(godel: &Godel) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (theirs_in, theirs_out) = tokio::io::split(theirs);
        let mut server = JoinSet::new();
        server.spawn(serve(theirs_in, theirs_out, godel.clone()));
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines(), server }
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answer = self.hear().await;
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer}");
        answer
    }

    /// Calls a tool, and returns what it said and whether it failed.
    async fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.ask(7, "tools/call", params).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"].as_bool().unwrap())
    }

    async fn leave(mut self) {
        self.input.shutdown().await.unwrap();
        self.server.join_next().await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_client_is_welcomed_in_its_version_and_shown_the_tools() {
    let world = world().await;
    let mut client = Client::new(&world.godel);
    for (asked, given) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")]
    {
        let answer = client.ask(1, "initialize", json!({ "protocolVersion": asked })).await;
        assert_eq!(answer["result"]["protocolVersion"], given);
        assert_eq!(answer["result"]["serverInfo"]["name"], "godel");
    }
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    assert_eq!(client.ask(2, "ping", Value::Null).await["result"], json!({}));
    let listed = client.ask(3, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // What the role gives comes behind what every agent has.
    let own = ["bead", "todo_write", "mail_send", "mail_read", "ask_human", "done"];
    assert_eq!(names, [&own[..], &["bead_list"]].concat());
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    assert_eq!(client.ask(4, "resources/list", json!({})).await["error"]["code"], -32601);
    let unknown = client.ask(5, "tools/call", json!({ "name": "rm" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    client.leave().await;
}

#[tokio::test]
async fn the_verbs_reach_godel_and_its_answers_the_agent() {
    let world = world().await;
    world.edge.verdicts.lock().unwrap().extend([
        json!({ "accepted": false, "missing": ["gate test failed", "2 files are not committed"] }),
        json!({ "accepted": true, "missing": [] }),
    ]);
    let mut client = Client::new(&world.godel);
    let (text, failed) = client.call("bead_list", json!({ "limit": 3 })).await;
    assert_eq!((text.as_str(), failed), ("shop-2 open high Pay", false));
    let asked = world.edge.asked.lock().unwrap().pop().unwrap();
    assert_eq!(asked.2, json!({ "input": { "limit": 3 } }));
    let (text, failed) = client.call("bead_create", json!({ "title": "x".repeat(70_000) })).await;
    assert!(failed && text.contains("more than"), "{text}");
    let (text, failed) = client.call("bead", Value::Null).await;
    let wanted = "You are ada, worker (working).\n\nBead shop-1 (in_progress): Sum up\n\nAll of it.\n\n\
                  Task:\nSum up the cart.\n\nTodos:\n[x] read\n[ ] write\n\n2 unread messages wait for you.\n";
    assert_eq!((text.as_str(), failed), (wanted, false));
    let todos =
        json!([{ "text": "a", "state": "done" }, { "content": "b", "status": "in_progress" }]);
    let (text, failed) = client.call("todo_write", json!({ "todos": todos })).await;
    assert_eq!((text.as_str(), failed), ("2 todos are noted, 1 of them open", false));
    let (text, _) = client.call("mail_read", json!({})).await;
    assert_eq!(text, "From ann at 2026-11-15T08:00:00Z:\nUse integers.");
    let (text, _) = client.call("mail_send", json!({ "to": "ann", "text": "I do." })).await;
    assert_eq!(text, "sent as m-2");
    let (text, failed) = client.call("done", json!({ "summary": "all" })).await;
    assert!(failed && text.contains("- gate test failed\n- 2 files"), "{text}");
    let (text, failed) = client.call("done", json!({ "summary": "all" })).await;
    assert!(!failed && text.contains("accepted"), "{text}");
    for (name, wrong) in [
        ("todo_write", json!({ "todos": "all" })),
        ("todo_write", json!({ "todos": vec![json!({ "text": "x", "state": "pending" }); 201] })),
        ("mail_send", json!({ "to": "ann" })),
        ("mail_send", json!({ "to": "ann", "text": "x".repeat(TEXT_MAX_BYTES + 1) })),
        ("ask_human", json!({ "question": "  " })),
        ("ask_human", json!({ "question": "?", "choices": vec!["a"; 21] })),
        ("done", Value::Null),
    ] {
        assert!(client.call(name, wrong.clone()).await.1, "{name} {wrong}");
    }
    client.leave().await;
    let asked = world.edge.asked();
    let noted = json!({ "todos": [
        { "text": "a", "state": "completed" }, { "text": "b", "state": "in_progress" },
    ] });
    assert_eq!(asked[1], ("PUT".to_owned(), "/api/v1/self/todos".to_owned(), noted));
    assert_eq!(asked[3].2, json!({ "to": "ann", "text": "I do." }));
    assert_eq!(asked.len(), 6, "what is wrong was not sent: {asked:?}");
}

#[tokio::test]
async fn a_question_waits_through_restarts_and_keeps_nobody_else_waiting() {
    let world = world().await;
    let open = json!({ "state": "open", "answer": null });
    world
        .edge
        .looks
        .lock()
        .unwrap()
        .extend([(StatusCode::OK, open), (StatusCode::SERVICE_UNAVAILABLE, Value::Null)]);
    let mut client = Client::new(&world.godel);
    let params = json!({ "name": "ask_human", "arguments": { "question": "Which?", "choices": ["a", "b"] } });
    client
        .say(&json!({ "jsonrpc": "2.0", "id": "q", "method": "tools/call", "params": params }))
        .await;
    assert_eq!(client.ask(1, "ping", Value::Null).await["result"], json!({}));
    let (text, _) = client.call("mail_read", Value::Null).await;
    assert!(text.starts_with("From ann"), "{text}");
    let answered = json!({ "state": "answered", "answer": "b, please" });
    world.edge.looks.lock().unwrap().push_back((StatusCode::OK, answered));
    let answer = client.hear().await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("q"), &json!(false)));
    assert_eq!(answer["result"]["content"][0]["text"], "b, please");
    let declined = json!({ "state": "declined", "answer": null });
    world.edge.looks.lock().unwrap().push_back((StatusCode::OK, declined));
    let (text, failed) = client.call("ask_human", json!({ "question": "And?" })).await;
    assert!(failed && text.contains("decide yourself"), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn a_call_that_is_called_off_is_not_answered() {
    let world = world().await;
    let mut client = Client::new(&world.godel);
    let params = json!({ "name": "ask_human", "arguments": { "question": "Which?" } });
    let ask = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params });
    client.say(&ask).await;
    client.say(&ask).await;
    assert_eq!(client.hear().await["error"]["code"], -32600, "the id is in use");
    let off = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    client.say(&off).await;
    // The same id can be used again, and what comes next is its answer.
    let params = json!({ "name": "mail_read" });
    let answer = client.ask(9, "tools/call", params).await;
    assert_eq!(answer["result"]["isError"], false);
    client.leave().await;
}

#[tokio::test]
async fn what_godel_refuses_is_told_without_the_token() {
    let world = world().await;
    let bad = SecretString::from("gdl_bad");
    let url = format!("http://{}", world_address(&world));
    let told = verbs::bead(&Godel::new(reqwest::Client::new(), &url, bad)).await;
    assert_eq!(
        (told.text.as_str(), told.failed),
        ("this token is not known: ask for another", true)
    );
    let nobody =
        Godel::new(reqwest::Client::new(), "http://127.0.0.1:1/proxy/", SecretString::from(TOKEN));
    let todo = Todo { text: "x".to_owned(), state: TodoState::Pending };
    let told = verbs::todo_write(&nobody, &[todo]).await;
    assert!(told.failed && told.text.contains("cannot be reached"), "{told:?}");
    assert!(!format!("{nobody:?}").contains(TOKEN));
    assert!(matches!(nobody.myself().await, Err(Refusal::Away(_))));
}

/// The address of the edge, out of what its client is told of itself.
fn world_address(world: &World) -> String {
    let shown = format!("{:?}", world.godel);
    let from = shown.find("http://").unwrap() + "http://".len();
    shown[from..].split('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn lines_that_are_too_long_or_nothing_are_refused_and_the_next_is_read() {
    let world = world().await;
    let mut client = Client::new(&world.godel);
    let long = vec![b'x'; MESSAGE_MAX_BYTES + 1];
    client.input.write_all(&long).await.unwrap();
    client.input.write_all(b"\n\n{\"id\":1}\n[]\n[1,{\"result\":3}]\nnull\n").await.unwrap();
    for code in [-32600, -32600, -32600, -32600, -32600] {
        let answer = client.hear().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{answer}"
        );
    }
    assert_eq!(client.ask(3, "ping", Value::Null).await["result"], json!({}));
    client.leave().await;
}

/// Pieces of messages, and messages with a mistake somewhere.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("initialize"),
        Just("tools/call"),
        Just("tools/list"),
        Just("ping"),
        Just("notifications/x"),
        Just("bead"),
        Just("todo_write"),
        Just("done"),
        Just(""),
        Just("ä\u{0}"),
    ];
    let value = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(|n| json!(n)),
        ".{0,8}".prop_map(|t| json!(t)),
        word.clone().prop_map(|w| json!({ "name": w, "arguments": { "todos": [w] } })),
    ];
    let field = prop_oneof![
        Just("jsonrpc"),
        Just("id"),
        Just("method"),
        Just("params"),
        Just("result"),
        Just("error"),
    ];
    let word = word.prop_map(|word| json!(word));
    let fields = proptest::collection::vec((field, prop_oneof![value, word]), 0..5);
    let message = fields.prop_map(|fields| {
        let map: serde_json::Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Value::Object(map).to_string().into_bytes()
    });
    prop_oneof![
        3 => message.clone(),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => proptest::collection::vec(message.clone(), 0..4).prop_map(|many| {
            [b"[".to_vec(), many.join(&b","[..]), b"]".to_vec()].concat()
        }),
        1 => (message, 0_usize..60).prop_map(|(mut bytes, cut)| { bytes.truncate(cut); bytes }),
    ]
}

/// How many answers a line must get, told by reading it another way.
fn wanted(line: &[u8]) -> usize {
    let one = |value: &Value| {
        let bare = value.get("method").is_none();
        let reply = value.get("result").is_some() || value.get("error").is_some();
        let notice = value.get("method").is_some_and(Value::is_string) && value.get("id").is_none();
        usize::from(!(notice || bare && reply))
    };
    match serde_json::from_slice::<Value>(line) {
        _ if line.trim_ascii().is_empty() => 0,
        Ok(Value::Array(many)) if !many.is_empty() => many.iter().map(one).sum(),
        Ok(value) => one(&value),
        Err(_) => 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn garbage_is_answered_line_by_line_and_never_ends_it(
        lines in proptest::collection::vec(noise(), 0..8), newline_last in any::<bool>(),
    ) {
        let lines: Vec<Vec<u8>> =
            lines.into_iter().map(|line| line.into_iter().filter(|byte| *byte != b'\n').collect()).collect();
        let mut input = lines.join(&b"\n"[..]);
        if newline_last {
            input.push(b'\n');
        }
        let nobody = Godel::new(HTTP.clone(), "http://127.0.0.1:1/proxy", SecretString::from(TOKEN));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut output = Vec::new();
        runtime.block_on(serve(&input[..], &mut output, nobody)).unwrap();
        let text = String::from_utf8(output).unwrap();
        prop_assert!(text.is_empty() || text.ends_with('\n'));
        for line in text.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
            prop_assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{}", answer);
        }
        let wanted: usize = lines.iter().map(|line| wanted(line)).sum();
        prop_assert_eq!(text.lines().count(), wanted, "{}", text);
    }
}
