//! The interrupt study of Parmer and West (2013), cut short: a few rates for each set-up on the machine, and what its authors
//! saw. The whole study is `tactus study interrupts`.

use serde_json::Value;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use tactus_lab_scenarios::lab;
use tactus_scenarios::{file, root, Scratch};

/// Figures of one run.
#[derive(Clone, Copy, Debug)]
struct Run {
    setup: char,
    rates: [u64; 2],
    /// Packets per second that the upcalls, and the tasks, were done with.
    upcalls: [f64; 2],
    handled: [f64; 2],
    livelock: bool,
}

impl Run {
    fn total(&self) -> f64 {
        self.handled.iter().sum()
    }
}

/// The runs, made once for all tests.
fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| {
        // The study's own file, with fewer rates and less time.
        let whole = fs::read_to_string(root().join("lab/studies/interrupts.toml")).expect("the study's file");
        let head = whole.split("[[sweep]]").next().expect("a head").replace("measured = 5", "measured = 1");
        // As few runs as the four tests need.
        let sweep = |name: &str, setups: &str, rates: &str| {
            format!("[[sweep]]\nname = \"{name}\"\ntitle = \"{name}\"\nsetups = \"{setups}\"\n{rates}\n")
        };
        let sweeps = sweep("low", "abcd", "rates = [10_000]")
            + &sweep("middle", "ab", "rates = [100_000]")
            + &sweep("high", "bcd", "rates = [250_000]")
            + &sweep("skewed", "cd", "first = 100_000\nrates = [400_000]")
            + &sweep("dear", "b", "driver = 3_000\nrates = [100_001]");
        let scratch = Scratch::new("interrupts");
        let study = scratch.path().join("study.toml");
        fs::write(&study, head + &sweeps).expect("a scratch file");
        let out = scratch.path().join("out");
        let said = lab(["study".as_ref(), "interrupts".as_ref(), study.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
        let text = fs::read_to_string(out.join("figures.json")).expect("the study leaves figures");
        let plot = fs::read_to_string(out.join("high.svg")).expect("the study leaves plots");
        assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>"));
        let all: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        let pair = |it: &Value| [0, 1].map(|stream| it[stream].as_f64().expect("a number"));
        all.iter()
            .map(|it| Run {
                setup: it["setup"].as_str().and_then(|name| name.chars().next()).expect("a letter"),
                rates: pair(&it["rates"]).map(|rate| rate as u64),
                upcalls: pair(&it["upcalls"]),
                handled: pair(&it["handled"]),
                livelock: it["livelock"].as_bool().expect("a truth value"),
            })
            .collect()
    })
}

fn run(setup: char, rates: [u64; 2]) -> Run {
    *runs().iter().find(|it| it.setup == setup && it.rates == rates).expect("it was run")
}

fn about(value: f64, wanted: f64, share: f64) -> bool {
    (value - wanted).abs() <= wanted * share
}

#[test]
fn below_saturation_every_set_up_handles_every_packet() {
    assert!(file("lab/studies/interrupts.toml").exists());
    for setup in ['a', 'b', 'c', 'd'] {
        let it = run(setup, [10_000; 2]);
        assert!(it.handled.iter().all(|&handled| about(handled, 10_000.0, 0.03)), "{it:?}");
    }
}

#[test]
fn one_interrupt_thread_above_the_tasks_livelocks_and_a_brand_for_each_stream_protects_task_1_longer() {
    let (a, b) = (run('a', [100_000; 2]), run('b', [100_000; 2]));
    assert!(a.livelock && a.total() < 1_000.0, "{a:?}");
    assert!(b.handled[0] > 10_000.0 && b.handled[1] < 1_000.0, "{b:?}");
    let late = run('b', [250_000; 2]);
    assert!(late.livelock && late.total() < 1_000.0, "{late:?}");
}

/// At rate r each (b) spends r upcalls of 17,932 cycles and 2 r packets of level 0: it livelocks where that is all there is. The source's
/// level 0 is dearer than ours; with 3,000 cycles more it livelocks where the source's does.
#[test]
fn with_a_level_0_as_dear_as_the_sources_a_brand_for_each_stream_livelocks_by_100_000_packets() {
    let (ours, dear) = (run('b', [100_000; 2]), run('b', [100_001; 2]));
    assert!(!ours.livelock && ours.handled[0] > 10_000.0, "{ours:?}");
    assert!(dear.livelock && dear.total() < 1_000.0, "{dear:?}");
}

#[test]
fn one_server_for_all_upcalls_survives_and_splits_as_packets_arrive() {
    let it = run('c', [250_000; 2]);
    assert!(!it.livelock && it.total() > 35_000.0, "{it:?}");
    assert!(about(it.upcalls[0] / it.upcalls[1], 1.0, 0.1), "{it:?}");
    assert!((0.8..=1.4).contains(&(it.handled[0] / it.handled[1])), "{it:?}");
    // Four packets of the less important stream for one of the other: so they are served.
    let skewed = run('c', [100_000, 400_000]);
    assert!(about(skewed.upcalls[1] / skewed.upcalls[0], 4.0, 0.2), "{skewed:?}");
    assert!(skewed.handled[1] > skewed.handled[0], "{skewed:?}");
}

#[test]
fn a_server_for_each_stream_survives_and_splits_five_to_two_whatever_arrives() {
    for rates in [[250_000, 250_000], [100_000, 400_000]] {
        let it = run('d', rates);
        assert!(!it.livelock && it.total() > 35_000.0, "{it:?}");
        assert!(about(it.upcalls[0] / it.upcalls[1], 2.5, 0.1), "{it:?}");
        assert!(about(it.handled[0] / it.handled[1], 2.5, 0.2), "{it:?}");
    }
}

/// Real packets from the host through a socket into an emulated network card, and through driver and protocol to the tasks.
#[test]
#[ignore = "half a minute: the host's time decides"]
fn every_packet_that_is_sent_to_the_network_card_is_handled() {
    let Some(emulator) = emulator_with_card() else {
        println!("left out: the emulator has no virtio-net-pci, or no datagram sockets for it");
        return;
    };
    let scratch = Scratch::new("card");
    let out = scratch.path().join("out");
    let words = ["study".as_ref(), "interrupts".as_ref(), "--card".as_ref(), "300".as_ref(), "--out".as_ref()];
    let said = lab(words.into_iter().chain([out.as_os_str()]));
    assert_eq!(said.status, 0, "{emulator}: {}{}", said.output, said.errors);
    for stream in ["1", "2"] {
        let row = said.output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = row.into_iter().find(|row| row.first() == Some(&stream)).expect("a row for each stream");
        assert_eq!(row[1..], ["300"; 4], "{}", said.output);
    }
}

/// The emulator's name, if it has what the network card needs.
fn emulator_with_card() -> Option<&'static str> {
    let name = "qemu-system-x86_64";
    let has = |words: [&str; 2], wanted: &str| {
        let said = Command::new(name).args(words).output().ok()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
        text.contains(wanted).then_some(())
    };
    has(["-device", "help"], "virtio-net-pci")?;
    has(["-netdev", "help"], "dgram")?;
    Some(name)
}
