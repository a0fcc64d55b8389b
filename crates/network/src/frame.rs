//! What nodes say to each other: an array in CBOR for each frame, with definite lengths. Whatever a frame is not is refused.

use crate::place::{Area, Position, MOST_CORNERS};
use crate::scope::{Requirement, Scope, LONGEST_NAME, MOST_AREAS, MOST_REQUIREMENTS};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use minicbor::decode::{Decode, Decoder};
use minicbor::encode::Encoder;

/// The version of these frames.
const VERSION: u8 = 1;
/// Chunks that one request can ask for.
pub const WINDOW: u16 = 64;
/// Bytes of a frame around those of a chunk, at most.
pub const CHUNK_OVERHEAD: u16 = 64;
/// Bytes of a frame around those of a message of data, at most.
pub const DATA_OVERHEAD: usize = 24;

/// The most repetitions of a message of data.
pub const MOST_REPETITIONS: u8 = 15;

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// The name of an application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    bytes: [u8; LONGEST_NAME],
    length: u8,
}

impl Name {
    /// The name; nothing if it is empty or too long.
    pub fn new(text: &str) -> Option<Name> {
        let mut bytes = [0; LONGEST_NAME];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        (!text.is_empty()).then_some(Name { bytes, length: text.len() as u8 })
    }
    /// As text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A version of an application, which is newer the larger it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version(pub u32);

/// What is known of a version of an application before its bytes are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// The application.
    pub app: Name,
    /// The version.
    pub version: Version,
    /// Whether this version is that there is none: whoever hosts an older one ends it.
    pub removed: bool,
    /// Bytes.
    pub bytes: u32,
    /// Bytes of each chunk but the last.
    pub chunk: u16,
    /// SHA-256 of the bytes.
    pub digest: [u8; 32],
    /// Nodes out of scope tell of it if they are no farther than this from one in scope: hops.
    pub radius: u8,
    /// Which nodes host it.
    pub scope: Scope,
}

impl Package {
    /// In how many chunks it travels.
    pub fn chunks(&self) -> u16 {
        self.bytes.div_ceil(u32::from(self.chunk.max(1))) as u16
    }
    /// Where a chunk lies in the bytes.
    pub fn range(&self, index: u16) -> core::ops::Range<usize> {
        let (chunk, end) = (usize::from(self.chunk), self.bytes as usize);
        let from = (usize::from(index) * chunk).min(end);
        from..(from + chunk).min(end)
    }
}

/// The digest of a package with these bytes.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    hmac_sha256::Hash::hash(bytes)
}

/// What a node says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame<'b> {
    /// Who has come asks what there is.
    Solicit,
    /// It knows of a version.
    Offer {
        /// The application.
        app: Name,
        /// The version.
        version: Version,
        /// Hops to the next node that has all of it, as far as it knows.
        distance: u8,
        /// Hops to the next node in scope.
        outside: u8,
        /// The digest of the refusals that it knows of: [`crate::refusals::Refusals::digest`].
        refusals: u64,
        /// The rest, for who does not know it: [`Frame::package`].
        package: &'b [u8],
    },
    /// It asks another node for chunks.
    Request {
        /// Whom it asks.
        to: NodeId,
        /// The application.
        app: Name,
        /// The version.
        version: Version,
        /// The first chunk that it wants,
        first: u16,
        /// and which of the following: bit 0 is the first.
        wanted: u64,
    },
    /// A chunk, for all who hear it.
    Chunk {
        /// The application.
        app: Name,
        /// The version.
        version: Version,
        /// Which.
        index: u16,
        /// Its bytes.
        bytes: &'b [u8],
    },
    /// Data of a stream, for the nodes of its tree that take it from the sender of this frame.
    Data {
        /// Which stream of the network, by its number.
        stream: u16,
        /// Which message of it.
        sequence: u32,
        /// Which of its repetitions; 0 is the first frame.
        repetition: u8,
        /// The message.
        bytes: &'b [u8],
    },
    /// Which nodes in scope do not host it, and why.
    Refusals {
        /// The application.
        app: Name,
        /// The version.
        version: Version,
        /// All that the sender knows of: [`crate::refusals::Refusals::read`].
        all: &'b [u8],
    },
}

