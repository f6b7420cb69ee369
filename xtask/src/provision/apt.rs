//! Installs packages as root, on Debian and its kin.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Result, Told};
use crate::shop::Shop;

/// Asked by package scripts before they start a service; 101 means "do not".
const POLICY: &str = "/usr/sbin/policy-rc.d";
/// The services that the packages bring.
const SERVICES: [&str; 2] = ["postgresql", "redis-server"];

/// Keeps package scripts from starting services for as long as it lives.
struct NoServices {
    made: bool,
}

/// Installs the packages without starting a service, now or at the next boot.
///
/// With `renew`, the package lists are renewed if it does not work without.
pub(super) fn install(shop: &Shop, packages: &[&str], renew: bool) -> Result<()> {
    let _quiet = NoServices::ask()?;
    let before = SERVICES.map(is_known);
    let first = shop.captured("apt-install", &mut apt_get("install", packages));
    if first.is_err() && renew {
        // Lists that are missing or old are the usual reason. One source may be out of reach and
        // the others still have what is needed, so only the second try decides.
        let _ = shop.captured("apt-update", &mut apt_get("update", &[]));
        shop.captured("apt-install", &mut apt_get("install", packages))?;
    } else {
        first?;
    }
    for (service, known) in SERVICES.iter().zip(before) {
        if !known && is_known(service) {
            // The package is there and its programs can be used, whatever systemd answers.
            let _ = systemctl(&["disable", "--now", service]);
        }
    }
    Ok(())
}

fn apt_get(verb: &str, packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3", verb]);
    if verb == "install" {
        command.args(["-y", "--no-install-recommends"]);
    }
    command.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn is_known(service: &str) -> bool {
    Path::new("/run/systemd/system").is_dir() && systemctl(&["cat", service])
}

fn systemctl(arguments: &[&str]) -> bool {
    let mut command = Command::new("systemctl");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl NoServices {
    fn ask() -> Result<Self> {
        if Path::new(POLICY).exists() {
            return Ok(Self { made: false });
        }
        fs::write(
            POLICY,
            "#!/bin/sh\n# made by cargo xtask test, removed when it is done\nexit 101\n",
        )
        .told(format!("write {POLICY}"))?;
        let made = Self { made: true };
        fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755))
            .told(format!("make {POLICY} a program"))?;
        Ok(made)
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.made {
            // Nothing sensible is left to do if this fails; the file says where it comes from.
            let _ = fs::remove_file(POLICY);
        }
    }
}
