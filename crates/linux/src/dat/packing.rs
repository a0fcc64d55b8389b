//! How version 7 compresses what it holds.

use std::io::Read;

/// A compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Packing {
    None,
    Zlib,
    Zstd,
}

impl Packing {
    /// By trace-cmd's name.
    pub(super) fn named(name: &str) -> Result<Packing, String> {
        match name {
            "none" | "" => Ok(Packing::None),
            "zlib" => Ok(Packing::Zlib),
            "zstd" => Ok(Packing::Zstd),
            other => Err(format!(
                "it is compressed by {:?}, and zlib and zstd are read; write it anew with `trace-cmd convert --compression none`",
                other.chars().take(20).collect::<String>()
            )),
        }
    }

    /// Puts what `packed` holds in the place of what is in `into`: `length` bytes.
    pub(super) fn unpack(self, packed: &[u8], length: usize, into: &mut Vec<u8>) -> Result<(), String> {
        let damaged = |why: String| format!("it is damaged: a compressed part cannot be unpacked ({why})");
        into.clear();
        // One byte more would be too much; what an unpacked part would take beyond its length is never made.
        let most = length as u64 + 1;
        match self {
            Packing::None => into.extend_from_slice(packed),
            Packing::Zlib => {
                let unpacked = flate2::read::ZlibDecoder::new(packed).take(most).read_to_end(into);
                unpacked.map_err(|error| damaged(error.to_string()))?;
            }
            Packing::Zstd => {
                let decoder =
                    ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| damaged(error.to_string()))?;
                decoder.take(most).read_to_end(into).map_err(|error| damaged(error.to_string()))?;
            }
        }
        match into.len() == length {
            true => Ok(()),
            false => Err(damaged(format!("{} bytes where {length} should be", into.len()))),
        }
    }
}
