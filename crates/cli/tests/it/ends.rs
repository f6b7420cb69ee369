//! Two ends of a conversation: what their files differ in, and nothing that git would not show.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fleet::{AUTO, Yard};

const TASK: &str = "[[shell echo one > shared.txt; echo same > same.txt]] [[then]] [[call ask \
    {\"question\":\"Which?\",\"choices\":[\"a\",\"b\"]}]]";
const SECRET: &str = "leakcanary-4711";

fn write(tree: &Path, path: &str, text: &str) {
    std::fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
    std::fs::write(tree.join(path), text).unwrap();
}

/// Keeps what an agent is now, and returns the node.
fn snapshot(yard: &Yard, name: &str) -> String {
    yard.json(&["agent", "snapshot", name])["node"].to_string()
}

/// Compares two ends, and sees that nothing is shown that git ignores.
fn compare(yard: &Yard, name: &str, (left, right): (&str, &str)) -> Value {
    let told = yard.json(&["session", "compare", name, left, right]);
    assert!(!told.to_string().contains(SECRET), "{told:#}");
    told
}

/// The names of the files that a patch is about.
fn files(told: &Value) -> Vec<&str> {
    let patch = told["patch"].as_str().unwrap();
    let heads = patch.lines().filter_map(|line| line.strip_prefix("diff --git a/"));
    heads.map(|head| head.split_once(" b/").unwrap().1).collect()
}

/// Lets an agent that waits go on from the first node, on a branch of its own.
fn begin(yard: &Yard, name: &str, branch: &str) {
    yard.run(&["agent", "pause", name]).expect(0);
    yard.until(name, "paused");
    yard.run(&["session", "branch", name, branch, "--node", "0"]).expect(0);
    yard.run(&["session", "switch", name, branch]).expect(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_branches_differ_in_exactly_the_files_that_differ() {
    let yard = Yard::open(AUTO).await;
    write(&yard.repo.path, ".gitignore", ".env\ncache/\n");
    yard.repo.git(&["add", ".gitignore"]);
    yard.repo.git(&["commit", "-q", "-m", "what git ignores"]);
    let name = yard.spawn(TASK);
    let agent = yard.until(&name, "waiting");
    let tree = PathBuf::from(agent["worktree"].as_str().unwrap());
    let folders = |side: &str| {
        write(&tree, ".env", &format!("TOKEN={SECRET}-{side}\n"));
        write(&tree, "cache/x", &format!("{SECRET}-{side}\n"));
        write(&tree, "shared.txt", &format!("{side}\n"));
        write(&tree, &format!("docs/{side}.txt"), &format!("only {side}\n"));
    };
    folders("one");
    let one = snapshot(&yard, &name);
    let told = compare(&yard, &name, ("0", &one));
    assert_eq!(told["left"], json!({ "node": 0, "filesOf": null, "live": false, "commit": null }));
    assert_eq!((&told["right"]["live"], &told["patch"]), (&json!(true), &json!("")));
    let said = yard.run(&["session", "compare", &name, "0", &one]).expect(0);
    assert!(said.stderr.contains("node 0: no files were kept at this end"), "{said:?}");
    yard.run(&["session", "compare", &name, "0", "99999"]).refused(3, &["node_not_found"]);

    begin(&yard, &name, "other");
    yard.run(&["agent", "resume", &name]).expect(0);
    yard.until(&name, "waiting");
    std::fs::remove_file(tree.join("docs/one.txt")).unwrap();
    folders("two");
    let two = snapshot(&yard, &name);
    let expected = ["docs/one.txt", "docs/two.txt", "shared.txt"];
    let live = compare(&yard, &name, (&one, &two));
    assert_eq!((&live["left"]["live"], &live["right"]["live"]), (&json!(false), &json!(true)));
    assert_eq!(files(&live), expected, "{live:#}");

    // What is written after a snapshot is in no snapshot.
    begin(&yard, &name, "third");
    write(&tree, "shared.txt", "three\n");
    write(&tree, "docs/two.txt", "something else\n");
    let kept = compare(&yard, &name, (&one, &two));
    assert_eq!((files(&kept), &kept["patch"]), (files(&live), &live["patch"]));
    for (side, node) in [("left", &one), ("right", &two)] {
        assert_eq!(kept[side]["filesOf"].to_string(), *node, "{kept:#}");
        assert_eq!(kept[side]["live"], false, "{kept:#}");
    }
    let back = compare(&yard, &name, (&two, &one));
    assert_eq!(files(&back), expected, "{back:#}");
    assert_eq!((&back["added"], &back["removed"]), (&kept["removed"], &kept["added"]));
    assert_eq!(compare(&yard, &name, (&one, &one))["files"], 0);
    // The agent stands at the first node now, and what it has not kept is compared as it is.
    let now = compare(&yard, &name, (&one, "0"));
    assert_eq!(now["right"]["live"], true, "{now:#}");
    assert_eq!(files(&now), expected, "{now:#}");
    let said = yard.run(&["session", "compare", &name, &one, "0"]).expect(0);
    assert!(said.stdout.contains("+three") && said.stderr.contains("3 files, +"), "{said:?}");
    let scratch = yard.repo.home.data().join("carry");
    assert_eq!(std::fs::read_dir(scratch).unwrap().count(), 0, "nothing is left behind");
}
