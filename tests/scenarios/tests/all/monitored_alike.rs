//! Simulator, kernel and the judge of the trace come to the same verdicts of one file; and so do the cores of one machine.

use super::monitored::LOOP;
use std::fs;
use tactus_record::EventKind;
use tactus_scenarios::{file, Finished, Scratch};
use tactus_trace::{Finding, Trace};

/// The verdicts of the judge over the scheduler's records alone, as if the kernel had recorded nothing.
fn derived(finished: &Finished) -> Vec<Finding> {
    let kept = tactus_report::Kept::from_json(&finished.text("run.json")).expect("a run");
    let trace = Trace { observed: Vec::new(), ..finished.trace() };
    tactus_trace::monitor(&kept.view, &trace, &kept.view.monitors).expect("tables")
}

/// What a monitor said, and after how many of its events.
fn said(finding: &Finding) -> Vec<(String, Option<String>, usize)> {
    let one = |it: &tactus_trace::Conclusion| (it.verdict.to_string(), it.event.clone(), it.path.len());
    finding.conclusions.iter().map(one).collect()
}

/// Whether events of a simulated run are so close together that what the system's own work takes may change their order.
fn is_close(trace: &Trace) -> bool {
    let kinds = [EventKind::Release, EventKind::Dispatch, EventKind::Preempt, EventKind::Complete];
    let all = trace.cores.iter().flatten().filter(|it| kinds.contains(&it.kind));
    let mut all: Vec<(u64, u8)> = all.map(|it| (it.time.as_nanos(), it.core.0)).collect();
    all.sort_unstable();
    let close = |pair: &[(u64, u8)]| match pair[1].0 - pair[0].0 {
        0 => pair[0].1 != pair[1].1,
        apart => apart < 150_000,
    };
    all.windows(2).any(close)
}

/// One file, three judges: the simulated run, the kernel, and the trace read back. False if this system is none that can be compared.
fn three_judges(seed: u64, scratch: &Scratch) -> bool {
    let path = scratch.path().join("random.toml");
    fs::write(&path, random::system(seed)).expect("a system file");
    let simulated = Finished::simulate(&path, &[]);
    if is_close(&simulated.trace()) {
        return false;
    }
    let machine = Finished::run(&path, &[]);
    let kept = tactus_report::Kept::from_json(&machine.text("run.json")).expect("a run");
    let kernel = tactus_trace::monitor(&kept.view, &machine.trace(), &kept.view.monitors).expect("tables");
    let (again, simulated) = (derived(&machine), derived(&simulated));
    for ((kernel, again), simulated) in kernel.iter().zip(&again).zip(&simulated) {
        let which = format!("seed {seed}, {}", kernel.monitor);
        assert_eq!(kernel.disputed, None, "{which}");
        assert!(kernel.by_kernel || kernel.events == 0, "{which}");
        assert_eq!((said(kernel), kernel.events), (said(again), again.events), "{which}: kernel and trace");
        // At the end of the run one more event may be before or behind it.
        assert_eq!(said(kernel), said(simulated), "{which}: kernel and simulator");
        let events = (kernel.events as i64 - simulated.events as i64).abs();
        assert!(events <= 2, "{which}: {} and {} events", kernel.events, simulated.events);
    }
    true
}

#[test]
fn simulator_kernel_and_trace_come_to_the_same_verdicts_of_random_properties() {
    let scratch = Scratch::new("judges");
    assert_eq!((0..).filter(|seed| three_judges(*seed, &scratch)).take(4).count(), 4);
}

/// `TACTUS_BIN=… cargo test --release -p tactus-scenarios --test all five_hundred -- --ignored --nocapture`
#[test]
#[ignore = "500 systems: a quarter of an hour"]
fn simulator_kernel_and_trace_come_to_the_same_verdicts_of_five_hundred_systems() {
    let count: u64 = std::env::var("TACTUS_SYSTEMS").map_or(500, |count| count.parse().expect("a number"));
    let scratch = Scratch::new("judges");
    let compared = (1_000..).filter(|seed| three_judges(*seed, &scratch)).take(count as usize).count();
    println!("{compared} systems, the same verdicts by simulator, kernel and trace");
}

