//! Use cases on real stores.
