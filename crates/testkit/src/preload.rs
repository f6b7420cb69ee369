//! Small libraries in C that stand between a process and its system, for faults that no program can
//! bring upon itself.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A library that a process loads before all others; it goes away with this value.
///
/// Only on Linux. It is built when it is needed, by the compiler that has built SQLite.
#[derive(Debug)]
pub struct Preload {
    folder: TempDir,
    path: String,
}

impl Preload {
    /// Writes down what a process does to the files of its database, in the file that the variable
    /// `GODEL_TEST_TRACE` names.
    pub fn trace() -> Self {
        Self::build("trace.c")
    }

    /// Sets the clock on the wall of a process by the seconds that stand in the file that the variable
    /// `GODEL_TEST_CLOCK` names.
    pub fn clock() -> Self {
        Self::build("clock.c")
    }

    /// Breaks the disk of a process as the variable `GODEL_TEST_DISK` says; `disk.c` tells how.
    pub fn disk() -> Self {
        Self::build("disk.c")
    }

    fn build(name: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("preload").join(name);
        let folder = TempDir::with_prefix("godel-preload-").unwrap();
        let library = folder.path().join("preload.so");
        let output = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let path = library.to_str().unwrap().to_owned();
        Self { folder, path }
    }

    /// The folder of the library, in which a test may leave what belongs to it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The value of the variable `LD_PRELOAD`.
    pub fn path(&self) -> &str {
        &self.path
    }
}
