//! Finds the words of a line that differ from the line it stands for.

use super::changes::{Line, LineKind};

/// Longer lines are compared at their ends only.
const LINE_MAX_BYTES: usize = 2_000;
/// How many pairs of words are compared in one line.
const PAIRS_MAX: usize = 40_000;

/// Marks in each line what differs from the line that it stands for.
///
/// The first removed line stands for the first added one after it, and so on. Lines that share too little get
/// no mark: then all of the line differs.
pub(super) fn mark(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let removed = run(&lines[at..], LineKind::Removed);
        let added = run(&lines[at + removed..], LineKind::Added);
        for pair in 0..removed.min(added) {
            let (before, after) = lines.split_at_mut(at + removed);
            let (old, new) = (&mut before[at + pair], &mut after[pair]);
            if let Some((olds, news)) = differences(&old.text, &new.text) {
                (old.marks, new.marks) = (olds, news);
            }
        }
        at += (removed + added).max(1);
    }
}

fn run(lines: &[Line], kind: LineKind) -> usize {
    lines.iter().take_while(|line| line.kind == kind).count()
}

type Marks = Vec<(u32, u32)>;

fn differences(old: &str, new: &str) -> Option<(Marks, Marks)> {
    let (olds, news) = (tokens(old), tokens(new));
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = olds.iter().zip(&news).take_while(same).count();
    let tail = olds[head..].iter().rev().zip(news[head..].iter().rev()).take_while(same).count();
    let (middle_old, middle_new) = (&olds[head..olds.len() - tail], &news[head..news.len() - tail]);
    let long = old.len().max(new.len()) > LINE_MAX_BYTES;
    let kept = if long || middle_old.len() * middle_new.len() > PAIRS_MAX {
        (vec![false; middle_old.len()], vec![false; middle_new.len()])
    } else {
        common(middle_old, middle_new)
    };
    let marks = |tokens: &[&str], kept: &[bool]| -> (Marks, usize) {
        let (mut marks, mut at, mut shared): (Marks, usize, usize) = (Vec::new(), 0, 0);
        for (number, token) in tokens.iter().enumerate() {
            let outer = number < head || number >= tokens.len() - tail;
            let end = at + token.len();
            if outer || kept[number - head] {
                shared += token.trim().len();
            } else {
                let bytes = |at| u32::try_from(at).unwrap_or(u32::MAX);
                match marks.last_mut() {
                    Some(last) if last.1 == bytes(at) => last.1 = bytes(end),
                    _ => marks.push((bytes(at), bytes(end))),
                }
            }
            at = end;
        }
        (marks, shared)
    };
    let ((old_marks, shared), (new_marks, _)) = (marks(&olds, &kept.0), marks(&news, &kept.1));
    // Two lines that have less than a quarter in common are two lines.
    (shared * 4 >= old.trim().len().max(new.trim().len()) && shared > 0)
        .then_some((old_marks, new_marks))
}

/// Splits a line into words, runs of blanks, and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        let now = class(c);
        if before.is_some_and(|before| before != now || now == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        before = Some(now);
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

/// Tells which tokens are in the longest common sequence.
fn common(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let width = new.len() + 1;
    let mut table = vec![0_u16; (old.len() + 1) * width];
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let next = (row + 1) * width + column;
            table[row * width + column] = if one == other {
                table[next + 1] + 1
            } else {
                table[next].max(table[row * width + column + 1])
            };
        }
    }
    let mut kept = (vec![false; old.len()], vec![false; new.len()]);
    let (mut row, mut column) = (0, 0);
    while row < old.len() && column < new.len() {
        if old[row] == new[column] {
            (kept.0[row], kept.1[column]) = (true, true);
            (row, column) = (row + 1, column + 1);
        } else if table[(row + 1) * width + column] >= table[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let (old, new) = differences("let total = count(a);", "let sum = count(a, b);").unwrap();
        assert_eq!(old, [(4, 9)]);
        assert_eq!(new, [(4, 7), (17, 20)]);
        let (old, new) = differences("größer als", "kleiner als").unwrap_or_default();
        assert_eq!((old, new), (vec![(0, 8)], vec![(0, 7)]));
        assert_eq!(differences("alpha beta", "completely other words"), None);
        let long = "x ".repeat(5_000);
        let (old, new) = differences(&long, &format!("{long}y")).unwrap();
        assert_eq!((old, new), (vec![], vec![(10_000, 10_001)]));
    }
}
