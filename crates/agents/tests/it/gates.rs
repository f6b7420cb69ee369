//! Gates: how they are written, and how they run in a real sandbox.

use std::time::Duration;

use godel_agents::Harness;
use godel_agents::gates::{
    Anew, FileCache, GateCache as _, GateResult, Gates, NoCache, Pulls, Review, key,
};
use godel_model::{ForgeKind, JoinBy, Report as _};
use proptest::prelude::*;

use crate::room::Room;

fn wrong(text: &str) -> String {
    let error = Gates::read(text).unwrap_err();
    assert_eq!(error.code(), godel_model::code::INVALID_CONFIG);
    assert!(error.hint().is_some_and(|hint| hint.contains("gates.md")), "{error}");
    error.to_string()
}

#[test]
fn a_file_is_read_in_its_order_with_defaults() {
    let read = Gates::read(
        "[worktree]\nsetup = 'npm ci'\n\n[gates]\ntest = 'cargo test'\n\
         lint = { run = 'cargo clippy', timeout = '2m', required = false }\n\n\
         [gates.audit]\nrun = '''\nset -e\ncargo deny\n'''\n\n\
         [project]\nreview = 'auto'\ntarget = 'release/1.0'\nauto_commit = true\n\n\
         [agents]\nmax = 6\nharness = 'claude'\nmodel = 'small'\nstronger = ['large']\n\
         stuck-after = '90s'\nruntime = 'gvisor'\n",
    )
    .unwrap();
    let names: Vec<&str> = read.gates.iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(names, ["test", "lint", "audit"]);
    assert_eq!(read.gates[0].timeout, Duration::from_secs(600));
    assert!(read.gates[0].required && !read.gates[1].required && read.gates[2].required);
    assert_eq!(read.gates[1].timeout, Duration::from_secs(120));
    assert_eq!((read.review, read.auto_commit), (Review::Auto, true));
    assert_eq!(read.target.as_deref(), Some("release/1.0"));
    assert_eq!((read.agents.max, read.agents.harness), (Some(6), Some(Harness::Claude)));
    assert_eq!((read.agents.model.as_deref(), read.agents.stronger.len()), (Some("small"), 1));
    assert_eq!(read.agents.stuck_after, Duration::from_secs(90));
    assert_eq!(read.agents.runtime.as_deref(), Some("gvisor"));
    let nothing = Gates::read("").unwrap();
    assert_eq!(nothing, Gates::default());
    assert_eq!((nothing.review, nothing.auto_commit), (Review::Person, false));
}

#[test]
fn how_work_lands_is_read_with_defaults() {
    let read = Gates::read(
        "[landing]\nhow = 'squash'\nbatch = 9\nrepair = false\nrepairer = 'smith'\n\
         after = 'sh smoke.sh'\nafter-timeout = '2m'\npush = 'origin'\n",
    );
    let landing = read.unwrap().landing;
    assert_eq!((landing.how, landing.batch, landing.repair), (JoinBy::Squash, 9, false));
    assert_eq!(
        (landing.repairer.as_deref(), landing.push.as_deref()),
        (Some("smith"), Some("origin"))
    );
    assert_eq!(landing.after.as_deref(), Some("sh smoke.sh"));
    assert_eq!(landing.after_timeout, Duration::from_secs(120));
    let usual = Gates::read("").unwrap().landing;
    assert_eq!((usual.how, usual.batch, usual.repair), (JoinBy::Merge, 4, true));
    assert_eq!((usual.after, usual.push), (None, None));
}

