//! Act: the server is its own authority, and whoever knows its fingerprint can trust it.

use super::Stage;
use crate::failure::{Failure, Result};

/// Starts the server again with TLS, and uses it as another machine would.
pub(super) fn play(stage: &mut Stage) -> Result<()> {
    println!("  $ godel up --tls auto");
    stage.raise_with(&["--tls", "auto"])?;
    let status = stage.godel.call_json(&["status"])?;
    let fingerprint = status["protection"]["fingerprint"].as_str().unwrap_or_default().to_owned();
    let url = stage.server()?.url().to_owned();
    if !url.starts_with("https://") || fingerprint.is_empty() {
        return Err(Failure::new("the server does not speak TLS").output(status.to_string()));
    }
    println!("    {url}");
    println!("    fingerprint {fingerprint}");
    println!("  On another machine, where nobody knows it:");
    let there = stage.godel.elsewhere();
    refused(&there.refused(&["status", "--server", &url])?, &["status", "--server", &url])?;
    println!("  $ godel login {url} --key-stdin --ca FINGERPRINT < owner.key");
    let login = ["login", &url, "--key-stdin", "--ca", &fingerprint];
    tell(&there.call_fed(&login, &stage.godel.key_file())?);
    println!("  $ godel whoami");
    let me = there.call(&["whoami"])?;
    tell(&me);
    if !me.contains("owner") {
        return Err(Failure::new("the login does not know who it is").output(me));
    }
    let plain = url.replace("https://", "http://");
    refused(&there.refused(&["status", "--server", &plain])?, &["status", "--server", &plain])
}

/// Shows what a refused command said, which must be about TLS.
fn refused(said: &str, arguments: &[&str]) -> Result<()> {
    println!("  $ godel {}", arguments.join(" "));
    tell(said);
    if ["certificate_untrusted", "tls_required"].iter().any(|code| said.contains(code)) {
        return Ok(());
    }
    Err(Failure::new("it was refused for another reason").output(said))
}

fn tell(said: &str) {
    said.lines().for_each(|line| println!("    {line}"));
}
