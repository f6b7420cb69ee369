//! The last bytes of an output, each with its place in the whole.

use std::collections::VecDeque;

use bytes::Bytes;

use super::Output;

/// The last bytes of an output that may be longer than memory.
#[derive(Debug)]
pub(super) struct Ring {
    held: VecDeque<u8>,
    most: usize,
    /// How many bytes there were in all.
    end: u64,
}

impl Ring {
    pub(super) fn new(most: usize) -> Self {
        Self { held: VecDeque::new(), most, end: 0 }
    }

    /// How many bytes there were in all.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The place of the oldest byte that is held.
    fn start(&self) -> u64 {
        self.end - self.held.len() as u64
    }

    /// Adds bytes; the oldest make room.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.end += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let too_many = (self.held.len() + bytes.len()).saturating_sub(self.most);
        self.held.drain(..too_many);
        self.held.extend(bytes);
    }

    /// Returns what comes at a place, at most so many bytes; nothing if nothing has come yet.
    pub(super) fn read(&self, at: u64, most: usize) -> Option<Output> {
        let start = self.start();
        if at < start {
            return Some(Output::Dropped { from: at, to: start });
        }
        let skip = usize::try_from(at - start).ok().filter(|skip| *skip < self.held.len())?;
        let bytes: Vec<u8> = self.held.range(skip..).take(most).copied().collect();
        Some(Output::Bytes { offset: at, bytes: Bytes::from(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_is_read_at_its_place_or_told_as_dropped(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            most in 1_usize..64,
            from in any::<prop::sample::Index>(),
            step in 1_usize..50,
        ) {
            let all: Vec<u8> = pieces.concat();
            let mut ring = Ring::new(most);
            for piece in &pieces {
                ring.push(piece);
            }
            prop_assert_eq!(ring.end(), all.len() as u64);
            let mut at = from.index(all.len() + 1) as u64;
            let mut dropped = 0;
            while let Some(output) = ring.read(at, step) {
                match output {
                    Output::Dropped { from, to } => {
                        prop_assert!(from == at && to > from);
                        // No more is dropped than had to be.
                        prop_assert_eq!(to, all.len().saturating_sub(most) as u64);
                        dropped += 1;
                        at = to;
                    }
                    Output::Bytes { offset, bytes } => {
                        prop_assert_eq!(offset, at);
                        prop_assert!(!bytes.is_empty() && bytes.len() <= step);
                        let place = at as usize;
                        prop_assert_eq!(&bytes[..], &all[place..place + bytes.len()]);
                        at += bytes.len() as u64;
                    }
                }
            }
            prop_assert_eq!(at, all.len() as u64);
            prop_assert!(dropped <= 1);
        }
    }
}