#[test]
fn pull_requests_are_wanted_by_a_word_and_need_a_remote() {
    let read = |text: &str| Gates::read(&format!("[landing]\n{text}\n"));
    let plain = read("via = 'pull-request'\npush = 'origin'").unwrap().landing;
    assert_eq!(plain.pulls, Some(Pulls::default()));
    let more = "via = 'pull-request'\npush = 'hub'\nforge = 'gitlab'\n\
                forge-url = 'https://git.example.com'\nmerge = true";
    let pulls = read(more).unwrap().landing.pulls.unwrap();
    assert_eq!((pulls.forge, pulls.merge), (Some(ForgeKind::GitLab), true));
    assert_eq!(pulls.url.as_deref(), Some("https://git.example.com"));
    assert_eq!(read("via = 'branch'\npush = 'origin'").unwrap().landing.pulls, None);
    for (text, says) in [
        ("via = 'pull-request'", "pull requests need a remote"),
        ("via = 'pull-request'\npush = 'origin'\nafter = 'x'", "`after` does not go with"),
        ("merge = true", "are for `via = \"pull-request\"`"),
        ("forge = 'github'", "are for `via = \"pull-request\"`"),
        ("via = 'mail'", "unknown variant `mail`"),
        ("via = 'pull-request'\npush = 'o'\nforge = 'sourcehut'", "unknown variant `sourcehut`"),
        (
            "via = 'pull-request'\npush = 'o'\nforge-url = 'git.example.com'",
            "cannot be the address",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    for (text, wanted) in [
        ("[gates]\n\nx = 3\n", "line 3, column 5: invalid type: integer"),
        ("[gates]\nx = ''\n", "line 2, column 5: a command has"),
        ("[gates]\nx = { rum = 'a' }\n", "line 2, column 7: unknown field `rum`"),
        ("[gates]\nx = { run = 'a', timeout = '10' }\n", "line 2, column 28: \"10\" is no span"),
        ("[gates]\nx = { run = 'a', timeout = '48h' }\n", "line 2, column 28: \"48h\" is no"),
        ("[gates]\nx = { timeout = '1m' }\n", "line 2, column 5: missing field `run`"),
        ("[gates]\n'a b' = 'x'\n", "line 2, column 9: a gate is named"),
        ("[project]\nreview = 'nobody'\n", "line 2, column 10: unknown variant `nobody`"),
        ("[project]\n  reviw = 'auto'\n", "line 2, column 3: unknown field `reviw`"),
        ("[project]\ntarget = '-x'\n", "line 2, column 10: that cannot be"),
        ("[project]\nauto-commit = 1\n", "line 2, column 15: invalid type"),
        ("[agents]\nmax = 0\n", "line 2, column 7: from 1 to"),
        ("[agents]\nharness = 'emacs'\n", "line 2, column 11: unknown variant `emacs`"),
        (
            "[agents]\nruntime = 'moon'\n",
            "line 2, column 11: agents work in one of: worktree, gvisor",
        ),
        ("[agents]\nstronger = ['']\n", "line 2, column 12: a model is named"),
        ("[landing]\nhow = 'push'\n", "line 2, column 7: unknown variant `push`"),
        ("[landing]\nbatch = 0\n", "line 2, column 9: from 1 to"),
        ("[landing]\npush = 'ext::sh -c x'\n", "line 2, column 8: that cannot be the name"),
        ("[landing]\npush = '--exec=x'\n", "line 2, column 8: that cannot be the name"),
        ("[landing]\npush = 'https://user:secret@host/x'\n", "line 2, column 8: that cannot"),
        ("[landing]\nafter = ''\n", "line 2, column 9: a command has"),
        ("[gate]\nx = 'x'\n", "line 1, column 2: unknown field `gate`"),
        ("\nreview = 'auto'\n", "line 2, column 1: unknown field `review`"),
        ("[gates]\nä = 'x'\n", "line 2, column 1: "),
        ("x = 'ä\n", "line 1, column "),
    ] {
        let error = wrong(text);
        assert!(error.starts_with(&format!("godel.toml, {wanted}")), "{text:?}: {error}");
    }
    wrong(&format!("#{}", "x".repeat(1 << 20)));
    let many: String = (0..51).map(|at| format!("g{at} = 'x'\n")).collect();
    wrong(&format!("[gates]\n{many}"));
}

proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_read_or_refused(
        text in prop_oneof![
            ".{0,200}",
            "(\\[(gates|project|agents)\\]\n|[a-z-]{1,8} = ('[^']{0,9}'|[0-9]{1,4}|\\{\\}|\\[\\])\n){0,9}",
        ],
    ) {
        if let Err(error) = Gates::read(&text) {
            prop_assert!(error.to_string().starts_with("godel.toml, line "));
        }
    }

    #[test]
    fn keys_differ_when_files_or_commands_do(
        one in ("[a-f]{0,6}", ".{0,6}"), two in ("[a-f]{0,6}", ".{0,6}"),
    ) {
        prop_assert_eq!(one == two, key(&one.0, &one.1) == key(&two.0, &two.1));
    }
}

fn result(name: &str) -> GateResult {
    GateResult {
        name: name.to_owned(),
        command: "true".to_owned(),
        required: true,
        passed: true,
        exit: Some(0),
        note: None,
        took: Duration::from_millis(7),
        output_tail: "said\n".to_owned(),
        cached: false,
    }
}

#[test]
fn a_directory_remembers_so_many_and_forgets_what_is_damaged() {
    let home = tempfile::tempdir().unwrap();
    let cache = FileCache::open(home.path().join("gates"), 20).unwrap();
    let first = key("t", "0");
    cache.put(&first, &result("a"));
    assert_eq!(cache.get(&first), Some(result("a")));
    assert_eq!(
        FileCache::open(home.path().join("gates"), 20).unwrap().get(&first),
        Some(result("a"))
    );
    std::fs::write(home.path().join("gates").join(format!("{first}.json")), "{\"na").unwrap();
    assert_eq!(cache.get(&first), None);
    for bad in ["", "../../etc/passwd", "zz"] {
        cache.put(bad, &result("a"));
        assert_eq!(cache.get(bad), None);
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for at in 0..50 {
                    cache.put(&key("t", &format!("{thread} {at}")), &result("b"));
                }
            });
        }
    });
    cache.put(&first, &result("last"));
    let kept = std::fs::read_dir(home.path().join("gates")).unwrap().count();
    assert!(kept <= 21, "{kept}");
    assert_eq!(cache.get(&first), Some(result("last")));
}

