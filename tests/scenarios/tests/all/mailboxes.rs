//! Mailboxes between sandboxes on the machine: each message is taken in its order and in time, and no exit comes of one.

use crate::sandboxes::Ran;
use std::fs;
use tactus_scenarios::{file, tactus, Scratch};

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
