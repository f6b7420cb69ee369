//! A wire that breaks where a test wants it to, and commands whose output is read while they run.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

/// Passes connections on to a server. Sockets of agents break after so many bytes, one after the other;
/// the last of them stay.
pub(crate) struct Cutter {
    pub(crate) url: String,
}

impl Cutter {
    pub(crate) fn before(url: &str, budgets: Vec<usize>) -> Self {
        let server = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut budgets = budgets.into_iter();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let mut client: TcpStream = client;
                let Ok(mut behind) = TcpStream::connect(&server) else { continue };
                let mut first = [0; 8_192];
                let read = client.read(&mut first).unwrap_or(0);
                let asked = String::from_utf8_lossy(&first[..read]).into_owned();
                let is_socket = asked.lines().next().is_some_and(|line| line.contains("/attach"));
                let budget = if is_socket { budgets.next() } else { None };
                behind.write_all(&first[..read]).ok();
                let up = (client.try_clone().unwrap(), behind.try_clone().unwrap());
                std::thread::spawn(move || pass(up.0, up.1, usize::MAX));
                std::thread::spawn(move || pass(behind, client, budget.unwrap_or(usize::MAX)));
            }
        });
        Self { url }
    }
}

/// Passes bytes on, and breaks both ends when it has passed so many.
fn pass(mut from: TcpStream, mut to: TcpStream, mut budget: usize) {
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        let read = read.min(budget);
        budget -= read;
        if to.write_all(&piece[..read]).is_err() || budget == 0 {
            break;
        }
    }
    for end in [from, to] {
        end.shutdown(Shutdown::Both).ok();
    }
}

/// A command whose output is gathered while it runs; it is killed with this value.
pub(crate) struct Talkative {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Arc<Mutex<Vec<u8>>>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

/// Opens a terminal of so many lines and columns: the person's side, and that of a command.
pub(crate) fn terminal((rows, columns): (u16, u16)) -> (std::fs::File, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let size =
        rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&person, size).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let command = std::fs::File::options().read(true).write(true).open(name).unwrap();
    (std::fs::File::from(person), command)
}

/// Reads all that comes, on a thread of its own.
pub(crate) fn gather(mut from: impl std::io::Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&all);
    std::thread::spawn(move || {
        let mut piece = [0; 4_096];
        while let Ok(read @ 1..) = from.read(&mut piece) {
            to.lock().unwrap().extend_from_slice(&piece[..read]);
        }
    });
    all
}

fn text(of: &Arc<Mutex<Vec<u8>>>) -> String {
    String::from_utf8_lossy(&of.lock().unwrap()).replace('\r', "")
}

/// Waits until one of them holds a text.
pub(crate) fn wait_for(any: &[&Arc<Mutex<Vec<u8>>>], said: &str) {
    let started = Instant::now();
    loop {
        let all: Vec<String> = any.iter().map(|one| text(one)).collect();
        if all.iter().any(|one| one.contains(said)) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{said:?} was not said, but {all:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Talkative {
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) =
            (gather(child.stdout.take().unwrap()), gather(child.stderr.take().unwrap()));
        Self { stdin: child.stdin.take(), child, stdout, stderr }
    }

    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn stdout(&self) -> String {
        text(&self.stdout)
    }

    pub(crate) fn stderr(&self) -> String {
        text(&self.stderr)
    }

    /// Waits until it has said something, on either output.
    pub(crate) fn until(&self, said: &str) {
        wait_for(&[&self.stdout, &self.stderr], said);
    }

    /// Waits until it has ended, and returns its exit code.
    pub(crate) fn ended(&mut self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The threads that gather may be behind by a moment.
                std::thread::sleep(Duration::from_millis(200));
                return status.code().unwrap_or(-1);
            }
            let (out, err) = (self.stdout(), self.stderr());
            assert!(started.elapsed() < PATIENCE, "it does not end: {out:?} and {err:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Talkative {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
