//! Published examples of jobs that keep their core from others, on the machine and when simulated: the same task has the core in
//! the middle of each column.

use std::path::Path;
use tactus_record::{EntryReason, EventKind};
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// Who has the core in the middle of each column: `a` for the first task, a dot for nobody.
fn drawn(trace: &Trace, core: usize, column: Duration, columns: u64) -> String {
    let at = |n: u64| {
        let middle = Instant::ZERO + column * n + column / 2;
        let given = trace.cores[core].iter().rfind(|r| r.kind == EventKind::Leave && r.time <= middle);
        given.and_then(|r| r.task).map_or('.', |task| char::from(b'a' + task.0 as u8))
    };
    (0..columns).map(at).collect()
}

/// Runs the example on both and requires this schedule and that every promise is held.
fn both(example: &Path, column: Duration, golden: &str) -> [Finished; 2] {
    let runs = [Finished::run(example, &[]), Finished::simulate(example, &[])];
    for run in &runs {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        assert_eq!(drawn(&run.trace(), 0, column, golden.len() as u64), golden, "{}", run.said.output);
    }
    runs
}

/// Wang and Saksena 1999, tables 1 and 2. A column is 5 ms.
#[test]
fn preemption_thresholds_are_kept_on_the_machine_as_published() {
    let golden = "aaaabbbbccccccaaaacbbbb.....aaaabbbb";
    both(&file("examples/preemption-threshold.toml"), Duration::from_millis(5), golden);
}

/// Priority inversion (Sha, Rajkumar and Lehoczky 1990, section 1): `high` waits for one section of `low`, not for `middle`. A
/// column is 5 ms; a, b, c are `high`, `middle`, `low`.
#[test]
fn a_ceiling_keeps_a_middle_task_from_lengthening_an_inversion_on_the_machine() {
    let golden = "cccccccaaaabbbbbbbbbbbbcaaaacccc............aaaa";
    let runs = both(&file("examples/resources.toml"), Duration::from_millis(5), golden);
    let unlocks = |run: &Finished| {
        let entries = run.trace().cores.concat();
        entries.iter().filter(|r| r.kind == EventKind::Enter && r.level == EntryReason::Unlock as u8).count()
    };
    assert_eq!(unlocks(&runs[0]), unlocks(&runs[1]));
    assert!(unlocks(&runs[0]) >= 10, "{}", unlocks(&runs[0]));
}

/// The stack resource policy under EDF. A column is 5 ms; a, b, c, d are `steer`, `plan`, `draw`, `log`. At 15 ms `log` has
/// executed 15 and holds the map alone: `steer` is above that, and begins. At 20 and 25 ms `plan`, kept off the map, and `draw`
/// behind it wait until `log` has executed 35 ms. At 115 ms `steer` comes again.
#[test]
fn the_stack_resource_policy_keeps_off_the_first_and_all_behind_it_on_the_machine() {
    let golden = "dddaaddddbbbbcccddd....aa...............";
    both(&file("examples/resources-edf.toml"), Duration::from_millis(5), golden);
}

/// Sha, Rajkumar and Lehoczky 1990, section III: with inheritance `high` waits for one section of `low` and one of `middle`. a, b, c are
/// `high`, `middle`, `low`.
#[test]
fn who_holds_what_a_more_urgent_job_wants_runs_in_its_place_on_the_machine() {
    let runs = both(&file("examples/inheritance.toml"), Duration::from_millis(5), "cccbbbaccaabaabc....");
    let asked = |run: &Finished| {
        let entries = run.trace().cores.concat();
        entries.iter().filter(|r| r.kind == EventKind::Enter && r.level == EntryReason::Lock as u8).count()
    };
    // Twice in each of the 25 jobs of `high`.
    assert_eq!((asked(&runs[0]), asked(&runs[1])), (50, 50));
    // As often it is handed over, the short way: fewer than 500 instructions of 2 ns, where the whole engine takes 2,000.
    let trace = runs[0].trace();
    let records = &trace.cores[0];
    let unlocks = (0..records.len())
        .filter(|n| (records[*n].kind, records[*n].level) == (EventKind::Enter, EntryReason::Unlock as u8));
    let taken = unlocks.map(|n| {
        let left = records[n..].iter().find(|r| r.kind == EventKind::Leave).expect("each decision has an end");
        left.time.since(records[n].time)
    });
    let taken: Vec<Duration> = taken.collect();
    assert_eq!(taken.len(), 50);
    assert!(taken.iter().max() < Some(&Duration::from_micros(1)), "{taken:?}");
}

