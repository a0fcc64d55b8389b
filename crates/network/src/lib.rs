//! Networks on chip as a model: a mesh of nodes, flows of messages between them, and the longest that a message takes.
//!
//! Two disciplines have a bound. *Rates* ([`rates`]): the interface of each node lets no more of a flow in than was declared, and links
//! serve in the order of arrival. *Slots* ([`slots`]): each flow has slots of a table of its own on every link of its way, so that nobody
//! meets anybody. [`simulate`] runs either, flit for flit, to hold it against its bound.
//!
//! What a node does with a message is not its matter: for a node that is simulated alone, the network is a delay of at most the bound.
//!
//! Beside it: networks of machines, across which applications are delivered. A [`node`] is a state machine; a [`field`] simulates many,
//! and a [`verdict`] says whether each application came to where it belongs and nowhere else. What applications tell each other goes by
//! [`stream`]s over [`tree`]s of hops: an [`exchange`] for each node lets no more of it in than was declared, and a [`sender`] sends the most
//! urgent frame first.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod exchange;
pub mod field;
pub mod frame;
pub mod host;
pub mod mesh;
mod neighbours;
pub mod node;
pub mod place;
pub mod rates;
pub mod refusals;
mod replica;
pub mod scope;
pub mod sender;
pub mod setup;
pub mod simulate;
pub mod slots;
pub mod stream;
pub mod tree;
pub mod trickle;
pub mod verdict;

use core::fmt;
use core::ops::Add;
use mesh::Node;

/// Cycles of a link: in each it carries one flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cycles(pub u64);

impl Add for Cycles {
    type Output = Cycles;
    fn add(self, other: Cycles) -> Cycles {
        Cycles(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles", self.0)
    }
}

/// Messages from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Where they come from.
    pub from: Node,
    /// Where they go.
    pub to: Node,
    /// Flits of a message, at least one.
    pub flits: u32,
    /// The least time from one message to the next.
    pub period: Cycles,
}

/// Why a network has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetworkError {
    /// A flow names a node that the mesh does not have, or has no flits or no period.
    NoFlow {
        /// Its index.
        flow: usize,
    },
    /// More is sent over a link than it carries.
    Overload {
        /// The first flow that is too much.
        flow: usize,
    },
    /// The slots that are left do not carry the flow.
    NoSlots {
        /// Its index.
        flow: usize,
    },
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::NoFlow { flow } => {
                write!(f, "flow {flow} leads from or to no node of the mesh, or has no flits or no period; mend it")
            }
            NetworkError::Overload { flow } => write!(
                f,
                "with flow {flow} a link of its way is to carry more than one flit in a cycle; lengthen periods, shorten messages, or \
                 move one of its ends"
            ),
            NetworkError::NoSlots { flow } => write!(
                f,
                "flow {flow} finds too few slots that are free on all of its way; take a longer table, lengthen its period, or move one \
                 of its ends"
            ),
        }
    }
}

impl core::error::Error for NetworkError {}
