//! Best-effort work that gives way to a counter of its core on the machine: a reader beside a copier that drives its lines out of the
//! shared cache, and a task whose lines another one changes.

use tactus_record::{EventKind, InputKind};
use tactus_scenarios::{file, Finished, Scratch};
use tactus_time::TaskId;
use tactus_trace::Trace;

/// Lines that came from memory in each job of a reader on core 0 but the first, beside a copier on core 1, and the run. `gives_way`: the
/// copier does after 1,000 lines in 10 ms. Jobs of the reader begin everywhere in these 10 ms.
fn read_beside_a_copier(folder: &Scratch, gives_way: bool) -> (Vec<u64>, Finished) {
    let parts = file("tests/scenarios/parts");
    let (server, place) = if gives_way {
        let server = "[[server]]\nname = \"best-effort\"\nkind = \"yielding\"\nevent = \"misses\"\nthreshold = 1000\n\
                      period = \"10 ms\"\ncores = [1]\npolicy = \"partitioned-edf\"\n\n";
        (server, "server = \"best-effort\"\n")
    } else {
        ("", "")
    };
    let component = |name: &str, core: u32, times: &str, more: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncore = {core}\n{times}component = \"{name}\"\n\n\
             [[component]]\nname = \"{name}\"\ncrate = {parts:?}\n{more}\n"
        )
    };
    let text = [
        "[system]\nname = \"yielding\"\ncores = 2\nduration = \"500 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n\n",
        "[machine]\ninstruction = \"8 ns\"\noverheads = false\ngeometry = \"zynq-ultrascale\"\n\n",
        server,
        &component(
            "rereader",
            0,
            "offset = \"9 ms\"\nperiod = \"53 ms\"\ndeadline = \"50 ms\"\nexecution = \"35 ms\"\n",
            "console = true\ncounters = true\n",
        ),
        &component("copier", 1, &format!("period = \"4 ms\"\nexecution = \"3.6 ms\"\n{place}"), ""),
    ];
    let run = Finished::run(&folder.write("system.toml", &text.concat()), &["--caches"]);
    let told =
        run.log.lines().filter_map(|line| line.split_once(": ")?.1.strip_suffix(" lines from memory")?.parse().ok());
    let told: Vec<u64> = told.collect();
    assert!(told.len() >= 9, "{}", run.log);
    (told[1..].to_vec(), run)
}

fn count(trace: &Trace, core: usize, kind: EventKind) -> usize {
    trace.cores[core].iter().filter(|r| r.kind == kind).count()
}

#[test]
fn a_copier_that_gives_way_to_its_misses_takes_less_than_half_of_the_lines_from_a_reader_that_it_takes_else() {
    let folder = Scratch::new("yielding");
    let (lines, run) = read_beside_a_copier(&folder, true);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("is the policy's own"), "{}", run.said.output);
    // Every second period: after each in which it ran, one in which it does not.
    let stops = count(&run.trace(), 1, EventKind::ServerExhausted);
    assert!((24..=25).contains(&stops), "{stops}");
    let (free, run) = read_beside_a_copier(&folder, false);
    assert_eq!(count(&run.trace(), 1, EventKind::ServerExhausted), 0);
    // Ten readings of 8,192 lines.
    assert!(free.iter().all(|lines| *lines >= 81_920), "{free:?}");
    let mean = |lines: &[u64]| lines.iter().sum::<u64>() / lines.len() as u64;
    assert!(mean(&lines) * 3 < mean(&free), "{lines:?}");
    // Wherever in a period the job begins.
    assert!(lines.iter().all(|lines| lines * 2 < 81_920), "{lines:?}");
}

#[test]
fn work_that_shares_lines_gives_way_to_hitm_and_work_on_lines_of_its_own_does_not() {
    let folder = Scratch::new("hitm");
    let text = format!(
        "[system]\nname = \"hitm\"\ncores = 2\nduration = \"400 ms\"\n\n[policy]\nkind = \"partitioned-rm\"\n\n\
         [machine]\ninstruction = \"8 ns\"\ngeometry = \"i7-2600\"\n\n\
         [[server]]\nname = \"best-effort\"\nkind = \"yielding\"\nthreshold = 4\nperiod = \"10 ms\"\ncores = [1]\n\
         policy = \"partitioned-rm\"\n\n\
         [[task]]\nname = \"real-time\"\ncore = 0\nperiod = \"5 ms\"\nexecution = \"200 us\"\ncomponent = \"sharers\"\n\n\
         [[task]]\nname = \"sweeper\"\ncore = 1\nperiod = \"20 ms\"\nexecution = \"10 ms\"\ncomponent = \"sharers\"\n\
         server = \"best-effort\"\n\n\
         [[component]]\nname = \"sharers\"\ncrate = {:?}\n\n\
         [[task]]\nname = \"beside\"\ncore = 1\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n",
        file("tests/scenarios/parts")
    );
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    // Bounds count the samples, and both real-time tasks keep theirs.
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("accepted: 2 of 3 tasks promised"), "{}", run.said.output);
    let trace = run.trace();
    let sample = |r: &&tactus_record::Record| r.kind == EventKind::Input && r.level == InputKind::Sample as u8;
    let samples: Vec<u64> = trace.cores[1].iter().filter(sample).map(|r| r.arg).collect();
    assert_eq!(samples.len(), 39, "{samples:?}");
    let above = samples.iter().filter(|events| **events > 4).count();
    assert_eq!(count(&trace, 1, EventKind::ServerExhausted), above);
    // Five jobs on common lines; then its own, which nobody else changes, beside what it looks at of its job.
    assert!((5..=10).contains(&above), "{samples:?}");
    assert!(samples[20..].iter().all(|events| *events <= 1), "{samples:?}");
    let touched = trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Preempt && r.task != Some(TaskId(1)));
    assert_eq!(touched.count(), 0, "real-time work gives way to nothing");
}