/// The inversion of their section I, with inheritance: `high` begins, and waits for `low` where it wants the bus.
#[test]
fn inheritance_keeps_a_middle_task_from_lengthening_an_inversion_on_the_machine() {
    let scratch = Scratch::new("inheritance");
    let text = std::fs::read_to_string(file("examples/resources.toml")).expect("the example");
    let example = scratch.write("resources.toml", &text.replace("\"ceiling\"", "\"inheritance\""));
    both(
        &example,
        Duration::from_millis(5),
        "ccccacccaaabbbbbbbbbbbbcaaaacccc............aaaa".get(..20).unwrap_or_default(),
    );
}

/// MSRP: `sensor` waits for the section on core 0; core 1 runs nobody while `control` waits for it. Short resources of the FMLP do the
/// same across cores.
#[test]
fn who_waits_for_another_core_keeps_its_own_on_the_machine() {
    let scratch = Scratch::new("fmlp");
    let text = std::fs::read_to_string(file("examples/two-core-resource.toml")).expect("the example");
    let short = scratch.write("fmlp.toml", &text.replace("\"msrp\"", "\"fmlp\""));
    for run in [file("examples/two-core-resource.toml"), short]
        .iter()
        .flat_map(|example| both(example, Duration::from_millis(5), "bbbaabbb.."))
    {
        assert_eq!(drawn(&run.trace(), 1, Duration::from_millis(5), 9), "cc.cccdd.", "{}", run.said.output);
    }
}

/// Sha, Rajkumar and Lehoczky 1990, example 3 of section IV (their figure 2), under immediate ceilings. J1 wants at 15 ms what J2 holds, and
/// under the original protocol begins before; here it begins when J2 has left S2. J0 begins when J2 has left S1. a, b, c are J0, J1, J2.
#[test]
fn ceilings_order_the_example_of_their_authors_on_the_machine() {
    let scratch = Scratch::new("ceilings");
    let section = |resource, after, length| {
        format!("{{ resource = \"{resource}\", after = \"{after} ms\", length = \"{length} ms\" }}")
    };
    let mut text =
        "[system]\nname = \"ceilings\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-fp\"\n"
            .to_owned();
    for name in ["S0", "S1", "S2"] {
        text += &format!("[[resource]]\nname = \"{name}\"\nprotocol = \"ceiling\"\n");
    }
    for (name, offset, execution, priority, sections) in [
        ("J0", 24, 25, 3, vec![section("S0", 5, 5), section("S1", 15, 5)]),
        ("J1", 10, 15, 2, vec![section("S2", 5, 5)]),
        ("J2", 0, 35, 1, vec![section("S2", 5, 25), section("S1", 15, 10)]),
    ] {
        text += &format!(
            "[[task]]\nname = \"{name}\"\noffset = \"{offset} ms\"\nperiod = \"200 ms\"\nexecution = \"{execution} ms\"\n\
             priority = {priority}\nsections = [{}]\n",
            sections.join(", ")
        );
    }
    both(&scratch.write("ceilings.toml", &text), Duration::from_millis(5), "cccccaaaaacbbbc..");
}

/// Five jobs with three resources: the schedules by hand that the simulator's tests have, too.
#[test]
fn five_jobs_with_three_resources_run_as_the_rules_have_it_on_the_machine() {
    let scratch = Scratch::new("five-jobs");
    let text = std::fs::read_to_string(file("examples/five-jobs.toml")).expect("the example");
    for (protocol, golden) in [("ceiling", "eeeecbbbaaaaaccccddddddee."), ("inheritance", "eeddcbbbaadaeeaaccccdddee.")]
    {
        let text = text.replace("\"ceiling\"", &format!("\"{protocol}\""));
        both(&scratch.write(&format!("{protocol}.toml"), &text), Duration::from_millis(5), golden);
    }
}

#[test]
fn without_preemption_nobody_begins_in_a_section() {
    let scratch = Scratch::new("non-preemptive");
    let text = std::fs::read_to_string(file("examples/resources.toml")).expect("the example");
    let example = scratch.write("resources.toml", &text.replace("\"ceiling\"", "\"non-preemptive\""));
    both(&example, Duration::from_millis(5), "cccccccaaaabbbbbbbbbbbbcaaaacccc............aaaa");
}

