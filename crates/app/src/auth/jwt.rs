//! Access tokens: JSON Web Tokens with HMAC-SHA256.
//!
//! Only tokens that this server makes are accepted, so the header must be exactly the one it
//! writes: there is no algorithm to choose, and none to be talked into.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_model::{SessionId, TenantId, UserId};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{Error, Result};

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
/// The header as it stands in front of every token of ours.
const PREFIX: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.";
const ISSUER: &str = "godel";
const AUDIENCE: &str = "godel-api";
/// The longest token that is looked at.
const TOKEN_MAX_BYTES: usize = 2_048;
/// By how much the clocks of two servers may differ.
const LEEWAY_SECS: i64 = 5;
/// For how long an access token works.
pub const ACCESS_SECS: i64 = 15 * 60;

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    aud: String,
    /// Who is logged in.
    pub(crate) sub: UserId,
    /// In which tenant.
    pub(crate) tid: TenantId,
    /// The login that the token belongs to.
    pub(crate) sid: SessionId,
    iat: i64,
    nbf: i64,
    pub(crate) exp: i64,
    jti: String,
}

impl Claims {
    pub(crate) fn new(
        user: UserId,
        tenant: TenantId,
        session: SessionId,
        id: String,
        now: Timestamp,
    ) -> Self {
        let now = now.as_second();
        Self {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: user,
            tid: tenant,
            sid: session,
            iat: now,
            nbf: now,
            exp: now + ACCESS_SECS,
            jti: id,
        }
    }
}

fn mac(key: &[u8; 32], signed: &str) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).expect("a keyed hash takes a key of any length");
    mac.update(signed.as_bytes());
    mac
}

/// Makes a token.
pub(crate) fn sign(key: &[u8; 32], claims: &Claims) -> String {
    let body = serde_json::to_vec(claims).expect("claims are plain data, which JSON can hold");
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(body));
    let signature = mac(key, &signed).finalize().into_bytes();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Tells whether a text looks like a token of ours; those of others begin with other headers.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() <= TOKEN_MAX_BYTES
        && text.starts_with(PREFIX)
        && text.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// Reads a token.
///
/// # Errors
/// If this server did not make it, or it does not hold now.
pub(crate) fn verify(key: &[u8; 32], token: &str, now: Timestamp) -> Result<Claims> {
    let refuse = || Error::Unauthorized;
    if !is_token(token) {
        return Err(refuse());
    }
    let (signed, signature) = token.rsplit_once('.').ok_or_else(refuse)?;
    let (header, body) = signed.split_once('.').ok_or_else(refuse)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| refuse())?;
    // Compares in constant time.
    mac(key, signed).verify_slice(&signature).map_err(|_| refuse())?;
    if URL_SAFE_NO_PAD.decode(header).ok().as_deref() != Some(HEADER.as_bytes()) {
        return Err(refuse());
    }
    let body = URL_SAFE_NO_PAD.decode(body).map_err(|_| refuse())?;
    let claims: Claims = serde_json::from_slice(&body).map_err(|_| refuse())?;
    let now = now.as_second();
    let holds = claims.iss == ISSUER
        && claims.aud == AUDIENCE
        && !claims.jti.is_empty()
        && claims.nbf <= now + LEEWAY_SECS
        && claims.iat <= now + LEEWAY_SECS
        && claims.exp > now
        // A token that would hold for longer was not made by this code.
        && claims.exp - claims.iat <= ACCESS_SECS;
    if holds { Ok(claims) } else { Err(refuse()) }
}

#[cfg(test)]
mod tests {
    use godel_model::Mint;
    use serde_json::{Value, json};

    use super::*;

    const KEY: [u8; 32] = [9; 32];

    fn now() -> Timestamp {
        "2026-01-15T10:30:00Z".parse().unwrap()
    }

    #[test]
    fn a_token_is_known_by_its_beginning() {
        assert_eq!(PREFIX, format!("{}.", URL_SAFE_NO_PAD.encode(HEADER)));
        assert!(is_token(&sign(&KEY, &claims())));
        // A login of somebody else's program.
        let other = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#);
        assert!(!is_token(&format!("{other}.e30.c2ln")));
    }

    fn claims() -> Claims {
        let mint = Mint::system();
        Claims::new(mint.id(), mint.id(), mint.id(), "token-1".to_owned(), now())
    }

    /// Makes a token from any header and body, signed as told.
    fn forge(key: &[u8], header: &Value, body: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(body));
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    #[test]
    fn an_own_token_is_accepted_until_it_ends() {
        let claims = claims();
        let token = sign(&KEY, &claims);
        assert_eq!(verify(&KEY, &token, now()).unwrap(), claims);
        let last = now() + jiff::SignedDuration::from_secs(ACCESS_SECS - 1);
        assert!(verify(&KEY, &token, last).is_ok());
        let late = now() + jiff::SignedDuration::from_secs(ACCESS_SECS);
        assert!(verify(&KEY, &token, late).is_err());
        assert!(verify(&[8; 32], &token, now()).is_err(), "another key");
    }

    #[test]
    fn forged_headers_are_refused_even_with_the_right_key() {
        let body = serde_json::to_value(claims()).unwrap();
        let good = json!({"alg": "HS256", "typ": "JWT"});
        assert!(verify(&KEY, &forge(&KEY, &good, &body), now()).is_ok(), "the forger works");
        for header in [
            json!({"alg": "none", "typ": "JWT"}),
            json!({"alg": "RS256", "typ": "JWT"}),
            json!({"alg": "HS512", "typ": "JWT"}),
            json!({"typ": "JWT", "alg": "HS256", "kid": "../../etc/passwd"}),
            json!({}),
        ] {
            assert!(verify(&KEY, &forge(&KEY, &header, &body), now()).is_err(), "{header}");
        }
        let unsigned = forge(&KEY, &json!({"alg": "none", "typ": "JWT"}), &body);
        let bare = &unsigned[..=unsigned.rfind('.').unwrap()];
        assert!(verify(&KEY, bare, now()).is_err(), "no signature");
    }

    #[test]
    fn claims_that_do_not_fit_are_refused() {
        let good = serde_json::to_value(claims()).unwrap();
        let second = now().as_second();
        for (name, value) in [
            ("iss", json!("other")),
            ("aud", json!("godel-web")),
            ("aud", json!(["godel-api"])),
            ("exp", json!(second)),
            ("exp", json!(second + 10 * ACCESS_SECS)),
            ("exp", json!("never")),
            ("nbf", json!(second + 60)),
            ("iat", json!(second + 60)),
            ("jti", json!("")),
            ("sub", json!("owner")),
        ] {
            let mut body = good.clone();
            body[name] = value;
            let token = forge(&KEY, &json!({"alg": "HS256", "typ": "JWT"}), &body);
            assert!(verify(&KEY, &token, now()).is_err(), "{name}: {body}");
        }
        for name in ["iss", "aud", "exp", "nbf", "iat", "jti", "sub", "tid", "sid"] {
            let mut body = good.clone();
            body.as_object_mut().unwrap().remove(name);
            let token = forge(&KEY, &json!({"alg": "HS256", "typ": "JWT"}), &body);
            assert!(verify(&KEY, &token, now()).is_err(), "without {name}");
        }
    }

    #[test]
    fn any_changed_byte_is_refused() {
        let token = sign(&KEY, &claims());
        for place in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            // The last character of 32 bytes in base64 has two bits that nobody reads; the decoder
            // refuses those as well.
            assert!(verify(&KEY, &changed, now()).is_err(), "byte {place}");
        }
    }
}
