//! What a process writes, until it has ended.
//!
//! A process that is killed in a bad moment can leave another behind that holds its output open for ever;
//! who reads must not wait for that one.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};

use super::running::Running;

/// How long after its end something of a process may still come.
const GRACE: Duration = Duration::from_secs(2);

/// What a process writes, until it has ended and nothing comes any more.
pub(super) struct Outlet<R> {
    pipe: R,
    over: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

impl<R> Outlet<R> {
    /// Reads from a pipe of a process.
    pub(super) fn of(pipe: R, running: &Arc<Running>) -> Self {
        let running = Arc::clone(running);
        let over = Box::pin(async move {
            running.wait().await;
            tokio::time::sleep(GRACE).await;
        });
        Self { pipe, over }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Outlet<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // What was written before the end is in the pipe, and comes first.
        match Pin::new(&mut self.pipe).poll_read(context, buffer) {
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => self.over.as_mut().poll(context).map(Ok),
        }
    }
}
