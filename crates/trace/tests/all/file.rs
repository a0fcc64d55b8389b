//! Rings and trace files.

use crate::common::*;
use proptest::prelude::*;
use tactus_record::{RingHeader, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::Level;
use tactus_trace::{judge, Bound, Trace, TraceError, RING_ALIGN};

fn memory(trace: &Trace, capacity: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for (core, records) in trace.cores.iter().enumerate() {
        out.resize(out.len().next_multiple_of(RING_ALIGN), 0xee);
        let written = records.len().min(capacity);
        let head = RingHeader {
            capacity: capacity as u64,
            written: written as u64,
            dropped: trace.dropped[core],
            now: 7,
            ended: 1,
        };
        out.extend(head.to_bytes());
        records[..written].iter().for_each(|r| out.extend(r.to_bytes()));
        out.resize(out.len() + (capacity - written) * RECORD_BYTES, 0xee);
    }
    out
}

const TASKS: [(u8, u64, u64); 4] = [(0, 5, 2), (0, 10, 3), (1, 4, 1), (1, 8, 4)];

#[test]
fn rings_in_memory_give_the_records_that_were_written_and_no_others() {
    let mut trace = edf(2, &TASKS, 80);
    trace.dropped = vec![0, 3];
    for capacity in [300, 128 + 126, 1000] {
        let read = Trace::from_memory(&memory(&trace, capacity), 2).unwrap();
        assert_eq!(read.cores, trace.cores);
        assert_eq!(read.dropped, [0, 3]);
    }
}

#[test]
fn a_trace_file_is_read_as_it_was_written_and_is_the_same_each_time() {
    let trace = edf(2, &TASKS, 80);
    let path = std::env::temp_dir().join(format!("tactus-trace-{}.bin", std::process::id()));
    trace.write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let read = Trace::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((&read.cores, &read.dropped), (&trace.cores, &trace.dropped));
    assert_eq!(bytes, edf(2, &TASKS, 80).to_bytes());
    assert_eq!(&bytes[..16], b"TACTUSTR\x02\0\0\0\x02\0\0\0");
}

#[test]
fn what_is_wrong_with_a_trace_is_said_by_name() {
    let trace = edf(2, &TASKS, 20);
    let good = trace.to_bytes();
    let says = |bytes: &[u8]| Trace::from_bytes(bytes).unwrap_err().to_string();
    assert!(says(b"ELF").contains("does not begin with `TACTUSTR`"));
    assert!(says(&good[..good.len() - 1]).contains("cut off: the list of records of core 1"));
    assert!(says(&[&good[..], b"x"].concat()).contains("1 bytes behind its last record"));
    let mut version = good.clone();
    version[8] = 9;
    assert!(says(&version).contains("has version 9"));
    let mut cores = good.clone();
    cores[12] = 77;
    assert!(says(&cores).contains("77 cores; 1 to 8"));
    let mut ring = memory(&trace, 300);
    ring[RING_HEADER_BYTES + 22] = 200;
    let says = |bytes: &[u8]| Trace::from_memory(bytes, 2).unwrap_err().to_string();
    assert!(says(&ring).contains("record 0 of core 0 has the unknown kind 200"));
    let mut ring = memory(&trace, 300);
    ring[RING_HEADER_BYTES + 24] = 1;
    assert!(says(&ring).contains("record 0 of core 0 says that it belongs to core 1"));
    let missing = Trace::read("/nonexistent/trace.bin").unwrap_err();
    assert!(matches!(missing, TraceError::Io { .. }) && missing.to_string().starts_with("/nonexistent/trace.bin: "));
}

#[test]
fn a_ring_that_lies_about_itself_is_refused() {
    let trace = edf(1, &TASKS[..2], 20);
    let good = memory(&trace, 100);
    assert!(matches!(Trace::from_memory(&good, 2), Err(TraceError::TooShort { core: 1, .. })));
    assert!(matches!(Trace::from_memory(&good, 0), Err(TraceError::Cores(0))));
    assert!(matches!(Trace::from_memory(&good, 9), Err(TraceError::Cores(9))));
    let mut huge = good.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(Trace::from_memory(&huge, 1), Err(TraceError::TooShort { core: 0, .. })));
    let mut overfull = good;
    overfull[8..16].copy_from_slice(&101_u64.to_le_bytes());
    let error = Trace::from_memory(&overfull, 1).unwrap_err();
    assert_eq!(error.to_string(), "the ring of core 0 says that it holds 101 records where only 100 fit");
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic_and_what_is_read_can_be_judged(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let trace = edf(2, &TASKS, 40);
        let mut view = edf_view(2, &TASKS, 40);
        for (i, task) in view.tasks.iter_mut().enumerate() {
            task.level = Some([Level::A, Level::B, Level::C, Level::D][i]);
            task.budget = Some(units(1));
            task.assumed = [Some(units(1)); 4];
            task.promise = if i % 2 == 0 { task.promise } else { Some(Bound::Tardiness(units(1))) };
        }
        for (file, mut bytes) in [(true, trace.to_bytes()), (false, memory(&trace, 200))] {
            for (index, value) in &hits {
                // Most of the damage to a ring goes to records, where it is not refused at once.
                let from = if file { 48 } else { RING_HEADER_BYTES };
                let place = from + index.index(bytes.len() - from);
                bytes[place] = *value;
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len()));
            }
            let same = file && bytes == trace.to_bytes();
            let read = if file { Trace::from_bytes(&bytes) } else { Trace::from_memory(&bytes, 2) };
            // A file tells of all damage.
            prop_assert!(!file || read.is_ok() == same);
            if let Ok(read) = read {
                let _ = judge(&view, &read).to_json();
                let _ = tactus_trace::list(&view, &read, units(1));
                let _ = tactus_trace::draw(&view, &read, units(1), at(0), at(40));
            }
        }
    }
}
