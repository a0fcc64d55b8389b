//! Strict reading of CBOR: definite lengths, no tags but those that are named, keys in ascending order, nothing behind the end.
//!
//! What the deterministic encoding of RFC 8949 (section 4.2) forbids is refused, but for integers that are longer than they need be.
//! With keys in order, nothing is there twice, and since each item is read where it is expected, nesting has no depth of its own.

use minicbor::decode::Decoder;
use minicbor::Decode;

/// A package that is not what the encoding says, with the byte at which it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The part in which it is.
    pub part: &'static str,
    /// Bytes from the start of that part.
    pub at: usize,
}

/// A reader of one part.
pub(crate) struct Reader<'b> {
    decoder: Decoder<'b>,
    part: &'static str,
}

impl<'b> Reader<'b> {
    pub fn new(part: &'static str, bytes: &'b [u8]) -> Self {
        Reader { decoder: Decoder::new(bytes), part }
    }

    /// The complaint about what is read next.
    pub fn malformed(&self) -> Malformed {
        Malformed { part: self.part, at: self.decoder.position() }
    }

    /// The next item.
    pub fn item<T: Decode<'b, ()>>(&mut self) -> Result<T, Malformed> {
        let begins = self.malformed();
        self.decoder.decode().map_err(|_| begins)
    }

    /// The next item, which must be this.
    pub fn expect<T: Decode<'b, ()> + PartialEq>(&mut self, wanted: T) -> Result<(), Malformed> {
        let begins = self.malformed();
        if self.item::<T>()? == wanted {
            Ok(())
        } else {
            Err(begins)
        }
    }

    /// A string of bytes. One in pieces is refused.
    pub fn bytes(&mut self) -> Result<&'b [u8], Malformed> {
        let begins = self.malformed();
        self.decoder.bytes().map_err(|_| begins)
    }

    /// A text. One in pieces is refused.
    pub fn text(&mut self) -> Result<&'b str, Malformed> {
        let begins = self.malformed();
        self.decoder.str().map_err(|_| begins)
    }

    /// Null.
    pub fn null(&mut self) -> Result<(), Malformed> {
        let begins = self.malformed();
        self.decoder.null().map_err(|_| begins)
    }

    /// The tag that must be here.
    pub fn tag(&mut self, wanted: u64) -> Result<(), Malformed> {
        let begins = self.malformed();
        let tag = self.decoder.tag().map_err(|_| begins)?;
        if tag.as_u64() == wanted {
            Ok(())
        } else {
            Err(begins)
        }
    }

    /// The head of an array with a known number of items.
    pub fn array(&mut self) -> Result<u64, Malformed> {
        let begins = self.malformed();
        self.decoder.array().ok().flatten().ok_or(begins)
    }

    /// The head of an array of this many items.
    pub fn array_of(&mut self, items: u64) -> Result<(), Malformed> {
        let begins = self.malformed();
        if self.array()? == items {
            Ok(())
        } else {
            Err(begins)
        }
    }

    /// The head of a map with this many keys.
    pub fn map_of(&mut self, keys: u64) -> Result<(), Malformed> {
        let begins = self.malformed();
        match self.decoder.map() {
            Ok(Some(found)) if found == keys => Ok(()),
            _ => Err(begins),
        }
    }

    /// Nothing may follow.
    pub fn end(self) -> Result<(), Malformed> {
        if self.decoder.position() == self.decoder.input().len() {
            Ok(())
        } else {
            Err(self.malformed())
        }
    }
}
