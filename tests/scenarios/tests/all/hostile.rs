//! Components that do harm on purpose harm nobody else: every other task keeps its deadlines and bounds, the kernel goes
//! on to the end, and whoever faulted is stopped and named, with what it did and where.

use std::collections::BTreeMap;
use tactus_record::{EventKind, FaultKind};
use tactus_scenarios::{file, Finished, Scratch};

/// What a saboteur must be stopped for, and the address if it is known beforehand.
type Expected = (&'static str, FaultKind, Option<u64>);

const IN_HOSTILE: [Expected; 24] = [
    ("dereference-null", FaultKind::Read, Some(0)),
    ("read-the-kernel", FaultKind::Read, Some(0xffff_ffff_8010_9000)),
    ("read-physical-memory", FaultKind::Read, Some(0xffff_8000_0010_0000)),
    ("jump-into-the-kernel", FaultKind::Execute, Some(0xffff_ffff_8010_9000)),
    ("jump-to-data", FaultKind::Execute, None),
    ("write-own-code", FaultKind::Write, None),
    ("write-the-clock", FaultKind::Write, Some(0x1001_0000)),
    ("write-the-task-page", FaultKind::Write, None),
    ("read-another-stack", FaultKind::Read, Some(0x7000_8000)),
    // The processor tells no address, and no difference from a privileged instruction.
    ("non-canonical-address", FaultKind::Privileged, None),
    ("disable-interrupts", FaultKind::Privileged, None),
    ("halt", FaultKind::Privileged, None),
    ("load-page-table", FaultKind::Privileged, None),
    ("write-port", FaultKind::Privileged, None),
    ("write-model-register", FaultKind::Privileged, None),
    ("software-interrupt", FaultKind::Privileged, None),
    ("use-vector-registers", FaultKind::InvalidInstruction, None),
    ("undefined-instruction", FaultKind::InvalidInstruction, None),
    ("single-step", FaultKind::Other, None),
    ("nested-task-flag", FaultKind::InvalidInstruction, None),
    ("divide-by-zero", FaultKind::Arithmetic, None),
    ("overflow-the-stack", FaultKind::StackOverflow, None),
    ("break-the-stack-pointer", FaultKind::Write, Some(0xffff_ffff_8011_1ff8)),
    ("give-up", FaultKind::Panic, None),
];

const BESIDE_LEVEL_A: [Expected; 10] = [
    ("read-the-plan", FaultKind::Read, Some(0x2000_0000)),
    ("read-the-trace", FaultKind::Read, Some(0x4000_0000)),
    ("write-the-regions", FaultKind::Write, Some(0x1200_0000)),
    ("read-descriptor-table", FaultKind::Privileged, None),
    ("breakpoint", FaultKind::Privileged, None),
    // The emulator knows this instruction for virtual machines only.
    ("own-debug-exception", FaultKind::InvalidInstruction, None),
    ("odd-stack-pointer", FaultKind::Write, Some(0xffff_ffff_ffff_fff9)),
    ("jump-to-the-end", FaultKind::Execute, Some(0x7fff_ffff_fffe)),
    ("alignment-check", FaultKind::InvalidInstruction, None),
    ("backwards", FaultKind::InvalidInstruction, None),
];

/// The faults in the trace: by the name of the component, what it did and where.
fn faults(run: &Finished) -> BTreeMap<String, Vec<(FaultKind, u64)>> {
    let names = run.components();
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for record in run.trace().cores.iter().flatten().filter(|record| record.kind == EventKind::Fault) {
        let kind = FaultKind::from_u8(record.level).expect("a kind of fault");
        found.entry(names[record.job as usize].clone()).or_default().push((kind, record.arg));
    }
    found
}

/// Those expected, and nobody else, faulted once each, as expected; and everything that a person reads names them.
fn each_is_stopped_and_named(run: &Finished, expected: &[Expected]) {
    let found = faults(run);
    let stopped = run.summary.stopped();
    let report = run.text("report.html");
    for (name, kind, address) in expected {
        let [(found_kind, found_address)] = found.get(*name).map_or(&[][..], Vec::as_slice) else {
            panic!("{name} did not fault once but so: {:?}", found.get(*name))
        };
        assert_eq!(found_kind, kind, "{name}");
        if let Some(address) = address {
            assert_eq!(found_address, address, "{name}: {found_address:#x}");
        }
        let told = stopped.iter().find(|it| it.task.as_deref() == Some(*name)).expect("summary.json names it");
        assert_eq!(run.components()[told.component as usize], *name);
        assert_eq!(told.address, *found_address);
        assert!(!told.fault.is_empty());
        // Who panics says where; what else it did is told with the address.
        let what = match kind {
            FaultKind::Panic => "panicked at src/main.rs:".to_string(),
            _ => {
                let source = told.source.as_ref().map(|source| format!(", in {source}")).unwrap_or_default();
                format!("{} at {found_address:#x}{source}, job ", told.fault)
            }
        };
        assert!(run.said.output.contains(&format!("was stopped in task {name}: {what}")), "{name}: {what}");
        assert!(report.contains(name), "report.html does not name {name}");
        assert!(run.summary.task(name).removed(), "{name} goes on");
    }
    assert_eq!(found.len(), expected.len(), "others faulted: {:?}", found.keys());
    assert_eq!(stopped.len(), expected.len());
}

/// Tasks whose name begins so missed nothing, finished what they could, and kept what they were promised.
fn unharmed(run: &Finished, names: &[&str]) {
    let mut count = 0;
    for task in run.summary.tasks().filter(|task| names.iter().any(|name| task.name().starts_with(name))) {
        let name = task.name();
        assert_eq!(task.missed(), 0, "{name} missed deadlines");
        assert!(task.completed() + 1 >= task.released() && task.completed() > 0, "{name} was held up");
        assert!(task.worst_over_bound().is_none_or(|share| share <= 1.0), "{name} broke its bound");
        assert!(!task.removed(), "{name} was removed");
        count += 1;
    }
    assert!(count >= names.len());
    // The kernel has the last word.
    let last = run.log.trim_end().lines().rfind(|line| !line.starts_with("tactus: "));
    assert!(last.is_some_and(|line| line.starts_with("verdict: ")), "{}", run.log);
    assert!(
        !run.log.contains("kernel fault") && !run.log.contains("kernel panic"),
        "the kernel complained: {}",
        run.log
    );
}

#[test]
fn saboteurs_are_stopped_and_named_and_harm_nobody() {
    let run = Finished::run(&file("examples/hostile/hostile.toml"), &[]);
    unharmed(&run, &["control-", "guidance-", "mission-"]);
    each_is_stopped_and_named(&run, &IN_HOSTILE);
    assert_eq!(run.summary.outcome(), "stopped", "{}", run.said.output);
    // Nothing forbidden was done by these; the first is held by its budget, in every period anew.
    let endless = run.summary.task("loop-for-ever");
    assert!(!endless.removed() && endless.json()["exhausted"].as_u64() >= Some(3));
    assert!(!run.summary.task("random-calls").removed());
    assert!(run.kernel().iter().map(|core| core.refused).sum::<u64>() > 10_000);
}

#[test]
fn saboteurs_of_level_b_do_not_disturb_level_a_on_their_own_core() {
    let run = Finished::run(&file("examples/hostile/beside-level-a.toml"), &[]);
    assert!(run.summary.accepted() && run.summary.outcome() == "stopped", "{}", run.said.output);
    unharmed(&run, &["control-", "guidance-", "forbidden-calls", "random-calls"]);
    each_is_stopped_and_named(&run, &BESIDE_LEVEL_A);
    assert!(run.summary.task("loop-for-ever").json()["exhausted"].as_u64() >= Some(3));
    // Ending its jobs before their time is everybody's right: one job each time, no more.
    assert!(run.summary.task("early-and-often").completed() >= 9);
}

#[test]
fn a_service_that_faults_takes_none_of_its_clients_along() {
    let run = Finished::run(&file("examples/hostile/service.toml"), &[]);
    assert!(run.summary.accepted() && run.summary.outcome() == "stopped", "{}", run.said.output);
    unharmed(&run, &["client", "visitor", "bystander"]);
    // Client and visitor check each answer and give up at the first that is wrong.
    let found = faults(&run);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["vault"], "the culprit is the service");
    assert_eq!(found["vault"][0], (FaultKind::Write, 0));
    let named = run.summary.stopped();
    assert!(named.iter().all(|it| run.components()[it.component as usize] == "vault"));
    assert_eq!(named[0].task.as_deref(), Some("client"), "it faulted in the client's call");
    assert_eq!(named[1].task.as_deref(), Some("visitor"), "whoever else was inside is taken out");
}

