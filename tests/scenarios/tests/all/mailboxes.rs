//! Mailboxes between sandboxes on the machine: each message is taken in its order and in time, and no exit comes of one.

use crate::sandboxes::{largest_difference, latest, Ran};
use std::fs;
use std::path::Path;
use tactus_scenarios::{file, tactus, Scratch};
use tactus_time::Duration;

/// The example, with nothing that holds interrupts back, so that any emulator will do.
fn example() -> String {
    let text = fs::read_to_string(file("examples/sandboxes/mailboxes.toml")).expect("the example");
    text.replacen("[[sandbox]]", "[machine]\ninter-core = \"open\"\n\n[[sandbox]]", 1)
}

/// Of a mailbox: sent, taken and refused; and what of its bounds was used.
fn counts(ran: &Ran, name: &str) -> ([u64; 3], [f64; 2]) {
    let all = ran.all["mailboxes"].as_array().unwrap_or_else(|| panic!("no mailboxes: {}", ran.output));
    let it = all.iter().find(|it| it["name"] == name).expect("a mailbox of this name");
    assert_eq!((&it["judged"], &it["held"], &it["unsound"]), (&true.into(), &true.into(), &0.into()), "{it:#}");
    let number = |key: &str| it[key].as_u64().unwrap_or_else(|| panic!("{key}: {it:#}"));
    let part = |key: &str| number(&format!("{key}_ns")) as f64 / number(&format!("{key}_bound_ns")) as f64;
    (["sent", "taken", "refused"].map(number), ["from_send", "from_release"].map(part))
}

#[test]
fn messages_between_two_kernels_come_whole_in_their_order_and_in_time_without_an_exit() {
    let scratch = Scratch::new("mailboxes");
    let system = scratch.write("open.toml", &example());
    let said = tactus(["check", system.to_str().expect("a name")]);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert_eq!(said.output.lines().filter(|line| line.starts_with("mailbox ")).count(), 2, "{}", said.output);
    let ran = Ran::of(&system, "100 ms", &[]);
    assert_eq!((ran.status, &ran.all["held"]), (Some(0), &true.into()), "{}", ran.output);
    // The last are under way when the run ends.
    let ([sent, taken, refused], used) = counts(&ran, "position");
    assert!(sent == 20 && (14..=20).contains(&taken) && refused == 0, "{}", ran.output);
    assert!(used.iter().all(|part| (0.2..=1.0).contains(part)), "{used:?}");
    let ([sent, taken, refused], used) = counts(&ran, "targets");
    assert!((4..=5).contains(&sent) && (3..=5).contains(&taken) && refused == 0, "{}", ran.output);
    assert!(used.iter().all(|part| (0.05..=1.0).contains(part)), "{used:?}");
    for name in ["critical", "rich"] {
        let exits = ran.sandbox(name)["exits"].as_object().expect("exits by cause");
        assert_eq!(exits.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), 2, "{exits:?}");
    }
}

/// Runs of sandboxes whose tasks are drawn, as many as `TACTUS_MAILBOXES` says.
#[test]
#[ignore = "a hundred runs of the machine"]
fn a_hundred_drawn_pairs_keep_what_their_mailboxes_promise() {
    let runs = std::env::var("TACTUS_MAILBOXES").ok().and_then(|it| it.parse().ok()).unwrap_or(100_u64);
    let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
    let mut of = |from: u64, to: u64| {
        // Xorshift.
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        from + drawn % (to - from)
    };
    let (mut messages, mut nearest) = (0, [0.0_f64; 2]);
    for n in 0..runs {
        let mut text = "[system]\nname = 'drawn'\nduration = '200 ms'\n[machine]\ninter-core = 'open'\n".to_string();
        for sandbox in ["one", "two"] {
            let policy = ["partitioned-rm", "partitioned-edf"][of(0, 2) as usize];
            text +=
                &format!("[[sandbox]]\nname = '{sandbox}'\nmemory = '32 MiB'\n[sandbox.policy]\nkind = '{policy}'\n");
            let (budget, period) = (of(800, 2_000), of(3, 7));
            text += &format!(
                "[[sandbox.server]]\nname = 's'\npolicy = 'partitioned-edf'\ncores = [0]\nkind = 'deferrable'\nbudget = '{budget} us'\nperiod = '{period} ms'\n"
            );
            for (task, place) in [("a", "core = 0"), ("b", "server = 's'")] {
                let (period, offset, execution) = (of(8, 40), of(0, 8), of(100, 900));
                text += &format!(
                    "[[sandbox.task]]\nname = '{task}'\n{place}\nperiod = '{period} ms'\noffset = '{offset} ms'\nexecution = '{execution} us'\n"
                );
            }
        }
        for (from, to) in [("one", "two"), ("two", "one")] {
            for (task, other) in [("a", "b"), ("b", "a")] {
                text += &format!(
                    "[[mailbox]]\nname = '{from}-{task}'\nsource = {{ sandbox = '{from}', task = '{task}' }}\n\
                     destination = {{ sandbox = '{to}', task = '{other}' }}\nsize = '{} B'\ndepth = 100\n",
                    of(1, 200)
                );
            }
        }
        let scratch = Scratch::new("drawn-mailboxes");
        let ran = Ran::of(&scratch.write("drawn.toml", &text), "200 ms", &[]);
        assert!(ran.status == Some(0) || ran.output.contains("not accepted"), "run {n}: {}\n{text}", ran.output);
        if ran.status != Some(0) {
            continue;
        }
        for name in ["one-a", "one-b", "two-a", "two-b"] {
            let ([sent, taken, refused], used) = counts(&ran, name);
            assert!(sent > 0 && taken > 0 && refused == 0, "run {n}: {}\n{text}", ran.output);
            messages += taken;
            nearest = [0, 1].map(|n| nearest[n].max(used[n]));
        }
    }
    println!("{messages} messages in {runs} runs, the nearest to its bounds at {nearest:.3?}");
}

