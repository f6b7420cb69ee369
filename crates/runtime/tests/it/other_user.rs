//! Everything else in this suite, once more as somebody who is not root.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// The user and group `nobody` on every Linux.
const NOBODY: u32 = 65_534;

#[test]
fn the_whole_suite_holds_for_a_user_who_is_not_root() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    if !status.contains("\nUid:\t0\t0\t") {
        // Then all the other tests are this one.
        return;
    }
    let home = tempfile::Builder::new().prefix("godel-nobody-").tempdir_in("/tmp").unwrap();
    open(home.path());
    let place = |name: &str| home.path().join(name);
    for (from, to) in [(std::env::current_exe().unwrap(), "it"), (crate::world::helper(), "helper")]
    {
        std::fs::copy(from, place(to)).unwrap();
        open(&place(to));
    }
    for folder in ["tmp", "home"] {
        std::fs::create_dir(place(folder)).unwrap();
        chown(place(folder), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let output = Command::new(place("it"))
        .args(["--skip", "the_whole_suite", "--test-threads", "2"])
        .env("GODEL_TEST_HELPER", place("helper"))
        .env("TMPDIR", place("tmp"))
        .env("HOME", place("home"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(home.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(" 0 failed") && !said.contains(" 0 passed"), "{said}");
}

fn open(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
