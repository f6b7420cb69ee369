//! What a command prints: its beginning and its end, however much it is.

use std::time::Duration;

use godel_runtime::{Command, Exit, RuntimeProvider, SandboxId};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How long the rest of what a command printed is waited for when it has ended.
const REST: Duration = Duration::from_millis(500);
/// How much of its complaints is kept, apart from its output.
const COMPLAINT_MAX_BYTES: usize = 4096;

/// The beginning and the end of what was read.
#[derive(Debug)]
pub(crate) struct Output {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    half: usize,
    left_out: usize,
}

impl Output {
    /// Keeps so many bytes at most.
    pub(crate) const fn new(max_bytes: usize) -> Self {
        let tail = std::collections::VecDeque::new();
        Self { head: Vec::new(), tail, half: max_bytes / 2, left_out: 0 }
    }

    /// Takes more.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        // Of a large piece only the end can matter.
        let skipped = rest.len().saturating_sub(self.half);
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += skipped + over;
    }

    /// Reads until there is no more.
    pub(crate) async fn drain(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        // A pipe that cannot be read has ended.
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            self.take(&buffer[..count]);
        }
    }

    /// Returns it as text.
    pub(crate) fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[.. {} bytes left out ..]\n{tail}", self.left_out)
    }
}

/// Runs a command in a sandbox to its end, and returns what it printed and how it ended.
pub(crate) async fn perform(
    runtime: &dyn RuntimeProvider,
    sandbox: SandboxId,
    command: &Command,
    max_bytes: usize,
) -> godel_runtime::Result<(String, Exit)> {
    let mut process = runtime.exec(sandbox, command).await?;
    let (mut said, mut complained) = (Output::new(max_bytes), Output::new(COMPLAINT_MAX_BYTES));
    let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
    let control = std::sync::Arc::clone(&process.control);
    let drained = async {
        let hear = async {
            if let Some(stdout) = stdout {
                said.drain(stdout).await;
            }
        };
        let listen = async {
            if let Some(stderr) = stderr {
                complained.drain(stderr).await;
            }
        };
        tokio::join!(hear, listen);
    };
    let exit = {
        tokio::pin!(drained);
        tokio::select! {
            () = &mut drained => control.wait().await,
            exit = control.wait() => {
                // What it left running in the background may hold its pipes for ever.
                let _ = tokio::time::timeout(REST, drained).await;
                exit
            }
        }
    };
    let mut text = said.text();
    text.push_str(&complained.text());
    exit.map(|exit| (text, exit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_ends_are_kept_however_it_came(
            bytes in proptest::collection::vec(b'a'..=b'z', 0..100), cut in 0_usize..100,
        ) {
            let cut = cut.min(bytes.len());
            let (mut whole, mut split) = (Output::new(20), Output::new(20));
            whole.take(&bytes);
            split.take(&bytes[..cut]);
            split.take(&bytes[cut..]);
            prop_assert_eq!(whole.text(), split.text());
            let text = String::from_utf8(bytes.clone()).unwrap();
            if bytes.len() <= 20 {
                prop_assert_eq!(whole.text(), text);
            } else {
                prop_assert!(whole.text().starts_with(&text[..10]));
                prop_assert!(whole.text().ends_with(&text[text.len() - 10..]));
            }
        }
    }
}
