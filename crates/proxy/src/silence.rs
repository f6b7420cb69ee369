//! How long a provider may say nothing, and what its client hears meanwhile.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Measures how long a provider says nothing.
pub(crate) struct Silence {
    idle: Duration,
    ping: Option<Duration>,
    ends: Instant,
    timer: Pin<Box<Sleep>>,
}

/// What is to be done about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Quiet {
    /// The client is to hear that somebody is there.
    Ping,
    /// It lasts too long.
    TooLong,
}

impl Silence {
    /// Lets a provider be silent for so long; the client is to hear something now and then.
    pub(crate) fn new(idle: Duration, ping: Option<Duration>) -> Self {
        let now = Instant::now();
        let first = now + ping.unwrap_or(idle).min(idle);
        Self { idle, ping, ends: now + idle, timer: Box::pin(tokio::time::sleep_until(first)) }
    }

    /// Returns for how long a provider may be silent.
    pub(crate) const fn limit(&self) -> Duration {
        self.idle
    }

    /// Notes that the provider said something.
    pub(crate) fn broken(&mut self) {
        self.ends = Instant::now() + self.idle;
        self.set();
    }

    fn set(&mut self) {
        let next = self.ping.map_or(self.ends, |ping| (Instant::now() + ping).min(self.ends));
        self.timer.as_mut().reset(next);
    }

    /// Waits until something is to be done.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Quiet> {
        std::task::ready!(self.timer.as_mut().poll(cx));
        if Instant::now() >= self.ends {
            return Poll::Ready(Quiet::TooLong);
        }
        self.set();
        Poll::Ready(Quiet::Ping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silence_is_filled_until_it_lasts_too_long() {
        let seconds = Duration::from_secs;
        let mut silence = Silence::new(seconds(40), Some(seconds(15)));
        let start = Instant::now();
        let mut heard = Vec::new();
        for _ in 0..3 {
            let quiet = std::future::poll_fn(|cx| silence.poll(cx)).await;
            heard.push((quiet, start.elapsed().as_secs()));
        }
        assert_eq!(heard, [(Quiet::Ping, 15), (Quiet::Ping, 30), (Quiet::TooLong, 40)]);
        silence.broken();
        assert_eq!(std::future::poll_fn(|cx| silence.poll(cx)).await, Quiet::Ping);
        let mut plain = Silence::new(seconds(40), None);
        assert_eq!(std::future::poll_fn(|cx| plain.poll(cx)).await, Quiet::TooLong);
    }
}
