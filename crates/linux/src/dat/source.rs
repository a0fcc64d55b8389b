//! The bytes of a file, one after another, without more of them in memory than are asked for.

use std::io::{Read, Seek, SeekFrom};

/// A file that is read from one place to the next.
pub(super) struct Source<R> {
    inner: R,
    at: u64,
    length: u64,
}

impl<R: Read + Seek> Source<R> {
    /// From the beginning of a file.
    pub(super) fn new(mut inner: R) -> Result<Source<R>, String> {
        let length = inner.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
        inner.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
        Ok(Source { inner, at: 0, length })
    }

    /// How long the file is (bytes).
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Where it is read next.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Goes to a place.
    pub(super) fn go(&mut self, at: u64) -> Result<(), String> {
        if at > self.length {
            return Err(format!("it is damaged: {at} lies beyond its end"));
        }
        if at != self.at {
            self.inner.seek(SeekFrom::Start(at)).map_err(|error| error.to_string())?;
            self.at = at;
        }
        Ok(())
    }

    /// The next bytes, which take the place of what is in `into`.
    pub(super) fn fill(&mut self, into: &mut Vec<u8>, length: u64) -> Result<(), String> {
        if self.length - self.at < length {
            return Err(format!("it is damaged: {length} bytes at {} are not there", self.at));
        }
        into.resize(length as usize, 0);
        self.inner.read_exact(into).map_err(|error| error.to_string())?;
        self.at += length;
        Ok(())
    }

    /// The next bytes.
    pub(super) fn take(&mut self, length: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.fill(&mut bytes, length)?;
        Ok(bytes)
    }

    /// A number of up to 8 bytes, the lowest first.
    pub(super) fn number(&mut self, length: u64) -> Result<u64, String> {
        Ok(number(&self.take(length)?))
    }

    /// What a length in bytes stands before.
    pub(super) fn sized(&mut self, length: u64) -> Result<Vec<u8>, String> {
        let length = self.number(length)?;
        self.take(length)
    }

    /// A text that a zero ends.
    pub(super) fn text(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        // Names of systems and of compressions are short.
        while bytes.len() < 4096 {
            match self.number(1)? {
                0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                byte => bytes.push(byte as u8),
            }
        }
        Err("it is damaged: a name does not end".into())
    }

    /// A name that must stand here, with the zero that ends it.
    pub(super) fn named(&mut self, name: &[u8]) -> Result<(), String> {
        let at = self.at;
        match self.take(name.len() as u64)? == name {
            true => Ok(()),
            false => Err(format!("it is damaged: no {} at {at}", String::from_utf8_lossy(name).trim_end_matches('\0'))),
        }
    }
}

/// Bytes as a number, the lowest first.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
