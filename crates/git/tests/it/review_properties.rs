//! Rules of a review that hold for any files and any decisions.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use godel_git::{Changes, Decision, Lines, Undecided, Verdict, Workbench};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::review::commit;
use crate::world::{World, git};

/// Names that a careless program would get wrong.
const NAMES: [&str; 8] = [
    "plain.txt",
    "with blank.txt",
    "dir/deep/\"quoted\".rs",
    "tab\there",
    "line\nbreak",
    "größe/日本.md",
    "-dash \\ back",
    "a/b => c",
];

/// What becomes of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Modified,
    Added,
    Deleted,
    Renamed,
    Binary,
    Link,
    BecomesLink,
}

#[derive(Debug, Clone)]
struct Spec {
    fate: Fate,
    before: Vec<u8>,
    edits: Vec<(usize, usize, u8)>,
    ended: bool,
    runs: (bool, bool),
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    let words: [&[u8]; 9] = [
        b"alpha\n",
        b"beta gamma\n",
        b"\n",
        b"}\n",
        b"crlf line\r\n",
        b"\r\n",
        b"gr\xfc\xdfe\n",
        b"- minus\n",
        b"@@ -1 +1 @@\n",
    ];
    proptest::sample::select(words.map(<[u8]>::to_vec).to_vec())
}

