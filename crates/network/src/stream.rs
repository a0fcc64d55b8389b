//! Data that a node sends to others again and again: how much, how often, and for whom.

use crate::frame::{Frame, Name, NodeId};
use crate::scope::Scope;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// The most bytes of a message.
pub const LARGEST_MESSAGE: u16 = 1_400;

/// Messages that one node sends to all nodes in a scope, one in each period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// What it is called.
    pub name: Name,
    /// Who sends.
    pub from: usize,
    /// The application whose data it is: published and received by nodes that host it alone. Where there is none, by all.
    pub application: Option<Name>,
    /// Who receives; the sender is none of them.
    pub scope: Scope,
    /// The start of its first period; drawn within a period where there is none.
    pub start: Option<Instant>,
    /// Time from the start of a period to that of the next one.
    pub period: Duration,
    /// A message is released this late in its period at most.
    pub jitter: Duration,
    /// From the start of a period to the arrival of its message at each receiver.
    pub deadline: Duration,
    /// Bytes of a message.
    pub bytes: u16,
    /// Of frames that wait for the same sender the one of the largest priority goes first; of equal ones, who came first.
    pub priority: u8,
    /// How often a message is sent again, at equal distances in its period.
    pub repetitions: u8,
}

impl Stream {
    /// The least time from one frame to the next: a message and its repetitions share a period.
    pub fn frame_period(&self) -> Duration {
        self.period / (u64::from(self.repetitions) + 1)
    }
    /// From the first frame of a message to its last one, if each were sent at the start of its own part of the period.
    pub fn last_frame(&self) -> Duration {
        self.frame_period().checked_mul(self.repetitions.into()).unwrap_or(Duration::MAX)
    }
    /// The time that a node needs to send one of its frames.
    pub fn on_the_wire(&self, number: usize, node: usize, byte: Duration) -> Duration {
        let bytes = alloc::vec![0; self.bytes.into()];
        let frame = Frame::Data { stream: number as u16, sequence: 0, repetition: 0, bytes: &bytes };
        let mut written = Vec::new();
        frame.write(NodeId(node as u32), &mut written);
        byte.checked_mul(written.len() as u64).unwrap_or(Duration::MAX)
    }
}