/// A frame that is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl From<minicbor::decode::Error> for Malformed {
    fn from(_: minicbor::decode::Error) -> Malformed {
        Malformed
    }
}

type Encoded = Result<(), minicbor::encode::Error<core::convert::Infallible>>;
type Decoded<T> = Result<T, Malformed>;

impl<'b> Frame<'b> {
    /// Writes the frame of a sender into an emptied buffer.
    pub fn write(&self, sender: NodeId, to: &mut Vec<u8>) {
        to.clear();
        // Memory takes what is written.
        let _ = self.encode(sender, &mut Encoder::new(to));
    }

    fn encode(&self, sender: NodeId, to: &mut Encoder<&mut Vec<u8>>) -> Encoded {
        let mut head = |kind: u8, fields: u64| to.array(3 + fields)?.u8(VERSION)?.u8(kind)?.u32(sender.0)?.ok();
        match self {
            Frame::Solicit => head(0, 0),
            Frame::Offer { app, version, distance, outside, refusals, package } => {
                head(1, 6)?;
                to.str(app.as_str())?.u32(version.0)?.u8(*distance)?.u8(*outside)?;
                to.u64(*refusals)?.bytes(package)?.ok()
            }
            Frame::Request { to: whom, app, version, first, wanted } => {
                head(2, 5)?;
                to.u32(whom.0)?.str(app.as_str())?.u32(version.0)?.u16(*first)?.u64(*wanted)?.ok()
            }
            Frame::Chunk { app, version, index, bytes } => {
                head(3, 4)?;
                to.str(app.as_str())?.u32(version.0)?.u16(*index)?.bytes(bytes)?.ok()
            }
            Frame::Data { stream, sequence, repetition, bytes } => {
                head(5, 4)?;
                // All of a stream's frames are equally long.
                to.u16(*stream)?.bytes(&sequence.to_be_bytes())?.u8(*repetition)?.bytes(bytes)?.ok()
            }
            Frame::Refusals { app, version, all } => {
                head(4, 3)?;
                to.str(app.as_str())?.u32(version.0)?.bytes(all)?.ok()
            }
        }
    }

    /// Reads a frame and its sender.
    ///
    /// # Errors
    /// Where it is none.
    pub fn read(bytes: &'b [u8]) -> Decoded<(NodeId, Frame<'b>)> {
        let mut from = Decoder::new(bytes);
        let fields = from.array()?.ok_or(Malformed)?;
        if from.u8()? != VERSION {
            return Err(Malformed);
        }
        let (kind, sender) = (from.u8()?, NodeId(from.u32()?));
        let frame = match (kind, fields) {
            (0, 3) => Frame::Solicit,
            (1, 9) => Frame::Offer {
                app: name(&mut from)?,
                version: Version(from.u32()?),
                distance: from.u8()?,
                outside: from.u8()?,
                refusals: from.u64()?,
                package: from.bytes()?,
            },
            (2, 8) => Frame::Request {
                to: NodeId(from.u32()?),
                app: name(&mut from)?,
                version: Version(from.u32()?),
                first: from.u16()?,
                wanted: from.u64()?,
            },
            (3, 7) => Frame::Chunk {
                app: name(&mut from)?,
                version: Version(from.u32()?),
                index: from.u16()?,
                bytes: from.bytes()?,
            },
            (4, 6) => Frame::Refusals { app: name(&mut from)?, version: Version(from.u32()?), all: from.bytes()? },
            (5, 7) => {
                let (stream, sequence) = (from.u16()?, from.bytes()?.try_into().map_err(|_| Malformed)?);
                let (sequence, repetition) = (u32::from_be_bytes(sequence), from.u8()?);
                if repetition > MOST_REPETITIONS {
                    return Err(Malformed);
                }
                Frame::Data { stream, sequence, repetition, bytes: from.bytes()? }
            }
            _ => return Err(Malformed),
        };
        (from.position() == bytes.len()).then_some((sender, frame)).ok_or(Malformed)
    }

