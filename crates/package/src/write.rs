//! Making a package, on the host.

extern crate alloc;

use crate::envelope::{signed_bytes, AUTHENTICATION, COSE_SIGN1, ENVELOPE, MANIFEST, PROGRAM, PROTECTED, SHA_256};
use crate::keys::{digits, key_id, KeyFault, PRIVATE_KEY, PUBLIC_KEY};
use crate::manifest::{key, Manifest, RightKind, MANIFEST_VERSION};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use ed25519_compact::{KeyPair, Seed};
use hmac_sha256::Hash;
use minicbor::data::Tag;
use minicbor::encode::Encoder;

type Encoded = Result<(), minicbor::encode::Error<core::convert::Infallible>>;

/// What signs packages.
pub struct SigningKey(KeyPair);

impl SigningKey {
    /// The key that grows from these bytes, which are to be drawn at random and kept secret; none from bytes that no key grows from.
    pub fn from_seed(seed: [u8; 32]) -> Option<SigningKey> {
        KeyPair::try_from_seed(Seed::new(seed)).ok().map(SigningKey)
    }

    /// The text of a private key file; whoever has it signs as its owner does.
    pub fn to_text(&self) -> String {
        text(PRIVATE_KEY, &self.0.sk.seed()[..])
    }

    /// Reads the text of a private key file.
    ///
    /// # Errors
    /// If it is something else.
    pub fn from_text(text: &str) -> Result<SigningKey, KeyFault> {
        SigningKey::from_seed(digits(text, PRIVATE_KEY)?).ok_or(KeyFault::NoKey)
    }

    /// The text of the public key file that belongs to it.
    pub fn public_text(&self) -> String {
        text(PUBLIC_KEY, &self.public())
    }

    /// The bytes of the key that verifies its signatures.
    pub fn public(&self) -> [u8; 32] {
        *self.0.pk
    }
}

fn text(header: &str, bytes: &[u8]) -> String {
    let mut text = format!("{header}\n");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text + "\n"
}

/// The package of a program: its manifest, signed, and the program itself.
pub fn package(manifest: &Manifest<'_>, program: &[u8], signer: &SigningKey) -> Vec<u8> {
    signed(&self::manifest(manifest), program, signer)
}

/// The package with a manifest that is encoded already.
pub fn signed(manifest: &[u8], program: &[u8], signer: &SigningKey) -> Vec<u8> {
    let digest = encoded(|to| to.array(2)?.i64(SHA_256)?.bytes(&Hash::hash(manifest))?.ok());
    let mut to_sign = Vec::new();
    signed_bytes(&digest, |part| to_sign.extend_from_slice(part));
    let signature = signer.0.sk.sign(&to_sign, None);
    let block = encoded(|to| {
        to.tag(Tag::new(COSE_SIGN1))?.array(4)?.bytes(&PROTECTED)?;
        to.map(1)?.u8(4)?.bytes(&key_id(&signer.public()))?;
        to.null()?.bytes(signature.as_ref())?.ok()
    });
    let wrapper = encoded(|to| to.array(2)?.bytes(&digest)?.bytes(&block)?.ok());
    encoded(|to| {
        to.tag(Tag::new(ENVELOPE))?.map(3)?;
        to.i64(AUTHENTICATION)?.bytes(&wrapper)?;
        to.i64(MANIFEST)?.bytes(manifest)?;
        to.str(PROGRAM)?.bytes(program)?.ok()
    })
}

/// The digest of a program, as manifests have it.
pub fn digest(program: &[u8]) -> [u8; 32] {
    Hash::hash(program)
}

/// The manifest as a package holds it.
pub fn manifest(manifest: &Manifest<'_>) -> Vec<u8> {
    encoded(|to| encode_manifest(to, manifest))
}

fn encoded(with: impl FnOnce(&mut Encoder<&mut Vec<u8>>) -> Encoded) -> Vec<u8> {
    let mut bytes = Vec::new();
    match with(&mut Encoder::new(&mut bytes)) {
        Ok(()) => bytes,
        Err(error) => unreachable!("memory takes what is written: {error}"),
    }
}

fn encode_manifest(to: &mut Encoder<&mut Vec<u8>>, manifest: &Manifest<'_>) -> Encoded {
    to.map(10)?;
    to.i64(key::MANIFEST_VERSION)?.u64(MANIFEST_VERSION)?;
    to.i64(key::SEQUENCE_NUMBER)?.u64(manifest.sequence_number)?;
    to.i64(key::NAME)?.str(manifest.name)?;
    to.i64(key::CLASS)?.str(manifest.class)?;
    to.i64(key::PROCESSOR)?.u16(manifest.processor)?;
    to.i64(key::IMAGE_DIGEST)?.bytes(&manifest.image_digest)?;
    to.i64(key::IMAGE_SIZE)?.u64(manifest.image_size)?;
    to.i64(key::HEAP)?.u64(manifest.heap)?;
    to.i64(key::TASKS)?.array(manifest.tasks.len() as u64)?;
    for task in manifest.tasks.iter() {
        let demand = task.demand;
        to.array(5)?.str(task.name)?;
        for time in [demand.execution, demand.period, demand.deadline] {
            to.u64(time.as_nanos())?;
        }
        to.u32(demand.priority)?;
    }
    to.i64(key::RIGHTS)?.array(manifest.rights.len() as u64)?;
    for right in manifest.rights.iter() {
        let kind = RightKind::ALL.iter().position(|kind| *kind == right.kind).unwrap_or_default();
        to.array(2)?.u8(kind as u8)?.str(right.name)?;
    }
    Ok(())
}
