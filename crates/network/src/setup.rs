//! What a booted node is told of itself and of what its owner delivers there: one array in CBOR, made by the host.

use crate::exchange::Role;
use crate::frame::{Frame, Malformed, Name, NodeId, Package, Version};
use crate::node::Settings;
use crate::place::Position;
use crate::scope::Description;
use crate::trickle::TrickleSettings;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use minicbor::decode::Decoder;
use minicbor::encode::Encoder;
use tactus_time::{Duration, Instant};

/// A package and when its owner delivers it at this node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handed {
    /// When.
    pub time: Instant,
    /// What it is.
    pub package: Package,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A stream of which a node has a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// What programs call it; streams of several senders may share a name.
    pub name: Name,
    /// Who publishes it.
    pub from: NodeId,
    /// What this node has to do with it.
    pub role: Role,
}

/// All that a node is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Its number in the network.
    pub id: NodeId,
    /// Its chance grows from it.
    pub seed: u64,
    /// What it says of itself.
    pub description: Description,
    /// What is the same at all nodes.
    pub settings: Settings,
    /// What is delivered here, in the order of time.
    pub deliveries: Vec<Handed>,
    /// Its parts of streams.
    pub parts: Vec<Part>,
    /// By slot, how much greater the number of its component is than that of the exchange.
    pub slots: Vec<i16>,
}

type Written = Result<(), minicbor::encode::Error<core::convert::Infallible>>;

impl Setup {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Memory takes what is written.
        let _ = self.write(&mut Encoder::new(&mut bytes));
        bytes
    }

    fn write(&self, to: &mut Encoder<&mut Vec<u8>>) -> Written {
        let Settings { trickle, patience, pace, keep, applications, largest } = self.settings;
        to.array(9)?.u32(self.id.0)?.u64(self.seed)?;
        to.array(8)?.u64(trickle.shortest.as_nanos())?.u32(trickle.doublings)?.u32(trickle.redundancy)?;
        to.u64(patience.as_nanos())?.u64(pace.as_nanos())?.u64(keep.as_nanos())?;
        to.u64(applications as u64)?.u32(largest)?;
        let Description { position, tags, sensors, actuators } = &self.description;
        to.array(2)?.i32(position.x)?.i32(position.y)?;
        to.array(3)?;
        for list in [tags, sensors, actuators] {
            to.array(list.len() as u64)?;
            for name in list {
                to.str(name)?;
            }
        }
        to.array(self.deliveries.len() as u64)?;
        for it in &self.deliveries {
            to.array(5)?.u64(it.time.as_nanos())?.str(it.package.app.as_str())?.u32(it.package.version.0)?;
            to.bytes(&Frame::package(&it.package))?.bytes(&it.bytes)?;
        }
        to.array(self.parts.len() as u64)?;
        for part in &self.parts {
            write_part(part, to)?;
        }
        to.array(self.slots.len() as u64)?;
        for slot in &self.slots {
            to.i16(*slot)?;
        }
        to.null()?.ok()
    }

    /// Reads them.
    ///
    /// # Errors
    /// Where they are none.
    pub fn decode(bytes: &[u8]) -> Result<Setup, Malformed> {
        let mut from = Decoder::new(bytes);
        exactly(&mut from, 9)?;
        let (id, seed) = (NodeId(from.u32()?), from.u64()?);
        exactly(&mut from, 8)?;
        let shortest = Duration::from_nanos(from.u64()?);
        let trickle = TrickleSettings { shortest, doublings: from.u32()?, redundancy: from.u32()? };
        let [patience, pace, keep] = [from.u64()?, from.u64()?, from.u64()?].map(Duration::from_nanos);
        let applications = usize::try_from(from.u64()?).map_err(|_| Malformed)?;
        let settings = Settings { trickle, patience, pace, keep, applications, largest: from.u32()? };
        exactly(&mut from, 2)?;
        let position = Position { x: from.i32()?, y: from.i32()? };
        exactly(&mut from, 3)?;
        let mut list = || -> Result<Vec<String>, Malformed> {
            let count = from.array()?.ok_or(Malformed)?;
            (0..count).map(|_| Ok(from.str()?.to_string())).collect()
        };
        let description = Description { position, tags: list()?, sensors: list()?, actuators: list()? };
        let count = from.array()?.ok_or(Malformed)?;
        let deliveries = (0..count).map(|_| handed(&mut from)).collect::<Result<_, Malformed>>()?;
        let count = from.array()?.ok_or(Malformed)?;
        let parts = (0..count).map(|_| part(&mut from)).collect::<Result<_, Malformed>>()?;
        let count = from.array()?.ok_or(Malformed)?;
        let slots = (0..count).map(|_| Ok(from.i16()?)).collect::<Result<_, Malformed>>()?;
        from.null()?;
        let setup = Setup { id, seed, description, settings, deliveries, parts, slots };
        (from.position() == bytes.len()).then_some(setup).ok_or(Malformed)
    }
}

