//! A trace file that was damaged is refused with the place of the damage, whatever the damage is: nobody is told that a
//! promise was held by a file that is not what the run left.

use crate::common::*;
use tactus_record::RECORD_BYTES;
use tactus_trace::{judge, FilePart, Trace, TraceError, Verdict, BLOCK_RECORDS};

/// Two busy cores for as long as it takes to fill more than two blocks of each.
const TASKS: [(u8, u64, u64); 4] = [(0, 4, 1), (0, 8, 3), (1, 4, 2), (1, 8, 2)];
const LENGTH: u64 = 2_400;

/// Magic, version and number of cores, two counts for each of two cores, a checksum.
const HEAD: usize = 16 + 2 * 16 + 4;
const BLOCK: usize = BLOCK_RECORDS * RECORD_BYTES + 4;

/// Numbers that are the same in each run of the test (Steele, Lea and Flood 2014, `SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// One way to damage the bytes of a file.
type Damage = fn(&mut Vec<u8>, &mut Numbers);

const KINDS: [(&str, Damage); 9] = [
    ("one bit flipped", |bytes, numbers| {
        let place = numbers.below(bytes.len());
        bytes[place] ^= 1 << numbers.below(8);
    }),
    ("bytes overwritten", |bytes, numbers| {
        let place = numbers.below(bytes.len() - 64);
        for byte in &mut bytes[place..place + 64] {
            *byte = numbers.below(256) as u8;
        }
    }),
    ("bytes removed", |bytes, numbers| {
        let (place, length) = (numbers.below(bytes.len() - 64), 1 + numbers.below(64));
        bytes.drain(place..place + length);
    }),
    ("a record removed", |bytes, numbers| {
        let place = HEAD + RECORD_BYTES * numbers.below((bytes.len() - HEAD) / RECORD_BYTES - 1);
        bytes.drain(place..place + RECORD_BYTES);
    }),
    ("cut off", |bytes, numbers| bytes.truncate(numbers.below(bytes.len()))),
    ("appended to", |bytes, numbers| {
        let more = 1 + numbers.below(200);
        bytes.extend((0..more).map(|n| n as u8));
    }),
    ("stretches of two blocks swapped", |bytes, numbers| {
        // The two first blocks of core 0, whole in many of the cases.
        let from = numbers.below(4) * numbers.below(BLOCK - 1);
        for n in from % BLOCK..BLOCK {
            bytes.swap(HEAD + n, HEAD + BLOCK + n);
        }
    }),
    ("two records swapped", |bytes, numbers| {
        let records = BLOCK_RECORDS * 2;
        let place = |n: usize| HEAD + n * RECORD_BYTES + n / BLOCK_RECORDS * 4;
        let one = numbers.below(records - 1);
        let other = one + 1 + numbers.below(records - 1 - one);
        for n in 0..RECORD_BYTES {
            bytes.swap(place(one) + n, place(other) + n);
        }
    }),
    ("a stretch doubled in place of the next", |bytes, numbers| {
        let (place, length) = (numbers.below(bytes.len() - 256), 1 + numbers.below(128));
        bytes.copy_within(place..place + length, place + length);
    }),
];

#[test]
fn no_mutation_of_a_held_runs_file_is_read_and_each_message_tells_the_place() {
    let trace = edf(2, &TASKS, LENGTH);
    let view = edf_view(2, &TASKS, LENGTH);
    let good = trace.to_bytes();
    assert!(trace.cores.iter().all(|records| records.len() > 2 * BLOCK_RECORDS), "more than two blocks a core");
    let whole = Trace::from_bytes(&good).expect("what was just written");
    assert_eq!(judge(&view, &whole).verdict, Verdict::Held, "the run was held");
    let mut numbers = Numbers(1);
    let (mut damaged, mut told) = (0, 0);
    for (kind, damage) in KINDS {
        for _ in 0..100 {
            let mut bytes = good.clone();
            damage(&mut bytes, &mut numbers);
            if bytes == good {
                // Equal bytes took the place of each other.
                continue;
            }
            damaged += 1;
            let Err(error) = Trace::from_bytes(&bytes) else { panic!("{kind}: read as a trace") };
            // The first byte that is not as it was lies in the part that is named, or before what was asked for.
            let first = bytes.iter().zip(&good).take_while(|(one, other)| one == other).count();
            match &error {
                TraceError::Damaged { from, to, .. } => {
                    assert!((from..to).contains(&&first), "{kind} at {first}: {error}")
                }
                TraceError::TooShort { needed, present, .. } => {
                    assert!(*present == bytes.len() && (*present as u128) < *needed, "{kind}: {error}");
                }
                TraceError::TooLong { excess } => assert_eq!(first, bytes.len() - excess, "{kind}: {error}"),
                TraceError::NotATrace => assert!(first < 8, "{kind}: {error}"),
                TraceError::Version(_) => assert!((8..12).contains(&first), "{kind}: {error}"),
                TraceError::Cores(_) => assert!((12..16).contains(&first), "{kind}: {error}"),
                other => panic!("{kind}: {other}"),
            }
            told += usize::from(matches!(error, TraceError::Damaged { .. }));
        }
    }
    println!("{damaged} damaged files, none read; {told} were found by a checksum");
    assert!(damaged >= 750, "{damaged}");
    assert!(told >= 400, "{told}");
}

#[test]
fn the_message_names_records_bytes_and_the_remedy() {
    let mut bytes = edf(2, &TASKS, LENGTH).to_bytes();
    let good = bytes.clone();
    bytes[HEAD + BLOCK + 100] ^= 1;
    let error = Trace::from_bytes(&bytes).unwrap_err();
    let part = FilePart::Block { core: 0, first: BLOCK_RECORDS, last: 2 * BLOCK_RECORDS - 1 };
    assert!(matches!(error, TraceError::Damaged { part: it, .. } if it == part));
    assert_eq!(
        error.to_string(),
        "the trace is damaged: records 1024 to 2047 of core 0 (bytes 32824 to 65595) do not match their checksum; run \
         the system again"
    );
    // The counts have a checksum too: a ring that dropped records cannot be made one that did not.
    let mut bytes = good;
    bytes[24] = 3;
    let error = Trace::from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains("the head (bytes 0 to 51) do not match"), "{error}");
}

#[test]
fn a_trace_of_the_version_without_checksums_is_refused_with_the_remedy() {
    let mut old = b"TACTUSTR\x01\0\0\0\x01\0\0\0".to_vec();
    old.extend([0; 16]);
    let error = Trace::from_bytes(&old).unwrap_err();
    assert!(matches!(error, TraceError::Version(1)));
    assert!(error.to_string().contains("version 1, this program reads version 2: run the system again"), "{error}");
}

/// The checksums are those of Python's `zlib.crc32`, run over the same bytes.
#[test]
fn checksums_are_those_of_zlib() {
    let mut trace = edf(1, &TASKS[..1], 2);
    trace.dropped = vec![5];
    trace.cores[0].truncate(2);
    let bytes = trace.to_bytes();
    assert_eq!(bytes.len(), 16 + 16 + 4 + 2 * 32 + 4);
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert_eq!((word(32), word(100)), (0x8069_16f0, 0x16c5_6c11));
}
