//! A network file: machines that hear each other, and applications that are delivered across them.

use crate::problem::{Collector, Problems};
use crate::text::read_text;
use crate::System;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tactus_network::field::{Delivery, Field};
use tactus_network::frame::{digest, Name, Package, Version, CHUNK_OVERHEAD};
use tactus_network::node::Settings;
use tactus_network::scope::Scope;
use tactus_network::trickle::TrickleSettings;
use tactus_time::{Duration, Instant};

/// The most nodes of a network file.
pub const MOST_NODES: usize = 10_000;
/// The most applications.
pub const MOST_APPLICATIONS: usize = 16;
/// The most senders of data, each node of a `[[data]]` counted.
pub const MOST_STREAMS: usize = 256;
/// Bytes of a chunk, unless the file says otherwise.
pub const DEFAULT_CHUNK: u16 = 128;
/// The longest chunk, with which a frame of Ethernet holds it.
pub const LONGEST_CHUNK: u16 = 1_400;
/// The largest package, in bytes.
pub const LARGEST: u32 = 1 << 20;
/// Hops outside its scope at which an application is told of, unless the file says otherwise.
pub const DEFAULT_RADIUS: u8 = 2;

/// A network, as one file describes it.
#[derive(Clone, Debug)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// The name of each node.
    pub nodes: Vec<String>,
    /// All of it.
    pub field: Field,
    /// By application, within which time it is to be everywhere.
    pub within: BTreeMap<Name, Duration>,
    /// The radius of applications that name none: hops.
    pub radius: u8,
    /// Bytes of a chunk.
    pub chunk: u16,
    /// The systems that run on nodes.
    pub systems: Vec<System>,
    /// By node, which of them runs on it; a node without one hosts all that comes.
    pub system_of: Vec<Option<usize>>,
    /// The file of each package, by application and version.
    pub packages: BTreeMap<(Name, Version), PathBuf>,
    /// Where the file stands.
    pub source: PathBuf,
}

/// The content of an application's version.
pub(crate) enum Content {
    /// So many bytes are drawn; of a removal none.
    Drawn(u32),
    /// A package.
    Package(PathBuf, Arc<[u8]>),
}

impl Network {
    /// Reads a network file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(path: &Path) -> Result<Network, Problems> {
        match read_text(path) {
            Ok(text) => Network::parse(&text, path),
            Err((place, complaint)) => {
                let mut out = Collector::new(path);
                out.add(place, "", complaint);
                out.finish(None)
            }
        }
    }

    /// Reads a file if it describes a network; nothing if it is none, whatever it is.
    ///
    /// # Errors
    /// Everything that is wrong with a network file.
    pub fn read_if(path: &Path) -> Result<Option<Network>, Problems> {
        let is_told_of = |text: &str| text.lines().any(|line| line.trim_start().starts_with("[network]"));
        match read_text(path) {
            Ok(text) if is_told_of(&text) => Network::parse(&text, path).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the text of a network file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, source: &Path) -> Result<Network, Problems> {
        let mut out = Collector::new(source);
        let network = crate::form::network::read(text, &mut out);
        out.finish(network)
    }
}

/// How nodes behave where a byte takes this long: chunks follow each other so that two neighbours can send, and who waits for some waits for
/// a window of them.
pub(crate) fn settings(byte: Duration, chunk: u16) -> Settings {
    let frame = byte.checked_mul(u64::from(chunk + CHUNK_OVERHEAD)).unwrap_or(Duration::MAX);
    let times = |n| frame.checked_mul(n).unwrap_or(Duration::MAX);
    Settings {
        trickle: TrickleSettings { shortest: times(16), doublings: 8, redundancy: 2 },
        patience: times(8),
        pace: times(2),
        keep: times(512),
        applications: MOST_APPLICATIONS,
        largest: LARGEST,
    }
}

impl Network {
    /// Adds a version of an application to be delivered at these nodes. Bytes that are drawn are so from the network's seed.
    pub(crate) fn deliver(
        &mut self,
        (app, version): (&str, u32),
        (content, radius, scope): (Content, u8, Scope),
        time: Instant,
        nodes: &[usize],
    ) -> Result<(), String> {
        let Some(name) = Name::new(app) else { return Ok(()) };
        let is_known = |it: &Delivery| (it.package.app, it.package.version) == (name, Version(version));
        if self.field.deliveries.iter().any(is_known) {
            return Err(format!("version {version} of {app:?} is delivered already"));
        }
        let mut state =
            self.field.seed ^ u64::from(version) << 32 ^ app.bytes().fold(7, |sum, it| sum * 31 + u64::from(it));
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let version = Version(version);
        let all: Vec<u8> = match content {
            Content::Drawn(bytes) => (0..bytes).map(|_| draw()).collect(),
            Content::Package(path, bytes) => {
                self.packages.insert((name, version), path);
                bytes.to_vec()
            }
        };
        let (bytes, removed) = (all.len() as u32, all.is_empty());
        let (chunk, digest) = (self.chunk, digest(&all));
        let package = Package { app: name, version, removed, bytes, chunk, digest, radius, scope };
        let delivery = |&node| Delivery { time, node, package: package.clone(), bytes: all.clone() };
        self.field.deliveries.extend(nodes.iter().map(delivery));
        Ok(())
    }

    /// How many applications there are, all versions of one counted once.
    pub(crate) fn applications(&self) -> usize {
        self.field.deliveries.iter().map(|it| it.package.app).collect::<BTreeSet<_>>().len()
    }

    /// An application is to be everywhere within this time.
    pub(crate) fn promise(&mut self, app: &str, within: Option<Duration>) {
        if let (Some(name), Some(within)) = (Name::new(app), within) {
            self.within.insert(name, within);
        }
    }
}
