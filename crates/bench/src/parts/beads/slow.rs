//! A disk that takes longer: a library that is loaded before others and sleeps in each `fsync`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result, Told as _};

/// How much longer each `fsync` takes.
pub(super) const ADDED_MS: u32 = 2;

/// The program under test is the one that users get: it knows nothing of this.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static void wait_ms(long ms) {
    struct timespec left = {0, ms * 1000000L};
    while (nanosleep(&left, &left) != 0) {}
}
int fsync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_ms(ADDED_MS);
    return real(file);
}
int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_ms(ADDED_MS);
    return real(file);
}
"#;

/// A disk whose every `fsync` takes longer.
#[derive(Debug)]
pub(super) struct SlowDisk {
    library: PathBuf,
}

impl SlowDisk {
    /// Compiles the library.
    pub(super) fn make(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).told(format_args!("make {}", folder.display()))?;
        let (source, library) = (folder.join("slow.c"), folder.join("libslow.so"));
        std::fs::write(&source, SOURCE).told("write a C file")?;
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", &format!("-DADDED_MS={ADDED_MS}"), "-o"]);
        let output = compiler.arg(&library).arg(&source).arg("-ldl").output().told("run cc")?;
        if output.status.success() {
            return Ok(Self { library });
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::new(format!("cc failed: {said}")).with_hint("a C compiler is needed"))
    }

    /// Puts a program on this disk.
    pub(super) fn under(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library);
    }
}