/// A system of honest tasks and saboteurs under partitioned EDF, as many on each core as asked for.
fn partitioned(folder: &Scratch, cores: usize, saboteurs: &[(&str, &str, &str)]) -> std::path::PathBuf {
    let saboteur = file("examples/hostile/saboteur");
    let mut text = format!(
        "[system]\nname = \"hostile-{cores}\"\ncores = {cores}\nduration = \"500 ms\"\n\n\
         [policy]\nkind = \"partitioned-edf\"\n"
    );
    for core in 0..cores {
        text += &format!(
            "\n[[task]]\nname = \"honest-{core}\"\ncore = {core}\nperiod = \"10 ms\"\nexecution = \"2 ms\"\n\
             \n[[task]]\nname = \"slower-{core}\"\ncore = {core}\nperiod = \"50 ms\"\nexecution = \"10 ms\"\n"
        );
    }
    for (place, (name, period, execution)) in saboteurs.iter().enumerate() {
        let core = place % cores;
        text += &format!(
            "\n[[component]]\nname = \"{name}\"\ncrate = \"{}\"\n\n[[task]]\nname = \"{name}\"\ncore = {core}\n\
             period = \"{period}\"\nexecution = \"{execution}\"\ncomponent = \"{name}\"\n",
            saboteur.display()
        );
    }
    folder.write("system.toml", &text)
}

