//! Takes secrets and personal data out of what is about to be kept.
//!
//! It looks for what can be told by its shape: keys of well-known services, tokens, private keys,
//! passwords in addresses; mail addresses, numbers of cards, accounts and telephones. A name or a
//! street has no shape, so it stays. What is taken out wrongly is missed by nobody; what is left in by
//! mistake is there for whoever reads the database.

use std::ops::Range;

use memchr::memmem;
use serde::Deserialize;

use crate::policy::keys_in;

const SECRET: &str = "[secret removed]";
const PERSONAL: &str = "[personal data removed]";

/// How tokens begin that have no shape of their own, and how long what follows is at least.
const TOKEN_MARKS: [(&str, usize); 9] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("hf_", 20),
    ("gho_", 20),
    ("xoxp-", 16),
    ("npm_", 30),
    ("godel_at_", 16),
    ("Bearer ", 16),
];
/// Words before a `:` or `=` behind which a secret stands.
const NAMES: [&str; 8] =
    ["password", "passwd", "pwd", "secret", "api_key", "apikey", "access_token", "client_secret"];

/// What can be told by its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Keys, tokens, private keys and passwords.
    Secret,
    /// A mail address.
    Mail,
    /// The number of a payment card, whose check digit is right.
    Card,
    /// A telephone number, written with its country.
    Phone,
    /// The number of a bank account, whose check digits are right.
    Account,
    /// A social security number of the United States.
    Social,
}

impl Kind {
    const PERSONAL: [Self; 5] = [Self::Mail, Self::Card, Self::Phone, Self::Account, Self::Social];
}

/// Returns where something of a kind is.
pub(crate) fn found(text: &str, kind: Kind) -> Vec<Range<usize>> {
    match kind {
        Kind::Secret => [
            keys_in(text.as_bytes()),
            tokens(text),
            private_keys(text),
            named(text),
            passwords(text),
        ]
        .concat(),
        Kind::Mail => mails(text),
        Kind::Account => accounts(text),
        Kind::Card | Kind::Phone | Kind::Social => numbers(text, kind),
    }
}

/// Returns a text without what looks like a secret or like personal data.
pub(crate) fn redact(text: &str) -> String {
    let secret = found(text, Kind::Secret).into_iter().map(|place| (place, SECRET));
    let personal = Kind::PERSONAL.into_iter().flat_map(|kind| found(text, kind));
    let mut found: Vec<(Range<usize>, &str)> = secret.collect();
    found.extend(personal.map(|place| (place, PERSONAL)));
    // The longest of those that begin at the same place.
    found.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
    let (mut clean, mut from) = (String::with_capacity(text.len()), 0);
    for (place, instead) in found {
        if place.start < from {
            // It lies inside of another or overlaps it; nothing of it may stay.
            from = from.max(place.end);
            continue;
        }
        clean.push_str(text.get(from..place.start).unwrap_or_default());
        clean.push_str(instead);
        from = place.end;
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    clean
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(&byte)
}

fn word_from(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| is_word(**byte)).count()
}

/// Whether a mark at a place begins a word: `task-force` has no `sk-` in it.
fn begins(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (mark, least) in TOKEN_MARKS {
        for at in memmem::find_iter(bytes, mark).filter(|at| begins(bytes, *at)) {
            let length = word_from(bytes, at + mark.len());
            if length >= least {
                found.push(at..at + mark.len() + length);
            }
        }
    }
    // A signed token: three parts, of which the first two begin like JSON in base64.
    for at in memmem::find_iter(bytes, "eyJ").filter(|at| begins(bytes, *at)) {
        let length = word_from(bytes, at);
        let parts = text.get(at..at + length).map_or(0, |word| word.split('.').count());
        if parts == 3 && length >= 30 {
            found.push(at..at + length);
        }
    }
    found
}

fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), "-----BEGIN ") {
        let rest = &text[at..];
        let head = rest.get(..rest.len().min(60)).unwrap_or(rest);
        if !head.contains("PRIVATE KEY") {
            continue;
        }
        // One that does not end goes on to the end of what there is.
        let end = rest.find("-----END ").map_or(rest.len(), |end| {
            let behind = &rest[end + 9..];
            behind.find("-----").map_or(rest.len(), |last| end + 9 + last + 5)
        });
        found.push(at..at + end);
    }
    found
}

/// Finds what stands behind `password=` and its like.
fn named(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for name in NAMES {
        for at in memmem::find_iter(lower.as_bytes(), name) {
            let mut from = at + name.len();
            let quiet = |byte: u8| b" \t\"'\\".contains(&byte);
            let skip = |from: usize| bytes[from..].iter().take_while(|b| quiet(**b)).count();
            from += skip(from);
            if !matches!(bytes.get(from), Some(b':' | b'=')) {
                continue;
            }
            from += 1;
            from += skip(from);
            let ends = |byte: &&u8| !byte.is_ascii_whitespace() && !b"\"'\\,;&<>)}]".contains(byte);
            let length = bytes[from..].iter().take_while(ends).count();
            // What was taken out before is no secret.
            if length >= 4 && bytes[from] != b'[' {
                found.push(from..from + length);
            }
        }
    }
    found
}

/// Finds what stands between `://user:` and `@`.
fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), "://") {
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'<>/\\".contains(c));
        let authority = &rest[..end.unwrap_or(rest.len())];
        let Some(host) = authority.rfind('@') else { continue };
        let Some(colon) = authority[..host].find(':') else { continue };
        if colon + 1 < host {
            found.push(at + 3 + colon + 1..at + 3 + host);
        }
    }
    found
}

fn mails(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let mut found = Vec::new();
    for at in memchr::memchr_iter(b'@', bytes) {
        let before = bytes[..at].iter().rev().take_while(|byte| local(byte)).count();
        let behind = bytes[at + 1..].iter().take_while(|byte| host(byte)).count();
        let name =
            text.get(at + 1..at + 1 + behind).unwrap_or_default().trim_end_matches(['.', '-']);
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        let proper = end.len() >= 2 && end.bytes().all(|byte| byte.is_ascii_alphabetic());
        if before > 0 && proper {
            found.push(at - before..at + 1 + name.len());
        }
    }
    found
}

/// Finds numbers of cards, social security, or telephones.
fn numbers(text: &str, kind: Kind) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let plus = bytes[at] == b'+';
        let begins_number = bytes[at].is_ascii_digit() || plus;
        let inside =
            at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || b"._".contains(&bytes[at - 1]));
        if begins_number && !inside {
            let length = number_from(&bytes[at..]);
            let word = &bytes[at..at + length];
            let digits: Vec<u8> = word.iter().copied().filter(u8::is_ascii_digit).collect();
            let glued = bytes.get(at + length).is_some_and(u8::is_ascii_alphanumeric);
            let is = match kind {
                Kind::Phone => plus && (8..=15).contains(&digits.len()),
                Kind::Card => (13..=19).contains(&digits.len()) && luhn(&digits),
                Kind::Social => {
                    word.len() == 11 && word[3] == b'-' && word[6] == b'-' && digits.len() == 9
                }
                Kind::Secret | Kind::Mail | Kind::Account => false,
            };
            if is && !glued {
                found.push(at..at + length);
            }
            at += length.max(1);
        } else {
            at += 1;
        }
    }
    found
}

/// Returns how long a number is that may have single blanks, dashes, dots and brackets in it.
fn number_from(bytes: &[u8]) -> usize {
    let mut end = usize::from(bytes[0] == b'+');
    let mut last = end;
    while end < bytes.len() {
        match bytes[end] {
            byte if byte.is_ascii_digit() => last = end + 1,
            b' ' | b'-' | b'.' | b'(' | b')' if end - last < 2 => {}
            _ => break,
        }
        end += 1;
    }
    last
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0') << (place % 2);
            if digit > 9 { digit - 9 } else { digit }
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != b'0')
}

