//! Everything that the servers of this suite emit, kept for one look at all of it.
//!
//! With `GODEL_TEST_EMITTED` set to a directory, each server of each test leaves there what it logged,
//! what it sent over its sockets and what it stored. `cargo xtask test` looks for secrets in all of it
//! when the last test has ended: whatever test a leak needs, somebody notices. Every secret that a
//! test gives to a server has [`CANARY`] in it for that.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use godel_store::DatabaseUrl;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// What every secret of a test has in it; `xtask/src/steps/secrets.rs` looks for it.
pub(crate) const CANARY: &str = "leakcanary";

/// Returns where to leave what is emitted, if somebody will look at it.
pub(crate) fn directory() -> Option<PathBuf> {
    let name = std::env::var_os("GODEL_TEST_EMITTED").filter(|name| !name.is_empty())?;
    std::fs::create_dir_all(&name).unwrap();
    Some(name.into())
}

/// Makes a file that no other test and no other server writes to.
fn file_in(directory: &Path, kind: &str) -> File {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{next}.{kind}", std::process::id());
    File::options().create_new(true).write(true).open(directory.join(name)).unwrap()
}

/// Keeps something that was emitted in a way of its own.
pub(crate) fn keep(kind: &str, bytes: &[u8]) {
    if let Some(directory) = directory() {
        file_in(&directory, kind).write_all(bytes).unwrap();
    }
}

/// Everything that this process writes to its log, before anything is taken out of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logs {
    text: Arc<Mutex<Vec<u8>>>,
    file: Option<Arc<File>>,
}

impl Logs {
    /// Reads the log of this process from the first call on.
    pub(crate) fn capture() -> Self {
        static LOGS: OnceLock<Logs> = OnceLock::new();
        let make = || {
            let file = directory().map(|directory| Arc::new(file_in(&directory, "log")));
            let logs = Self { text: Arc::default(), file };
            let writer = logs.clone();
            let levels = "trace,hyper=info,h2=info,rustls=info,reqwest=info,tokio_postgres=info";
            // A test that sends its traces away has a log of its own already.
            tracing_subscriber::fmt()
                .with_ansi(false)
                .with_env_filter(levels)
                .with_writer(move || writer.clone())
                .try_init()
                .ok();
            logs
        };
        LOGS.get_or_init(make).clone()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.lock().unwrap().extend_from_slice(bytes);
        self.file.as_deref().map_or(Ok(()), |mut file| file.write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Stands between a server and its clients, and keeps what the server says.
#[derive(Debug)]
pub(crate) struct Ear {
    /// Where clients find it.
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Ear {
    /// Listens in front of a server; what is encrypted is of no use, so that goes past it.
    pub(crate) async fn before(server: &str, directory: Option<PathBuf>) -> Option<Self> {
        let behind = server.strip_prefix("http://")?.trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serve = async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                while connections.try_join_next().is_some() {}
                // Who is not there is not reached through here either.
                let Ok(server) = TcpStream::connect(&behind).await else { continue };
                let said = directory.as_deref().map(|directory| file_in(directory, "sent"));
                connections.spawn(join(client, server, said));
            }
        };
        Some(Self { url, task: tokio::spawn(serve) })
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn join(client: TcpStream, server: TcpStream, said: Option<File>) {
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let asked = copy(from_client, to_server, None);
    let answered = copy(from_server, to_client, said);
    tokio::pin!(answered);
    // A client that has said all may still listen; one that is gone makes an error of it.
    tokio::select! {
        asked = asked => if asked.is_ok() { answered.await.ok(); },
        _ = &mut answered => {}
    }
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut kept: Option<File>,
) -> std::io::Result<()> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut bytes).await?;
        if length == 0 {
            return to.shutdown().await;
        }
        if let Some(kept) = &mut kept {
            kept.write_all(&bytes[..length])?;
        }
        to.write_all(&bytes[..length]).await?;
    }
}

/// Keeps what a server has stored when it goes: events, records of requests, and all the rest.
#[derive(Debug)]
pub(crate) struct Store(pub(crate) DatabaseUrl);

impl Drop for Store {
    fn drop(&mut self) {
        let Some(directory) = directory() else { return };
        let url = self.0.clone();
        // A client of its own runtime must not be used inside another one.
        let rows = std::thread::spawn(move || match url {
            DatabaseUrl::Sqlite(path) => sqlite_rows(&path),
            DatabaseUrl::Postgres(url) => postgres_rows(&url),
        });
        // A test may have broken its database, which is its own affair.
        if let Ok(Some(rows)) = rows.join() {
            file_in(&directory, "stored").write_all(rows.as_bytes()).unwrap();
        }
    }
}

fn sqlite_rows(path: &Path) -> Option<String> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(path, flags).ok()?;
    let names = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let mut names = database.prepare(names).ok()?;
    let names = names.query_map([], |row| row.get::<_, String>(0)).ok()?;
    let mut all = String::new();
    for name in names.flatten() {
        let Ok(mut rows) = database.prepare(&format!("SELECT * FROM \"{name}\"")) else { continue };
        let columns = rows.column_count();
        let mut rows = rows.query([]).ok()?;
        while let Ok(Some(row)) = rows.next() {
            write!(all, "{name}").unwrap();
            for column in 0..columns {
                use rusqlite::types::ValueRef;
                match row.get_ref(column) {
                    Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
                        write!(all, "\t{}", String::from_utf8_lossy(bytes)).unwrap();
                    }
                    Ok(ValueRef::Integer(number)) => write!(all, "\t{number}").unwrap(),
                    _ => all.push_str("\t-"),
                }
            }
            all.push('\n');
        }
    }
    Some(all)
}

