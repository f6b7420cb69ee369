//! A forge on this machine, with a repository in which there is work.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use godel_forge::{Forge, Head, Kind, Place, Wish, connect};
use godel_smithy::Smithy;

pub(crate) const TOKEN: &str = "token-that-nobody-sees";
pub(crate) const HEAD: Head<'static> = Head { branch: "bead/w-1", base: "main" };

pub(crate) struct Yard {
    pub(crate) smithy: Smithy,
    pub(crate) forge: Arc<dyn Forge>,
    work: PathBuf,
}

pub(crate) fn git(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=t@invalid",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(at)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Yard {
    pub(crate) fn open(kind: Kind) -> Self {
        static YARDS: AtomicUsize = AtomicUsize::new(0);
        let number = YARDS.fetch_add(1, Ordering::Relaxed);
        let name = format!("godel-forge-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let work = folder.join("work");
        std::fs::create_dir_all(&work).unwrap();
        let (played, repo) = match kind {
            Kind::GitHub => (godel_smithy::Kind::GitHub, "acme/widgets"),
            Kind::GitLab => (godel_smithy::Kind::GitLab, "acme/tools/widgets"),
        };
        let smithy = Smithy::open(played, repo, &folder, TOKEN);
        git(&work, &["init", "-q"]);
        let yard = Self { forge: Self::forge(&smithy, kind, TOKEN), smithy, work };
        yard.commit("main", "first.txt", "one\n");
        yard.push("main");
        yard
    }

    pub(crate) fn forge(smithy: &Smithy, kind: Kind, token: &str) -> Arc<dyn Forge> {
        let wish = Wish { kind: Some(kind), url: None };
        let place = Place::of(&smithy.remote().parse().unwrap(), &wish).unwrap();
        connect(place, token.to_owned().into()).unwrap()
    }

    /// Makes a commit on a branch, and returns it.
    pub(crate) fn commit(&self, branch: &str, file: &str, text: &str) -> String {
        let known = !git(&self.work, &["branch", "--list", branch]).is_empty();
        let first = git(&self.work, &["rev-list", "-n", "1", "--all"]).is_empty();
        match (first, known) {
            (true, _) => {}
            (false, true) => drop(git(&self.work, &["checkout", "-q", branch])),
            (false, false) => drop(git(&self.work, &["checkout", "-q", "-b", branch, "main"])),
        }
        std::fs::write(self.work.join(file), text).unwrap();
        git(&self.work, &["add", "-A"]);
        git(&self.work, &["commit", "-q", "-m", &format!("write {file}")]);
        git(&self.work, &["rev-parse", "HEAD"])
    }

    pub(crate) fn push(&self, branch: &str) {
        let to = self.smithy.git();
        git(&self.work, &["push", "-q", to.to_str().unwrap(), branch]);
    }

    /// Makes work on the bead's branch, and pushes it.
    pub(crate) fn work(&self, file: &str, text: &str) -> String {
        let commit = self.commit(HEAD.branch, file, text);
        self.push(HEAD.branch);
        commit
    }

    /// Fails if something was asked or answered that the forge's description does not know.
    pub(crate) fn all_is_described(&self) {
        assert_eq!(self.smithy.wrong(), Vec::<String>::new());
    }

    pub(crate) fn statuses(&self, method: &str) -> Vec<u16> {
        let all = self.smithy.asked();
        all.iter().filter(|one| one.method == method).map(|one| one.status).collect()
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        std::fs::remove_dir_all(self.work.parent().unwrap()).ok();
    }
}
