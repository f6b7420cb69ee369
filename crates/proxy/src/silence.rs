//! How long a provider may say nothing, and what its client hears meanwhile.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Measures how long a provider says nothing.
pub(crate) struct Silence {
    idle: Duration,
    ping: Option<Duration>,
    /// When the provider said something last, and when the client heard something last.
    said: Instant,
    heard: Instant,
    /// Rings no later than something is to be done; it is set anew only when it rings.
    timer: Option<Pin<Box<Sleep>>>,
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
        Self { idle, ping, said: now, heard: now, timer: None }
    }

    /// Returns for how long a provider may be silent.
    pub(crate) const fn limit(&self) -> Duration {
        self.idle
    }

    /// Notes that the provider said something.
    pub(crate) fn broken(&mut self) {
        self.said = Instant::now();
        self.heard = self.said;
    }

    /// When something is to be done next, if nothing happens until then.
    fn next(&self) -> Instant {
        let ends = self.said + self.idle;
        self.ping.map_or(ends, |ping| (self.heard + ping).min(ends))
    }

    /// Waits until something is to be done.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Quiet> {
        loop {
            let next = self.next();
            let new = || Box::pin(tokio::time::sleep_until(next));
            std::task::ready!(self.timer.get_or_insert_with(new).as_mut().poll(cx));
            self.timer = None;
            let now = Instant::now();
            if now >= self.said + self.idle {
                return Poll::Ready(Quiet::TooLong);
            }
            if now >= next {
                self.heard = now;
                return Poll::Ready(Quiet::Ping);
            }
        }
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
