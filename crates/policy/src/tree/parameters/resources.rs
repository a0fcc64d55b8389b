//! Parameters of ceilings: resources with their users, and preemption thresholds.

use super::Tree;
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_task::{EventRule, ResourceProtocol};
use tactus_time::{Duration, TaskId};

/// A tree in which jobs keep their cores from others, or await what others signal. It has no servers; with resources or thresholds, no two
/// cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceTree {
    /// The root and the tasks.
    pub tree: Tree,
    /// For each task, in their order, the priority up to which nobody takes the core from its jobs once they have begun.
    pub thresholds: Vec<Option<u32>>,
    /// The resources; [`Sections`](tactus_task::Sections) name them by their indices.
    pub resources: Vec<Resource>,
    /// The events that jobs signal and await; [`EventCall`](tactus_task::EventCall)s name them by their indices.
    pub events: Vec<EventRule>,
}

/// A resource that one job at a time may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// Who may not begin while it is held, and who runs while another one waits for it.
    pub protocol: ResourceProtocol,
    /// Its place in the order in which resources are taken: inside others only those of a larger number.
    pub order: u16,
    /// Whether it is taken from a job that holds it for longer than it declares; else the job keeps it.
    pub withdrawn: bool,
    /// The tasks that use it; where its protocol does not span cores, all of one core.
    pub users: Vec<ResourceUser>,
}

/// A task that uses a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceUser {
    /// Which.
    pub task: TaskId,
    /// For how long a job of it holds the resource at most, each time. A job that holds it for longer is recorded.
    pub longest: Duration,
}

const USER_BYTES: usize = 2 + 8;
const EVENT_BYTES: usize = 1 + 4;

impl Parameters for ResourceTree {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        put(out, self.thresholds.len() as u64);
        for threshold in &self.thresholds {
            out.extend(threshold.unwrap_or(u32::MAX).to_le_bytes());
        }
        put(out, self.resources.len() as u64);
        for resource in &self.resources {
            let protocol = ResourceProtocol::ALL.iter().position(|protocol| *protocol == resource.protocol);
            out.push(protocol.unwrap_or(0) as u8);
            out.extend(resource.order.to_le_bytes());
            out.push(resource.withdrawn.into());
            put(out, resource.users.len() as u64);
            for user in &resource.users {
                out.extend(user.task.0.to_le_bytes());
                put(out, user.longest.as_nanos());
            }
        }
        put(out, self.events.len() as u64);
        for event in &self.events {
            let (kind, number) = match event {
                EventRule::Condition => (0, 0),
                EventRule::Semaphore(count) => (1, *count),
                EventRule::Barrier(of) => (2, *of),
            };
            out.push(kind);
            out.extend(u32::to_le_bytes(number));
        }
    }

    fn decode(input: &mut Input) -> Result<ResourceTree, DecodeError> {
        let tree = Tree::decode(input)?;
        let threshold = |input: &mut Input| Ok(Some(u32::from_le_bytes(input.take()?)).filter(|it| *it != u32::MAX));
        let thresholds = input.list(4, threshold)?;
        let resources = input.list(1, |input| {
            let protocol = ResourceProtocol::ALL.get(usize::from(input.byte()?)).copied();
            let protocol = protocol.ok_or_else(|| input.no_meaning())?;
            let order = u16::from_le_bytes(input.take()?);
            let withdrawn = input.boolean()?;
            let users = input.list(USER_BYTES, |input| {
                Ok(ResourceUser { task: TaskId(u16::from_le_bytes(input.take()?)), longest: input.time()? })
            })?;
            Ok(Resource { protocol, order, withdrawn, users })
        })?;
        let events = input.list(EVENT_BYTES, |input| {
            let kind = input.byte()?;
            let number = u32::from_le_bytes(input.take()?);
            match kind {
                0 if number == 0 => Ok(EventRule::Condition),
                1 => Ok(EventRule::Semaphore(number)),
                2 => Ok(EventRule::Barrier(number)),
                _ => Err(input.no_meaning()),
            }
        })?;
        Ok(ResourceTree { tree, thresholds, resources, events })
    }
}