#[test]
fn on_one_core_a_loop_of_the_lowest_urgency_holds_up_nobody() {
    let folder = Scratch::new("one-core");
    let saboteurs = [
        ("dereference-null", "40 ms", "200 us"),
        ("overflow-the-stack", "40 ms", "200 us"),
        ("disable-interrupts", "40 ms", "200 us"),
        ("give-up", "40 ms", "200 us"),
        // Loops from its fourth job on, with the latest deadline of all: whatever it does is done in idle time.
        ("loop-for-ever", "120 ms", "1 ms"),
    ];
    let run = Finished::run(&partitioned(&folder, 1, &saboteurs), &["--duration", "470 ms"]);
    unharmed(&run, &["honest-", "slower-"]);
    let wanted = [IN_HOSTILE[0], IN_HOSTILE[10], IN_HOSTILE[21], IN_HOSTILE[23]];
    each_is_stopped_and_named(&run, &wanted);
    let endless = run.summary.task("loop-for-ever");
    assert_eq!((endless.released(), endless.completed()), (4, 3));
}

#[test]
fn on_eight_cores_a_saboteur_on_each_harms_nobody() {
    let folder = Scratch::new("eight-cores");
    let wanted =
        [IN_HOSTILE[0], IN_HOSTILE[3], IN_HOSTILE[5], IN_HOSTILE[9], IN_HOSTILE[14], IN_HOSTILE[18], IN_HOSTILE[22]];
    let mut saboteurs: Vec<_> = wanted.iter().map(|(name, ..)| (*name, "40 ms", "200 us")).collect();
    saboteurs.push(("random-calls", "100 ms", "10 ms"));
    let run = Finished::run(&partitioned(&folder, 8, &saboteurs), &[]);
    unharmed(&run, &["honest-", "slower-", "random-calls"]);
    each_is_stopped_and_named(&run, &wanted);
}

/// These were refused calls by the thousand, are owed nothing any more, and hid nothing: no record was lost.
fn floods_are_refused(run: &Finished, floods: &[&str]) {
    assert_eq!(run.summary.json["dropped"], 0, "{}", run.said.output);
    for name in floods {
        let task = run.summary.task(name);
        let refused = task.json()["refused"].as_u64().expect("a count");
        println!("{name}: {refused} calls refused");
        assert!(refused > 10_000, "{name}: {refused}");
        assert!(!task.json()["void"].is_null(), "{name} is still owed something");
        assert!(run.said.output.contains(&format!("refused to {name}")), "{}", run.said.output);
    }
}