fn handed(from: &mut Decoder<'_>) -> Result<Handed, Malformed> {
    exactly(from, 5)?;
    let (time, app) = (Instant::from_nanos(from.u64()?), Name::new(from.str()?).ok_or(Malformed)?);
    let version = Version(from.u32()?);
    let package = Frame::read_package(app, version, from.bytes()?)?;
    Ok(Handed { time, package, bytes: from.bytes()?.to_vec() })
}

fn write_part(part: &Part, to: &mut Encoder<&mut Vec<u8>>) -> Written {
    let Part { name, from, role } = part;
    to.array(13)?.str(name.as_str())?.u32(from.0)?.u16(role.stream)?;
    // Of who has none, an empty name, and a node that is none.
    to.str(role.application.as_ref().map_or("", Name::as_str))?;
    to.u64(role.parent.map_or(u64::MAX, |parent| parent.0.into()))?;
    to.bool(role.relays)?.bool(role.receives)?.u8(role.priority)?.u16(role.bytes)?;
    to.u64(role.period.as_nanos())?.u64(role.jitter.as_nanos())?.u64(role.frame_period.as_nanos())?;
    to.u8(role.repetitions)?.ok()
}

fn part(from: &mut Decoder<'_>) -> Result<Part, Malformed> {
    exactly(from, 13)?;
    let (name, sender) = (Name::new(from.str()?).ok_or(Malformed)?, NodeId(from.u32()?));
    let (stream, application) = (from.u16()?, Name::new(from.str()?));
    let parent = u32::try_from(from.u64()?).ok().map(NodeId);
    let (relays, receives, priority, bytes) = (from.bool()?, from.bool()?, from.u8()?, from.u16()?);
    let [period, jitter, frame_period] = [from.u64()?, from.u64()?, from.u64()?].map(Duration::from_nanos);
    let repetitions = from.u8()?;
    let role = Role {
        stream,
        application,
        parent,
        relays,
        receives,
        priority,
        bytes,
        period,
        jitter,
        frame_period,
        repetitions,
    };
    Ok(Part { name, from: sender, role })
}

fn exactly(from: &mut Decoder<'_>, items: u64) -> Result<(), Malformed> {
    (from.array()? == Some(items)).then_some(()).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::digest;
    use crate::place::Area;
    use crate::scope::{Requirement, Scope};
    use alloc::vec;

    #[test]
    fn what_a_node_is_told_is_read_as_it_was_written_and_nothing_else_is() {
        let bytes = vec![5; 70];
        let areas = vec![Area::Disc { centre: Position { x: -3, y: 4 }, radius: 9 }];
        let package = Package {
            app: Name::new("blinds").expect("a name"),
            version: Version(1_000_002),
            removed: false,
            bytes: 70,
            chunk: 32,
            digest: digest(&bytes),
            radius: 2,
            scope: Scope { areas, requires: vec![Requirement::Actuator("blind".into())] },
        };
        let millis = Duration::from_millis;
        let of = |parent, application| Part {
            name: Name::new("light").expect("a name"),
            from: NodeId(4),
            role: Role {
                stream: 300,
                application,
                parent,
                relays: true,
                receives: false,
                priority: 200,
                bytes: 1_400,
                period: millis(100),
                jitter: millis(30),
                frame_period: millis(50),
                repetitions: 1,
            },
        };
        let setup = Setup {
            id: NodeId(3),
            seed: 7,
            description: Description { sensors: vec!["light".into()], ..Description::default() },
            settings: Settings {
                trickle: TrickleSettings { shortest: millis(100), doublings: 5, redundancy: 2 },
                patience: millis(80),
                pace: millis(10),
                keep: millis(5_000),
                applications: 4,
                largest: 65_536,
            },
            deliveries: vec![Handed { time: Instant::from_nanos(500), package, bytes }],
            parts: vec![of(None, Name::new("blinds")), of(Some(NodeId(9)), None)],
            slots: vec![3, -1],
        };
        let encoded = setup.encode();
        assert_eq!(Setup::decode(&encoded), Ok(setup));
        for cut in 0..encoded.len() {
            assert!(Setup::decode(&encoded[..cut]).is_err(), "{cut}");
        }
    }
}
