//! Telling what one dialect says in another.