/// Eight cores that raise events at once, and monitors that all of these concern: the kernel's verdicts are those of its recorded order.
fn eight_cores(length: &str, least: usize) {
    use std::fmt::Write;
    let scratch = Scratch::new("crowd");
    let folder = file(LOOP).parent().expect("a folder").join("parts").display().to_string();
    let mut text = format!(
        "[system]\nname = \"crowd\"\ncores = 8\nduration = \"{length}\"\nmemory = \"256 MiB\"\n[policy]\nkind = \"partitioned-edf\"\n\
         [[component]]\nname = \"crowd\"\ncrate = \"{folder}\"\n"
    );
    for core in 0..8 {
        let _ = write!(
            text,
            "[[task]]\nname = \"t{core}\"\ncomponent = \"crowd\"\ncore = {core}\nperiod = \"1 ms\"\nexecution = \"200 us\"\n"
        );
    }
    // Rings are made for 20 records a job of the core with most jobs: there they have room for the events and verdicts of one.
    text += "[[task]]\nname = \"idle\"\ncore = 0\nperiod = \"1 ms\"\nexecution = \"1 us\"\n";
    let events: Vec<String> = (0..8).map(|n| format!("s{n} = \"signal crowd.s{n}\"")).collect();
    let others = |n: usize| (0..8).filter(|it| *it != n).map(|it| format!("s{it}")).collect::<Vec<_>>().join(" or ");
    for n in 0..4 {
        let _ = write!(
            text,
            "[[monitor]]\nname = \"m{n}\"\nproperty = \"always (s{n} -> next (s{n} or (next ({}))))\"\nreset = true\n\
             events = {{ {} }}\n[[monitor]]\nname = \"d{n}\"\nproperty = \"distance(s{n} or s{}) >= 3 us\"\nreset = true\n\
             events = {{ s{n} = \"signal crowd.s{n}\", s{} = \"signal crowd.s{}\" }}\n",
            others(n),
            events.join(", "),
            n + 4,
            n + 4,
            n + 4
        );
    }
    let path = scratch.path().join("crowd.toml");
    fs::write(&path, text).expect("a system file");
    let run = Finished::run(&path, &[]);
    let kept = tactus_report::Kept::from_json(&run.text("run.json")).expect("a run");
    let trace = run.trace();
    let mut places: Vec<u32> =
        trace.observed.iter().flatten().filter(|it| it.kind == EventKind::Observed).map(|it| it.ticket).collect();
    places.sort_unstable();
    assert!(places.len() >= least, "{} events", places.len());
    assert!(places.iter().zip(1..).all(|(place, wanted)| *place == wanted), "places are counted without a gap");
    let cores = trace.observed.iter().filter(|records| !records.is_empty()).count();
    let findings = tactus_trace::monitor(&kept.view, &trace, &kept.view.monitors).expect("tables");
    for finding in &findings {
        assert!(finding.by_kernel, "{}", finding.monitor);
        assert_eq!(finding.disputed, None);
    }
    let verdicts: usize = findings.iter().map(|it| it.conclusions.len()).sum();
    assert!(cores == 8 && verdicts > 100, "{verdicts} verdicts");
    println!("{} events of {cores} cores in one order, {verdicts} verdicts, all as in its replay", places.len());
}

#[test]
fn monitors_of_eight_cores_agree_on_one_order() {
    eight_cores("20 ms", 2_000);
}

/// `TACTUS_BIN=… cargo test --release -p tactus-scenarios --test all hundred_thousand -- --ignored --nocapture`
#[test]
#[ignore = "100,000 events: minutes"]
fn monitors_of_eight_cores_agree_on_one_order_of_a_hundred_thousand_events() {
    eight_cores("950 ms", 100_000);
}