fn postgres_rows(url: &str) -> Option<String> {
    let mut client = postgres::Client::connect(url, postgres::NoTls).ok()?;
    let names = "SELECT schemaname, tablename FROM pg_tables \
                 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
    let mut all = String::new();
    for found in client.query(names, &[]).ok()? {
        let (schema, name): (String, String) = (found.get(0), found.get(1));
        let rows = format!("SELECT t::text FROM \"{schema}\".\"{name}\" t");
        for row in client.query(&rows, &[]).ok()? {
            let text: String = row.get(0);
            write!(all, "{name}\t{text}").unwrap();
            // What is inside of bytes is to be seen, too.
            for hex in text.split("\\\\x").skip(1) {
                let digits: Vec<u32> = hex.chars().map_while(|c| c.to_digit(16)).collect();
                let byte = |pair: &[u32; 2]| u8::try_from(pair[0] * 16 + pair[1]).unwrap();
                let bytes: Vec<u8> = digits.as_chunks::<2>().0.iter().map(byte).collect();
                write!(all, "\t{}", String::from_utf8_lossy(&bytes)).unwrap();
            }
            all.push('\n');
        }
    }
    Some(all)
}

#[tokio::test]
async fn what_a_server_says_is_kept_word_for_word() {
    let kept = tempfile::TempDir::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let careless = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!("HTTP/1.1 200 OK\r\nx-key: sk-{CANARY}-1\r\ncontent-length: 2\r\n\r\nok");
    let serve = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = [0; 1_024];
        assert!(stream.read(&mut asked).await.unwrap() > 0);
        stream.write_all(answer.as_bytes()).await.unwrap();
    };
    let serve = tokio::spawn(serve);
    let ear = Ear::before(&careless, Some(kept.path().to_owned())).await.unwrap();
    godel_tls::install();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let heard = client.get(&ear.url).send().await.unwrap().text().await.unwrap();
    assert_eq!(heard, "ok");
    serve.await.unwrap();
    let files: Vec<_> = std::fs::read_dir(kept.path()).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let text = std::fs::read_to_string(files[0].path()).unwrap();
    assert!(text.contains(&format!("x-key: sk-{CANARY}-1")) && text.ends_with("ok"), "{text}");
}

#[tokio::test]
async fn what_a_server_stored_can_be_read_on_both_engines() {
    for server in crate::harness::servers().await {
        server.publish("test:stored-by-us").await;
        let url = server.app.store.url().clone();
        let read = move || match url {
            DatabaseUrl::Sqlite(path) => sqlite_rows(&path),
            DatabaseUrl::Postgres(url) => postgres_rows(&url),
        };
        let rows = std::thread::spawn(read).join().unwrap().unwrap();
        assert!(rows.contains("test:stored-by-us"), "{}: {rows}", server.engine);
        assert!(rows.contains("server:start"), "{}: {rows}", server.engine);
    }
}
