//! Damaged results are bad input: exit status 2, and the message names the file and the place.

use std::fs;
use tactus_scenarios::{file, tactus, Finished};

#[test]
fn a_damaged_trace_of_a_held_run_is_2_with_the_place() {
    let run = Finished::simulate(&file("examples/partitioned-edf.toml"), &[]);
    assert_eq!(run.said.status, 0, "{}", run.said.output);
    let path = run.file("trace.bin");
    let good = fs::read(&path).expect("the trace");
    let folder = path.parent().expect("it lies in the folder of results").as_os_str().to_owned();
    let middle = good.len() / 2;
    let mut flipped = good.clone();
    flipped[middle] ^= 4;
    let removed = [&good[..middle], &good[middle + 32..]].concat();
    let mut old = good.clone();
    old[8] = 1;
    let cases = [
        (flipped, "do not match their checksum"),
        (removed, "of core"),
        (good[..good.len() - 4].to_vec(), "the trace is cut off"),
        ([&good[..], b"more"].concat(), "4 bytes behind its last record"),
        (old, "version 1, this program reads version 2: run the system again"),
    ];
    for (bytes, words) in cases {
        fs::write(&path, bytes).expect("the trace can be written");
        for verb in ["report", "trace"] {
            let said = tactus([verb.as_ref(), folder.as_os_str()]);
            assert_eq!(said.status, 2, "{verb}: {}\n{}", said.output, said.errors);
            assert!(said.errors.contains("trace.bin") && said.errors.contains(words), "{verb}: {}", said.errors);
        }
    }
    fs::write(&path, good).expect("the trace can be written");
    assert_eq!(tactus(["report".as_ref(), folder.as_os_str()]).status, 0);
}
