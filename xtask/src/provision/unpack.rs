//! Unpacks Debian packages into the cache folder, without installing anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Result, Told};
use crate::shop::Shop;

const STATUS: &str = "/var/lib/dpkg/status";

/// Whether this process is root.
pub(super) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Downloads the packages and what they need that is not installed, and unpacks them.
///
/// The system's package lists are tried first, then a copy of them in the cache, made anew if
/// `renew` says so.
pub(super) fn fetch(
    shop: &Shop,
    packages: &[&str],
    renew: bool,
    ignore_installed: bool,
) -> Result<()> {
    let cache = super::cache()?;
    let mut settings = vec!["Debug::NoLocking=1".to_owned()];
    if ignore_installed {
        let path = cache.join("dpkg-status");
        let status = fs::read_to_string(STATUS).told(format!("read {STATUS}"))?;
        fs::write(&path, without_ours(&status)).told(format!("write {}", path.display()))?;
        settings.push(format!("Dir::State::status={}", path.display()));
    }
    if download_and_unpack(shop, &cache, &settings, packages).is_ok() {
        return Ok(());
    }
    settings.extend(private_lists(&cache)?);
    if renew {
        shop.captured("apt-update", &mut apt_get(&settings, &["update"]))?;
    }
    download_and_unpack(shop, &cache, &settings, packages)
}

fn download_and_unpack(
    shop: &Shop,
    cache: &Path,
    settings: &[String],
    packages: &[&str],
) -> Result<()> {
    let mut plan = apt_get(settings, &["install", "--simulate", "--no-install-recommends"]);
    let needed = planned(&shop.captured("apt-plan", plan.args(packages))?);
    if needed.is_empty() {
        return Err(Failure::new("apt-get finds nothing to download"));
    }
    let downloads = cache.join("downloads");
    if downloads.exists() {
        fs::remove_dir_all(&downloads).told(format!("empty {}", downloads.display()))?;
    }
    fs::create_dir_all(&downloads).told(format!("create {}", downloads.display()))?;
    let mut download = apt_get(settings, &["download"]);
    shop.captured("apt-download", download.args(&needed).current_dir(&downloads))?;
    let root = cache.join("packages");
    for package in debs(&downloads)? {
        let mut unpack = Command::new("dpkg");
        shop.captured("dpkg-unpack", unpack.arg("-x").arg(package).arg(&root))?;
    }
    fs::remove_dir_all(&downloads).told(format!("remove {}", downloads.display()))
}

fn apt_get(settings: &[String], arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    for setting in settings {
        command.args(["-o", setting]);
    }
    command.args(arguments).env("LC_ALL", "C");
    command
}

/// Makes folders for package lists of our own, and says how apt-get is told of them.
fn private_lists(cache: &Path) -> Result<Vec<String>> {
    let (lists, archives) = (cache.join("apt/lists"), cache.join("apt/cache"));
    for folder in [lists.join("partial"), archives.join("archives/partial")] {
        fs::create_dir_all(&folder).told(format!("create {}", folder.display()))?;
    }
    Ok(vec![
        format!("Dir::State::lists={}", lists.display()),
        format!("Dir::Cache={}", archives.display()),
    ])
}

/// The packages that a simulated installation would install: `Inst <name> (<version> ...)`.
fn planned(output: &str) -> Vec<String> {
    output
        .lines()
        .filter_map(|line| line.strip_prefix("Inst ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn debs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).told(format!("read {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|end| end == "deb")).collect())
}

/// The package status of this machine as if what we need were not installed.
fn without_ours(status: &str) -> String {
    let forgotten = |paragraph: &str| {
        let name = paragraph.lines().find_map(|line| line.strip_prefix("Package: "));
        name.is_some_and(is_ours)
    };
    status.split_inclusive("\n\n").filter(|paragraph| !forgotten(paragraph)).collect()
}

fn is_ours(package: &str) -> bool {
    let server = package.starts_with("postgresql") || package.starts_with("redis");
    let python = package.starts_with("python3");
    let browser = package.starts_with("chromium");
    let walls = package == "bubblewrap" || package == "runsc";
    server
        || browser
        || walls
        || (python && (package.ends_with("-venv") || package.ends_with("-whl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_apt_get_is_read() {
        let text = "NOTE: This is only a simulation!\nInst libjemalloc2 (5.3.0-1 Debian:12 [amd64])\n\
                    Inst libpq5 [15.18-0] (15.19-0 Debian:12 [amd64])\nConf libjemalloc2 (5.3.0-1)\n";
        assert_eq!(planned(text), ["libjemalloc2", "libpq5"]);
    }

    #[test]
    fn only_our_packages_are_forgotten() {
        let status = "Package: bash\nStatus: x\n\nPackage: postgresql-15\nStatus: x\n\n\
                      Package: python3\n\nPackage: python3.11-venv\n\nPackage: redis-server\n\n\
                      Package: chromium-common\n";
        assert_eq!(without_ours(status), "Package: bash\nStatus: x\n\nPackage: python3\n\n");
    }
}
