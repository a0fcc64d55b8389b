//! The stored form of a tree.

use super::{ReconfigurableTree, Server, SlotTasks, Supply, TaskPlacement, Tree};
use crate::codec::{put, DecodeError, Input, Parameters};
use crate::reconfigure::{change, part, put_change, put_part, Protocol, CHANGE_BYTES, PART_BYTES};
use alloc::vec::Vec;
use tactus_task::{Burst, EarlyArrival, Overrun, Release, ServerKind, TaskOrder, WaitLimit};
use tactus_time::{CoreSet, Duration, TaskId};

const SERVER_BYTES: usize = 2 + 1 + 1 + 8 + 8 + 1 + 4 + 1;
const PLACE_BYTES: usize = 2 + 4 + 1;
const RELEASE_BYTES: usize = 1 + 1;
const WAIT_BYTES: usize = 2 + 8;

fn number<T: PartialEq>(of: &T, all: &[T]) -> u8 {
    all.iter().position(|other| other == of).unwrap_or(0) as u8
}

fn meaning<T: Copy>(input: &mut Input, all: &[T]) -> Result<T, DecodeError> {
    let byte = input.byte()?;
    all.get(usize::from(byte)).copied().ok_or_else(|| input.no_meaning())
}

impl Parameters for Tree {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.servers.len() as u64);
        for server in &self.servers {
            out.extend(server.parent.to_le_bytes());
            out.extend([server.cores.bits(), number(&server.order, &TaskOrder::ALL)]);
            put(out, server.queues.len() as u64);
            out.extend(server.queues.iter().map(|queue| queue.bits()));
            put(out, server.quantum.as_nanos());
            // Nothing is one more than the last kind.
            out.push(
                server.supply.map_or(ServerKind::ALL.len() as u8, |supply| number(&supply.kind, &ServerKind::ALL)),
            );
            if let Some(supply) = server.supply {
                put(out, supply.budget.as_nanos());
                put(out, supply.period.as_nanos());
                if supply.kind == ServerKind::Misses {
                    // Nothing is zero, which none is.
                    put(out, supply.write_backs.unwrap_or_default().as_nanos());
                }
            }
            out.extend(server.priority.to_le_bytes());
            out.push(u8::from(server.background));
        }
        put(out, self.places.len() as u64);
        for place in &self.places {
            out.extend(place.server.to_le_bytes());
            out.extend(place.priority.to_le_bytes());
            out.push(number(&place.overrun, &Overrun::ALL));
        }
        put(out, self.releases.len() as u64);
        for release in &self.releases {
            out.push(match release {
                Release::Periodic => 0,
                Release::Sporadic(_) => 1,
                Release::After(..) => 2,
                Release::Bursts(..) => 3,
                Release::Jittered(_) => 4,
            });
            out.push(number(&release.early().unwrap_or_default(), &EarlyArrival::ALL));
            if let Some(task) = release.predecessor() {
                out.extend(task.0.to_le_bytes());
            }
            if let Some(jitter) = release.jitter() {
                put(out, jitter.as_nanos());
            } else if let Some(burst) = release.burst() {
                put(out, burst.jitter.as_nanos());
                put(out, burst.distance.as_nanos());
            }
        }
        put(out, self.waits.len() as u64);
        for limit in &self.waits {
            out.extend(limit.most.to_le_bytes());
            put(out, limit.longest.as_nanos());
        }
        put(out, self.line.as_nanos());
        put(out, self.seed);
    }

    fn decode(input: &mut Input) -> Result<Tree, DecodeError> {
        let servers = input.list(SERVER_BYTES, |input| {
            let parent = u16::from_le_bytes(input.take()?);
            let cores = CoreSet::from_bits(input.byte()?);
            let order = meaning(input, &TaskOrder::ALL)?;
            let queues = input.list(1, |input| Ok(CoreSet::from_bits(input.byte()?)))?;
            let quantum = input.time()?;
            let kinds: Vec<Option<ServerKind>> = ServerKind::ALL.into_iter().map(Some).chain([None]).collect();
            let supply = match meaning(input, &kinds)? {
                Some(kind) => {
                    let (budget, period) = (input.time()?, input.time()?);
                    let written = if kind == ServerKind::Misses { input.time()? } else { Duration::ZERO };
                    let write_backs = Some(written).filter(|time| !time.is_zero());
                    Some(Supply { kind, budget, period, write_backs })
                }
                None => None,
            };
            let priority = u32::from_le_bytes(input.take()?);
            Ok(Server { parent, cores, order, queues, quantum, supply, priority, background: input.boolean()? })
        })?;
        let places = input.list(PLACE_BYTES, |input| {
            let server = u16::from_le_bytes(input.take()?);
            let priority = u32::from_le_bytes(input.take()?);
            Ok(TaskPlacement { server, priority, overrun: meaning(input, &Overrun::ALL)? })
        })?;
        let releases = input.list(RELEASE_BYTES, |input| {
            let kind = input.byte()?;
            let early = meaning(input, &EarlyArrival::ALL)?;
            Ok(match kind {
                0 if early == EarlyArrival::Delay => Release::Periodic,
                1 => Release::Sporadic(early),
                2 => Release::After(TaskId(u16::from_le_bytes(input.take()?)), early),
                3 => Release::Bursts(early, Burst { jitter: input.time()?, distance: input.time()? }),
                4 if early == EarlyArrival::Delay => Release::Jittered(input.time()?),
                _ => return Err(input.no_meaning()),
            })
        })?;
        let waits = input.list(WAIT_BYTES, |input| {
            Ok(WaitLimit { most: u16::from_le_bytes(input.take()?), longest: input.time()? })
        })?;
        Ok(Tree { servers, places, releases, waits, line: input.time()?, seed: input.number()? })
    }
}

const SLOT_BYTES: usize = 2 + 2;
const PROTOCOLS: [Protocol; 2] = [Protocol::IdleInstant, Protocol::Immediate];

impl Parameters for ReconfigurableTree {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        put(out, self.absent.len() as u64);
        self.absent.iter().for_each(|part| put_part(out, *part));
        put(out, self.changes.len() as u64);
        self.changes.iter().for_each(|change| put_change(out, change));
        put(out, self.slots.len() as u64);
        for slot in &self.slots {
            out.extend(slot.first.0.to_le_bytes());
            out.extend(slot.tasks.to_le_bytes());
        }
        out.push(number(&self.protocol, &PROTOCOLS));
    }

    fn decode(input: &mut Input) -> Result<ReconfigurableTree, DecodeError> {
        let tree = Tree::decode(input)?;
        let absent = input.list(PART_BYTES, part)?;
        let changes = input.list(CHANGE_BYTES, change)?;
        let slots = input.list(SLOT_BYTES, |input| {
            Ok(SlotTasks { first: TaskId(u16::from_le_bytes(input.take()?)), tasks: u16::from_le_bytes(input.take()?) })
        })?;
        Ok(ReconfigurableTree { tree, absent, changes, slots, protocol: meaning(input, &PROTOCOLS)? })
    }
}