    /// What an offer says beside name and version.
    pub fn package(of: &Package) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = encode_package(of, &mut Encoder::new(&mut bytes));
        bytes
    }

    /// Reads it.
    ///
    /// # Errors
    /// Where it is none.
    pub fn read_package(app: Name, version: Version, bytes: &[u8]) -> Decoded<Package> {
        let mut from = Decoder::new(bytes);
        items(&mut from, 7, 7)?;
        let (removed, bytes_of, chunk) = (from.bool()?, from.u32()?, from.u16()?);
        let digest = from.bytes()?.try_into().map_err(|_| Malformed)?;
        let (radius, areas) = (from.u8()?, items(&mut from, 0, MOST_AREAS)?);
        let areas = (0..areas).map(|_| area(&mut from)).collect::<Decoded<_>>()?;
        let requires = items(&mut from, 0, MOST_REQUIREMENTS)?;
        let requires = (0..requires).map(|_| requirement(&mut from)).collect::<Decoded<_>>()?;
        // A version that removes has no bytes, and any other has some.
        let fits = chunk > 0 && removed == (bytes_of == 0) && bytes_of.div_ceil(chunk.into()) <= u16::MAX.into();
        let scope = Scope { areas, requires };
        (fits && from.position() == bytes.len())
            .then_some(Package { app, version, removed, bytes: bytes_of, chunk, digest, radius, scope })
            .ok_or(Malformed)
    }
}

fn encode_package(of: &Package, to: &mut Encoder<&mut Vec<u8>>) -> Encoded {
    to.array(7)?.bool(of.removed)?.u32(of.bytes)?.u16(of.chunk)?.bytes(&of.digest)?.u8(of.radius)?;
    to.array(of.scope.areas.len() as u64)?;
    for area in &of.scope.areas {
        match area {
            Area::Disc { centre, radius } => {
                to.array(3)?.i32(centre.x)?.i32(centre.y)?.u32(*radius)?;
            }
            Area::Polygon(corners) => {
                to.array(1)?.array(2 * corners.len() as u64)?;
                for corner in corners {
                    to.i32(corner.x)?.i32(corner.y)?;
                }
            }
        }
    }
    to.array(of.scope.requires.len() as u64)?;
    for it in &of.scope.requires {
        let (kind, name) = match it {
            Requirement::Tag(name) => (0, name),
            Requirement::Sensor(name) => (1, name),
            Requirement::Actuator(name) => (2, name),
        };
        to.array(2)?.u8(kind)?.str(name)?;
    }
    Ok(())
}

/// The number of items of an array, between these.
pub(crate) fn items(from: &mut Decoder<'_>, least: usize, most: usize) -> Decoded<usize> {
    let many = usize::try_from(from.array()?.ok_or(Malformed)?).map_err(|_| Malformed)?;
    (least..=most).contains(&many).then_some(many).ok_or(Malformed)
}

fn name(from: &mut Decoder<'_>) -> Decoded<Name> {
    Name::new(from.str()?).ok_or(Malformed)
}

fn area(from: &mut Decoder<'_>) -> Decoded<Area> {
    if items(from, 1, 3)? == 3 {
        let (x, y) = (from.i32()?, from.i32()?);
        return Ok(Area::Disc { centre: Position { x, y }, radius: from.u32()? });
    }
    let numbers = items(from, 6, 2 * MOST_CORNERS)?;
    let mut corner = || Ok(Position { x: i32::decode(from, &mut ())?, y: i32::decode(from, &mut ())? });
    let corners = (0..numbers / 2).map(|_| corner()).collect::<Decoded<_>>()?;
    (numbers % 2 == 0).then_some(Area::Polygon(corners)).ok_or(Malformed)
}

fn requirement(from: &mut Decoder<'_>) -> Decoded<Requirement> {
    items(from, 2, 2)?;
    let (kind, name) = (from.u8()?, name(from)?);
    let name = String::from(name.as_str());
    match kind {
        0 => Ok(Requirement::Tag(name)),
        1 => Ok(Requirement::Sensor(name)),
        2 => Ok(Requirement::Actuator(name)),
        _ => Err(Malformed),
    }
}
