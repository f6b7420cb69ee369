//! `godel bead` as a user runs it: a whole process each time.

use std::path::Path;
use std::process::{Command, Stdio};

use super::slow::{ADDED_MS, SlowDisk};
use super::stock::named;
use super::{open, p50, words};
use crate::error::{Error, Result, Told as _};
use crate::table::{Bar, Row};

const RUNS: usize = 60;
/// Runs that do not count.
const WARM_UP: usize = 5;
const CREATE_MAX_MS: f64 = 25.0;
const SHOW_MAX_MS: f64 = 15.0;
/// What a list may take, up to 10,000 beads and beyond.
const LIST_MAX_MS: [f64; 2] = [25.0, 50.0];

/// The program in one repository.
pub(super) struct Program<'a> {
    path: &'a Path,
    folder: &'a Path,
    size: usize,
}

impl<'a> Program<'a> {
    pub(super) fn new(path: &'a Path, folder: &'a Path, size: usize) -> Self {
        Self { path, folder, size }
    }

    /// Measures what people do all day.
    pub(super) fn measure(&self, slow: &SlowDisk) -> Result<Vec<Row>> {
        let size = named(self.size);
        let list_max = LIST_MAX_MS[usize::from(self.size > 10_000)];
        let ids = self.ids()?;
        let ended = self.times(&["--version"], None)?;
        let list = self.times(&["bead", "list", "--limit", "50"], None)?;
        let ready = self.times(&["bead", "ready"], None)?;
        let show = self.p50(|at| self.run(&["bead", "show", &ids[at % ids.len()]], None))?;
        let create = self.create(None)?;
        let slowly = self.create(Some(slow))?;
        let row = |what: &str, took| Row::told(format!("{what}, {size} beads, p50"), took, "ms");
        Ok(vec![
            Row::told("`godel --version`, p50", ended, "ms"),
            row("`bead create`", create).bar(Bar::Below(CREATE_MAX_MS)),
            row(&format!("`bead create`, fsync + {ADDED_MS} ms"), slowly)
                .bar(Bar::Below(CREATE_MAX_MS)),
            row("`bead show`", show).bar(Bar::Below(SHOW_MAX_MS)),
            row("`bead list --limit 50`", list).bar(Bar::Below(list_max)),
            row("`bead ready`", ready).bar(Bar::Below(list_max)),
        ])
    }

    /// Returns what one `bead create` takes.
    pub(super) fn create(&self, slow: Option<&SlowDisk>) -> Result<f64> {
        let mut words = words();
        self.p50(|_| {
            let new = words.bead();
            let text = new.description.unwrap_or_default();
            self.run(&["bead", "create", &new.title, "--description", &text], slow)
        })
    }

    fn ids(&self) -> Result<Vec<String>> {
        let rows = open(self.folder)?.ready(100).told("list what is ready")?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    fn times(&self, words: &[&str], slow: Option<&SlowDisk>) -> Result<f64> {
        self.p50(|_| self.run(words, slow))
    }

    fn p50(&self, mut run: impl FnMut(usize) -> Result<()>) -> Result<f64> {
        for at in 0..WARM_UP {
            run(at)?;
        }
        p50(RUNS, run)
    }

    fn run(&self, words: &[&str], slow: Option<&SlowDisk>) -> Result<()> {
        let mut command = Command::new(self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GODEL_") {
                command.env_remove(name);
            }
        }
        if let Some(slow) = slow {
            slow.under(&mut command);
        }
        command.args(words).current_dir(self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().told("run the program")?;
        if status.success() {
            return Ok(());
        }
        Err(Error::new(format!("godel {} failed: {status}", words.join(" "))))
    }
}
