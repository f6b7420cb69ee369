//! Leads connections on the sandbox's own loopback to a socket of Godel.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::plan::Relay;

/// How many connections there may be at a time.
const CONNECTIONS_MAX: usize = 256;

/// Serves the listener that is the input of this process, until it is ended.
pub(super) fn serve(socket: &Path) -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let listener = TcpListener::from(input);
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(accept(listener, socket))
}

/// Leads those who come in at the socket that is the input of this process to a port on its loopback,
/// until it is ended.
pub(super) fn let_in(port: u16) -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let listener = std::os::unix::net::UnixListener::from(input);
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = UnixListener::from_std(listener)?;
        let accept = async || listener.accept().await.map(|(stream, _)| stream);
        accept_all(accept, |mut outside| async move {
            // Nobody listens yet, or any more: whoever came in hears nothing.
            let Ok(mut inside) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
                return;
            };
            let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
        })
        .await;
        Ok(())
    })
}

/// Serves several ports in one process, until it is ended.
///
/// With threads that wait: gVisor cannot keep a connection in a checkpoint that somebody polls.
pub(super) fn serve_all(relays: &[Relay]) -> io::Result<()> {
    let open = AtomicUsize::new(0);
    let mut listeners = Vec::new();
    for relay in relays {
        listeners.push((TcpListener::bind((Ipv4Addr::LOCALHOST, relay.port))?, &relay.socket));
    }
    std::thread::scope(|scope| {
        for (listener, socket) in &listeners {
            let open = &open;
            scope.spawn(move || {
                for inside in listener.incoming().flatten() {
                    if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS_MAX {
                        open.fetch_sub(1, Ordering::SeqCst);
                        continue;
                    }
                    scope.spawn(move || {
                        // Either side may go away at any time; then so does the other.
                        let _ = pass_waiting(&inside, socket);
                        open.fetch_sub(1, Ordering::SeqCst);
                    });
                }
            });
        }
    });
    Ok(())
}

fn pass_waiting(inside: &std::net::TcpStream, socket: &Path) -> io::Result<()> {
    let outside = std::os::unix::net::UnixStream::connect(socket)?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = io::copy(&mut &*inside, &mut &outside);
            let _ = outside.shutdown(Shutdown::Write);
        });
        let _ = io::copy(&mut &outside, &mut &*inside);
        // Nobody reads any more, so the other direction ends too.
        let _ = inside.shutdown(Shutdown::Both);
        let _ = outside.shutdown(Shutdown::Both);
    });
    Ok(())
}

async fn accept(listener: TcpListener, socket: &Path) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let socket: Arc<Path> = socket.into();
    let accept = async || listener.accept().await.map(|(stream, _)| stream);
    accept_all(accept, |stream| {
        let socket = Arc::clone(&socket);
        async move { pass(stream, &socket).await }
    })
    .await;
    Ok(())
}

/// Serves whoever comes, so many at a time.
async fn accept_all<S, F: Future<Output = ()> + Send + 'static>(
    next: impl AsyncFn() -> io::Result<S>,
    serve: impl Fn(S) -> F,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok(stream) = next().await else { continue };
        while connections.try_join_next().is_some() {}
        let served = serve(stream);
        connections.spawn(async move {
            served.await;
            drop(place);
        });
    }
}

async fn pass(mut inside: TcpStream, socket: &Path) {
    let Ok(mut outside) = UnixStream::connect(socket).await else { return };
    // Either side may go away at any time; then so does the other.
    let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
}
