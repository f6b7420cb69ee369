//! The walls for macOS: a profile for `sandbox-exec`.
//!
//! Unverified: it was written from the documentation of others and has not run on a Mac. No provider uses
//! it yet, so on macOS every profile but `none` is refused.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Profile;

/// What a profile for macOS is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seatbelt {
    /// The walls that are asked for.
    pub profile: Profile,
    /// The workspace.
    pub workspace: PathBuf,
    /// The agent's home.
    pub home: PathBuf,
    /// Temporary files.
    pub scratch: PathBuf,
    /// What else can be read.
    pub readable: Vec<PathBuf>,
    /// The ports on this machine's loopback that lead to Godel.
    pub ports: Vec<u16>,
}

/// Parts of the system that programs need to read.
const SYSTEM: [&str; 8] = [
    "/System",
    "/usr",
    "/bin",
    "/sbin",
    "/Library/Developer/CommandLineTools",
    "/private/etc/ssl",
    "/private/var/db/timezone",
    "/opt/homebrew",
];
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd"];
/// What git would run or obey; not even made if it is not there.
const DECIDING: [&str; 3] = [".git", ".git/hooks", ".git/config"];

impl Seatbelt {
    /// Writes the profile; nothing for [`Profile::None`], which has no walls.
    pub fn text(&self) -> Option<String> {
        if self.profile == Profile::None {
            return None;
        }
        let mut text =
            "(version 1)\n; Unverified: see crates/runtime/src/seatbelt.rs.\n(deny default)\n\
                        (allow process-fork)\n(allow process-exec)\n\
                        (allow signal (target same-sandbox))\n\
                        (allow process-info* (target same-sandbox))\n\
                        (allow sysctl-read)\n(allow pseudo-tty)\n"
                .to_owned();
        let mut rule = |what: &str, kind: &str, path: &Path| {
            let _ = writeln!(text, "(allow {what} ({kind} {}))", quoted(path));
        };
        for path in SYSTEM.iter().map(Path::new).chain(self.readable.iter().map(PathBuf::as_path)) {
            rule("file-read*", "subpath", path);
        }
        for path in DEVICES.map(Path::new) {
            rule("file-read* file-write*", "literal", path);
        }
        for path in [&self.home, &self.scratch] {
            rule("file-read* file-write*", "subpath", path);
        }
        let writes = self.profile != Profile::ReadOnly;
        let what = if writes { "file-read* file-write*" } else { "file-read*" };
        rule(what, "subpath", &self.workspace);
        for name in DECIDING {
            let path = quoted(&self.workspace.join(name));
            let _ = writeln!(text, "(deny file-write* (subpath {path}))");
        }
        for port in &self.ports {
            let _ = writeln!(text, "(allow network-outbound (remote ip \"localhost:{port}\"))");
        }
        Some(text)
    }
}

/// Writes a path so that it cannot end its own quotes.
fn quoted(path: &Path) -> String {
    let mut quoted = String::from("\"");
    for character in path.to_string_lossy().chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seatbelt(profile: Profile) -> Seatbelt {
        Seatbelt {
            profile,
            workspace: "/Users/ann/my \"repo\"/.godel/worktrees/a".into(),
            home: "/Users/ann/.local/state/godel/home".into(),
            scratch: "/Users/ann/.local/state/godel/tmp".into(),
            readable: vec!["/Users/ann/.cargo/bin".into()],
            ports: vec![3128, 7420],
        }
    }

    #[test]
    fn the_profile_of_a_workspace_is_the_golden_file() {
        let golden = include_str!("../tests/golden/workspace.sb");
        assert_eq!(seatbelt(Profile::Workspace).text().unwrap(), golden);
    }

    #[test]
    fn to_look_is_not_to_touch_and_no_walls_are_no_profile() {
        let text = seatbelt(Profile::ReadOnly).text().unwrap();
        assert!(text.contains("(allow file-read* (subpath \"/Users/ann/my \\\"repo\\\""));
        assert_eq!(seatbelt(Profile::None).text(), None);
    }
}
