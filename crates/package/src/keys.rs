//! Keys that may sign packages.

use ed25519_compact::PublicKey;
use hmac_sha256::Hash;

/// A key's number: the first bytes of its SHA-256.
pub type KeyId = [u8; 8];

/// A key that may sign packages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrustedKey {
    key: PublicKey,
}

impl TrustedKey {
    /// The key with these bytes, if they are one.
    pub fn new(bytes: [u8; 32]) -> Option<TrustedKey> {
        let key = PublicKey::new(bytes);
        // Points of small order verify signatures of nobody.
        key.validate().ok().map(|()| TrustedKey { key })
    }

    /// What verifies.
    pub(crate) fn verifier(&self) -> &PublicKey {
        &self.key
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; 32] {
        *self.key
    }

    /// Its number.
    pub fn id(&self) -> KeyId {
        key_id(&self.bytes())
    }
}

/// The number of the key with these bytes.
pub(crate) fn key_id(bytes: &[u8]) -> KeyId {
    let hash = Hash::hash(bytes);
    core::array::from_fn(|n| hash[n])
}
