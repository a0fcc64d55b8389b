//! What monitors cost in the kernel.

use super::monitored::LOOP;
use tactus_scenarios::{file, Finished, Scratch};

/// Instructions that the gauge found: the median and the most.
fn gauged(log: &str) -> std::collections::BTreeMap<String, (u64, u64)> {
    let lines = log.lines().filter_map(|line| line.split_once("gauge ")).map(|(_, rest)| rest);
    let read = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), (words.next()?.parse().ok()?, words.next()?.parse().ok()?)))
    };
    lines.filter_map(read).collect()
}

const DATAFLOW: &str = "[[monitor.automaton]]\nname = \"m_sync\"\nstates = [\"sync\", \"nosync\", \"inprog\"]\n\
    transitions = [\"sync s00 nosync\", \"nosync r10 inprog\", \"inprog s00 nosync\", \"inprog s11 sync\"]\n\
    [[monitor.automaton]]\nname = \"m_t2\"\nstates = [\"begin\", \"firstb0\", \"firstb1\"]\n\
    transitions = [\"begin r20 firstb0\", \"firstb0 r21 begin\", \"begin r21 firstb1\", \"firstb1 r20 begin\"]\n";

/// The system that measures, and its monitors: one signal for each number of monitors, one for each encoding of the source's second property (without its
/// automaton of b0), one with a clock; a channel and a grant that are watched beside some that are not.
fn gauges() -> (String, String) {
    use std::fmt::Write;
    let folder = file(LOOP).parent().expect("a folder").join("parts").display().to_string();
    let text = format!(
        "[system]\nname = \"gauge\"\ncores = 1\nduration = \"40 ms\"\n[machine]\ninstruction = \"1 ns\"\n[policy]\nkind = \"partitioned-edf\"\n\
         [[component]]\nname = \"gauge\"\ncrate = \"{folder}\"\nconsole = true\n\
         uses = {{ nothing = \"watcher.nothing\", watched = \"watcher.nothing\", twice = \"watcher.nothing\", step = \"watcher.step\", attach = \"memory.attach\" }}\n\
         [[component]]\nname = \"watcher\"\ncrate = \"{folder}\"\nprovides = [\"nothing\", \"step\"]\n\
         [[component]]\nname = \"memory\"\ncrate = \"{}\"\nmemory-manager = true\nbrands = 1\nprovides = [\"attach\"]\n\
         [[task]]\nname = \"measure\"\ncomponent = \"gauge\"\ncore = 0\nperiod = \"40 ms\"\nexecution = \"20 ms\"\n\
         [[buffer]]\nname = \"watched\"\nsize = \"8 KiB\"\nbetween = [\"gauge\", \"watcher\"]\n\
         [[buffer]]\nname = \"twice\"\nsize = \"8 KiB\"\nbetween = [\"gauge\", \"watcher\"]\n\
         [[buffer]]\nname = \"plain\"\nsize = \"8 KiB\"\nbetween = [\"gauge\", \"watcher\"]\n",
        file("os/components/services").display()
    );
    let (system, mut text) = (text, String::new());
    let mut monitor = |name: &str, event: &str, more: &str| {
        let _ = write!(
            text,
            "[[monitor]]\nname = \"{name}\"\nproperty = \"always (b -> next (not a unless c))\"\n\
             events = {{ a = \"{event}\", b = \"signal gauge.b\", c = \"signal gauge.c\" }}\n{more}"
        );
    };
    for count in [1, 2, 3, 4, 6, 8, 10] {
        for n in 0..count {
            monitor(&format!("k{count}-{n}"), &format!("signal gauge.k{count}"), "encoding = \"plain\"\n");
        }
    }
    monitor("channel", "send watched", "encoding = \"plain\"\n");
    monitor("grant", "call gauge.watched", "encoding = \"plain\"\n");
    for n in 0..2 {
        monitor(&format!("channel-{n}"), "send twice", "encoding = \"plain\"\n");
        monitor(&format!("grant-{n}"), "call gauge.twice", "encoding = \"plain\"\n");
    }
    for (encoding, name) in
        [("plain", "plain"), ("row-per-word", "row"), ("packed-words", "packed"), ("bit-string", "bits")]
    {
        let _ = write!(
            text,
            "[[monitor]]\nname = \"{name}\"\nproperty = \"always ((firstb0 or firstb1) -> (sync until begin))\"\n\
             encoding = \"{encoding}\"\nminimise = false\nevents = {{ s00 = \"signal gauge.{name}\", s11 = \"signal gauge.b\", \
             r10 = \"signal gauge.c\", r20 = \"signal gauge.d\", r21 = \"signal gauge.e\" }}\n{DATAFLOW}"
        );
    }
    text +=
        "[[monitor]]\nname = \"timed\"\nproperty = \"distance(a) <= 1 s\"\nevents = { a = \"signal gauge.timed\" }\n";
    (system, text)
}

#[test]
fn statements_12_to_15_what_a_step_in_the_kernel_costs() {
    let scratch = Scratch::new("gauges");
    let run = |text: &str| gauged(&Finished::run(&scratch.write("gauge.toml", text), &[]).log);
    let (system, monitors) = gauges();
    let (all, without) = (run(&(system.clone() + &monitors)), run(&system));
    let of = |name: &str| all.get(name).unwrap_or_else(|| panic!("no {name}: {all:?}")).0;
    for (name, (median, most)) in &all {
        println!("{name:20} {median:6} {most:6}");
    }
    // What nobody watches costs nothing, at no time; what is watched would not without monitors.
    for name in ["null", "send-unwatched", "call-unwatched"] {
        assert_eq!(all[name], without[name], "{name}");
    }
    assert!(["send-watched", "call-watched"].iter().all(|name| all[*name].0 > without[*name].0 + 300));
    // Affine in the number of monitors, exactly.
    let each = of("signals-2") - of("signals-1");
    for k in [3, 4, 6, 8, 10] {
        assert_eq!(of(&format!("signals-{k}")), of("signals-1") + (k - 1) * each, "{k} monitors, {each} each");
    }
    // Two in packed words take longer than the service that is not watched.
    let packed = of("packed-words") - of("plain") + each;
    assert!(2 * packed > of("send-unwatched"), "{packed} a step");
    // A further monitor takes the same, whatever the service, but for what the compiler makes of the loop in each.
    for service in ["send-watched", "call-watched"] {
        let further = of(&format!("{service}-twice")) - of(service);
        assert!(further.abs_diff(each) <= 8, "{service}: {further}, not {each}");
    }
    // The quickest encoding is plain, then one row a word; the others are further apart where a division takes long.
    for encoding in ["bit-string", "packed-words"] {
        assert!(of("plain") < of("row-per-word") && of("row-per-word") < of(encoding), "{encoding}");
    }
    // Outside of the kernel a monitor costs two changes of address space, which are 304 cycles each where an instruction is 1.2
    // (docs/measured/kernel.md); and, without record or time, more instructions than three inside.
    assert!(of("signals-1") * 12 < of("outside") * 12 + 2 * 3_040);
    assert!(of("signals-3") < 3 * of("outside"));
    // What `tactus_plan::monitors` counts is more than any step here.
    assert!(each <= 60 && of("timed") - of("signals-1") + each <= 350, "{each} a step");
    assert!(["row-per-word", "bit-string", "packed-words"].iter().all(|it| of(it) - of("plain") + each <= 150));
    assert!(of("signals-1") - each <= 500 && of("send-watched") - of("send-unwatched") <= 500 + each);
}
