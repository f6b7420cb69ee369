//! Reading what nobody should see: from a pipe, or from a terminal without echo.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::context::Context;
use crate::error::{Error, Result};

/// What is read at most: more than any secret may have.
const READ_MAX_BYTES: u64 = 128 * 1024;

/// How often a person types it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// Once.
    Once,
    /// Twice, because a slip would not be noticed.
    Twice,
}

/// Reads a secret from stdin; a person at a terminal is asked for it.
pub async fn read(context: &Context, what: &str, typed: Typed) -> Result<String> {
    if !can_ask() {
        return piped(what);
    }
    let first = prompt(context, &format!("{what}: ")).await?;
    if typed == Typed::Twice && prompt(context, &format!("{what}, once more: ")).await? != first {
        return Err(Error::usage("the two are not the same", "try again"));
    }
    filled(first, what)
}

/// Tells whether there is a person to ask.
pub fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Reads a secret from a file; the newline at its end does not belong to it.
pub fn from_file(path: &Path) -> Result<String> {
    let fail = |cause| Error::file(&path.display(), "read", cause);
    let file = File::open(path).map_err(fail)?;
    let mut text = String::new();
    file.take(READ_MAX_BYTES).read_to_string(&mut text).map_err(fail)?;
    filled(without_newline(text), "password")
}

/// Reads all of stdin; the newline at its end belongs to the pipe.
fn piped(what: &str) -> Result<String> {
    let mut text = String::new();
    let read = io::stdin().lock().take(READ_MAX_BYTES).read_to_string(&mut text);
    let read = read.map_err(|cause| Error::file("stdin", "read", cause))?;
    if read as u64 == READ_MAX_BYTES {
        return Err(Error::usage(format!("the {what} is too long"), "it may have 64 KiB"));
    }
    filled(without_newline(text), what)
}

fn filled(text: String, what: &str) -> Result<String> {
    if text.is_empty() {
        let hint = "give it on stdin, for example with `.. < FILE`, or type it at a terminal";
        return Err(Error::usage(format!("no {what} was given"), hint));
    }
    Ok(text)
}

fn without_newline(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

/// Turns the echo of a terminal off, until dropped.
struct Silence(Termios);

impl Silence {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that has gone needs no echo.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}

/// Asks for a line without showing it; Ctrl-C leaves the terminal as it was.
async fn prompt(context: &Context, question: &str) -> Result<String> {
    let fail = |cause| Error::file("the terminal", "read", cause);
    let silence = Silence::begin().map_err(fail)?;
    context.output.ask(question);
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = line => line.unwrap_or_else(|cause| Err(io::Error::other(cause))),
        _ = tokio::signal::ctrl_c() => Err(io::Error::new(io::ErrorKind::Interrupted, "Ctrl-C")),
    };
    drop(silence);
    context.output.ask("\n");
    line.map(without_newline).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_newline_belongs_to_the_pipe() {
        for (text, value) in
            [("a\n", "a"), ("a\r\n", "a"), ("a", "a"), ("a\n\n", "a\n"), (" a ", " a "), ("", "")]
        {
            assert_eq!(without_newline(text.to_owned()), value);
        }
    }
}
