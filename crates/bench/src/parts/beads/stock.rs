//! Repositories with many beads, made fast.

use std::path::Path;
use std::process::Command;

use godel_beads::ops::{self, Close, NewBead};
use godel_beads::{Draft, Evidence};
use godel_model::{Priority, Resolution};

use super::open;
use crate::error::{Error, Result, Told as _};

/// How many beads one write makes.
const AT_ONCE: usize = 10_000;
const VOCABULARY: &str = "the a to of and in for with when that after before not only each \
    server worker queue token lease branch merge commit index cache page retry timeout handler \
    request response schema column migration test login session password export import report \
    button dialog layout socket stream buffer parser config default path folder file error \
    message warning log metric release deploy rollback upgrade version client customer order \
    invoice payment refund search filter sort cursor limit quota tenant project agent convoy";

/// Text that looks like what people write, and is the same in every run.
#[derive(Debug, Clone)]
pub(super) struct Words {
    state: u64,
    all: Vec<&'static str>,
}

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, all: VOCABULARY.split_whitespace().collect() }
    }

    fn number(&mut self, below: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % below.max(1)
    }

    fn line(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count)
            .map(|_| {
                let at = self.number(self.all.len());
                self.all[at]
            })
            .collect();
        words.join(" ")
    }

    /// Returns a bead that somebody could have asked for.
    pub(super) fn bead(&mut self) -> NewBead {
        let sentences = 2 + self.number(8);
        let description: Vec<String> = (0..sentences)
            .map(|_| {
                let count = 6 + self.number(12);
                format!("{}.", self.line(count))
            })
            .collect();
        let count = 4 + self.number(6);
        let labels = (0..self.number(3)).map(|_| self.line(1)).collect();
        NewBead {
            title: self.line(count),
            priority: Priority::ALL.get(self.number(Priority::ALL.len())).copied(),
            description: Some(description.join(" ")),
            labels,
            ..NewBead::default()
        }
    }
}

/// Makes a repository with this many beads: two fifths of them closed, one tenth begun, one fifth
/// blocked by an older one.
pub(super) fn fill(folder: &Path, beads: usize) -> Result<()> {
    std::fs::create_dir_all(folder).told(format_args!("make {}", folder.display()))?;
    git(folder, &["init", "--quiet", "--initial-branch", "main"])?;
    git(folder, &["config", "user.name", "Ann"])?;
    git(folder, &["config", "user.email", "ann@example.com"])?;
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", "first"])?;
    let mut shelf = open(folder)?;
    let mut words = Words::new(42);
    let mut made = 0;
    while made < beads {
        let count = AT_ONCE.min(beads - made);
        let begun = words.clone();
        let work = move |draft: &mut Draft<'_>| make(draft, &mut begun.clone(), count);
        words = shelf.write("bench", work).told("make beads")?;
        made += count;
    }
    shelf.maintain().told("put packs together")?;
    Ok(())
}

fn make(draft: &mut Draft<'_>, words: &mut Words, count: usize) -> godel_beads::Result<Words> {
    let closed = Close {
        resolution: Resolution::Done,
        reason: Some("it works now".to_owned()),
        token: None,
        force: false,
        evidence: Evidence::default(),
    };
    let mut known: Vec<String> = Vec::with_capacity(count);
    for at in 0..count {
        let mut new = words.bead();
        if at % 5 == 4 {
            new.blocked_by = vec![known[words.number(known.len())].clone()];
        }
        let bead = ops::create(draft, &new)?;
        match at % 10 {
            0 | 2 | 5 | 7 => drop(ops::close(draft, &bead.id, &closed)?),
            1 => drop(ops::assign(draft, &bead.id, "worker-7", true)?),
            _ => {}
        }
        known.push(bead.id);
    }
    Ok(words.clone())
}

/// Runs git in a repository.
pub(super) fn git(folder: &Path, words: &[&str]) -> Result<()> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().told("run git")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::new(format!("git {} failed: {said}", words.join(" "))))
}

/// Copies a repository with all it has.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().told("run cp")?;
    if status.success() { Ok(()) } else { Err(Error::new("a repository could not be copied")) }
}

/// Writes a number as people do.
pub(super) fn named(count: usize) -> String {
    match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", count / 1_000, count % 1_000),
    }
}
