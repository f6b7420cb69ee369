//! The second layer around files: even a hole in the first lets nothing be written elsewhere.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The newest version of the kernel's fence that was looked at.
const VERSION: ABI = ABI::V6;

/// Lets this process and its children read everything that they see, and write below some paths only.
/// Returns whether the kernel has such a fence.
pub(super) fn raise(writable: &[impl AsRef<Path>]) -> Result<bool, RulesetError> {
    let all = AccessFs::from_all(VERSION);
    let read = AccessFs::from_read(VERSION);
    let mut fence = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(VERSION))?
        .create()?;
    if let Ok(root) = PathFd::new("/") {
        fence = fence.add_rule(PathBeneath::new(root, read))?;
    }
    for path in writable {
        // What is not there cannot be written to.
        let Ok(opened) = PathFd::new(path) else { continue };
        let rights = if path.as_ref().is_dir() { all } else { AccessFs::from_file(VERSION) };
        fence = fence.add_rule(PathBeneath::new(opened, rights))?;
    }
    let status = fence.restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
