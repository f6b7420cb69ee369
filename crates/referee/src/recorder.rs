//! Writes a history while a test runs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::record::{Answer, Begin, Dump, Record, What};

/// Writes records as they happen; clones write to the same history, from any thread.
///
/// A record is in its place before the call returns, so the order of lines is the order of what
/// happened. Errors of the file are kept and told by [`Recorder::finish`].
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    next: AtomicU64,
    tasks: AtomicU64,
    events: AtomicU64,
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    sink: Mutex<Sink>,
}

struct Sink {
    to: To,
    failed: Option<io::Error>,
}

enum To {
    Memory(Vec<u8>),
    Buffered(BufWriter<File>),
    /// Each line is one write, so that several processes may share the file.
    Shared(File),
}

impl Recorder {
    /// Writes to memory; [`Recorder::finish`] gives the bytes.
    pub fn in_memory() -> Self {
        Self::new(To::Memory(Vec::new()), 0)
    }

    /// Writes to a new file, or over an old one.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self::new(To::Buffered(BufWriter::new(File::create(path)?)), 0))
    }

    /// Writes to the end of a file that several processes share; each has a lane of its own.
    ///
    /// Nothing is kept back, so a process that is killed leaves all that it wrote.
    pub fn append(path: &Path, lane: u16) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self::new(To::Shared(file), u64::from(lane) << 32))
    }

    /// Reads the client's time from here, for a simulation.
    ///
    /// Call it before the recorder is cloned; a clone keeps the clock that it had.
    pub fn with_clock(self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        match Arc::try_unwrap(self.shared) {
            Ok(shared) => Self { shared: Arc::new(Shared { clock: Box::new(clock), ..shared }) },
            Err(shared) => Self { shared },
        }
    }

    fn new(to: To, first: u64) -> Self {
        let start = Instant::now();
        let clock = move || i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX);
        let sink = Mutex::new(Sink { to, failed: None });
        let [next, tasks, events] = [first, 0, 0].map(AtomicU64::new);
        let shared = Shared { next, tasks, events, clock: Box::new(clock), sink };
        Self { shared: Arc::new(shared) }
    }

    /// Says how strict to be; the first record, if any.
    pub fn begin(&self, begin: Begin) {
        self.write(&Record::Begin(begin));
    }

    /// Notes that a client is about to ask; call it before the request leaves.
    pub fn invoke(&self, client: &str, what: What) -> Op {
        let op = self.shared.next.fetch_add(1, Ordering::Relaxed);
        self.write(&Record::Invoke { op, client: client.to_owned(), at: self.now(), what });
        Op { number: op, recorder: self.clone() }
    }

    /// Notes that the server told of an expired lease; `at` is the database's time.
    pub fn expire(&self, task: &str, attempt: u32, at: i64) {
        self.write(&Record::Expire { task: task.to_owned(), attempt, at });
    }

    /// Notes the events that a subscriber got; `only` is the beginning of the kinds it asked for.
    pub fn seen(&self, by: &str, tenant: &str, seqs: &[u64], only: Option<&str>) {
        self.write(&Record::Seen {
            by: by.to_owned(),
            tenant: tenant.to_owned(),
            seqs: seqs.to_vec(),
            only: only.map(str::to_owned),
        });
    }

    /// Notes that the power was cut or a process was killed.
    pub fn cut(&self) {
        self.write(&Record::Cut { at: self.now() });
    }

    /// Notes that from here on nothing is added and no fault is made, in one pool or in all.
    pub fn quiesced(&self, pool: Option<&str>) {
        self.write(&Record::Quiesced { at: self.now(), pool: pool.map(str::to_owned) });
    }

    /// Notes that every accepted task should have ended.
    pub fn drained(&self) {
        self.write(&Record::Drained { at: self.now() });
    }

    /// Writes a piece of what the server ended with: all tasks before all events.
    pub fn dump(&self, dump: Dump) {
        match &dump {
            Dump::Task(_) => self.shared.tasks.fetch_add(1, Ordering::Relaxed),
            Dump::Event(_) => self.shared.events.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.write(&Record::Dump(dump));
    }

    /// Writes that the dump is whole, with the number of what this recorder and its clones dumped.
    pub fn dump_end(&self) {
        let [tasks, events] =
            [&self.shared.tasks, &self.shared.events].map(|count| count.load(Ordering::Relaxed));
        self.write(&Record::Dump(Dump::End { tasks, events }));
    }

    /// Writes a record as it is.
    pub fn write(&self, record: &Record) {
        // The work is done before the lock is taken.
        let line = serde_json::to_vec(record).map(|mut line| {
            line.push(b'\n');
            line
        });
        let mut sink = self.shared.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let written = line.map_err(io::Error::from).and_then(|line| match &mut sink.to {
            To::Memory(bytes) => bytes.write_all(&line),
            To::Buffered(file) => file.write_all(&line),
            To::Shared(file) => file.write_all(&line),
        });
        if let Err(error) = written {
            sink.failed.get_or_insert(error);
        }
    }

    /// Brings everything to the file, and tells whether any record could not be written.
    ///
    /// Gives the history itself if it was kept in memory.
    pub fn finish(&self) -> io::Result<Vec<u8>> {
        let mut sink = self.shared.sink.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = sink.failed.take() {
            return Err(error);
        }
        match &mut sink.to {
            To::Memory(bytes) => Ok(std::mem::take(bytes)),
            To::Buffered(file) => file.flush().map(|()| Vec::new()),
            To::Shared(_) => Ok(Vec::new()),
        }
    }

    fn now(&self) -> i64 {
        (self.shared.clock)()
    }
}

/// An operation that was asked for and has no answer yet; dropped, it never gets one.
pub struct Op {
    number: u64,
    recorder: Recorder,
}

impl Op {
    /// Its number in the history.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The server said yes.
    pub fn ok(self, answer: Answer) {
        self.recorder.write(&Record::Ok { op: self.number, at: self.recorder.now(), answer });
    }

    /// The server said no, and meant it: nothing has changed and nothing will.
    pub fn fail(self, error: &str) {
        let (op, at) = (self.number, self.recorder.now());
        self.recorder.write(&Record::Fail { op, at, error: error.to_owned() });
    }

    /// The connection broke, time ran out, or the server could not tell.
    pub fn unknown(self) {
        self.recorder.write(&Record::Unknown { op: self.number, at: self.recorder.now() });
    }
}