/// Random systems whose events of different tasks are never close together, so that their order does not depend on what the system's own
/// work takes.
mod random {
    use std::fmt::Write;

    struct Numbers(u64);
    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
        fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
            from[self.below(from.len() as u64) as usize]
        }
    }

    pub fn system(seed: u64) -> String {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let cores = 1 + numbers.below(2);
        let policy = numbers.pick(&["partitioned-edf", "partitioned-rm"]);
        let mut text = format!(
            "[system]\nname = \"random\"\ncores = {cores}\nduration = \"121 ms\"\n[policy]\nkind = \"{policy}\"\n"
        );
        let tasks = 2 + numbers.below(3);
        for task in 0..tasks {
            let core = task % cores;
            let period = [8, 12, 16, 24][numbers.below(4) as usize];
            // Tasks are apart by a tenth of a millisecond and never end where another begins.
            let (offset, execution) =
                (numbers.below(4) * 1_000 + task * 137, 700 + task * 31 + numbers.below(2) * 1_000);
            let late = if numbers.below(4) == 0 {
                format!("actual = \"{} us\"\n", execution + period * 400)
            } else {
                String::new()
            };
            let _ = write!(
                text,
                "[[task]]\nname = \"t{task}\"\ncore = {core}\noffset = \"{offset} us\"\nperiod = \"{period} ms\"\n\
                 deadline = \"{} us\"\nexecution = \"{execution} us\"\n{late}",
                period * 1_000 - 253
            );
        }
        for monitor in 0..4 {
            // Three different ones.
            let mut drawn: Vec<String> = Vec::new();
            while drawn.len() < 3 {
                let kind = numbers.pick(&["release", "start", "complete", "complete", "preempt", "miss"]);
                let event = format!("\"{kind} t{}\"", numbers.below(tasks));
                if !drawn.contains(&event) {
                    drawn.push(event);
                }
            }
            let events = format!("a = {}, b = {}, c = {}", drawn[0], drawn[1], drawn[2]);
            let bound = 1 + numbers.below(20);
            let timed = [
                format!("always (a -> eventually[<= {bound}570 us] (b or c))"),
                format!("always (a -> once[<= {bound}570 us] (b or c))"),
                format!("always (a -> always[<= {bound}570 us] not (b and not c))"),
                format!("distance(a or b or c) >= {}570 us", bound % 3),
                format!("distance(a or b or c) <= {bound}570 us"),
                format!("latency(a, b, c) <= {bound}570 us"),
                format!("always (a -> (a or b) until[<= {bound}570 us] c)"),
                format!("always (b -> historically[<= {bound}570 us] (a or not previously c))"),
                format!("always (c -> (not b) since[<= {bound}570 us] a)"),
            ];
            let untimed = [
                "always (a -> next (not b unless c))",
                "always (a -> next (b or c))",
                "(not c) until (a or b)",
                "always ((a and not b) -> next (not a unless (b or c)))",
                "always (b -> next next (a or c))",
                "always (c -> (not b) since a)",
                "always (a -> once[1, 3] (b or c))",
                "always (a -> (not b) until[1, 3] (a or c))",
                "always (b and previously a -> historically (c -> once a))",
            ];
            let property = match numbers.below(2) {
                0 => timed[numbers.below(timed.len() as u64) as usize].clone(),
                _ => numbers.pick(&untimed).to_owned(),
            };
            let reset = numbers.below(2) == 0;
            let encoding = numbers.pick(&["plain", "plain", "bit-string", "packed-words"]);
            let _ = write!(
                text,
                "[[monitor]]\nname = \"m{monitor}\"\nproperty = \"{property}\"\nevents = {{ {events} }}\nreset = {reset}\n\
                 encoding = \"{encoding}\"\n"
            );
        }
        text
    }
}
