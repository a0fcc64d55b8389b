//! The check of disks, against simulations of what it accepts and by what it must refuse.

use std::path::Path;
use tactus_analysis::disks;
use tactus_model::System;

fn system(queue: &str, clients: &[(u64, u64)]) -> System {
    let mut text = String::from(
        "[system]\ncores = 1\nduration = '30 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\ncore = 0\n\
         period = '10 ms'\nexecution = '1 ms'\n",
    );
    text += &format!("[[disk]]\nname = 'd'\ndrive = 'source-10k'\nqueue = '{queue}'\n");
    for (n, (period, deadline)) in clients.iter().enumerate() {
        text += &format!(
            "[[disk.client]]\nname = 'c{n}'\nstart = '{n} GiB'\nextent = '1 GiB'\nplaces = 12\nsize = '8 KiB'\n\
             period = '{period} ms'\ndeadline = '{deadline} ms'\n"
        );
    }
    text += "[[disk.client]]\nname = 'rest'\nstart = '7 GiB'\nextent = '1 GiB'\nplaces = 12\nsize = '64 KiB'\nbest-effort = 3\n";
    System::parse_toml(&text, Path::new("disks.toml")).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn no_request_of_an_accepted_disk_is_simulated_over_its_bound() {
    let mut accepted = 0;
    for clients in [vec![(100, 60)], vec![(80, 75), (150, 140)], vec![(120, 90), (120, 100), (200, 200), (300, 90)]] {
        for queue in ["edf", "g-matrix"] {
            let system = system(queue, &clients);
            let check = &disks(&system)[0];
            if check.refused.is_some() {
                continue;
            }
            accepted += 1;
            let plan =
                tactus_plan::plan(&system, &tactus_analysis::check(&system, &Default::default()), &Default::default());
            let served =
                tactus_sim::disk::disk(plan.disk_setups[0].station(false).expect("a drive"), system.duration).served;
            assert!(served.len() > 2_000, "the drive never pauses: {}", served.len());
            for it in served {
                assert!(it.ended.since(it.dispatched) <= it.expected, "the map bounds each request: {it:?}");
                let Some(bound) = check.clients[it.client as usize].bound else { continue };
                assert!(it.ended.since(it.arrived) <= bound, "{queue} {clients:?}: {it:?}, bound {bound}");
            }
        }
    }
    assert!(accepted >= 4, "{accepted}");
}

#[test]
fn what_cannot_be_kept_is_refused_at_the_line_that_is_to_be_mended() {
    let why = |queue, clients: &[(u64, u64)]| disks(&system(queue, clients))[0].refused.clone().expect("refused");
    let (line, text) = why("g-matrix", &[(80, 75), (100, 30)]);
    // The second client begins 9 lines behind the first.
    assert!(line == 23 && text.contains("longer than the deadline of client `c1`; lengthen"), "{line}: {text}");
    let (line, text) = why("edf", &[(20, 20), (30, 30)]);
    assert!(line == 11 && text.contains("% of the drive; lengthen periods"), "{line}: {text}");
    let (_, text) = why("edf", &[(200, 20)]);
    assert!(text.contains("deadlines within 20 ms need more than that time"), "{text}");
}