/// Ways in which a kernel that goes on lies in a mailbox's pages (`os/kernel/src/arch/x86_64/forgery.rs`): as its source, and as its destination.
const AS_SOURCE: std::ops::RangeInclusive<u64> = 31..=46;
const AS_DESTINATION: std::ops::RangeInclusive<u64> = 47..=52;
/// It writes what it may only read, and what is nobody's; and it sends interrupts to others besides.
const READ_ONLY: u64 = 53;
const NOBODYS: u64 = 54;
const INTERRUPTS: u64 = 55;
/// Of these, those in which it does nothing else any more, and is noticed.
const STORMS: [u64; 4] = [44, 45, 46, 51];

/// The rich sandbox's kernel lies in this way from then on: of the example's mailboxes it writes the messages of `targets` and what was taken of
/// `position`, whose pages are the third and the second. 64 bytes make slots of eleven words.
fn lied(system: &Path, way: u64, at: u64, duration: &str) -> Ran {
    let (page, depth) = match way {
        READ_ONLY => (0, 16),
        47..=52 => (1, 16),
        _ => (2, 8),
    };
    let told = way | page << 8 | 11 << 24 | depth << 40;
    Ran::of(system, duration, &[("TACTUS_DESTROYED", format!("rich={told}@{at}").into())])
}

/// The other sandbox keeps all that it was promised, its records as they were but for turns; what the kernel touched is not held, and why is said, with
/// the name of who lied; what it did not touch is held. By how much records moved.
fn is_borne(system: &Path, way: u64, at: u64, (alone, duration): (&Ran, &str)) -> Duration {
    let ran = lied(system, way, at, duration);
    let critical = ran.sandbox("critical");
    assert_eq!((ran.status, &critical["held"]), (Some(1), &true.into()), "{way} at {at}: {}", ran.output);
    assert_eq!((&critical["restarts"], &critical["code"]), (&0.into(), &alone.sandbox("critical")["code"]), "{way}");
    let rich = ran.sandbox("rich");
    let dies = [READ_ONLY, NOBODYS, INTERRUPTS].contains(&way) || STORMS.contains(&way);
    assert_eq!(rich["restarts"], u64::from(dies), "{way} at {at}: {rich:#}");
    if [READ_ONLY, NOBODYS].contains(&way) {
        let why = rich["death"]["why"].as_str().expect("it died");
        let touched = if way == READ_ONLY { "0xe0000000" } else { "0xe01ff000" };
        assert!(why.contains(&format!("it touched {touched}, which is not its own")), "{why}");
        assert_eq!(rich["exits"]["deaths"], 1, "{rich:#}");
    }
    let mailbox = |name: &str| {
        let all = ran.all["mailboxes"].as_array().expect("mailboxes");
        all.iter().find(|it| it["name"] == name).expect("a mailbox of this name").clone()
    };
    let (touched, other) =
        if AS_DESTINATION.contains(&way) { ("position", "targets") } else { ("targets", "position") };
    if !dies {
        let it = mailbox(touched);
        let broken = it["broken"].as_array().expect("what is broken");
        assert_eq!(it["held"], false, "{way} at {at}: {}", ran.output);
        let names_it = |it: &serde_json::Value| it.as_str().is_some_and(|it| it.contains("rich's map"));
        assert!(broken.iter().any(names_it), "{way} at {at}: {it:#}");
        assert_eq!(mailbox(other)["held"], true, "{way} at {at}: {}", ran.output);
    } else if AS_SOURCE.contains(&way) {
        assert!(mailbox(touched)["held"] == false, "{way} at {at}: {}", ran.output);
    }
    let (moved, within) = largest_difference(&alone.records("critical"), &ran.records("critical"), latest(3));
    assert!(within, "{way} at {at}: {moved}");
    moved
}