#[test]
fn whoever_has_recorded_what_can_be_recorded_hides_nothing_of_others() {
    let run = Finished::run(&file("examples/hostile/floods.toml"), &[]);
    // Of the property of the flood itself, and of nothing else, nothing can be said.
    assert_eq!(run.summary.outcome(), "not_judged", "{}", run.said.output);
    assert!(run.said.output.contains("nothing can be said: property flooded cannot be judged"), "{}", run.said.output);
    unharmed(&run, &["steady", "waiter", "sharer", "below"]);
    floods_are_refused(&run, &["flood-waits", "flood-arrivals", "flood-sections"]);
    let honest =
        ["steady", "waiter", "sharer", "below", "raised"].map(|name| run.summary.task(name).json()["void"].is_null());
    assert_eq!(honest, [true; 5], "{}", run.said.output);
    // All of what the other monitor looks at was recorded, beside a flood that the record has no room for.
    let monitors = run.summary.json["monitors"].as_array().expect("monitors");
    let verdicts = [&monitors[0]["verdict"], &monitors[1]["verdict"]].map(|it| it.as_str());
    assert_eq!(verdicts, [Some("not judged"), Some("not yet")], "{}", run.said.output);
    let in_turn = [&monitors[1]["events"], &monitors[1]["not_recorded"]].map(|it| it.as_u64());
    assert_eq!(in_turn, [Some(400), Some(0)], "{}", run.said.output);
    assert!(monitors[0]["not_recorded"].as_u64() > Some(40_000), "{}", run.said.output);
}

#[test]
fn components_that_fault_again_and_again_hide_nothing_of_others() {
    let run = Finished::run(&file("examples/hostile/crashes.toml"), &[]);
    assert!(run.summary.accepted() && run.summary.outcome() == "void", "{}", run.said.output);
    unharmed(&run, &["steady", "below", "flood-crashes"]);
    floods_are_refused(&run, &[]);
    assert!(run.summary.json["restarts"].as_array().expect("restarts").len() > 600, "{}", run.said.output);
    let culprits = run.summary.json["voids"].as_array().expect("voids");
    assert_eq!(culprits.len(), 1, "{}", run.said.output);
    assert_eq!(culprits[0]["task"], "panic-often");
}

#[test]
fn whoever_signals_what_is_not_its_own_hides_nothing_of_a_service() {
    let folder = Scratch::new("flooded-service");
    let mut text =
        "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n".to_string();
    for (n, (task, more)) in [
        ("serve", ""),
        ("ask", ""),
        ("flood-signals", "component = 'flood-signals'"),
        ("flood-requests", "component = 'flood-requests'"),
    ]
    .iter()
    .enumerate()
    {
        text += &format!(
            "[[partition]]\nname = 'of-{task}'\npolicy = 'partitioned-fp'\n\
             windows = [{{ core = 0, start = '{} ms', length = '3 ms' }}]\n\
             [[task]]\nname = '{task}'\npartition = 'of-{task}'\npriority = 1\nperiod = '20 ms'\noffset = '{} ms'\n\
             execution = '1 ms'\n{more}\n",
            3 * n,
            3 * n
        );
        if !more.is_empty() {
            let saboteur = file("examples/hostile/saboteur");
            text += &format!("[[component]]\nname = '{task}'\ncrate = '{}'\n", saboteur.display());
        }
    }
    for (service, server, clients) in
        [("storage", "serve", "['ask', 'flood-requests']"), ("log", "ask", "['flood-signals']")]
    {
        text += &format!(
            "[[service]]\nname = '{service}'\nserver = '{server}'\nclients = {clients}\norder = 'turns'\nrequests = 2\n\
             size = '64 B'\nlatency = '80 ms'\n"
        );
    }
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    unharmed(&run, &["serve", "ask"]);
    floods_are_refused(&run, &["flood-signals", "flood-requests"]);
}

/// A component that works a fixed number of instructions, whoever takes its time, and says how long that took.
const VICTIM: &str = "#![no_std]\n#![no_main]\nuse core::fmt::Write;\nuse tactus_rt::{now, spend, Console, Job};\n\
    tactus_rt::component! { job: work, services: [] }\n\
    fn work(_: &Job) {\n    let begun = now();\n    spend::count_down(40_000);\n\
    let _ = writeln!(Console, \"took {} ns\", now().as_nanos() - begun.as_nanos());\n}\n";

