//! The records of all cores in one order that causes respect.
//!
//! Times alone do not give it: of two cores that want the same lock, the one that looked at the clock first may
//! decide second. Decisions that touched shared state carry a ticket for this; all others concern one core only.

use crate::view::Trace;
use tactus_record::{EventKind, Record};
use tactus_time::Instant;

/// One call of the policy, or a record outside of any: records `start..end` of a core.
struct Batch {
    start: usize,
    end: usize,
    time: Instant,
    /// A call. What is outside of any another core has found out: it was so before that one decided.
    decides: bool,
    ticket: u32,
}

fn batches(records: &[Record]) -> Vec<Batch> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < records.len() {
        let mut end = start + 1;
        let mut ticket = 0;
        let decides = records[start].kind == EventKind::Enter;
        if decides {
            // A call that never ends (the run stopped in it, or the next begins first) is a batch too.
            while end < records.len() && records[end].kind != EventKind::Enter {
                end += 1;
                if records[end - 1].kind == EventKind::Leave {
                    ticket = records[end - 1].ticket;
                    break;
                }
            }
        }
        // It may have been decided as of a later time than that of the call: not before what another core had decided first.
        let decided = records[start..end].iter().filter(|r| r.kind.is_policy()).map(|r| r.time).max();
        let time = decided.map_or(records[start].time, |time| time.max(records[start].time));
        out.push(Batch { start, end, time, decides, ticket });
        start = end;
    }
    out
}

/// Calls `visit` with each record: those of a core in their order, decisions with tickets in the order of their
/// tickets, and else by time; at one instant what is outside of decisions first, and lower cores first.
pub fn in_order<'t>(trace: &'t Trace, mut visit: impl FnMut(&'t Record)) {
    let cores: Vec<Vec<Batch>> = trace.cores.iter().map(|r| batches(r)).collect();
    let mut next = vec![0; cores.len()];
    // The place of each core's next batch with a ticket.
    let mut ticketed = vec![0; cores.len()];
    let seek = |core: usize, from: usize| {
        let rest = &cores[core][from..];
        from + rest.iter().position(|b| b.ticket != 0).unwrap_or(rest.len())
    };
    for (core, place) in ticketed.iter_mut().enumerate() {
        *place = seek(core, 0);
    }
    loop {
        let turn = (0..cores.len())
            .filter_map(|c| cores[c].get(ticketed[c]).map(|b| (b.ticket, c)))
            .min()
            .map_or(usize::MAX, |(_, c)| c);
        let chosen = (0..cores.len())
            .filter_map(|c| cores[c].get(next[c]).map(|b| (b, c)))
            .filter(|(b, c)| b.ticket == 0 || *c == turn)
            .min_by_key(|(b, c)| (b.time, b.decides, *c));
        // The core whose turn it is has something to give, so none is left only when all is done.
        let Some((batch, core)) = chosen else { return };
        trace.cores[core][batch.start..batch.end].iter().for_each(&mut visit);
        if ticketed[core] == next[core] {
            ticketed[core] = seek(core, next[core] + 1);
        }
        next[core] += 1;
    }
}
