//! Files that only their user can read.

use std::io::Write as _;
use std::path::Path;

/// Writes a file that only its user can read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("part");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&part)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    std::fs::rename(part, path)
}

/// Makes a directory; a new one is readable by its user only.
pub(crate) fn make_private_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Tells whether anybody else than its user can read a file.
pub(crate) fn is_open_to_others(path: &Path) -> std::io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    #[cfg(unix)]
    let open = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o077 != 0;
    #[cfg(not(unix))]
    let open = false && metadata.is_file();
    Ok(open)
}
