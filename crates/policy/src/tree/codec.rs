//! The stored form of a tree.

use super::{Overrun, Place, Server, Supplier, Supply, TaskOrder, Tree};
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_time::CoreSet;

const SERVER_BYTES: usize = 2 + 1 + 1 + 8 + 8 + 1 + 4 + 1;
const PLACE_BYTES: usize = 2 + 4 + 1;

const ORDERS: [TaskOrder; 9] = [
    TaskOrder::FixedPriority,
    TaskOrder::RateMonotonic,
    TaskOrder::DeadlineMonotonic,
    TaskOrder::EarliestDeadline,
    TaskOrder::LeastLaxity,
    TaskOrder::LaxityAtRelease,
    TaskOrder::ShortestJob,
    TaskOrder::FirstComeFirstServed,
    TaskOrder::RoundRobin,
];
const SUPPLIERS: [Supplier; 8] = [
    Supplier::Periodic,
    Supplier::Polling,
    Supplier::Deferrable,
    Supplier::Sporadic,
    Supplier::PosixSporadic,
    Supplier::ConstantBandwidth { hard: false },
    Supplier::ConstantBandwidth { hard: true },
    Supplier::PriorityInheriting,
];
const OVERRUNS: [Overrun; 4] = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Kill];

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
            out.extend([server.cores.bits(), number(&server.order, &ORDERS)]);
            put(out, server.queues.len() as u64);
            out.extend(server.queues.iter().map(|queue| queue.bits()));
            put(out, server.quantum.as_nanos());
            // Nothing is one more than the last kind.
            out.push(server.supply.map_or(SUPPLIERS.len() as u8, |supply| number(&supply.kind, &SUPPLIERS)));
            if let Some(supply) = server.supply {
                put(out, supply.budget.as_nanos());
                put(out, supply.period.as_nanos());
            }
            out.extend(server.priority.to_le_bytes());
            out.push(u8::from(server.background));
        }
        put(out, self.places.len() as u64);
        for place in &self.places {
            out.extend(place.server.to_le_bytes());
            out.extend(place.priority.to_le_bytes());
            out.push(number(&place.overrun, &OVERRUNS));
        }
    }

    fn decode(input: &mut Input) -> Result<Tree, DecodeError> {
        let servers = input.list(SERVER_BYTES, |input| {
            let parent = u16::from_le_bytes(input.take()?);
            let cores = CoreSet::from_bits(input.byte()?);
            let order = meaning(input, &ORDERS)?;
            let queues = input.list(1, |input| Ok(CoreSet::from_bits(input.byte()?)))?;
            let quantum = input.time()?;
            let kinds: Vec<Option<Supplier>> = SUPPLIERS.into_iter().map(Some).chain([None]).collect();
            let supply = match meaning(input, &kinds)? {
                Some(kind) => Some(Supply { kind, budget: input.time()?, period: input.time()? }),
                None => None,
            };
            let priority = u32::from_le_bytes(input.take()?);
            Ok(Server { parent, cores, order, queues, quantum, supply, priority, background: input.boolean()? })
        })?;
        let places = input.list(PLACE_BYTES, |input| {
            let server = u16::from_le_bytes(input.take()?);
            let priority = u32::from_le_bytes(input.take()?);
            Ok(Place { server, priority, overrun: meaning(input, &OVERRUNS)? })
        })?;
        Ok(Tree { servers, places })
    }
}