/// One that wires a brand to each of these sources and off again, all the time, and says how long that took.
fn wiring(sources: &str) -> String {
    format!(
        "#![no_std]\n#![no_main]\nuse core::fmt::Write;\nuse core::sync::atomic::{{AtomicU64, Ordering::Relaxed}};\n\
         use tactus_rt::abi::call::{{source, BrandOperation}};\nuse tactus_rt::{{calls, now, Console, Job}};\n\
         tactus_rt::component! {{ job: wire, services: [] }}\nstatic BRAND: AtomicU64 = AtomicU64::new(0);\n\
         fn wire(_: &Job) {{\n    if let Ok(brand) = calls::brand_control(BrandOperation::Create, 0, 1) {{\n\
         BRAND.store(brand, Relaxed);\n    }}\n    let brand = BRAND.load(Relaxed);\n\
         let begun = now();\n    let mut wired = 0;\n    for _ in 0..100 {{\n    for source in [{sources}] {{\n\
         wired += u32::from(calls::brand_control(BrandOperation::Wire, brand, source).is_ok());\n\
         let _ = calls::brand_control(BrandOperation::Unwire, brand, 0);\n    }}\n    }}\n\
         let _ = writeln!(Console, \"wired {{wired}} times in {{}} ns\", now().as_nanos() - begun.as_nanos());\n}}\n"
    )
}

/// The victim on core 0 of a machine whose instructions take 64 ns, and whoever wires its brand to the sources on the core given.
fn wired(topic: &str, core: usize, rights: &str, sources: &str) -> Finished {
    let folder = Scratch::new(topic);
    let services = file("os/components/services");
    let uses = "uses = { console = 'console.write' }";
    let text = format!(
        "[system]\ncores = {}\nduration = '300 ms'\n[machine]\ninstruction = '64 ns'\n[policy]\nkind = 'partitioned-fp'\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[component]]\nname = 'wiring'\ncrate = 'wiring'\nbrands = 1\n{rights}\n{uses}\n\
         [[component]]\nname = 'victim'\ncrate = 'victim'\n{uses}\n\
         [[task]]\nname = 'victim'\ncomponent = 'victim'\ncore = 0\npriority = 2\nperiod = '40 ms'\noffset = '10 ms'\n\
         execution = '6 ms'\n[[task]]\nname = 'wiring'\ncomponent = 'wiring'\ncore = {core}\npriority = 1\n\
         period = '40 ms'\nexecution = '15 ms'\n",
        core + 1,
        services.display()
    );
    folder.component("victim", "main.rs", VICTIM);
    folder.component("wiring", "main.rs", &wiring(sources));
    Finished::run(&folder.write("wired.toml", &text), &[])
}

fn lines_of<'r>(run: &'r Finished, component: &str) -> Vec<&'r str> {
    run.log.lines().filter_map(|line| line.strip_prefix("| ")?.strip_prefix(component)?.strip_prefix(": ")).collect()
}

/// A workload that stops when it was charged enough cannot see stolen time; these can.
#[test]
fn ticks_that_the_file_does_not_give_take_no_instruction_from_a_victim_of_fixed_work() {
    let ticks = "source::TICK | 50 << 8, source::TICK | 3_200 << 8, source::TICK | 10_000 << 8 | 1";
    let (alone, beside) = (wired("no-ticks", 0, "", "0"), wired("ticks", 0, "", ticks));
    assert_eq!([alone.summary.outcome(), beside.summary.outcome()], ["held"; 2], "{}", beside.said.output);
    assert!(lines_of(&beside, "wiring").iter().all(|line| line.starts_with("wired 0 times")), "{}", beside.log);
    let victims = lines_of(&beside, "victim");
    println!("{victims:?}");
    assert_eq!((lines_of(&alone, "victim"), victims.len()), (victims, 8));
}

