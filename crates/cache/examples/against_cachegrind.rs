//! Holds the model against cachegrind over one run of a program.
//!
//! `against_cachegrind PROGRAM ARGUMENTS…` runs the program under lackey and, for each geometry, under cachegrind, and says for each
//! whether all totals agree. Ends with status 1 where they do not, with 2 where the
//! runs had different numbers of instructions and cannot be compared. `crates/cache/against-cachegrind.sh` does this for 100 programs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitCode, Stdio};
use tactus_cache::lackey::{cachegrind, parse, Replay, Totals};
use tactus_cache::{Hierarchy, Shape};

/// (bytes, ways) of I1, D1 and LL, with the length of a line.
type Sizes = ([(u64, usize); 3], u64);

/// Cachegrind's usual sizes with the last level of an i7-2600; small caches; directly mapped ones with short lines.
const GEOMETRIES: [Sizes; 3] = [
    ([(32 << 10, 8), (32 << 10, 8), (8 << 20, 16)], 64),
    ([(4 << 10, 2), (8 << 10, 4), (64 << 10, 16)], 64),
    ([(1 << 10, 1), (2 << 10, 1), (16 << 10, 4)], 32),
];

/// Valgrind with a fixed layout of addresses and an environment without a name that changes.
fn valgrind(tool: &str, options: &[String], program: &[String]) -> Command {
    let mut command = Command::new("setarch");
    command.args(["-R", "valgrind", tool]).args(options).args(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn main() -> ExitCode {
    let program: Vec<String> = std::env::args().skip(1).collect();
    let folder = std::env::temp_dir().join(format!("against-cachegrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for what cachegrind writes");
    let mut theirs = Vec::new();
    for (at, (sizes, line)) in GEOMETRIES.iter().enumerate() {
        let out = folder.join(at.to_string());
        let mut options = vec![format!("--cachegrind-out-file={}", out.display())];
        for (name, (bytes, ways)) in ["I1", "D1", "LL"].iter().zip(sizes) {
            options.push(format!("--{name}={bytes},{ways},{line}"));
        }
        let status = valgrind("--tool=cachegrind", &options, &program).stderr(Stdio::null()).status();
        assert!(status.is_ok(), "valgrind cannot be started");
        let text = std::fs::read_to_string(&out).expect("cachegrind wrote a file");
        theirs.push(Totals::from_cachegrind(&text).expect("cachegrind's file has a summary"));
    }
    let mut ours: Vec<Replay> = GEOMETRIES
        .iter()
        .map(|([i1, d1, ll], line)| {
            let shape = |(bytes, ways): (u64, usize)| Shape::new(bytes, ways, *line);
            let geometry = cachegrind(shape(*i1), shape(*d1), shape(*ll));
            Replay::new(Hierarchy::with_owners(geometry, 1).expect("a hierarchy that can be"))
        })
        .collect();
    let trace = folder.join("trace");
    assert!(Command::new("mkfifo").arg(&trace).status().is_ok_and(|status| status.success()), "no pipe with a name");
    let options = ["--trace-mem=yes".to_string(), format!("--log-file={}", trace.display())];
    let mut child = valgrind("--tool=lackey", &options, &program).stderr(Stdio::null()).spawn().expect("valgrind");
    let mut lines = BufReader::with_capacity(1 << 20, std::fs::File::open(&trace).expect("the trace")).take(1 << 34);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("a line") > 0 {
        if let Some((access, address, size)) = parse(&line) {
            for replay in &mut ours {
                replay.access(access, address, size);
            }
        }
        line.clear();
    }
    let _ = child.wait();
    let _ = std::fs::remove_dir_all(&folder);
    let agree = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours.totals() == **theirs).count();
    if ours.iter().zip(&theirs).any(|(ours, theirs)| ours.totals().instructions != theirs.instructions) {
        println!("did not run alike under the two tools: {}", program.join(" "));
        return ExitCode::from(2);
    }
    let accesses = theirs[0].instructions + theirs[0].data;
    println!("{agree} of {} geometries agree, {accesses} accesses: {}", GEOMETRIES.len(), program.join(" "));
    for (ours, theirs) in ours.iter().zip(&theirs).filter(|(ours, theirs)| ours.totals() != **theirs) {
        println!("  ours   {:?}\n  theirs {theirs:?}", ours.totals());
    }
    ExitCode::from(u8::from(agree != GEOMETRIES.len()))
}
