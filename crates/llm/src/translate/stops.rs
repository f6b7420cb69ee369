//! Stop sequences for an upstream that knows none: the reply is cut where one comes up.

/// Watches the text of a reply for the client's sequences.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stops {
    sequences: Vec<String>,
    /// Text that may be the beginning of a sequence.
    held: String,
    hit: Option<String>,
}

impl Stops {
    /// Watches for these.
    pub(crate) fn new(sequences: Vec<String>) -> Self {
        let sequences = sequences.into_iter().filter(|each| !each.is_empty()).collect();
        Self { sequences, ..Self::default() }
    }

    /// Takes more text and returns what is sure to be told.
    pub(crate) fn pass(&mut self, more: String) -> String {
        if self.sequences.is_empty() {
            return more;
        }
        if self.hit.is_some() {
            return String::new();
        }
        self.held.push_str(&more);
        let places = self.sequences.iter().filter_map(|each| Some((self.held.find(each)?, each)));
        if let Some((place, sequence)) = places.min_by_key(|(place, _)| *place) {
            self.hit = Some(sequence.clone());
            self.held.truncate(place);
            return std::mem::take(&mut self.held);
        }
        let keep = self.sequences.iter().map(|each| overlap(&self.held, each)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// Returns what was held back, since no sequence can come of it any more.
    pub(crate) fn flush(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// Returns the sequence that came up.
    pub(crate) const fn hit(&self) -> Option<&String> {
        self.hit.as_ref()
    }
}

/// Returns how many bytes at the end of a text begin the sequence.
fn overlap(text: &str, sequence: &str) -> usize {
    let starts = sequence.char_indices().map(|(at, _)| at).skip(1).collect::<Vec<_>>();
    starts.into_iter().rev().find(|end| text.ends_with(&sequence[..*end])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(sequences: &[&str], pieces: &[&str]) -> (String, Option<String>) {
        let mut stops = Stops::new(sequences.iter().map(|&each| each.to_owned()).collect());
        let mut told: String = pieces.iter().map(|&piece| stops.pass(piece.to_owned())).collect();
        told.push_str(&stops.flush());
        (told, stops.hit().cloned())
    }

    #[test]
    fn the_text_ends_where_a_sequence_begins() {
        assert_eq!(
            cut(&["END", "é!"], &["aE", "Nb EN", "Dc"]),
            ("aENb ".into(), Some("END".into()))
        );
        assert_eq!(cut(&["é!"], &["aé", "é", "!b"]), ("aé".into(), Some("é!".into())));
        assert_eq!(cut(&["END"], &["aEN"]), ("aEN".into(), None));
        assert_eq!(cut(&[], &["a", "b"]), ("ab".into(), None));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_text_is_split(text in "[abé]{0,20}", cuts in "[|]{0,3}") {
            let whole = cut(&["aba", "éa"], &[&text]);
            let step = cuts.len() + 1;
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> =
                chars.chunks(step).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let split = cut(&["aba", "éa"], &pieces);
            prop_assert_eq!(&split.0, &whole.0);
        }
    }
}
