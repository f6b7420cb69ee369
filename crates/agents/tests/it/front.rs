//! What stands before the model as Godel's edge does: the proxy, and beside it the API for agents.

use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Headers that belong to one connection and not to what is said over it.
const OWN: [&str; 5] = ["host", "connection", "content-length", "transfer-encoding", "upgrade"];

/// The edge; it ends with this.
pub(crate) struct Front {
    /// Where agents are sent.
    pub(crate) base: String,
    done: Arc<Mutex<Vec<Value>>>,
    _tasks: JoinSet<()>,
}

impl Front {
    /// Opens an edge before the place where the model is, for the agent with this token.
    pub(crate) async fn open(stage: &str, token: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/proxy", listener.local_addr().unwrap());
        let (done, mut tasks) = (Arc::<Mutex<Vec<Value>>>::default(), JoinSet::new());
        let desk = Arc::new(Desk {
            http: reqwest::Client::new(),
            stage: stage.to_owned(),
            token: format!("Bearer {token}"),
            done: Arc::clone(&done),
        });
        let router = axum::Router::new().fallback(
            move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
                let desk = Arc::clone(&desk);
                async move { desk.answer(method, uri, headers, body).await }
            },
        );
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { base, done, _tasks: tasks }
    }

    /// What the agent said when it was done, each time.
    pub(crate) fn done(&self) -> Vec<Value> {
        self.done.lock().unwrap().clone()
    }
}

struct Desk {
    http: reqwest::Client,
    stage: String,
    token: String,
    done: Arc<Mutex<Vec<Value>>>,
}

impl Desk {
    async fn answer(&self, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        if let Some(verb) = path.strip_prefix("/api/v1/self") {
            let known = headers.get("authorization").is_some_and(|given| *given == *self.token);
            return match (known, method.as_str(), verb) {
                (true, "POST", "/done") => {
                    self.done.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                    let data = json!({ "accepted": true, "missing": [] });
                    axum::Json(json!({ "success": true, "data": data })).into_response()
                }
                (true, ..) => StatusCode::NOT_FOUND.into_response(),
                (false, ..) => StatusCode::UNAUTHORIZED.into_response(),
            };
        }
        let path = path.strip_prefix("/proxy").unwrap_or(path);
        let mut request = self.http.request(method, format!("{}{path}", self.stage));
        for (name, value) in headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
            request = request.header(name, value);
        }
        let Ok(told) = request.body(body).send().await else {
            return StatusCode::BAD_GATEWAY.into_response();
        };
        let mut answer = Response::builder().status(told.status());
        for (name, value) in told.headers().iter().filter(|(name, _)| !OWN.contains(&name.as_str()))
        {
            answer = answer.header(name, value);
        }
        answer.body(Body::from_stream(told.bytes_stream())).unwrap()
    }
}
