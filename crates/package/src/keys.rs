//! Keys that may sign packages, and the files that they lie in.

use core::fmt;
use ed25519_compact::PublicKey;
use hmac_sha256::Hash;

/// A key's number: the first bytes of its SHA-256.
pub type KeyId = [u8; 8];

/// First line of a public key file.
pub const PUBLIC_KEY: &str = "tactus-public-key";
/// First line of a private key file.
pub const PRIVATE_KEY: &str = "tactus-private-key";

/// What is wrong with a key file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyFault {
    /// It is a private key where a public one is wanted.
    Private,
    /// It is a public key where a private one is wanted.
    Public,
    /// Its first line is that of no key.
    Header,
    /// What follows is not 64 hexadecimal digits.
    Digits,
    /// The digits are no key that can be used.
    NoKey,
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyFault::Private => f.write_str("it is a private key; the public one, which others may see, ends in .pub"),
            KeyFault::Public => f.write_str("it is a public key; the private one, which signs, ends in .key"),
            KeyFault::Header => write!(f, "its first line is neither {PUBLIC_KEY} nor {PRIVATE_KEY}"),
            KeyFault::Digits => f.write_str("its second line is not 64 hexadecimal digits"),
            KeyFault::NoKey => f.write_str("its digits are no key that is safe to use"),
        }
    }
}

/// The bytes in a key file with this first line.
pub(crate) fn digits(text: &str, header: &str) -> Result<[u8; 32], KeyFault> {
    let mut lines = text.lines().map(str::trim);
    match lines.next() {
        Some(line) if line == header => {}
        Some(PRIVATE_KEY) => return Err(KeyFault::Private),
        Some(PUBLIC_KEY) => return Err(KeyFault::Public),
        _ => return Err(KeyFault::Header),
    }
    let line = lines.next().unwrap_or_default().as_bytes();
    if line.len() != 64 || lines.any(|line| !line.is_empty()) {
        return Err(KeyFault::Digits);
    }
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(line.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or(KeyFault::Digits);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Ok(key)
}

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

    /// Reads the text of a public key file: a line that says so, and 64 hexadecimal digits.
    ///
    /// # Errors
    /// If it is something else.
    pub fn from_text(text: &str) -> Result<TrustedKey, KeyFault> {
        TrustedKey::new(digits(text, PUBLIC_KEY)?).ok_or(KeyFault::NoKey)
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
