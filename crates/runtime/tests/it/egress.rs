//! The one way that is open with every profile: to Godel itself.

use godel_runtime::{Profile, RuntimeProvider as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::world::World;

/// A server that answers every request with one line.
async fn server() -> (u16, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 4_096];
            let _ = stream.read(&mut bytes).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, tasks)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn godel_is_reached_straight_and_by_the_proxy_in_every_profile() {
    let world = World::new();
    let (port, _server) = server().await;
    for profile in Profile::ALL {
        let mut spec = world.spec(&profile.as_str().replace('+', "-"), profile);
        spec.egress.api = Some(format!("http://127.0.0.1:{port}/v1"));
        let sandbox = world.provider.spawn(&spec).await.unwrap();
        let api = sandbox.api.unwrap();
        assert_eq!(api, format!("http://127.0.0.1:{port}/v1"));
        let get = |handler: &str, url: &str| {
            format!(
                "no_proxy= NO_PROXY= python3 -c \"import urllib.request as u\nprint(u.build_opener(u.ProxyHandler(\
                 {handler})).open('{url}',timeout=20).read().decode())\""
            )
        };
        assert_eq!(world.works(sandbox.id, &get("{}", &api)).await.trim(), "hello");
        if profile != Profile::None {
            let proxy = "{'http':'http://127.0.0.1:3128'}";
            assert_eq!(world.works(sandbox.id, &get(proxy, &api)).await.trim(), "hello");
            // The way leads to this one port, not to its neighbours.
            let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://127.0.0.1:{}/", other.local_addr().unwrap().port());
            for handler in ["{}", proxy] {
                assert!(!world.run(sandbox.id, &get(handler, &url)).await.exit.success());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_neither_arguments_nor_on_disk() {
    let world = World::new();
    let mut spec = world.spec("a", Profile::Workspace);
    spec.env.insert("GODEL_TOKEN".to_owned(), "s3cr3t-token".to_owned());
    let at = world.provider.spawn(&spec).await.unwrap().id;
    assert_eq!(world.works(at, "echo $GODEL_TOKEN").await, "s3cr3t-token");
    let process =
        world.provider.exec(at, &godel_runtime::Command::shell("sleep 100")).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains("s3cr3t-token"));
    }
    let mut open = vec![world.home.path().to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if entry.file_type().unwrap().is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let found = bytes.windows(12).any(|window| window == b"s3cr3t-token");
                assert!(!found, "{}", entry.path().display());
            }
        }
    }
    assert!(!format!("{spec:?}").contains("s3cr3t"));
    drop(process);
}