#[tokio::test]
async fn gates_run_in_the_sandbox_and_their_results_are_remembered_by_the_files() {
    let room = Room::new("http://127.0.0.1:1", vec![]).await;
    let gates = Gates::read(
        "[gates]\n\
         good = 'echo out; echo err >&2; test \"$(git rev-parse HEAD)\" && echo run >> ran.log'\n\
         bad = { run = 'echo \"${GODEL_TOKEN:-none}\"; exit 3', required = false }\n\
         loud = 'echo first; yes middle | head -c 300000; echo last'\n\
         slow = { run = 'echo begun; sleep 600', timeout = '1s' }\n\
         ghost = 'no-such-program-here'\n",
    )
    .unwrap();
    let cache = FileCache::open(room.home.path().join("gates"), 100).unwrap();
    let run = async |cache: &dyn godel_agents::gates::GateCache, tree: &str| {
        gates.run(&room.provider, room.sandbox.id, cache, tree).await
    };
    let results = run(&cache, "tree-1").await;
    let [good, bad, loud, slow, ghost] = &results[..] else { panic!("{results:?}") };
    assert!(good.passed && !good.cached && !good.stops(), "{good:?}");
    assert_eq!((good.exit, good.output_tail.as_str()), (Some(0), "out\nerr\n"));
    assert_eq!((bad.exit, bad.output_tail.as_str()), (Some(3), "none\n"));
    assert!(!bad.passed && !bad.stops());
    assert!(loud.output_tail.starts_with("first\n") && loud.output_tail.ends_with("last\n"));
    assert!(loud.output_tail.len() < 40_000 && loud.output_tail.contains("bytes left out"));
    assert!(slow.stops() && slow.exit.is_none(), "{slow:?}");
    assert_eq!(slow.output_tail, "begun\n");
    assert!(slow.summary().contains("was stopped after 1 seconds"), "{}", slow.summary());
    assert_eq!(ghost.exit, Some(127));
    assert!(ghost.stops() && ghost.summary().contains("exit code 127"), "{}", ghost.summary());
    let ran = || std::fs::read_to_string(room.tree().join("ran.log")).unwrap().lines().count();
    let cached = |results: &[GateResult]| -> Vec<bool> {
        results.iter().map(|result| result.cached).collect()
    };
    // Known is what ended by itself, for these files only.
    let again = run(&cache, "tree-1").await;
    assert_eq!((cached(&again), ran()), (vec![true, true, true, false, true], 1));
    assert_eq!(again[1].output_tail, "none\n");
    let others = run(&cache, "tree-2").await;
    assert_eq!((cached(&others), ran()), (vec![false; 5], 2));
    let unclean = run(&cache, "").await;
    assert_eq!((cached(&unclean), ran()), (vec![false; 5], 3));
    let anew = run(&Anew(&cache), "tree-1").await;
    assert_eq!((cached(&anew), ran()), (vec![false; 5], 4));
    let never = run(&NoCache, "tree-1").await;
    assert_eq!((cached(&never), ran()), (vec![false; 5], 5));
}

#[tokio::test]
async fn a_gate_without_its_sandbox_fails_and_says_so() {
    use godel_runtime::RuntimeProvider as _;
    let room = Room::new("http://127.0.0.1:1", vec![]).await;
    room.provider.terminate(room.sandbox.id, Duration::ZERO).await.unwrap();
    let gates = Gates::read("[gates]\nx = 'true'\n").unwrap();
    let results = gates.run(&room.provider, room.sandbox.id, &NoCache, "t").await;
    assert!(results[0].stops() && results[0].summary().contains("could not be run"), "{results:?}");
}
