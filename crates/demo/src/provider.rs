//! The provider of the show: a server of its own that answers from the script, to the key of its show only.

use std::convert::Infallible;
use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use godel_console::{Context, Error, Exit, Result};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::{actor, wire};

/// Where the show hands over the key.
pub(crate) const KEY: &str = "GODEL_DEMO_KEY";
/// What each answer says about itself.
const LABEL: &str = "x-godel-demo";
/// No request of the show is larger.
const BODY_MAX_BYTES: usize = 4 << 20;
/// How long it seems to think, so that one can watch.
const THINKING: Duration = Duration::from_millis(250);

/// Serves until its input ends, which is when the show ends.
pub(crate) async fn serve(context: &Context) -> Result<Exit> {
    let key = std::env::var(KEY).ok().filter(|key| key.len() >= 32).ok_or_else(|| {
        let why = "the scripted provider plays only in a show that `godel demo` has begun";
        Error::usage(why, "run `godel demo`")
    })?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = listener.map_err(|cause| Error::file("a port", "taken", cause))?;
    let address = listener.local_addr().map_err(|cause| Error::file("a port", "read", cause))?;
    context.output.line(address)?;
    std::io::stdout().flush().map_err(|cause| Error::file("stdout", "written", cause))?;
    let mut answering = JoinSet::new();
    let mut input = tokio::io::stdin();
    let mut nothing = [0; 64];
    loop {
        tokio::select! {
            read = input.read(&mut nothing) => if matches!(read, Ok(0) | Err(_)) {
                return Ok(Exit::Done);
            },
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                answering.spawn(converse(stream, key.clone()));
            },
            Some(_) = answering.join_next(), if !answering.is_empty() => {}
        }
    }
}

async fn converse(stream: TcpStream, key: String) {
    let service = service_fn(move |request| {
        let key = key.clone();
        async move { Ok::<_, Infallible>(answer(request, &key).await) }
    });
    // Whoever hangs up has heard enough.
    drop(
        hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}

async fn answer(request: Request<Incoming>, key: &str) -> Response<Full<Bytes>> {
    let given = request.headers().get("x-api-key").map_or(&[][..], http::HeaderValue::as_bytes);
    if !bool::from(given.ct_eq(key.as_bytes())) {
        return refuse(StatusCode::UNAUTHORIZED, "this provider belongs to another show");
    }
    if request.uri().path() != "/v1/messages" {
        return refuse(StatusCode::NOT_FOUND, "the scripted provider knows /v1/messages only");
    }
    let body = Limited::new(request.into_body(), BODY_MAX_BYTES).collect().await;
    let Some(asked) =
        body.ok().and_then(|body| serde_json::from_slice::<Value>(&body.to_bytes()).ok())
    else {
        return refuse(StatusCode::BAD_REQUEST, "that is no request to a model");
    };
    tokio::time::sleep(THINKING).await;
    let turn = actor::answer(&asked);
    let (kind, told) = match asked["stream"] == true {
        true => ("text/event-stream", wire::stream(&asked, &turn)),
        false => ("application/json", wire::whole(&asked, &turn).to_string()),
    };
    labelled(StatusCode::OK, kind, told)
}

fn refuse(status: StatusCode, why: &str) -> Response<Full<Bytes>> {
    let body =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": why } });
    labelled(status, "application/json", body.to_string())
}

fn labelled(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    headers.insert(LABEL, http::HeaderValue::from_static("scripted"));
    response
}
