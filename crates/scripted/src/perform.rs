//! Sending an answer the way a fault or a pace wants it.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::vec;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

use crate::fault::Fault;
use crate::record::{End, Ending};

/// A connection that breaks takes along what has not been read yet, so it waits a little.
const BEFORE_BREAK: Duration = Duration::from_millis(50);

/// One act of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Bytes),
    Wait(Duration),
    /// Lets what was sent go out before the next piece.
    Flush,
    Hang,
    Reset,
}

/// Turns the frames of an answer into acts.
///
/// `error` is the frame that the dialect tells of a failure with.
pub(crate) fn acts(
    frames: Vec<String>,
    fault: &Fault,
    pace: Option<Duration>,
    error: impl FnOnce() -> String,
) -> Vec<Act> {
    let (mut frames, last) = cut(frames, fault);
    if fault.malformed {
        let middle = frames.len() / 2;
        if let Some(frame) = frames.get_mut(middle) {
            *frame = frame.replacen('{', "{,", 1);
        }
    }
    if fault.error_after.is_some() {
        frames.push(error());
    }
    for frame in &mut frames {
        if fault.comments {
            frame.insert_str(0, ": keep-alive\n\n");
        }
        if fault.crlf {
            *frame = frame.replace('\n', "\r\n");
        }
    }
    let mut acts = Vec::new();
    for (at, frame) in frames.into_iter().enumerate() {
        if let Some(pace) = pace
            && at > 0
        {
            acts.push(Act::Wait(pace));
        }
        acts.push(Act::Send(frame.into()));
    }
    if let Some(size) = fault.split {
        acts = split(acts, size.max(1));
    }
    if fault.lie_length {
        acts.extend([Act::Flush, Act::Wait(BEFORE_BREAK)]);
    }
    acts.extend(last);
    acts
}

/// Cuts the frames off where the fault says, and tells what follows.
fn cut(mut frames: Vec<String>, fault: &Fault) -> (Vec<String>, Vec<Act>) {
    let ends = [
        (fault.reset_after, vec![Act::Flush, Act::Wait(BEFORE_BREAK), Act::Reset]),
        (fault.hang_after, vec![Act::Hang]),
        (fault.eof_after, Vec::new()),
        (fault.error_after, Vec::new()),
    ];
    for (after, last) in ends {
        if let Some(after) = after {
            frames.truncate(after);
            return (frames, last);
        }
    }
    (frames, Vec::new())
}

/// Divides everything that is sent into pieces, whatever they cut through.
fn split(acts: Vec<Act>, size: usize) -> Vec<Act> {
    let mut result = Vec::new();
    for act in acts {
        let Act::Send(mut bytes) = act else {
            result.push(act);
            continue;
        };
        while !bytes.is_empty() {
            result.push(Act::Send(bytes.split_to(size.min(bytes.len()))));
            result.push(Act::Flush);
        }
    }
    result
}

/// The connection that an answer is sent on.
#[derive(Debug, Default)]
pub(crate) struct Line {
    reset: AtomicBool,
}

impl Line {
    /// Whether the connection is to end with a reset.
    pub(crate) fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Relaxed)
    }
}

/// A body that performs acts.
#[derive(Debug)]
pub(crate) struct Play {
    acts: vec::IntoIter<Act>,
    sleep: Option<Pin<Box<Sleep>>>,
    line: Arc<Line>,
    ending: Option<Arc<Ending>>,
    hangs: bool,
}

impl Play {
    /// Prepares to perform on a connection; `ending` is told how it went.
    pub(crate) fn new(acts: Vec<Act>, line: Arc<Line>, ending: Option<Arc<Ending>>) -> Self {
        Self { acts: acts.into_iter(), sleep: None, line, ending, hangs: false }
    }

    fn tell(&mut self, end: End) {
        if let Some(ending) = self.ending.take() {
            ending.set(end);
        }
    }
}

impl Body for Play {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        loop {
            if self.hangs {
                return Poll::Pending;
            }
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            match self.acts.next() {
                Some(Act::Send(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Some(Act::Wait(time)) => self.sleep = Some(Box::pin(tokio::time::sleep(time))),
                Some(Act::Flush) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Act::Hang) => self.hangs = true,
                Some(Act::Reset) => {
                    self.tell(End::Whole);
                    self.line.reset.store(true, Ordering::Relaxed);
                    return Poll::Ready(Some(Err(Cut)));
                }
                None => {
                    self.tell(End::Whole);
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        // A body of known length is not asked again once all of it has been taken.
        let end = if self.acts.len() == 0 && !self.hangs { End::Whole } else { End::Dropped };
        self.tell(end);
    }
}

/// A connection that is cut on purpose.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cut as the script says")
    }
}

impl Error for Cut {}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(words: &str, pace: Option<u64>) -> Vec<Act> {
        let frames = ["a{1}", "b{2}", "c{3}"].map(str::to_owned).to_vec();
        let fault = Fault::parse(words).unwrap();
        acts(frames, &fault, pace.map(Duration::from_millis), || "error".to_owned())
    }

    fn sent(acts: &[Act]) -> Vec<&[u8]> {
        acts.iter().filter_map(|a| if let Act::Send(b) = a { Some(&b[..]) } else { None }).collect()
    }

    #[test]
    fn every_cut_keeps_what_came_before() {
        assert_eq!(sent(&played("eof-after=2", None)), [b"a{1}", b"b{2}"]);
        assert_eq!(played("reset-after=1", None).last(), Some(&Act::Reset));
        assert_eq!(played("hang-after=0", None), [Act::Hang]);
        assert_eq!(sent(&played("error-after=1", None)), [&b"a{1}"[..], b"error"]);
    }

    #[test]
    fn lines_may_end_otherwise_and_have_comments_between() {
        let acts = played("crlf comments eof-after=1", None);
        assert_eq!(sent(&acts), [b": keep-alive\r\n\r\na{1}"]);
    }

    #[test]
    fn pieces_make_up_the_whole() {
        let acts = played("split=3", None);
        assert_eq!(sent(&acts).concat(), b"a{1}b{2}c{3}");
        assert_eq!(sent(&acts)[..2], [&b"a{1"[..], b"}"]);
        assert_eq!(acts[1], Act::Flush);
    }

    #[test]
    fn a_pace_lies_between_events_and_broken_json_in_the_middle() {
        assert_eq!(played("", Some(5))[1], Act::Wait(Duration::from_millis(5)));
        assert_eq!(sent(&played("malformed", None))[1], b"b{,2}");
    }
}
