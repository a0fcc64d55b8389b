//! Partitions with windows (`examples/partitions.toml`): the same on the machine as simulated; held, refused, and apart from each
//! other whatever one of them does.

use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::Instant;
use tactus_trace::schedule;

#[test]
fn the_partitions_of_the_example_keep_their_bounds_on_the_machine_and_when_simulated() {
    let example = file("examples/partitions.toml");
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        assert_eq!(run.summary.task("inner-loop").completed(), 200);
        // It starts with the sixth frame.
        assert_eq!(run.summary.task("log").released(), 19);
        for task in run.summary.tasks() {
            assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{}", task.name());
        }
        assert!(run.text("report.html").contains("partitions"));
    }
}

/// 64 partitions on eight cores, eight windows of 2.5 ms on each in a frame of 20 ms; one of them may have a task that never ends.
fn many(rogue: Option<usize>) -> String {
    let mut text = String::from(
        "[system]\nname = 'many'\ncores = 8\nduration = '600 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\n\
         major-frame = '20 ms'\n",
    );
    for n in 0..64 {
        let actual = if rogue == Some(n) { "actual = '1 s'\n" } else { "" };
        let start = n / 8 * 2_500;
        text += &format!(
            "[[partition]]\nname = 'p{n}'\npolicy = 'partitioned-fp'\nwindows = [{{ core = {0}, start = '{start} us', length = '2500 us' }}]\n\
             [[task]]\nname = 't{n}'\npartition = 'p{n}'\npriority = 1\nperiod = '60 ms'\nexecution = '1 ms'\n{actual}",
            n % 8
        );
    }
    text
}

#[test]
fn sixty_four_partitions_on_eight_cores_have_their_windows_though_one_never_ends() {
    let scratch = Scratch::new("many-partitions");
    for rogue in [None, Some(27)] {
        let run = Finished::run(&scratch.write("many.toml", &many(rogue)), &[]);
        let wanted = if rogue.is_some() { "void" } else { "held" };
        assert_eq!(run.summary.outcome(), wanted, "{}", run.said.output);
        for (n, task) in run.summary.tasks().enumerate().filter(|(n, _)| Some(*n) != rogue) {
            assert_eq!((task.missed(), task.completed() >= 9), (0, true), "{n}: {}", run.said.output);
            assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{}", task.name());
        }
    }
}

/// Partitions with windows of this length (µs), eight on each core in a frame, each with a task that needs a little more than one window.
fn dense(cores: u64, frames: u64, window: u64) -> String {
    let frame = 8 * window;
    let mut text = format!(
        "[system]\nname = 'dense'\ncores = {cores}\nduration = '{} ms'\nmemory = '1 GiB'\n[machine]\ninstruction = '1 ns'\n[policy]\n\
         kind = 'partitions'\nmajor-frame = '{frame} us'\n",
        frames * frame / 1_000
    );
    for n in 0..8 * cores {
        text += &format!(
            "[[partition]]\nname = 'p{n}'\npolicy = 'partitioned-fp'\nwindows = [{{ core = {}, start = '{} us', length = '{window} us' }}]\n\
             [[task]]\nname = 't{n}'\npartition = 'p{n}'\npriority = 1\nperiod = '{} us'\nexecution = '{} us'\n",
            n % cores,
            n / cores * window,
            8 * frame,
            window + 50
        );
    }
    text
}

/// How long after the start of its window a job that waits for it goes on, and how long after its end one runs on: the worst (ns), and
/// of how many windows.
fn lateness(run: &Finished, cores: usize, window: u64) -> [(u64, usize); 2] {
    let mut found = [(0, 0); 2];
    let mut unfinished = std::collections::HashSet::new();
    let (window, frame) = (window * 1_000, 8 * window * 1_000);
    for segment in schedule(&run.trace()) {
        let Some(task) = segment.task else { continue };
        let start = (task.index() / cores) as u64 * window;
        let offset = |at: Instant| (at.as_nanos() + frame - start) % frame;
        let mut note = |which: usize, late: u64| {
            let (worst, count): &mut (u64, usize) = &mut found[which];
            (*worst, *count) = ((*worst).max(late), *count + 1);
        };
        // Where its window ends before the job does, the job waits for the next one.
        if unfinished.remove(&(task, segment.job)) {
            note(0, offset(segment.start));
        }
        if offset(segment.end) >= window {
            note(1, offset(segment.end) - window);
            unfinished.insert((task, segment.job));
        }
    }
    found
}

/// No window begins later than `most` (ns): when the scheduler has been entered, has decided and dispatched. None ends later than half of
/// that, when it has been entered.
fn windows_are_kept(cores: u64, frames: u64, window: u64, most: u64) {
    let scratch = Scratch::new("dense-partitions");
    let run = Finished::run(&scratch.write("dense.toml", &dense(cores, frames, window)), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let [starts, ends] = lateness(&run, cores as usize, window);
    let (first, last) = (starts.0, ends.0);
    println!("{cores} cores, {frames} frames, {} windows: begin {first} ns late at most, end {last} ns late", starts.1);
    let windows = frames as usize * cores as usize;
    assert!(starts.1 >= windows * 9 / 10 && ends.1 >= windows * 9 / 10, "{starts:?} {ends:?} of {windows}");
    assert!(first <= most && last <= most / 2, "{first} {last}");
}

#[test]
fn eight_partitions_on_one_core_have_their_windows_to_the_schedulers_path() {
    windows_are_kept(1, 200, 250, 400);
}

/// On several cores the emulator's slices come to it.
#[test]
#[ignore = "takes minutes; run by name"]
fn sixty_four_partitions_on_eight_cores_have_their_windows_in_ten_thousand_frames() {
    windows_are_kept(1, 10_000, 250, 400);
    windows_are_kept(8, 10_000, 2_500, 300_000);
}

#[test]
fn a_task_that_its_windows_cannot_serve_is_refused_with_what_would_do() {
    let scratch = Scratch::new("partition-tight");
    let text = std::fs::read_to_string(file("examples/partitions.toml")).expect("the example");
    let tight = text
        .replace("execution = \"6 ms\"\n\n[[task]]\nname = \"map", "execution = \"14 ms\"\n\n[[task]]\nname = \"map");
    assert_ne!(text, tight);
    let said = tactus(["check".as_ref(), scratch.write("tight.toml", &tight).as_os_str()]);
    assert_eq!(said.status, 1, "{}", said.output);
    let words = "task `primary-display` in partition `display` on core 0 fails: ";
    assert!(said.output.contains(words) && said.output.contains("longer windows"), "{}", said.output);
}
