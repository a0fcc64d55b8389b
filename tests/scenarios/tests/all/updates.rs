//! A new version takes over from the old one on the booted system: it goes on where that ended, or gives way if it fails.

use crate::slots::{by_job, free_frames, Shop, LOADER_STEP};
use tactus_record::{EventKind, SlotSwitch};
use tactus_scenarios::{file, Finished};

/// A pair of slots beside a promised task, a service that keeps state, and an update.
fn system(versions: &[(u64, &str)]) -> String {
    let mut text = format!(
        "[system]\ncores = 1\nduration = '2200 ms'\npool = '512 KiB'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-edf'\n\
         [[component]]\nname = 'loader'\ncrate = '{}'\nloader = true\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[component]]\nname = 'keeper'\ncrate = '{}'\nprovides = ['exchange']\n\
         [[task]]\nname = 'load'\ncomponent = 'loader'\ncore = 0\nperiod = '5 ms'\nexecution = '{LOADER_STEP} ns'\n\
         [[task]]\nname = 'control'\ncore = 0\nperiod = '4 ms'\nexecution = '500 us'\n\
         [[load]]\nat = '20 ms'\nslot = 'left'\npackage = 'first.package'\n",
        file("os/components/loader").display(),
        file("os/components/services").display(),
        file("examples/update/craft").display(),
    );
    for slot in ["left", "right"] {
        text += &format!(
            "[[server]]\nname = 'for-{slot}'\ncores = [0]\nkind = 'deferrable'\nbudget = '1 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n\
             [[slot]]\nname = '{slot}'\nserver = 'for-{slot}'\nclass = 'app'\nmemory = '128 KiB'\ntasks = 2\n\
             uses = {{ console = 'console.write', keep = 'keeper.exchange' }}\nkeys = ['dev.pub']\n"
        );
    }
    for (at, package) in versions {
        text += &format!(
            "[[update]]\nat = '{at} ms'\nslots = ['left', 'right']\npackage = '{package}.package'\nstate = 'keep'\ntrial = 5\n"
        );
    }
    text
}

/// What became of each update: its kind and the slot in use.
fn switches(run: &Finished) -> Vec<(u8, u32)> {
    let records = &run.trace().cores[0];
    records.iter().filter(|r| r.kind == EventKind::SlotSwitched).map(|r| (r.level, r.job)).collect()
}

/// The numbers of jobs that the program has counted, in order.
fn counted(run: &Finished) -> Vec<u64> {
    let number = |line: &str| line.split_once(": job ").and_then(|(_, number)| number.trim().parse().ok());
    run.said.output.lines().filter_map(number).collect()
}

#[test]
fn a_good_version_goes_on_counting_and_bad_ones_give_way_to_the_state_that_was() {
    let shop = Shop::new("updates");
    for (n, (program, package)) in
        [("counts", "first"), ("counts", "second"), ("panics", "third"), ("hangs", "fourth")].into_iter().enumerate()
    {
        shop.pack_version(program, package, &format!("1.0.{n}"));
    }
    let path = shop.scratch.write("updates.toml", &system(&[(200, "second"), (800, "third"), (1400, "fourth")]));
    let run = Finished::run(&path, &[]);
    let output = &run.said.output;
    let [over, kept, stopped, missed] =
        [SlotSwitch::Over, SlotSwitch::Kept, SlotSwitch::Stopped, SlotSwitch::Missed].map(|it| it as u8);
    assert_eq!(
        switches(&run),
        [(over, 1), (kept, 1), (over, 0), (stopped, 1), (over, 0), (missed, 1)],
        "{output}\n{}",
        run.log
    );
    // No number is left out and none comes twice: not even those whose job failed, since the old version goes on from its own.
    let counted = counted(&run);
    assert!(counted.len() > 45, "{counted:?}");
    let repeated = counted.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    // After each failure the old version counts on from its own last job.
    assert_eq!(repeated, 2, "{counted:?}");
    for task in ["control", "load"] {
        let task = run.summary.task(task);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0) && task.missed() == 0, "{output}");
    }
    for words in ["took over from left at", "stays since", "it was stopped", "a job missed its deadline", "lost: job"] {
        assert!(output.contains(words), "{words}: {output}");
    }
    assert!(output.contains("decisions is the policy's own"), "{output}");
    // One program is in the pair at the end, whatever came and went: as without updates.
    let free = free_frames(&Finished::run_checked(&path, &[]));
    let alone = shop.scratch.write("alone.toml", &system(&[]));
    assert_eq!(free, free_frames(&Finished::run_checked(&alone, &[])));
    let simulated = Finished::simulate(&path, &[]);
    let hand_overs = |run: &Finished| by_job(run).into_iter().map(|it| (it.0 & 0xffff, it.1, it.3)).collect::<Vec<_>>();
    assert_eq!(hand_overs(&run), hand_overs(&simulated));
}

/// `examples/update` beside keys and packages of its own, with this version as the new one.
fn flight(version: &str) -> Finished {
    let shop = Shop::new("flight");
    for n in 1..=3 {
        let manifest = file(&format!("examples/update/fly-{n}.toml"));
        shop.pack_manifest("examples/update/craft", &manifest, &format!("fly-{n}"));
    }
    let text = std::fs::read_to_string(file("examples/update/update.toml")).expect("the example");
    let text = text.replace("\"../../os/", &format!("\"{}/", file("os").display()));
    let text = text.replace("\"craft\"", &format!("\"{}\"", file("examples/update/craft").display()));
    let text = text.replace("fly-2.package\"", &format!("{version}.package\""));
    let path = shop.scratch.write("update.toml", &text);
    let run = Finished::run(&path, &[]);
    assert!(run.said.output.contains("landed at"), "{}", run.said.output);
    run
}

#[test]
fn the_craft_lands_with_a_controller_that_was_replaced_in_flight() {
    let run = flight("fly-2");
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert_eq!(switches(&run), [(SlotSwitch::Over as u8, 1), (SlotSwitch::Kept as u8, 1)], "{}", run.said.output);
    assert!(run.said.output.contains("fly-2 2.0.0 in right took over from left at"), "{}", run.said.output);
    assert!(run.said.output.contains("no job lost"), "{}", run.said.output);
}

#[test]
fn the_craft_lands_with_its_old_controller_where_the_new_one_panics_in_flight() {
    let run = flight("fly-3");
    assert_eq!(switches(&run), [(SlotSwitch::Over as u8, 1), (SlotSwitch::Stopped as u8, 0)], "{}", run.said.output);
    assert!(run.said.output.contains("it was stopped, lost: job"), "{}", run.said.output);
}
