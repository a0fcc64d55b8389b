//! What each decision of a scheduler took of its own core: the records of the trace beside the counts of the emulator's plug-in.
//!
//! Both tell of the same readings of the clock, the plug-in by counts of instructions, the records by the time read. A decision lies
//! between two readings that are close to each other, behind the readings of the decision before it, and the instructions of all
//! cores in between are the time that the records tell.

use tactus_machine::probe::Reading;
use tactus_record::{EventKind, Record};

/// By how many instructions the counts and the clock may differ over one decision: the emulator begins an instruction that reaches a
/// device, or faults, a second time, and the plug-in may see both.
const SLACK: u64 = 16;
/// How many readings before its last one a decision may begin.
const BACK: usize = 6;

/// The own instructions of each call of the policy on one core, from the scheduler's look at the clock before it to the one after
/// it, in the order of the records. An instruction takes 2^`shift` ns.
///
/// # Errors
/// The number of the first decision that the counts do not have.
pub fn decisions(records: &[Record], readings: &[Reading], shift: u8) -> Result<Vec<u64>, usize> {
    let mut lengths = Vec::new();
    let mut entered = None;
    for record in records {
        match record.kind {
            EventKind::Enter => entered = Some(record.time),
            EventKind::Leave => {
                lengths.extend(entered.take().map(|since| record.time.since(since).as_nanos() >> shift))
            }
            _ => {}
        }
    }
    // The reading at the end of the last decision, with which the next one may begin.
    let mut next = 0;
    let one = |(n, length): (usize, &u64)| {
        let off = |from: &&Reading, to: &Reading| length.abs_diff(to.all - from.all);
        let found = (next + 1..readings.len()).find_map(|at| {
            let (to, before) = (&readings[at], readings[next.max(at.saturating_sub(BACK))..at].iter());
            let from = before.filter(|from| off(from, to) <= SLACK).min_by_key(|from| off(from, to))?;
            Some((at, to.own - from.own))
        });
        let (at, own) = found.ok_or(n)?;
        next = at;
        Ok(own)
    };
    lengths.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::{CoreId, Instant};

    fn record(time: u64, kind: EventKind) -> Record {
        let time = Instant::from_nanos(time);
        Record { time, arg: 0, job: 0, task: None, kind, level: 0, core: CoreId(0), ticket: 0 }
    }

    #[test]
    fn another_cores_turn_is_not_counted_and_other_readings_are_passed_over() {
        let (enter, leave) = (EventKind::Enter, EventKind::Leave);
        let records =
            [(1_000, enter), (1_400, leave), (5_000, enter), (5_400, leave)].map(|(time, kind)| record(time, kind));
        // 2 ns an instruction; the clock jumped in between.
        let readings = [(7, 40, 50), (8, 60, 90), (9, 110, 250), (8, 150, 900), (7, 180, 950), (9, 350, 1_150)]
            .map(|(site, own, all)| Reading { site, own, all });
        assert_eq!(decisions(&records, &readings, 1), Ok(vec![70, 170]));
        assert_eq!(decisions(&records, &readings[..5], 1), Err(1));
        assert_eq!(decisions(&records[2..], &readings, 1), Ok(vec![70]));
    }
}
