//! Files that only their user can read.

use std::io::Write as _;
use std::path::Path;

/// Writes a file that only its user can read, whole or not at all. When this returns, it survives a
/// power cut.
///
/// # Errors
/// If it cannot be written.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("part");
    // One that a crash left behind may be open to others.
    match std::fs::remove_file(&part) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&part)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    rename_durably(&part, path)
}

/// Renames a file within its directory; when this returns, it survives a power cut.
pub(crate) fn rename_durably(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::rename(from, to)?;
    let dir = to.parent().filter(|dir| !dir.as_os_str().is_empty());
    std::fs::File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}

/// Makes a directory; a new one is readable by its user only.
///
/// # Errors
/// If it cannot be made.
pub fn make_private_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Tells whether anybody else than its user can read a file.
///
/// # Errors
/// If it cannot be looked at.
pub fn is_open_to_others(path: &Path) -> std::io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    #[cfg(unix)]
    let open = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o077 != 0;
    #[cfg(not(unix))]
    let open = false && metadata.is_file();
    Ok(open)
}
