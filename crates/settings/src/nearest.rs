//! Did you mean ..?

/// Returns the candidate that is nearest to what was written, if any is near enough.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = written.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| (distance(&written, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(written.len()) / 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Counts the letters to insert, remove or replace to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_letters() {
        for (from, to, expected) in
            [("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("abc", "abc", 0)]
        {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn a_slip_is_recognised_and_nonsense_is_not() {
        let known = ["rate_limited", "not_found", "unauthorized"];
        assert_eq!(nearest("rate-limit", known), Some("rate_limited"));
        assert_eq!(nearest("UNAUTHORISED", known), Some("unauthorized"));
        assert_eq!(nearest("zzzzzzzz", known), None);
        assert_eq!(nearest("", known), None);
    }
}
