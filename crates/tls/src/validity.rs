//! Until when a certificate is valid.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xA0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns until when a certificate in DER form is valid; `None` if that cannot be read.
///
/// This one field is all that is needed here; a whole reader of certificates would bring a dozen
/// crates.
pub fn not_after(certificate: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = take(certificate, SEQUENCE)?;
    let (mut body, _) = take(certificate, SEQUENCE)?;
    if let Some((_, rest)) = take(body, VERSION) {
        body = rest;
    }
    let (_serial, body) = take(body, INTEGER)?;
    let (_algorithm, body) = take(body, SEQUENCE)?;
    let (_issuer, body) = take(body, SEQUENCE)?;
    let (validity, _) = take(body, SEQUENCE)?;
    let (_, rest) = any_time(validity)?;
    time(any_time(rest)?.0)
}

/// Takes one element with the given tag: its content, and what follows.
fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first != tag {
        return None;
    }
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7F => (usize::from(short), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x7F))?;
            (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// Takes a time of either form, as its digits with a year of four.
fn any_time(bytes: &[u8]) -> Option<(String, &[u8])> {
    if let Some((text, rest)) = take(bytes, GENERALIZED_TIME) {
        return Some((std::str::from_utf8(text).ok()?.to_owned(), rest));
    }
    let (text, rest) = take(bytes, UTC_TIME)?;
    let text = std::str::from_utf8(text).ok()?;
    // By RFC 5280, 50 and more are of the last century.
    let century = if text.get(..2)? < "50" { "20" } else { "19" };
    Some((format!("{century}{text}"), rest))
}

fn time(text: String) -> Option<Timestamp> {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i8>().ok();
    let year = text.get(..4)?.parse().ok()?;
    let date = Date::new(year, part(4, 6)?, part(6, 8)?).ok()?;
    let time = Time::new(part(8, 10)?, part(10, 12)?, part(12, 14)?, 0).ok()?;
    Some(date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let key = KeyPair::generate().unwrap();
        for until in ["2036-11-13T10:20:30Z", "2049-12-31T23:59:59Z", "2150-01-02T03:04:05Z"] {
            let until: Timestamp = until.parse().unwrap();
            let mut params = CertificateParams::new(vec!["x.example".to_owned()]).unwrap();
            params.not_after =
                time::OffsetDateTime::from_unix_timestamp(until.as_second()).unwrap();
            let certificate = params.self_signed(&key).unwrap();
            assert_eq!(not_after(certificate.der()), Some(until));
            for cut in 0..certificate.der().len() {
                // No part of it is a certificate, and none makes the reader fall.
                assert!(not_after(&certificate.der()[..cut]).is_none());
            }
        }
    }
}
