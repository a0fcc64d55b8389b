//! What each decision of a scheduler took of its own core: the records of the trace beside the counts of the emulator's plug-in.
//!
//! Both tell of the same readings of the clock, the plug-in by counts of instructions, the records by the time read. Between two
//! readings while a core executes, the clock advances by the instructions of all cores; while all sleep it jumps. So a decision is
//! found in the counts where their difference is that of its times, and where the jumps until then are no fewer than before.

use crate::machine::probe::Reading;
use tactus_record::{EventKind, Record};

/// The own instructions of each call of the policy on one core, from the scheduler's look at the clock before it to the one after
/// it, in the order of the records. An instruction takes 2^`shift` ns.
///
/// # Errors
/// The number of the first decision that the counts do not have.
pub fn decisions(records: &[Record], readings: &[Reading], shift: u8) -> Result<Vec<u64>, usize> {
    let mut out = Vec::new();
    let (mut next, mut jumped, mut entered) = (0, i64::MIN, None);
    for record in records {
        let time = record.time.as_nanos();
        match record.kind {
            EventKind::Enter => entered = Some(time),
            EventKind::Leave => {
                let Some(since) = entered.take() else { continue };
                let (at, until) = find(&readings[next..], (since, time), shift, jumped).ok_or(out.len())?;
                let [from, to] = [readings[next + at], readings[next + until]];
                jumped = jump(since, &from, shift);
                out.push(to.own - from.own);
                next += until;
            }
            _ => {}
        }
    }
    Ok(out)
}

/// By how much the clock had jumped until a reading that gave this time (ns), less than nothing by what the machine executed before
/// its clock began.
fn jump(time: u64, reading: &Reading, shift: u8) -> i64 {
    time.wrapping_sub(reading.all << shift) as i64
}

/// The first two readings with these times, if the clock had jumped by `jumped` (ns) or more until then.
fn find(readings: &[Reading], (since, until): (u64, u64), shift: u8, jumped: i64) -> Option<(usize, usize)> {
    let fits = |reading: &Reading| jump(since, reading, shift) >= jumped;
    let length = (until - since) >> shift;
    for (at, from) in readings.iter().enumerate().filter(|(_, reading)| fits(reading)) {
        let rest = readings[at + 1..].iter().take_while(|to| to.all - from.all <= length);
        if let Some((n, _)) = rest.enumerate().find(|(_, to)| to.all - from.all == length) {
            return Some((at, at + 1 + n));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::{CoreId, Instant};

    fn record(time: u64, kind: EventKind) -> Record {
        let time = Instant::from_nanos(time);
        Record { time, arg: 0, job: 0, task: None, kind, level: 0, core: CoreId(0), ticket: 0 }
    }

    fn reading(own: u64, all: u64) -> Reading {
        Reading { site: 0, own, all }
    }

    #[test]
    fn another_cores_turn_is_not_counted_and_other_readings_are_passed_over() {
        let records = [1_000, 1_400, 5_000, 5_080]
            .map(|time| record(time, if time == 1_000 || time == 5_000 { EventKind::Enter } else { EventKind::Leave }));
        // 2 ns an instruction; the clock jumped by 900 ns before, and again after the first decision.
        let readings = [
            reading(40, 50),
            reading(45, 55),
            reading(60, 100),
            reading(110, 250),
            reading(115, 255),
            reading(150, 295),
        ];
        assert_eq!(decisions(&records, &readings, 1), Ok(vec![70, 35]));
        assert_eq!(decisions(&records, &readings[..4], 1), Err(1));
    }
}
