//! Serves the files of a folder, for apps that are nothing else.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// No larger file is served.
const FILE_MAX_BYTES: u64 = 64 << 20;

/// What files are, by the end of their names.
const KINDS: [(&str, &str); 22] = [
    ("html", "text/html; charset=utf-8"),
    ("htm", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("txt", "text/plain; charset=utf-8"),
    ("md", "text/plain; charset=utf-8"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
    ("wasm", "application/wasm"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
];

/// Serves the files of a folder on a port of the loopback, until the process ends.
///
/// # Errors
/// If the folder is not there, or the port is taken.
pub async fn serve(folder: &Path, port: u16) -> io::Result<()> {
    let folder: Arc<Path> = tokio::fs::canonicalize(folder).await?.into();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let mut guests = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        while guests.try_join_next().is_some() {}
        let folder = Arc::clone(&folder);
        guests.spawn(async move {
            let answer = service_fn(|request| {
                let folder = Arc::clone(&folder);
                async move { Ok::<_, Infallible>(answer(&folder, &request).await) }
            });
            // Whoever asked may go away at any time.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn answer(folder: &Path, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
    }
    let found = match inside(folder, request.uri().path()) {
        Some(path) => read(folder, path).await,
        None => None,
    };
    let Some((path, bytes)) = found else {
        return plain(StatusCode::NOT_FOUND, "there is no such file\n");
    };
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let kind = KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(end));
    let kind = kind.map_or("application/octet-stream", |(_, kind)| kind);
    let mut response = Response::new(Full::new(bytes.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // The agent may be changing it.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the file of a path, unless that leads out or to what is hidden.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let mut file = folder.to_owned();
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) if !name.as_encoded_bytes().starts_with(b".") => {
                file.push(name);
            }
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(file)
}

async fn read(folder: &Path, mut path: PathBuf) -> Option<(PathBuf, Vec<u8>)> {
    if tokio::fs::metadata(&path).await.ok()?.is_dir() {
        path.push("index.html");
    }
    // A link may lead out, or to what is hidden.
    let real = tokio::fs::canonicalize(&path).await.ok()?;
    let rest = real.strip_prefix(folder).ok()?;
    let hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    if rest.components().any(hidden) {
        return None;
    }
    let known = tokio::fs::metadata(&real).await.ok()?;
    if !known.is_file() || known.len() > FILE_MAX_BYTES {
        return None;
    }
    let bytes = tokio::fs::read(&real).await.ok()?;
    Some((path, bytes))
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(folder: &Path, path: &str) -> Option<String> {
        let (_, bytes) = read(folder, inside(folder, path)?).await?;
        String::from_utf8(bytes).ok()
    }

    #[tokio::test]
    async fn files_of_the_folder_are_served_and_nothing_else() {
        let home = tempfile::TempDir::new().unwrap();
        let home = home.path().canonicalize().unwrap();
        let site = home.join("site");
        std::fs::create_dir_all(site.join("a b")).unwrap();
        std::fs::create_dir_all(site.join(".git")).unwrap();
        std::fs::write(site.join("index.html"), "front").unwrap();
        std::fs::write(site.join("a b/index.html"), "inner").unwrap();
        std::fs::write(site.join(".env"), "secret").unwrap();
        std::fs::write(site.join(".git/config"), "secret").unwrap();
        std::fs::write(home.join("outside"), "secret").unwrap();
        std::os::unix::fs::symlink("../outside", site.join("link")).unwrap();
        std::os::unix::fs::symlink(".env", site.join("env")).unwrap();
        std::os::unix::fs::symlink("index.html", site.join("again.html")).unwrap();
        assert_eq!(found(&site, "/").await.unwrap(), "front");
        assert_eq!(found(&site, "/a%20b/").await.unwrap(), "inner");
        assert_eq!(found(&site, "/again.html").await.unwrap(), "front");
        for path in [
            "/.env",
            "/.git/config",
            "/../outside",
            "/%2e%2e/outside",
            "/link",
            "/env",
            "/none",
            "/%ff",
            "/index.html/more",
        ] {
            assert_eq!(found(&site, path).await, None, "{path}");
        }
    }
}
