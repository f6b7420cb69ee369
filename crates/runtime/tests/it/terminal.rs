//! Terminals: what every provider that has them promises.

use std::time::Duration;

use godel_model::{Report as _, code};
use godel_runtime::{
    Attachment, Command, Exit, Output, Process, ProcessId, Profile, RuntimeProvider, SandboxId,
    TERMINAL_KEPT_BYTES, TerminalSize,
};

use crate::world::World;

/// No answer of a terminal takes longer.
const PATIENCE: Duration = Duration::from_secs(60);
const SIZE: TerminalSize = TerminalSize { columns: 91, rows: 17 };

/// Reads on until a text was shown; returns everything until then.
async fn until(reader: &mut Attachment, text: &str) -> String {
    let mut all = String::new();
    let read = async {
        while !all.contains(text) {
            match reader.next().await {
                Some(Output::Bytes { bytes, .. }) => all.push_str(&String::from_utf8_lossy(&bytes)),
                other => panic!("{other:?} instead of {text:?} after {all:?}"),
            }
        }
    };
    let read = tokio::time::timeout(PATIENCE, read).await;
    assert!(read.is_ok(), "{text:?} was not shown, but {all:?}");
    all
}

/// Reads to the end: how much was dropped, and the rest.
async fn to_the_end(reader: &mut Attachment) -> (u64, Vec<u8>) {
    let (mut dropped, mut rest) = (0, Vec::new());
    let read = async {
        while let Some(output) = reader.next().await {
            match output {
                Output::Bytes { offset, bytes } => {
                    assert_eq!(offset, reader.offset() - bytes.len() as u64);
                    rest.extend(bytes);
                }
                Output::Dropped { from, to } => dropped += to - from,
            }
        }
    };
    tokio::time::timeout(PATIENCE, read).await.expect("the terminal comes to its end");
    (dropped, rest)
}

async fn start(provider: &dyn RuntimeProvider, at: SandboxId, script: &str) -> Process {
    provider.exec(at, &Command::shell(script).with_terminal(SIZE)).await.unwrap()
}

/// What every provider with terminals promises.
pub(crate) async fn keeps_its_promises(provider: &dyn RuntimeProvider, at: SandboxId) {
    it_is_a_terminal(provider, at).await;
    keys_are_signals(provider, at).await;
    readers_come_and_go(provider, at).await;
    what_is_too_much_is_dropped(provider, at).await;
    // Without a terminal there is nothing to attach to.
    let process = provider.exec(at, &Command::shell("sleep 1000")).await.unwrap();
    assert_eq!(process.attach(0).unwrap_err().code(), code::SANDBOX_STATE);
    assert!(provider.terminal(at, process.id).await.is_err());
    let unknown = ProcessId(uuid::Uuid::nil());
    assert!(provider.terminal(at, unknown).await.is_err());
}

async fn it_is_a_terminal(provider: &dyn RuntimeProvider, at: SandboxId) {
    let script = "trap 'echo now $(stty size)' WINCH; test -t 0 && test -t 1 && test -t 2 && \
                  echo size $(stty size); echo hello > /dev/tty; echo ready; \
                  while :; do sleep 0.05; done";
    let process = start(provider, at, script).await;
    assert!(process.stdout.is_none() && process.stderr.is_none() && process.stdin.is_none());
    let mut reader = process.attach(0).unwrap();
    let shown = until(&mut reader, "ready").await;
    // The kernel of gVisor does not know the terminal by that name.
    let named = shown.contains("hello\r\n") || provider.name() == "gvisor";
    assert!(shown.contains("size 17 91\r\n") && named, "{shown:?}");
    process.resize(TerminalSize { columns: 40, rows: 10 }).unwrap();
    until(&mut reader, "now 10 40\r\n").await;
    process.kill(Duration::ZERO).await.unwrap();
    to_the_end(&mut reader).await;
    assert_eq!(process.write(b"x").await.unwrap_err().code(), code::SANDBOX_STATE);
    assert_eq!(process.resize(SIZE).unwrap_err().code(), code::SANDBOX_STATE);
}

