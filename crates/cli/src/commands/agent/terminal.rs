//! Working in the terminal of an agent.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use bytes::Bytes;
use godel_api::{AttachAsk, AttachTold, ClientError};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, Signals};
use godel_worker::{Attach, Told, Wire};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// How much is typed at a time.
const PIECE_BYTES: usize = 4_096;
/// How many pieces may be typed ahead.
const AHEAD: usize = 16;
/// Ctrl-].
const LEAVE: u8 = 0x1d;

/// Passes bytes between the terminal of an agent and the person, or the pipes, here.
pub(super) async fn run(
    context: &Context,
    label: String,
    mut wire: Wire,
    how: Attach,
) -> Result<Exit> {
    let fail = |cause| Error::file("the terminal", "used", cause);
    let person = io::stdin().is_terminal() && !how.watch;
    let mut signals = Signals::listen()?;
    let mut window = signal(SignalKind::window_change()).map_err(fail)?;
    wire.size = size();
    tokio::select! {
        connected = wire.connect() => connected?,
        () = signals.next() => return Ok(Exit::Done),
    }
    let leave = if person { "Ctrl-] or ~. after Enter detaches" } else { "Ctrl-C detaches" };
    context.output.remark(format_args!("attached to the terminal of {label}; {leave}"));
    let raw = person.then(Raw::begin).transpose().map_err(fail)?;
    let mut visit = Visit { context, label, how, wire, person, shows: None };
    let (mut typed, mut keys) = (typed(how.watch), Keys::new(person));
    let (mut open, mut over) = (!how.watch, None);
    while over.is_none() {
        // What comes by a pipe waits until it may be typed; a person may want to leave.
        let may_type = open && (person || visit.wire.has_control());
        over = tokio::select! {
            told = visit.wire.next() => visit.hear(told?)?,
            bytes = typed.recv(), if may_type => match bytes.map(|bytes| keys.pass(&bytes)) {
                Some(Pressed::Keys(bytes)) => visit.types(bytes).await,
                Some(Pressed::Leave) => Some(visit.farewell()),
                None => {
                    open = false;
                    None
                }
            },
            _ = window.recv() => {
                visit.resize();
                None
            }
            () = signals.next() => Some(visit.farewell()),
        };
    }
    drop(raw);
    visit.context.output.note(over.unwrap_or_default());
    visit.wire.close().await;
    Ok(Exit::Done)
}

/// Somebody in the terminal of an agent.
struct Visit<'c> {
    context: &'c Context,
    label: String,
    how: Attach,
    wire: Wire,
    /// Whether a person sits at a terminal here.
    person: bool,
    /// Who was shown last as who has control; nobody is one of them.
    shows: Option<Option<String>>,
}

impl Visit<'_> {
    fn farewell(&self) -> String {
        format!("detached from {}; its terminal stays open", self.label)
    }

    /// Tells something beside what the terminal shows.
    fn note(&self, text: &str) {
        // A raw terminal does not go back to the beginning of a line by itself.
        let end = if self.person { "\r" } else { "" };
        self.context.output.note(format_args!("{text}{end}"));
    }

    /// Shows what comes; returns why nothing more does.
    fn hear(&mut self, told: Told) -> Result<Option<String>> {
        match told {
            Told::Bytes(bytes) => show(&bytes)?,
            Told::Over(why) => return Ok(Some(plain(&why))),
            Told::Lost => self.note("the connection broke; trying again"),
            Told::Frame(AttachTold::Hello { .. } | AttachTold::Control { .. }) => self.control(),
            Told::Frame(AttachTold::Dropped { from, to }) => {
                self.note(&format!("{} bytes are no longer kept", to - from));
            }
            Told::Frame(AttachTold::Refused { error }) => {
                let error = Error::from(ClientError::from(error));
                self.note(&error.to_string());
            }
            Told::Frame(_) => {}
        }
        Ok(None)
    }

    /// Says who has control, and gives the terminal the size of the one here.
    fn control(&mut self) {
        let holder = self.wire.holder.as_ref().map(|holder| plain(&holder.name));
        if self.wire.has_control() {
            self.resize();
            if self.shows.is_some() {
                self.note("you have control");
            }
            self.shows = None;
        } else if self.shows.as_ref() != Some(&holder) && !self.how.watch {
            self.note(&format!("{} has control; you watch", holder.as_deref().unwrap_or("nobody")));
            self.shows = Some(holder);
        }
    }

    fn resize(&mut self) {
        if self.wire.has_control()
            && let Some((columns, rows)) = size()
        {
            self.wire.ask(&AttachAsk::Resize { columns, rows });
        }
    }

    async fn types(&mut self, bytes: Vec<u8>) -> Option<String> {
        if !bytes.is_empty() && self.wire.has_control() {
            self.wire.types(Bytes::from(bytes)).await;
        }
        None
    }
}

