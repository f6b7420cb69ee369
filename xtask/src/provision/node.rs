//! Packages of npm that are not the dashboard's: installed into the cache folder by their lock.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Result, Told};
use crate::shop::Shop;

/// Written last: the lock that the folder was installed from.
const STAMP: &str = "godel-package-lock.json";
const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the packages of `clients/<name>`, unless they are there; returns `node_modules`.
///
/// No package may run code of its own while it is installed. It is not `npm ci`, because a lock
/// does not know the binaries that were not published for every kind of machine.
pub(crate) fn packages(shop: &Shop, name: &str) -> Result<PathBuf> {
    let _turn = super::take_turn()?;
    let source = shop.root.join("clients").join(name);
    let folder = super::cache()?.join(format!("clients-{name}"));
    let modules = folder.join("node_modules");
    let lock = source.join(LISTS[1]);
    let wanted = fs::read(&lock).told(format!("read {}", lock.display()))?;
    if fs::read(folder.join(STAMP)).is_ok_and(|held| held == wanted) && modules.is_dir() {
        return Ok(modules);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).told(format!("remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).told(format!("create {}", folder.display()))?;
    for list in LISTS {
        fs::copy(source.join(list), folder.join(list)).told(format!("copy {list}"))?;
    }
    println!("    installing the packages of clients/{name}");
    let mut install = Command::new("npm");
    install.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
    shop.captured(&format!("clients-{name}-install"), &mut install)?;
    fs::write(folder.join(STAMP), wanted).told(format!("write {STAMP}"))?;
    Ok(modules)
}