/// Finds international bank account numbers, whose check digits are right.
fn accounts(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for at in 0..bytes.len().saturating_sub(14) {
        let fits = bytes[at].is_ascii_uppercase()
            && bytes[at + 1].is_ascii_uppercase()
            && bytes[at + 2].is_ascii_digit()
            && bytes[at + 3].is_ascii_digit()
            && begins(bytes, at);
        if !fits {
            continue;
        }
        let (mut end, mut plain) = (at, Vec::new());
        while end < bytes.len() && plain.len() < 34 {
            match bytes[end] {
                byte if byte.is_ascii_uppercase() || byte.is_ascii_digit() => plain.push(byte),
                b' ' if bytes
                    .get(end + 1)
                    .is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) => {}
                _ => break,
            }
            end += 1;
        }
        if plain.len() >= 15 && is_account(&plain) {
            found.push(at..end);
        }
    }
    found
}

fn is_account(plain: &[u8]) -> bool {
    let turned = plain[4..].iter().chain(&plain[..4]);
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    rest == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_taken_out() {
        let jwt = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}", "a".repeat(20));
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        for (given, expected) in [
            (format!("use sk-ant-{} now", "a1".repeat(20)), format!("use {SECRET} now")),
            (format!("use sk-{} now", "a1".repeat(10)), format!("use {SECRET} now")),
            (format!("key ghp_{}.", "a1B2".repeat(9)), format!("key {SECRET}.")),
            (
                format!("Authorization: Bearer {}", "x".repeat(20)),
                format!("Authorization: {SECRET}"),
            ),
            (format!("t={jwt};"), format!("t={SECRET};")),
            (format!("a {pem} b"), format!("a {SECRET} b")),
            ("a -----BEGIN PRIVATE KEY-----\nMIIE".to_owned(), format!("a {SECRET}")),
            ("password = hunter22, then".to_owned(), format!("password = {SECRET}, then")),
            (
                r#"{"client_secret": "hush!!"}"#.to_owned(),
                format!(r#"{{"client_secret": "{SECRET}"}}"#),
            ),
            ("postgres://ann:pw@db/x".to_owned(), format!("postgres://ann:{SECRET}@db/x")),
        ] {
            assert_eq!(redact(&given), expected);
        }
    }

    #[test]
    fn personal_data_is_taken_out() {
        for (given, expected) in [
            ("write to ann.b+c@mail.example.org.", format!("write to {PERSONAL}.")),
            ("card 4111 1111 1111 1111 ok", format!("card {PERSONAL} ok")),
            ("card 4111-1111-1111-1111", format!("card {PERSONAL}")),
            ("call +49 (30) 1234-5678 now", format!("call {PERSONAL} now")),
            ("ssn 078-05-1120.", format!("ssn {PERSONAL}.")),
            ("pay to DE89 3704 0044 0532 0130 00 today", format!("pay to {PERSONAL} today")),
        ] {
            assert_eq!(redact(given), expected);
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "the task-force of 2026-11-15 meets at 10:30",
            "version 1.2.3 of x@1.0, commit 1234567890123456",
            "let password: String = read(); // secret",
            "a + b = 12345678, id 019a87f2-6c1e-7b1a-9d7e-0c6f5a1b2c3d",
            "fn main() { println!(\"{}\", 4111111111111112_u64) }",
            "https://example.org/a:b@c",
            "eyJ is how JSON begins in base64",
        ] {
            let clean = redact(text);
            // A type behind `password:` may go, which harms nobody.
            if !text.contains("password") {
                assert_eq!(clean, text);
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_no_secret_survives(
            before in "\\PC{0,40}", after in "\\PC{0,40}", tail in "[A-Za-z0-9]{40}",
        ) {
            let key = format!("sk-ant-{tail}");
            let clean = redact(&format!("{before} {key} {after}"));
            prop_assert!(!clean.contains(&key), "{clean}");
            prop_assert!(!clean.contains(&tail), "{clean}");
        }

        #[test]
        fn a_second_look_finds_nothing_new(text in "[a-z0-9@:/=. +-]{0,80}") {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