fn show(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|cause| match cause.kind() {
        io::ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::file("stdout", "written", cause),
    })
}

/// Returns the size of the terminal here, in columns and rows.
fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Reads what is typed, on a thread that may wait.
fn typed(watch: bool) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel(AHEAD);
    if !watch {
        tokio::task::spawn_blocking(move || {
            let mut piece = [0; PIECE_BYTES];
            // A terminal that has gone is an end like any other.
            while let Ok(read @ 1..) = io::stdin().read(&mut piece) {
                if send.blocking_send(piece[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    receive
}

/// Passes every key on as it is, until dropped.
struct Raw(Termios);

impl Raw {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that has gone needs no settings.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}

/// What was pressed.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    /// Keys to pass on.
    Keys(Vec<u8>),
    /// The way out.
    Leave,
}

/// Looks for the way out among keys: Ctrl-], or `~.` at the beginning of a line. `~~` is one `~`.
struct Keys {
    /// Whether a person presses them; a program needs no way out.
    person: bool,
    /// Whether a line begins.
    fresh: bool,
    /// Whether a `~` waits for what comes next.
    tilde: bool,
}

impl Keys {
    fn new(person: bool) -> Self {
        Self { person, fresh: true, tilde: false }
    }

    fn pass(&mut self, bytes: &[u8]) -> Pressed {
        if !self.person {
            return Pressed::Keys(bytes.to_vec());
        }
        let mut keys = Vec::with_capacity(bytes.len() + 1);
        for &byte in bytes {
            if byte == LEAVE || (self.tilde && byte == b'.') {
                return Pressed::Leave;
            }
            if self.tilde && byte != b'~' {
                keys.push(b'~');
            }
            let waits = self.fresh && !self.tilde && byte == b'~';
            if !waits {
                keys.push(byte);
            }
            self.tilde = waits;
            self.fresh = matches!(byte, b'\r' | b'\n') || waits;
        }
        Pressed::Keys(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_is_found_and_everything_else_is_passed_on() {
        let pass = |person: bool, pieces: &[&str]| {
            let mut keys = Keys::new(person);
            let mut all = String::new();
            for piece in pieces {
                match keys.pass(piece.as_bytes()) {
                    Pressed::Keys(bytes) => all.push_str(&String::from_utf8(bytes).unwrap()),
                    Pressed::Leave => return format!("{all}|"),
                }
            }
            all
        };
        assert_eq!(pass(true, &["ls\r", "~", "."]), "ls\r|");
        assert_eq!(pass(true, &["~.more"]), "|");
        assert_eq!(pass(true, &["ls ~.\r"]), "ls ~.\r");
        assert_eq!(pass(true, &["~~.\r"]), "~.\r");
        assert_eq!(pass(true, &["~/x\r", "~x"]), "~/x\r~x");
        assert_eq!(pass(true, &["vi\x1d"]), "|");
        assert_eq!(pass(false, &["a\x1d\n~.\n"]), "a\x1d\n~.\n");
    }
}