/// Whoever interrupts another core of this machine lets it look, which takes a slice of 8 us or more.
#[test]
fn a_line_that_is_wired_over_and_over_from_another_core_interrupts_its_core_once() {
    let run = wired("lines", 1, "lines = [5]", "source::LINE | 5 << 8");
    let wired = lines_of(&run, "wiring");
    println!("{wired:?}");
    assert!(wired.len() >= 7 && wired.iter().all(|line| line.starts_with("wired 100 times in ")), "{}", run.log);
    let longest = wired.iter().filter_map(|line| line.split(' ').nth(4)?.parse::<u64>().ok()).max();
    assert!(longest < Some(3_500_000), "{longest:?}");
}

/// Those of the other processor; the numbers are of instructions that components may not execute (`saboteur/src/aarch64.rs`).
const ON_AARCH64: [Expected; 30] = [
    ("privileged-0", FaultKind::Privileged, None),
    ("privileged-1", FaultKind::Privileged, None),
    ("privileged-2", FaultKind::InvalidInstruction, None),
    ("privileged-3", FaultKind::InvalidInstruction, None),
    ("privileged-4", FaultKind::InvalidInstruction, None),
    ("privileged-5", FaultKind::InvalidInstruction, None),
    ("privileged-6", FaultKind::InvalidInstruction, None),
    ("privileged-7", FaultKind::InvalidInstruction, None),
    ("privileged-8", FaultKind::Privileged, None),
    ("privileged-9", FaultKind::Privileged, None),
    ("privileged-10", FaultKind::Privileged, None),
    ("privileged-11", FaultKind::InvalidInstruction, None),
    ("privileged-12", FaultKind::InvalidInstruction, None),
    ("privileged-13", FaultKind::InvalidInstruction, None),
    ("privileged-14", FaultKind::InvalidInstruction, None),
    ("privileged-15", FaultKind::InvalidInstruction, None),
    ("privileged-16", FaultKind::Privileged, None),
    ("privileged-17", FaultKind::Privileged, None),
    ("privileged-18", FaultKind::InvalidInstruction, None),
    ("privileged-19", FaultKind::InvalidInstruction, None),
    ("dereference-null", FaultKind::Read, Some(0)),
    ("read-the-kernel", FaultKind::Read, Some(0xffff_ffff_8010_9000)),
    ("read-physical-memory", FaultKind::Read, Some(0xffff_8000_0010_0000)),
    ("jump-to-data", FaultKind::Execute, None),
    ("write-own-code", FaultKind::Write, None),
    ("write-the-clock", FaultKind::Write, Some(0x1001_0000)),
    ("read-another-stack", FaultKind::Read, Some(0x7000_8000)),
    ("overflow-the-stack", FaultKind::StackOverflow, None),
    ("break-the-stack-pointer", FaultKind::Write, Some(0xffff_ffff_8011_1ff0)),
    ("give-up", FaultKind::Panic, None),
];

#[test]
fn on_aarch64_those_who_do_harm_are_stopped_and_named_and_harm_nobody() {
    if !crate::processors::is_here() {
        return;
    }
    let mut text = "[system]\ncores = 1\nduration = \"200 ms\"\n[policy]\nkind = \"partitioned-fp\"\n".to_string();
    let task = |name: &str, priority: usize, period: usize, execution: usize| {
        format!("[[task]]\nname = \"{name}\"\npriority = {priority}\nperiod = \"{period} ms\"\nexecution = \"{execution} us\"\n")
    };
    text += &(task("steady", 200, 10, 1000) + &task("below", 1, 100, 10000));
    let harmless = ["leave-a-number", "look-for-a-number", "forbidden-calls"];
    let folder = file("examples/hostile/saboteur").display().to_string();
    for (n, name) in ON_AARCH64.iter().map(|it| it.0).chain(harmless).enumerate() {
        text += &format!("[[component]]\nname = \"{name}\"\ncrate = \"{folder}\"\n");
        text += &(task(name, 100 - n, 20, 50) + &format!("component = \"{name}\"\n"));
    }
    let scratch = Scratch::new("hostile");
    let run = Finished::run(&scratch.write("aarch64.toml", &text), &["--processor", "aarch64"]);
    each_is_stopped_and_named(&run, &ON_AARCH64);
    unharmed(&run, &["steady", "below", "leave-a-number", "look-for-a-number", "forbidden-calls"]);
}
