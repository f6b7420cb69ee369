//! The keyed hashes that bind the rows of the record of acts to each other.
//!
//! The key is not in the database: whoever can write to the database alone can neither alter a row
//! nor cut the end of the chain without leaving a hash that does not fit.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{AuditEntry, AuditRow, TenantId, UserId, micros};

/// A keyed hash.
pub type Hash = [u8; 32];

/// The key of the chain.
#[derive(Clone)]
pub struct AuditKey([u8; 32]);

impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuditKey(..)")
    }
}

/// One end of a chain: the place of a row, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// The place; 0 before the first row.
    pub seq: i64,
    /// The hash of the row at that place.
    pub mac: Hash,
}

/// Which end of a chain a seal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The newest row.
    Newest,
    /// The newest row that retention took.
    Trimmed,
}

impl AuditKey {
    /// Takes the key.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    fn begin(&self, domain: &str, tenant: TenantId) -> Fields {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .expect("a keyed hash takes a key of any length");
        let mut fields = Fields(mac);
        fields.put(domain.as_bytes());
        fields.put(tenant.uuid().as_bytes());
        fields
    }

    /// Hashes what tells who somebody is.
    pub fn digest(&self, tenant: TenantId, seq: i64, personal: Option<&str>) -> Hash {
        let mut fields = self.begin("personal", tenant);
        fields.put(&seq.to_be_bytes());
        fields.put_optional(personal);
        fields.end()
    }

    /// Hashes the row behind another one, together with the hash of that one.
    pub fn mac(&self, tenant: TenantId, before: &Link, entry: &AuditEntry, digest: &Hash) -> Hash {
        let mut fields = self.begin("row", tenant);
        fields.put(&before.mac);
        fields.put(&(before.seq + 1).to_be_bytes());
        fields.put(&micros(entry.at).to_be_bytes());
        fields.put(entry.user.map(UserId::uuid).unwrap_or_default().as_bytes());
        fields.put(entry.action.as_bytes());
        fields.put(entry.resource.as_bytes());
        fields.put(entry.result.as_str().as_bytes());
        fields.put_optional(entry.trace_id.as_deref());
        fields.put(entry.detail.as_bytes());
        fields.put(digest);
        fields.end()
    }

    /// Tells whether what a row says of a person is what it said at first.
    pub fn is_personal_whole(&self, tenant: TenantId, row: &AuditRow, text: Option<&str>) -> bool {
        self.digest(tenant, row.seq, text) == row.digest
    }

    /// Hashes one end of a chain, so that it cannot be moved back to an older row.
    pub fn seal(&self, tenant: TenantId, end: End, link: &Link) -> Hash {
        let domain = match end {
            End::Newest => "newest",
            End::Trimmed => "trimmed",
        };
        let mut fields = self.begin(domain, tenant);
        fields.put(&link.seq.to_be_bytes());
        fields.put(&link.mac);
        fields.end()
    }

    /// Gives an entry its place behind the newest row.
    pub fn bind(&self, tenant: TenantId, newest: &Link, entry: AuditEntry) -> Bound {
        let seq = newest.seq + 1;
        let personal = entry.personal.as_ref().map(|personal| {
            serde_json::to_string(personal).expect("a few optional texts are always JSON")
        });
        let digest = self.digest(tenant, seq, personal.as_deref());
        let mac = self.mac(tenant, newest, &entry, &digest);
        Bound { row: AuditRow { seq, entry, digest, mac }, personal }
    }
}

/// A row with its place, and the text of what tells who somebody is.
#[derive(Debug)]
pub struct Bound {
    /// The row.
    pub row: AuditRow,
    /// Who somebody is, as JSON.
    pub personal: Option<String>,
}

impl Bound {
    /// Returns the end of a chain that ends with this row.
    pub fn link(&self) -> Link {
        Link { seq: self.row.seq, mac: self.row.mac }
    }
}

/// Fields go in with their lengths, so that no two lists of fields hash alike.
struct Fields(Hmac<Sha256>);

impl Fields {
    fn put(&mut self, field: &[u8]) {
        self.0.update(&(field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    fn put_optional(&mut self, field: Option<&str>) {
        self.put(&[u8::from(field.is_some())]);
        self.put(field.unwrap_or_default().as_bytes());
    }

    fn end(self) -> Hash {
        self.0.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuditResult, Mint, Personal};

    fn entry(action: &str, resource: &str) -> AuditEntry {
        AuditEntry {
            at: jiff::Timestamp::UNIX_EPOCH,
            user: None,
            action: action.to_owned(),
            resource: resource.to_owned(),
            result: AuditResult::Ok,
            trace_id: None,
            detail: "{}".to_owned(),
            personal: Some(Personal { name: Some("user:ann".into()), ..Personal::default() }),
        }
    }

    #[test]
    fn every_field_counts_and_no_two_rows_hash_alike() {
        let (key, tenant) = (AuditKey::new([7; 32]), Mint::system().id());
        let start = Link::default();
        let first = key.bind(tenant, &start, entry("a", "bc")).row;
        let shifted = key.bind(tenant, &start, entry("ab", "c")).row;
        assert_ne!(first.mac, shifted.mac, "the border between two fields counts");
        let mut later = entry("a", "bc");
        later.at = jiff::Timestamp::from_second(1).unwrap();
        assert_ne!(first.mac, key.bind(tenant, &start, later).row.mac);
        let other = AuditKey::new([8; 32]).bind(tenant, &start, entry("a", "bc")).row;
        assert_ne!(first.mac, other.mac, "without the key nobody can make the hash");
        let elsewhere = key.bind(Mint::system().id(), &start, entry("a", "bc")).row;
        assert_ne!(first.mac, elsewhere.mac, "a row of another tenant does not fit");
        let behind = key.bind(tenant, &Link { seq: 0, mac: [1; 32] }, entry("a", "bc")).row;
        assert_ne!(first.mac, behind.mac, "the row before counts");
    }

    #[test]
    fn a_seal_fits_one_end_of_one_chain_only() {
        let (key, tenant) = (AuditKey::new([7; 32]), Mint::system().id());
        let link = Link { seq: 3, mac: [5; 32] };
        let seal = key.seal(tenant, End::Newest, &link);
        assert_ne!(seal, key.seal(tenant, End::Trimmed, &link));
        assert_ne!(seal, key.seal(tenant, End::Newest, &Link { seq: 2, ..link }));
        assert_ne!(seal, key.seal(Mint::system().id(), End::Newest, &link));
    }
}
