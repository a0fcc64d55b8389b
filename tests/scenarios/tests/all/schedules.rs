//! Schedules of windows (`examples/schedules.toml`): each begins with its frame on all cores, on the machine as when simulated; and a core that is
//! excluded by one leaves the others as they were.

use tactus_record::EventKind;
use tactus_scenarios::{file, Finished, Scratch};
use tactus_time::CoreId;

const FRAME: u64 = 20_000_000;
/// How long a core may take to notice that a frame has begun (ns): the others' slices of the emulator included.
const NOTICED: u64 = 40_000;

#[test]
fn schedules_begin_with_their_frames_on_all_cores() {
    let example = file("examples/schedules.toml");
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        for task in run.summary.tasks().filter(|task| task.name() != "map-display") {
            assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{}", task.name());
        }
        for records in &run.trace().cores {
            let switches = records.iter().filter(|r| r.kind == EventKind::Schedule);
            let begun: Vec<(u32, u64)> = switches.clone().map(|r| (r.job, r.arg / FRAME)).collect();
            assert_eq!(begun, [(1, 20), (2, 50), (0, 80)]);
            let late = switches.map(|r| r.time.as_nanos() - r.arg).max();
            assert!(late < Some(NOTICED), "{late:?}");
        }
    }
}

#[test]
fn a_core_that_a_schedule_excludes_leaves_the_other_one_as_it_was() {
    let text = std::fs::read_to_string(file("examples/schedules.toml")).expect("the example");
    // The same without the exclusion, in which core 1 goes on as in the first schedule.
    let kept = text.replace("frame = 50, schedule = \"alone\"", "frame = 50, schedule = \"cruise\"");
    let kept = kept.replace("    { frame = 80, schedule = \"cruise\" },\n", "");
    assert!(kept.len() + 35 < text.len(), "two places are other ones");
    let scratch = Scratch::new("excluded");
    let both = [scratch.write("kept.toml", &kept), scratch.write("excluded.toml", &text)];
    let simulated = both.each_ref().map(|file| Finished::simulate(file, &[]));
    let ran = both.each_ref().map(|file| Finished::run(file, &[]));
    for (runs, allowed) in [(simulated, 0), (ran, NOTICED)] {
        let of = |run: &Finished| {
            let trace = run.trace();
            let records = trace.cores[0].iter().filter(|r| r.kind.is_policy() && r.task.is_some());
            let fixed = |r: &tactus_record::Record| (r.kind == EventKind::Release).then_some(r.arg);
            let all: Vec<_> = records.map(|r| ((r.kind, r.task, r.job, fixed(r)), r.time.as_nanos())).collect();
            let in_time = |r: &&tactus_record::Record| (FRAME * 50..FRAME * 80).contains(&r.time.as_nanos());
            let other = trace.cores[1].iter().filter(in_time).filter(|r| r.kind == EventKind::Dispatch).count();
            (all, other)
        };
        let [(with, busy), (without, excluded)] = [of(&runs[0]), of(&runs[1])];
        assert!(busy > 10 && excluded == 0, "{busy} and {excluded} jobs begin or go on");
        assert!(with.len() > 1_000, "{}", with.len());
        let same = with.iter().zip(&without).position(|(a, b)| a.0 != b.0);
        assert_eq!((same, with.len()), (None, without.len()));
        let moved = with.iter().zip(&without).map(|(a, b)| a.1.abs_diff(b.1)).max().unwrap_or(0);
        println!("{} records of core {}, moved by at most {moved} ns", with.len(), CoreId(0));
        assert!(moved <= allowed, "{moved}");
    }
}