/// A section that is longer than it declares: whoever waits is owed nothing, and the culprit is named.
#[test]
fn a_section_that_is_too_long_is_named() {
    let scratch = Scratch::new("long-section");
    let text = std::fs::read_to_string(file("examples/resources.toml")).expect("the example");
    let long = text.replace("length = \"25 ms\" }", "length = \"25 ms\", actual = \"45 ms\" }");
    let example = scratch.write("resources.toml", &long);
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
        assert!(run.said.output.contains("void by low"), "{}", run.said.output);
        let exceeded = run.trace().cores.concat().iter().filter(|r| r.kind == EventKind::SectionExceeded).count();
        assert!(exceeded >= 10, "{exceeded}");
    }
}

#[test]
fn a_resource_of_two_cores_is_refused_with_the_remedy() {
    let said = tactus(["check".as_ref(), file("examples/broken/p4-resource-of-two-cores.toml").as_os_str()]);
    assert_eq!(said.status, 2, "{}", said.output);
    assert!(said.errors.contains("put all that use it on one core"), "{}", said.errors);
}

/// A system in which `low`, at priority 1, is the user's own component with this job, and `high` shares a resource with it. `low`
/// declares a section of 4 ms after 1 ms of its 8.
fn with_component(scratch: &Scratch, job: &str) -> std::path::PathBuf {
    let runtime = file("os/rt");
    scratch.write(
        "holder/Cargo.toml",
        &format!(
            "[package]\nname = \"holder\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
             tactus-rt = {{ path = \"{}\" }}\n\n[workspace]\n\n[profile.release]\npanic = \"abort\"\n",
            runtime.display()
        ),
    );
    let program = format!(
        "#![no_std]\n#![no_main]\n#![allow(unused)]\nuse tactus_rt::time::Duration;\nuse tactus_rt::{{grant, Job}};\n\
         tactus_rt::component! {{ job: job, services: [] }}\n\
         fn until(job: &Job, ms: u64) {{ while job.charged() < Duration::from_millis(ms) {{ core::hint::spin_loop() }} }}\n\
         fn job(job: &Job) {{\n{job}\n}}\n"
    );
    scratch.write("holder/src/main.rs", &program);
    scratch.write(
        "system.toml",
        "[system]\nname = \"holder\"\ncores = 1\nduration = \"400 ms\"\n[policy]\nkind = \"partitioned-fp\"\n\
         [[component]]\nname = \"holder\"\ncrate = \"holder\"\n[[resource]]\nname = \"bus\"\nprotocol = \"ceiling\"\n\
         [[task]]\nname = \"high\"\noffset = \"2 ms\"\nperiod = \"10 ms\"\ndeadline = \"8 ms\"\nexecution = \"2 ms\"\npriority = 2\n\
         sections = [{ resource = \"bus\", after = \"1 ms\", length = \"0.5 ms\" }]\n\
         [[task]]\nname = \"low\"\ncomponent = \"holder\"\nperiod = \"20 ms\"\nexecution = \"8 ms\"\npriority = 1\n\
         sections = [{ resource = \"bus\", after = \"1 ms\", length = \"4 ms\" }]\n",
    )
}

fn worst(run: &Finished, task: &str) -> u64 {
    run.summary.task(task).json()["response"]["max_ns"].as_u64().expect("it has jobs") / 1_000
}

#[test]
fn a_component_of_ones_own_holds_a_resource_and_keeps_others_off_until_it_leaves() {
    let scratch = Scratch::new("holder");
    let job = "until(job, 1);\nassert_eq!(job.sections(), 1);\nassert!(!job.enter(1));\n\
               job.hold(0, || until(job, 4));\nuntil(job, 6);";
    let run = Finished::run(&with_component(&scratch, job), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    // Released at 2 ms, in the section from 1 to 4 ms: it begins at 4 ms and takes two.
    assert!((3_990..4_100).contains(&worst(&run, "high")), "{}", worst(&run, "high"));
}

#[test]
fn a_component_that_never_leaves_a_section_is_named_and_keeps_nobody_off_beyond_its_job() {
    let scratch = Scratch::new("holds-on");
    let run = Finished::run(&with_component(&scratch, "until(job, 1);\njob.enter(0);\nuntil(job, 7);"), &[]);
    assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
    let words = "void by low (job 0 held a resource for longer than it declares)";
    assert!(run.said.output.contains(words), "{}", run.said.output);
    assert!((6_990..7_200).contains(&worst(&run, "high")), "{}", worst(&run, "high"));
}

#[test]
fn a_component_that_writes_anything_on_its_page_disturbs_nobody_beyond_what_it_may() {
    let scratch = Scratch::new("garbage");
    // Words that no sequence of calls writes, times that are far off, calls that have no cause.
    let job = "let page = (0x1020_0000_u64 + u64::from(job.task()) * 4096) as *mut u64;\n\
               for n in 0..60_u64 {\n    let word = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ job.number();\n    \
               // SAFETY: the task's own page, which its component may write as it likes.\n    \
               for at in 0..5 { unsafe { page.add(at).write_volatile(word.rotate_left(at as u32 * 11)) } }\n    \
               job.leave();\n    let _ = grant(\"section\").call([word; 5]);\n    \
               let end = job.charged() + Duration::from_micros(100);\n    while job.charged() < end { core::hint::spin_loop() }\n}";
    let run = Finished::run(&with_component(&scratch, job), &[]);
    assert!(["held", "void"].contains(&run.summary.outcome()), "{}", run.said.output);
    // It executes 6 ms at most, in which it keeps `high` off at worst.
    assert!(worst(&run, "high") < 9_000, "{}", worst(&run, "high"));
    assert_eq!(run.summary.task("high").completed(), 40);
}

#[test]
fn a_component_that_dies_in_a_section_leaves_it() {
    let scratch = Scratch::new("dies");
    let job = "until(job, 1);\njob.enter(0);\nuntil(job, 3);\nif job.number() == 3 { panic!(\"in the section\") }\njob.leave();";
    let run = Finished::run(&with_component(&scratch, job), &[]);
    assert_eq!(run.summary.outcome(), "stopped", "{}", run.said.output);
    assert_eq!((run.summary.task("high").completed(), run.summary.task("high").missed()), (40, 0));
}

/// Tasks that others release share a resource with one that time releases: bounds and chain are kept, and the machine does what the
/// simulator does.
#[test]
fn a_chain_shares_a_resource_with_housekeeping() {
    let scratch = Scratch::new("chain-with-resource");
    let text = std::fs::read_to_string(file("examples/chain.toml")).expect("the example");
    let section = |after: &str, length: &str| {
        format!("sections = [{{ resource = \"estimate\", after = \"{after}\", length = \"{length}\" }}]\n")
    };
    let text = text
        .replace("[[chain]]", "[[resource]]\nname = \"estimate\"\nprotocol = \"ceiling\"\n\n[[chain]]")
        .replace("after = \"filter\"\n", &format!("after = \"filter\"\n{}", section("0.2 ms", "0.5 ms")))
        .replace("name = \"housekeeping\"\n", &format!("name = \"housekeeping\"\n{}", section("0.5 ms", "1 ms")));
    let example = scratch.write("chain.toml", &text);
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let chain = &run.summary.json["chains"][0];
        assert_eq!((chain["begun"].as_u64(), chain["completed"].as_u64()), (Some(100), Some(100)));
        // The controller waits for housekeeping now and then: no more than the bound counts.
        assert!(chain["response"]["max_ns"].as_u64() < chain["bound_ns"].as_u64(), "{chain}");
        let told = run.trace().cores.concat().iter().filter(|r| r.kind == EventKind::Input && r.level == 8).count();
        assert!(told > 2, "{told}");
    }
}

#[test]
fn a_component_that_asks_for_a_resource_far_more_often_than_it_declares_does_not_have_it_beside_another() {
    let scratch = Scratch::new("too-often");
    let job = "static INSIDE: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);\n\
               use core::sync::atomic::Ordering::SeqCst;\n\
               while job.charged() < Duration::from_micros(5_500) {\n    job.hold(0, || {\n        \
               assert_eq!(INSIDE.fetch_add(1, SeqCst), 0, \"two hold it\");\n        \
               (0..200).for_each(|_| core::hint::spin_loop());\n        INSIDE.fetch_sub(1, SeqCst);\n    });\n}";
    with_component(&scratch, job);
    let task = |core: usize| {
        format!(
            "[[task]]\nname = \"often-{core}\"\ncomponent = \"holder\"\ncore = {core}\nperiod = \"20 ms\"\nexecution = \"8 ms\"\n\
             sections = [{{ resource = \"bus\", after = \"1 ms\", length = \"10 us\" }}]\n"
        )
    };
    let file = scratch.write(
        "often.toml",
        &("[system]\nname = \"often\"\ncores = 2\nduration = \"200 ms\"\n[policy]\nkind = \"partitioned-rm\"\n\
           [[component]]\nname = \"holder\"\ncrate = \"holder\"\n[[resource]]\nname = \"bus\"\nprotocol = \"msrp\"\n"
            .to_string()
            + &task(0)
            + &task(1)),
    );
    let run = Finished::run(&file, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    for task in ["often-0", "often-1"] {
        assert!(run.said.output.contains(&format!("calls were refused to {task}")), "{}", run.said.output);
        assert_eq!(run.summary.task(task).completed(), 10);
    }
}
