//! In which codings a browser takes a file.

use http::{HeaderMap, header};

/// A way in which the build has compressed the files of the dashboard; the better one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Gzip,
}

const ALL: [Coding; 2] = [Coding::Brotli, Coding::Gzip];

impl Coding {
    /// Its name in a header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// How the names of such files end.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }

    /// Reads it off the name of a file.
    pub(super) fn of_name(path: &str) -> Option<Self> {
        ALL.into_iter().find(|coding| path.ends_with(coding.ending()))
    }

    /// Those that a request takes; which of them it likes best matters less than what is smallest.
    pub(super) fn wanted(headers: &HeaderMap) -> impl Iterator<Item = Self> {
        let said = headers.get_all(header::ACCEPT_ENCODING);
        let texts: Vec<&str> = said.iter().filter_map(|value| value.to_str().ok()).collect();
        ALL.into_iter().filter(move |coding| {
            let mut offers = texts.iter().flat_map(|text| text.split(','));
            offers.any(|offer| takes(offer, coding.name()))
        })
    }
}

/// Tells whether an offer such as `br;q=0.9` is of this coding and more than none.
fn takes(offer: &str, name: &str) -> bool {
    let mut parts = offer.split(';').map(str::trim);
    let own = parts.next().is_some_and(|said| said.eq_ignore_ascii_case(name));
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    own && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_compressed_only_as_the_browser_takes_it() {
        let cases: [(&[&str], &[Coding]); 9] = [
            (&[], &[]),
            (&["gzip, deflate, br, zstd"], &[Coding::Brotli, Coding::Gzip]),
            (&["gzip, deflate"], &[Coding::Gzip]),
            (&["gzip", "br"], &[Coding::Brotli, Coding::Gzip]),
            (&["br;q=0, GZIP ; q=0.5"], &[Coding::Gzip]),
            (&["br;q=0.000"], &[]),
            (&["br;q=many"], &[]),
            (&["brotli, xgzip"], &[]),
            (&["identity"], &[]),
        ];
        for (said, wanted) in cases {
            let headers = said.iter().map(|text| (header::ACCEPT_ENCODING, text.parse().unwrap()));
            let found: Vec<Coding> = Coding::wanted(&headers.collect()).collect();
            assert_eq!(found, wanted, "{said:?}");
        }
    }
}
