//! The input of a process, which ends when its writer says so.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;

/// The input of a process; to shut it down is to close it.
pub(super) struct Input(pub(super) Option<ChildStdin>);

fn closed<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(pipe) => Pin::new(pipe).poll_write(context, bytes),
            None => closed(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Some(pipe) => Pin::new(pipe).poll_flush(context),
            None => closed(),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(pipe) = &mut self.0 else { return Poll::Ready(Ok(())) };
        let done = Pin::new(pipe).poll_shutdown(context);
        if done.is_ready() {
            self.0 = None;
        }
        done
    }
}