/// A message that nobody sent, and one written into what may only be read.
#[test]
fn a_kernel_that_lies_in_a_mailbox_moves_nobody_and_nothing_is_held_for_it() {
    let scratch = Scratch::new("lies");
    let system = scratch.write("open.toml", &example());
    let alone = lied(&system, 35, u64::MAX / 4, "30 ms");
    assert_eq!(alone.status, Some(0), "{}", alone.output);
    is_borne(&system, 35, 12_345_678, (&alone, "30 ms"));
    is_borne(&system, READ_ONLY, 12_345_678, (&alone, "30 ms"));
}

/// All ways at three instants each, or as many as `TACTUS_LIES` says.
#[test]
#[ignore = "75 runs of the machine"]
fn a_kernel_that_lies_in_any_way_at_any_time_moves_nobody_and_nothing_is_held_for_it() {
    let instants = std::env::var("TACTUS_LIES").ok().and_then(|it| it.parse().ok()).unwrap_or(3_u64);
    let scratch = Scratch::new("lies");
    let held = fs::read_to_string(file("examples/sandboxes/mailboxes.toml")).expect("the example");
    let (held, open) = (scratch.write("held.toml", &held), scratch.write("open.toml", &example()));
    let lacks = Ran::of(&held, "30 ms", &[]).lacks_emulator();
    let system = if lacks { &open } else { &held };
    let alone = lied(system, *AS_SOURCE.start(), u64::MAX / 4, "60 ms");
    assert_eq!(alone.status, Some(0), "{}", alone.output);
    let (mut most, mut count) = (Duration::ZERO, 0);
    for way in *AS_SOURCE.start()..=INTERRUPTS {
        for n in 0..instants {
            let at = 1_000_000 + n * 40_000_000 / instants.max(1) + n * 7_919 + way * 104_729;
            most = most.max(is_borne(system, way, at, (&alone, "60 ms")));
            count += 1;
        }
    }
    println!("{count} runs: the other's records differ by {most} at most");
}

/// The kernel of this sandbox dies: both mailboxes are judged all the same, nothing is lost or out of order, and all is in time that is owed. How many
/// messages were judged.
fn outlive_a_kernel(system: &Path, sandbox: &str, at: u64) -> u64 {
    let ran = Ran::of(system, "100 ms", &[("TACTUS_DESTROYED", format!("{sandbox}=1@{at}").into())]);
    assert_eq!((ran.status, &ran.sandbox(sandbox)["restarts"]), (Some(1), &1.into()), "{at}: {}", ran.output);
    let other = if sandbox == "rich" { "critical" } else { "rich" };
    assert_eq!(ran.sandbox(other)["held"], true, "{at}: {}", ran.output);
    let all = ran.all["mailboxes"].as_array().expect("mailboxes");
    let judged = all.iter().map(|it| {
        assert_eq!(
            (&it["judged"], &it["held"], &it["unsound"]),
            (&true.into(), &true.into(), &0.into()),
            "{at}: {it:#}"
        );
        let number = |key: &str| it[key].as_u64().expect("a number");
        number("sent") - number("unjudged")
    });
    judged.sum()
}

#[test]
fn messages_outlive_a_kernel_and_are_judged_when_it_has_come_back() {
    let scratch = Scratch::new("outlive");
    let judged = outlive_a_kernel(&scratch.write("open.toml", &example()), "rich", 12_345_678);
    assert!(judged >= 12, "{judged}");
}

/// Either kernel is killed at drawn instants, as many as `TACTUS_KILLS` says.
#[test]
#[ignore = "40 runs of the machine"]
fn messages_outlive_either_kernel_whenever_it_dies() {
    let kills = std::env::var("TACTUS_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(40_u64);
    let scratch = Scratch::new("outlive");
    let text = example().replacen("name = \"critical\"\n", "name = \"critical\"\nrestarts = 3\n", 1);
    let system = scratch.write("open.toml", &text);
    let (mut drawn, mut judged) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for n in 0..kills {
        // Xorshift.
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        judged += outlive_a_kernel(&system, ["rich", "critical"][n as usize % 2], drawn % 60_000_000);
    }
    println!("{kills} kills: {judged} messages judged");
}