fn spec() -> impl Strategy<Value = Spec> {
    let fates = [
        Fate::Modified,
        Fate::Modified,
        Fate::Modified,
        Fate::Added,
        Fate::Deleted,
        Fate::Renamed,
        Fate::Binary,
        Fate::Link,
        Fate::BecomesLink,
    ];
    let fate = proptest::sample::select(fates.to_vec());
    let edits = vec((0_usize..40, 0_usize..3, any::<u8>()), 0..6);
    let runs = (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    (fate, vec(word(), 0..40), edits, any::<bool>(), runs).prop_map(
        |(fate, before, edits, ended, runs)| {
            let mut before = before.concat();
            if !ended && before.last() == Some(&b'\n') {
                before.pop();
            }
            Spec { fate, before, edits, ended, runs }
        },
    )
}

impl Spec {
    /// The content afterwards: lines replaced, put in and taken out.
    fn after(&self) -> Vec<u8> {
        let lines = self.before.split_inclusive(|byte| *byte == b'\n');
        let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        for (at, what, word) in &self.edits {
            let line = format!("edit {word}\n").into_bytes();
            let at = at % (lines.len() + 1);
            match what {
                0 => lines.insert(at, line),
                1 if at < lines.len() => lines[at] = line,
                _ if at < lines.len() => drop(lines.remove(at)),
                _ => {}
            }
        }
        let mut text = lines.concat();
        if self.ended && text.last() == Some(&b'\n') {
            text.pop();
        }
        text
    }

    fn write_before(&self, path: &Path) {
        match self.fate {
            Fate::Added => {}
            Fate::Link => symlink("before", path).unwrap(),
            Fate::Binary => put(path, &[&[0], self.before.as_slice()].concat(), self.runs.0),
            _ => put(path, &self.before, self.runs.0),
        }
    }

    fn write_after(&self, path: &Path) {
        match self.fate {
            Fate::Deleted => std::fs::remove_file(path).unwrap(),
            Fate::Link | Fate::BecomesLink => {
                std::fs::remove_file(path).unwrap();
                symlink("after", path).unwrap();
            }
            Fate::Binary => put(path, &[&[0, 1], self.before.as_slice()].concat(), self.runs.1),
            Fate::Renamed => {
                std::fs::remove_file(path).unwrap();
                let name = format!("moved {}", path.file_name().unwrap().to_str().unwrap());
                put(&path.with_file_name(name), &self.after(), self.runs.1);
            }
            Fate::Modified | Fate::Added => put(path, &self.after(), self.runs.1),
        }
    }
}

fn put(path: &Path, bytes: &[u8], runs: bool) {
    std::fs::write(path, bytes).unwrap();
    let mode = if runs { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Commits both sides in a new repository.
fn world(specs: &[Spec]) -> (World, String, String) {
    let world = World::empty();
    let path = |at: usize| world.repo().join(NAMES[at]);
    for (at, spec) in specs.iter().enumerate() {
        std::fs::create_dir_all(path(at).parent().unwrap()).unwrap();
        spec.write_before(&path(at));
    }
    let base = commit(&world);
    for (at, spec) in specs.iter().enumerate() {
        spec.write_after(&path(at));
    }
    let head = commit(&world);
    (world, base, head)
}

/// Makes decisions out of numbers.
fn decisions(changes: &Changes, choices: &[(u8, u32, u32)]) -> Vec<Decision> {
    let mut all = Vec::new();
    for (part, (what, from, length)) in changes.parts().zip(choices.iter().cycle()) {
        let hunk = matches!(part, godel_git::Part::Hunk(..));
        let lines = Lines { from: from % 6 + 1, to: from % 6 + 1 + length % 6 };
        match what % 6 {
            0 => {}
            1 => all.push(part.decide(None, Verdict::Accepted)),
            2 => all.push(part.decide(None, Verdict::Rejected)),
            3 if hunk => {
                all.push(part.decide(None, Verdict::Accepted));
                all.push(part.decide(Some(lines), Verdict::Rejected));
            }
            4 if hunk => all.push(part.decide(Some(lines), Verdict::Accepted)),
            5 if hunk => {
                let text = ["", "edited\n", "edited\r\nwithout end"][(from % 3) as usize];
                all.push(part.decide(None, Verdict::Edited(text.to_owned())));
            }
            _ => all.push(part.decide(None, Verdict::Accepted)),
        }
    }
    all
}

/// Applies a patch to the files of a commit, and returns the id of what comes of it.
fn applied(world: &World, base: &str, patch: &[u8]) -> String {
    let (file, index) = (world.root().join("the.patch"), world.root().join("an index"));
    std::fs::write(&file, patch).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(world.repo()).env("GIT_INDEX_FILE", &index).stderr(Stdio::piped());
        let output = command.args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(patch);
        assert!(output.status.success(), "git {arguments:?}: {said}\n{shown}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    run(&["read-tree", base]);
    run(&["apply", "--cached", "--allow-empty", "--whitespace=nowarn", file.to_str().unwrap()]);
    run(&["write-tree"])
}

/// All that a review must not touch.
fn surroundings(world: &World) -> (String, String, Vec<u8>) {
    let repo = world.repo();
    let refs = git(&repo, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    let index = std::fs::read(repo.join(".git/index")).unwrap();
    (refs, git(&repo, &["status", "--porcelain", "--ignored=no"]), index)
}

fn tree_of(world: &World, commit: &str) -> String {
    git(&world.repo(), &["rev-parse", &format!("{commit}^{{tree}}")])
}

fn build(bench: &Workbench, changes: &Changes, decisions: &[Decision], rest: Undecided) -> String {
    bench.reviewing().build(changes, decisions, rest).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_decisions_build_a_tree_that_its_patch_gives_too(
        specs in vec(spec(), 1..NAMES.len()),
        choices in vec((any::<u8>(), any::<u32>(), any::<u32>()), 1..12),
        keep in any::<bool>(),
    ) {
        let (world, base, head) = world(&specs);
        let bench = world.bench();
        let around = surroundings(&world);
        let changes = bench.reviewing().changes(&base, &head).unwrap();
        let all = |verdict: Verdict| -> Vec<Decision> {
            changes.parts().map(|part| part.decide(None, verdict.clone())).collect()
        };
        let (accepted, rejected) = (all(Verdict::Accepted), all(Verdict::Rejected));
        let (before, after) = (tree_of(&world, &base), tree_of(&world, &head));
        prop_assert_eq!(&build(&bench, &changes, &accepted, Undecided::LeaveOut), &after);
        prop_assert_eq!(&build(&bench, &changes, &[], Undecided::Keep), &after);
        prop_assert_eq!(&build(&bench, &changes, &rejected, Undecided::Keep), &before);
        prop_assert_eq!(&build(&bench, &changes, &[], Undecided::LeaveOut), &before);
        // Line by line, from the first to the last, is the whole hunk.
        let by_lines = changes.parts().flat_map(|part| match part {
            godel_git::Part::Hunk(_, hunk) => (1..=hunk.length())
                .map(|at| part.decide(Some(Lines { from: at, to: at }), Verdict::Accepted))
                .collect(),
            godel_git::Part::File(..) => vec![part.decide(None, Verdict::Accepted)],
        });
        let by_lines: Vec<Decision> = by_lines.collect();
        prop_assert_eq!(&build(&bench, &changes, &by_lines, Undecided::LeaveOut), &after);
        let rest = if keep { Undecided::Keep } else { Undecided::LeaveOut };
        let some = decisions(&changes, &choices);
        let tree = build(&bench, &changes, &some, rest);
        let patch = bench.reviewing().export(&base, &tree).unwrap();
        prop_assert_eq!(&applied(&world, &base, &patch), &tree);
        prop_assert_eq!(surroundings(&world), around);
        prop_assert!(!world.repo().join(".godel/state/review").exists());
        let counted = changes.tally(&some);
        let parts = u32::try_from(changes.parts().count()).unwrap();
        prop_assert_eq!(counted.accepted + counted.rejected + counted.undecided, parts);
    }

    #[test]
    fn a_hunk_that_only_moves_keeps_its_key(
        before in vec(word(), 20..60),
        at in 0_usize..60,
        above in 1_usize..30,
    ) {
        let at = at % before.len();
        let mut after = before.clone();
        after.insert(at, b"the new line\n".to_vec());
        let (far, top) = (b"far above\n".repeat(10), b"on top\n".repeat(above));
        let world = World::empty();
        let path = world.repo().join("a");
        std::fs::write(&path, [far.clone(), before.concat()].concat()).unwrap();
        let base = commit(&world);
        std::fs::write(&path, [far.clone(), after.concat()].concat()).unwrap();
        let head = commit(&world);
        std::fs::write(&path, [top, far, after.concat()].concat()).unwrap();
        let pushed = commit(&world);
        let bench = world.bench();
        let one = bench.reviewing().changes(&base, &head).unwrap();
        let two = bench.reviewing().changes(&base, &pushed).unwrap();
        prop_assert_eq!(one.files[0].hunks.len(), 1);
        prop_assert_eq!(two.files[0].hunks.len(), 2);
        prop_assert_eq!(&one.files[0].hunks[0].key, &two.files[0].hunks[1].key);
    }
}
