//! The model against cachegrind: one stored run in three geometries, and a live run where valgrind is installed.

use std::process::Command;
use tactus_cache::lackey::{cachegrind, parse, Replay, Totals};
use tactus_cache::{Hierarchy, Shape};

const TRACE: &str = include_str!("data/program.trace");

/// (bytes, ways) of I1, D1 and LL; bytes of a line; cachegrind's summary (`data/README.md` tells how it was made).
type Stored = ([(u64, usize); 3], u64, &'static str);

const STORED: [Stored; 3] = [
    ([(64, 1), (256, 2), (512, 2)], 32, "summary: 3128 57 12 395 167 122 166 7 7"),
    ([(128, 2), (512, 4), (1024, 4)], 32, "summary: 3128 8 8 395 109 86 166 7 7"),
    ([(128, 1), (256, 2), (2048, 4)], 64, "summary: 3128 5 5 395 205 42 166 4 4"),
];

fn replay(sizes: &[(u64, usize); 3], line: u64, trace: &str) -> Totals {
    let [i1, d1, ll] = sizes.map(|(bytes, ways)| Shape::new(bytes, ways, line));
    let mut replay = Replay::new(Hierarchy::with_owners(cachegrind(i1, d1, ll), 1).unwrap());
    for (access, address, size) in trace.lines().filter_map(|line| parse(line.as_bytes())) {
        replay.access(access, address, size);
    }
    replay.totals()
}

#[test]
fn totals_of_a_stored_run_are_those_of_cachegrind() {
    for (sizes, line, summary) in STORED {
        assert_eq!(replay(&sizes, line, TRACE), Totals::from_cachegrind(summary).unwrap(), "{sizes:?}");
    }
}

/// The comparison can fail: a way more or less gives other totals.
#[test]
fn another_geometry_has_other_totals() {
    let (mut sizes, line, summary) = STORED[0];
    sizes[1] = (512, 4);
    assert_ne!(replay(&sizes, line, TRACE), Totals::from_cachegrind(summary).unwrap());
}

#[test]
#[ignore = "needs valgrind and setarch; against-cachegrind.sh does it for 100 programs"]
fn totals_of_a_live_run_are_those_of_cachegrind() {
    let folder = std::env::temp_dir().join(format!("cachegrind-live-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (trace, totals) = (folder.join("trace"), folder.join("totals"));
    let valgrind = |options: &[String]| {
        let mut command = Command::new("setarch");
        command.args(["-R", "valgrind"]).args(options).arg("/bin/true");
        command.env_clear().env("PATH", "/usr/bin:/bin");
        assert!(command.status().unwrap().success());
    };
    valgrind(&["--tool=lackey".into(), "--trace-mem=yes".into(), format!("--log-file={}", trace.display())]);
    let out = format!("--cachegrind-out-file={}", totals.display());
    let sizes = ["--I1=4096,2,64", "--D1=4096,2,64", "--LL=65536,8,64"].map(String::from);
    valgrind(&[&["--tool=cachegrind".into(), out], &sizes[..]].concat());
    let ours = replay(&[(4096, 2), (4096, 2), (65536, 8)], 64, &std::fs::read_to_string(trace).unwrap());
    let theirs = Totals::from_cachegrind(&std::fs::read_to_string(totals).unwrap()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(ours, theirs);
}
