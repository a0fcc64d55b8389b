//! Heaps of components: who never gives memory back is named, and nobody else is short of any; what was used is told.

use tactus_scenarios::{file, Finished, Scratch};

/// A component that takes memory in each job and keeps it; one that gives it back; and one that asks before it takes.
#[test]
fn who_never_gives_memory_back_is_stopped_and_named_and_takes_nothing_from_others() {
    let folder = Scratch::new("heaps");
    let head = "#![no_std]\n#![no_main]\nextern crate alloc;\nuse alloc::{boxed::Box, vec::Vec};\n\
        tactus_rt::component! { job: work, services: [] }\n";
    let sources = [
        ("hoarder", "fn work(_: &tactus_rt::Job) { core::hint::black_box(Box::leak(Box::new([1_u64; 512]))); }\n"),
        (
            "fair",
            "fn work(job: &tactus_rt::Job) {\n    let all: Vec<u64> = (0..4000).map(|it| it * job.number()).collect();\n\
             assert_eq!(all.iter().sum::<u64>(), 7_998_000 * job.number());\n}\n",
        ),
        (
            "careful",
            "fn work(_: &tactus_rt::Job) {\n    let mut all: Vec<u8> = Vec::new();\n    assert!(all.try_reserve(1 << 30).is_err());\n\
             all.try_reserve(1000).expect(\"there is room\");\n}\n",
        ),
    ];
    let mut text =
        "[system]\nname = \"heaps\"\ncores = 2\nduration = \"300 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n"
            .to_owned();
    for (core, (name, source)) in [0, 0, 1].into_iter().zip(sources) {
        folder.component(name, "main.rs", &format!("{head}{source}"));
        let manifest = folder.path().join(name).join("Cargo.toml");
        let plain = std::fs::read_to_string(&manifest).expect("the manifest");
        folder.write(&format!("{name}/Cargo.toml"), &plain.replace("os/rt\"", "os/rt\", features = [\"heap\"]"));
        text += &format!(
            "\n[[component]]\nname = \"{name}\"\ncrate = \"{name}\"\nheap = \"128 KiB\"\n\n[[task]]\nname = \"{name}\"\n\
             component = \"{name}\"\ncore = {core}\nperiod = \"5 ms\"\nexecution = \"1 ms\"\n"
        );
    }
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    assert_eq!(run.said.status, 1, "{}", run.said.output);
    let stopped: Vec<_> = run.summary.stopped().into_iter().filter_map(|it| it.task).collect();
    assert_eq!(stopped, ["hoarder"], "{}", run.said.output);
    assert!(run.said.output.contains("memory allocation of 4096 bytes failed"), "{}", run.said.output);
    for name in ["fair", "careful"] {
        assert_eq!(
            (run.summary.task(name).completed(), run.summary.task(name).missed()),
            (60, 0),
            "{}",
            run.said.output
        );
    }
    let heaps = run.summary.json["heaps"].as_array().expect("heaps");
    let of = |name: &str, key: &str| {
        let heap =
            heaps.iter().find(|heap| heap["component"] == name).unwrap_or_else(|| panic!("no {name}: {heaps:?}"));
        heap[key].as_u64().expect("a number")
    };
    assert_eq!((of("hoarder", "refused"), of("hoarder", "used") % 4096), (1, 0));
    assert!((28..32).contains(&of("hoarder", "allocations")) && of("hoarder", "most") == of("hoarder", "used"));
    assert_eq!((of("fair", "used"), of("fair", "refused"), of("fair", "bytes")), (0, 0, 128 << 10));
    assert_eq!((of("careful", "used"), of("careful", "refused"), of("careful", "allocations")), (0, 60, 60));
    assert!(run.text("report.html").contains("heap of hoarder"));
}

/// The kept count takes 10,000,000 operations.
#[test]
fn memory_is_taken_and_given_back_in_bounded_time() {
    let run = Finished::run(&file("examples/heap/heap.toml"), &["--duration", "400 ms"]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let line = run.log.lines().rev().find(|line| line.contains(" operations, instructions: ")).expect("it was counted");
    let longest: Vec<u64> = ["taken at most ", "given back "].iter().map(|what| after(line, what)).collect();
    assert!(line.contains("400000 operations") && longest.iter().all(|it| (20..=1_000).contains(it)), "{line}");
}

/// The number behind these words.
fn after(line: &str, words: &str) -> u64 {
    let rest = line.split_once(words).unwrap_or_else(|| panic!("no {words:?} in {line}")).1;
    rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|it| it.parse().ok()).expect("a number")
}