async fn keys_are_signals(provider: &dyn RuntimeProvider, at: SandboxId) {
    // What is typed is shown and read; Control-C interrupts; Control-D ends the input.
    let process = start(provider, at, "read word; echo got $word; exec sleep 1000").await;
    let mut reader = process.attach(0).unwrap();
    process.write(b"tree\n").await.unwrap();
    until(&mut reader, "got tree").await;
    process.write(b"\x03").await.unwrap();
    let exit = tokio::time::timeout(PATIENCE, process.wait()).await.unwrap().unwrap();
    assert_eq!(exit, Exit::Signal { signal: 2 });
    let process = start(provider, at, "cat; echo over; exit 4").await;
    let mut reader = process.attach(0).unwrap();
    process.write(b"a\n\x04").await.unwrap();
    until(&mut reader, "over").await;
    assert_eq!(process.wait().await.unwrap(), Exit::Code { code: 4 });
    // The shell that people work in has control of its jobs.
    let process = provider.exec(at, &Command::new("/bin/sh").arg("-i").with_terminal(SIZE)).await;
    let process = process.unwrap();
    let mut reader = process.attach(0).unwrap();
    process.write(b"sleep 1000\n").await.unwrap();
    until(&mut reader, "sleep 1000\r\n").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.write(b"\x03echo al''ive $((40 + 2))\n").await.unwrap();
    let shown = until(&mut reader, "alive 42").await;
    assert!(!shown.contains("job control turned off"), "{shown:?}");
    process.write(b"exit 5\n").await.unwrap();
    assert_eq!(process.wait().await.unwrap(), Exit::Code { code: 5 });
}

async fn readers_come_and_go(provider: &dyn RuntimeProvider, at: SandboxId) {
    let script = "echo one; read x; echo two; read x; echo three; exit 3";
    let process = start(provider, at, script).await;
    let mut first = process.attach(0).unwrap();
    let seen = until(&mut first, "one\r\n").await;
    // Another is told the same, one who comes later only the rest; neither is noticed by the process.
    let mut second = process.attach(0).unwrap();
    assert_eq!(until(&mut second, "one\r\n").await, seen);
    let place = second.offset();
    drop(second);
    drop(first);
    let found = provider.terminal(at, process.id).await.unwrap();
    found.write(b"\n").await.unwrap();
    let mut third = found.attach(place).unwrap();
    let more = until(&mut third, "two\r\n").await;
    assert!(!more.contains("one"), "{more:?}");
    assert_eq!(found.attach(1 << 40).unwrap_err().code(), code::INVALID_FIELD);
    found.write(b"\n").await.unwrap();
    assert_eq!(process.wait().await.unwrap(), Exit::Code { code: 3 });
    // All of it can be read when the process and its owner are gone.
    let id = process.id;
    drop(process);
    let ended = provider.terminal(at, id).await.unwrap();
    let (dropped, all) = to_the_end(&mut ended.attach(0).unwrap()).await;
    let all = String::from_utf8(all).unwrap();
    assert_eq!((dropped, ended.end()), (0, all.len() as u64));
    let order = ["one\r\n", "two\r\n", "three\r\n"].map(|word| all.find(word).unwrap());
    assert!(order.is_sorted(), "{all:?}");
}

async fn what_is_too_much_is_dropped(provider: &dyn RuntimeProvider, at: SandboxId) {
    // Nobody reads, and the process ends all the same.
    let lines = TERMINAL_KEPT_BYTES / 4;
    let script = format!("echo first; read x; yes abcdefgh | head -n {lines}; echo last");
    let process = start(provider, at, &script).await;
    let mut early = process.attach(0).unwrap();
    until(&mut early, "first").await;
    process.write(b"\n").await.unwrap();
    let exit = tokio::time::timeout(PATIENCE, process.wait()).await.unwrap().unwrap();
    assert!(exit.success());
    // Who reads while it is shown may see more than is kept.
    while !process.terminal.as_ref().unwrap().is_over() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut reader = process.attach(0).unwrap();
    let (dropped, rest) = to_the_end(&mut reader).await;
    let whole = ("first\r\n\r\n".len() + lines * 10 + "last\r\n".len()) as u64;
    assert_eq!(dropped + rest.len() as u64, whole);
    assert_eq!(rest.len(), TERMINAL_KEPT_BYTES);
    assert!(rest.ends_with(b"abcdefgh\r\nlast\r\n"));
    let (dropped, rest) = to_the_end(&mut early).await;
    assert!(dropped > 0 && rest.ends_with(b"last\r\n"), "a slow reader is told too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_leaves_the_way_out_open_and_a_reader_hears_of_the_end_of_godel() {
    let world = World::new();
    let at = world.spawn("a", Profile::Workspace).await.id;
    let script = "trap 'echo heard' INT; echo ready; while :; do sleep 0.05; \
                  (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null && echo open; done";
    let command = Command::new("bash").args(["-c", script]).with_terminal(SIZE);
    let process = world.provider.exec(at, &command).await.unwrap();
    let mut reader = process.attach(0).unwrap();
    until(&mut reader, "open").await;
    process.write(b"\x03").await.unwrap();
    until(&mut reader, "heard").await;
    until(&mut reader, "open").await;
    drop(process);
    drop(world);
    to_the_end(&mut reader).await;
}
