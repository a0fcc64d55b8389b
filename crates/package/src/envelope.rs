//! A package from outside: what is signed, by whom, and the program behind it.
//!
//! The form is SUIT's envelope: tag 107, a map with the authentication wrapper (key 2), the manifest (key 3), each as a string of bytes,
//! and the program as an integrated payload (`"#program"`). The wrapper holds the digest of the manifest and a `COSE_Sign1` (RFC 9052)
//! over that digest, whose payload is detached. The signature covers the manifest; the manifest covers the program by its digest. So a
//! loader knows who vouches for a program before it has read it.

use crate::keys::{KeyId, TrustedKey};
use crate::manifest::{Manifest, LONGEST_MANIFEST};
use crate::refusal::Refusal;
use crate::wire::{Malformed, Reader};
use ed25519_compact::Signature;
use hmac_sha256::Hash;

/// The tag of an envelope.
pub(crate) const ENVELOPE: u64 = 107;
/// The tag of a signature by one key.
pub(crate) const COSE_SIGN1: u64 = 18;
/// SHA-256 as COSE numbers it.
pub(crate) const SHA_256: i64 = -16;
/// The protected header `{1: -8}`: the algorithm is `EdDSA`.
pub(crate) const PROTECTED: [u8; 3] = [0xa1, 0x01, 0x27];
/// The name of the program among the integrated payloads.
pub(crate) const PROGRAM: &str = "#program";
/// The key of the authentication wrapper.
pub(crate) const AUTHENTICATION: i64 = 2;
/// The key of the manifest.
pub(crate) const MANIFEST: i64 = 3;

/// A package, cut into its parts. Nothing is verified yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope<'b> {
    /// The manifest's bytes.
    manifest: &'b [u8],
    /// What was signed: the encoded digest of the manifest.
    digest: &'b [u8],
    /// The digest in it.
    sha256: [u8; 32],
    /// Who signed.
    pub signer: KeyId,
    signature: [u8; 64],
    /// The program; its digest stands in the manifest.
    pub program: &'b [u8],
}

impl<'b> Envelope<'b> {
    /// Cuts a package into its parts.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("envelope", bytes);
        reader.tag(ENVELOPE)?;
        reader.map_of(3)?;
        reader.expect(AUTHENTICATION)?;
        let wrapper = reader.bytes()?;
        reader.expect(MANIFEST)?;
        let begins = reader.malformed();
        let manifest = reader.bytes()?;
        if manifest.len() > LONGEST_MANIFEST {
            return Err(begins);
        }
        reader.expect(PROGRAM)?;
        let program = reader.bytes()?;
        reader.end()?;

        let mut reader = Reader::new("authentication wrapper", wrapper);
        reader.array_of(2)?;
        let (digest, block) = (reader.bytes()?, reader.bytes()?);
        reader.end()?;
        let (signer, signature) = sign1(block)?;
        Ok(Envelope { manifest, digest, sha256: suit_digest(digest)?, signer, signature, program })
    }

    /// What the manifest says; nobody vouches for it yet.
    ///
    /// # Errors
    /// Where it is none.
    pub fn claims(&self) -> Result<Manifest<'b>, Malformed> {
        Manifest::read(self.manifest)
    }

    /// The manifest, if one of these keys signed it.
    pub fn verified(&self, keys: &[TrustedKey]) -> Result<Manifest<'b>, Refusal<'b>> {
        let key = keys.iter().find(|key| key.id() == self.signer).ok_or(Refusal::UnknownKey { signer: self.signer })?;
        let mut state =
            key.verifier().verify_incremental(&Signature::new(self.signature)).map_err(|_| Refusal::Signature)?;
        signed_bytes(self.digest, |part| state.absorb(part));
        state.verify().map_err(|_| Refusal::Signature)?;
        if Hash::hash(self.manifest) != self.sha256 {
            return Err(Refusal::ManifestDigest);
        }
        Manifest::read(self.manifest).map_err(Refusal::Malformed)
    }
}

/// The digest in an encoded `SUIT_Digest`: the algorithm and its bytes.
fn suit_digest(bytes: &[u8]) -> Result<[u8; 32], Malformed> {
    let mut reader = Reader::new("digest", bytes);
    reader.array_of(2)?;
    reader.expect(SHA_256)?;
    let begins = reader.malformed();
    let digest = reader.bytes()?.try_into().map_err(|_| begins)?;
    reader.end()?;
    Ok(digest)
}

/// Signer and signature of a `COSE_Sign1` with a detached payload.
fn sign1(bytes: &[u8]) -> Result<(KeyId, [u8; 64]), Malformed> {
    let mut reader = Reader::new("signature", bytes);
    reader.tag(COSE_SIGN1)?;
    reader.array_of(4)?;
    let begins = reader.malformed();
    if reader.bytes()? != PROTECTED {
        return Err(begins);
    }
    // Not protected: which key it was, by key 4 (`kid`).
    reader.map_of(1)?;
    reader.expect(4_i64)?;
    let begins = reader.malformed();
    let signer = reader.bytes()?.try_into().map_err(|_| begins)?;
    reader.null()?;
    let begins = reader.malformed();
    let signature = reader.bytes()?.try_into().map_err(|_| begins)?;
    reader.end()?;
    Ok((signer, signature))
}

/// `Sig_structure` of RFC 9052, section 4.4, piece by piece: context, protected header, no further data, the payload.
pub(crate) fn signed_bytes(payload: &[u8], mut absorb: impl FnMut(&[u8])) {
    absorb(&[0x84, 0x6a]);
    absorb(b"Signature1");
    absorb(&[0x40 | PROTECTED.len() as u8]);
    absorb(&PROTECTED);
    absorb(&[0x40]);
    // A digest is shorter than 256 bytes and longer than 23: one byte of length.
    absorb(&[0x58, payload.len() as u8]);
    absorb(payload);
}
