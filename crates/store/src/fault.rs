//! Named points at which a test lets the process die.

/// Dies here as by `kill -9`, if a test asked for it: `GODEL_FAULT=NAME` at the first pass,
/// `GODEL_FAULT=NAME:7` at the seventh.
///
/// A build without debug assertions, as every release is, has nothing of it.
#[inline]
pub fn fault(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The point at which to die, and after how many passes.
    struct Armed {
        name: String,
        left: AtomicU64,
    }

    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

    fn read() -> Option<Armed> {
        let text = std::env::var("GODEL_FAULT").ok()?;
        let (name, left) = text.split_once(':').unwrap_or((&text, "1"));
        Some(Armed { name: name.to_owned(), left: left.parse::<u64>().ok()?.into() })
    }

    pub(super) fn pass(name: &str) {
        let Some(armed) = ARMED.get_or_init(read) else { return };
        if armed.name == name && armed.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).ok();
        }
    }
}
