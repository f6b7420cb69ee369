//! The browser for the journeys through the dashboard.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use godel_engines::{Places, Version, unpacked_libraries};

use super::Part;
use crate::failure::{Failure, Result};
use crate::report::Done;
use crate::shop::Shop;

/// Names the browser to use, for the chore and for the tests.
const CHOSEN: &str = "GODEL_TEST_CHROMIUM";
/// What it is called, in the order of preference.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Where a Mac has it.
const APPLICATIONS: [&str; 2] = [
    "Applications/Chromium.app/Contents/MacOS/Chromium",
    "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// Where an unpacked package has it; what lies in `usr/bin` is a script that knows this path only
/// as an installed one.
const UNPACKED: &str = "usr/lib/chromium/chromium";

/// A browser that runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Browser {
    program: PathBuf,
    version: Version,
    /// The root of the unpacked packages it lies in, if it is not installed.
    unpacked: Option<PathBuf>,
}

impl Browser {
    /// Looks at one file; none unless it runs and tells its version.
    fn at(program: &Path, unpacked: Option<&Path>) -> Option<Self> {
        let program = program.to_owned();
        let mut found =
            Self { program, version: Version::default(), unpacked: unpacked.map(Path::to_owned) };
        let mut command = Command::new(&found.program);
        found.prepare(&mut command);
        let quiet = command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
        let output = quiet.output().ok().filter(|output| output.status.success())?;
        found.version = Version::find(&String::from_utf8_lossy(&output.stdout))?;
        Some(found)
    }

    /// Tells a test command which browser to start.
    pub(crate) fn tell(&self, command: &mut Command) {
        command.env(CHOSEN, &self.program);
        self.prepare(command);
    }

    /// The name with the version.
    pub(crate) fn title(&self) -> String {
        format!("Chromium {}", self.version)
    }

    /// Makes libraries and fonts be found that are not where they would be if installed.
    fn prepare(&self, command: &mut Command) {
        let Some(root) = &self.unpacked else {
            return;
        };
        if let Ok(libraries) = std::env::join_paths(unpacked_libraries(root)) {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        // Only packages that are not installed were unpacked; the fonts often are.
        let fonts = root.join("etc/fonts");
        if fonts.is_dir() {
            command.env("FONTCONFIG_PATH", fonts);
            command.env("XDG_DATA_HOME", root.join("usr/share"));
        }
    }
}

/// Gets the browser; none if it may be left out.
pub(crate) fn browser(shop: &Shop) -> Result<(Option<Browser>, Done)> {
    if let Some(chosen) = std::env::var_os(CHOSEN).filter(|chosen| !chosen.is_empty()) {
        let program = PathBuf::from(chosen);
        let found = Browser::at(&program, None).ok_or_else(|| {
            Failure::new(format!("{CHOSEN} names {}, which does not run", program.display()))
        })?;
        return Ok((Some(found), Done::default()));
    }
    let places = Places::from_env();
    let skipped = super::provide(shop, &places, &[Part::Chromium])?;
    Ok((find(&places), Done { skipped, ..Done::default() }))
}

/// Finds a browser that is installed, else one that was unpacked.
pub(super) fn find(places: &Places) -> Option<Browser> {
    let in_path = NAMES.iter().flat_map(|name| places.path.iter().map(move |bin| bin.join(name)));
    let on_a_mac = places.system.iter().flat_map(|root| APPLICATIONS.map(|path| root.join(path)));
    let installed = in_path.chain(on_a_mac).find_map(|program| Browser::at(&program, None));
    installed.or_else(|| {
        let root = places.unpacked.as_deref()?;
        Browser::at(&root.join(UNPACKED), Some(root))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::nursery::Nursery;

    fn pretend(program: &Path, script: &str) {
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        // Written by another process: a file that is open for writing here, or in a process that
        // another test is just starting, could not be run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", write, "sh"]).arg(program).arg(script).status();
        assert!(status.unwrap().success());
    }

    #[test]
    fn one_that_runs_is_found_and_the_installed_one_first() {
        let nursery = Nursery::open().unwrap();
        let (bin, root) = (nursery.folder("bin").unwrap(), nursery.folder("root").unwrap());
        let places = Places { path: vec![bin.clone()], system: None, unpacked: Some(root.clone()) };
        assert_eq!(find(&places), None);
        // Without its libraries a browser does not even tell its version.
        pretend(&root.join(UNPACKED), "test -n \"$LD_LIBRARY_PATH\" && echo Chromium 3.1");
        assert_eq!(find(&places).unwrap().title(), "Chromium 3.1");
        pretend(&bin.join("google-chrome"), "echo 'Google Chrome 2.0 unknown'");
        assert_eq!(find(&places).unwrap().program, bin.join("google-chrome"));
        // A name that leads nowhere, such as that of a package that only refers to another.
        pretend(&bin.join("chromium"), "echo 'Install it first, with 1 command' >&2; exit 1");
        assert_eq!(find(&places).unwrap().title(), "Chromium 2.0");
        pretend(&bin.join("chromium"), "echo Chromium 156.0.8078.79 built on Debian");
        assert_eq!(find(&places).unwrap().title(), "Chromium 156.0.8078.79");
    }

    #[test]
    fn the_tests_are_told_what_to_start_and_where_its_parts_are() {
        let nursery = Nursery::open().unwrap();
        let root = nursery.folder("root").unwrap();
        pretend(&root.join(UNPACKED), "");
        let told = || {
            let unpacked = Some(root.clone());
            let program = root.join(UNPACKED);
            let mut command = Command::new("npm");
            Browser { program, version: Version::default(), unpacked }.tell(&mut command);
            let names = command.get_envs().map(|(name, _)| name.to_string_lossy().into_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(told(), [CHOSEN, "LD_LIBRARY_PATH"]);
        fs::create_dir_all(root.join("etc/fonts")).unwrap();
        assert_eq!(told(), ["FONTCONFIG_PATH", CHOSEN, "LD_LIBRARY_PATH", "XDG_DATA_HOME"]);
    }
}
