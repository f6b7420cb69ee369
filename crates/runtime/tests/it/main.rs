//! Sandboxes with real processes.
