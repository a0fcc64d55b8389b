//! A program of a mebibyte comes into a slot and goes again, and whoever is more urgent than the loader cannot tell: one core, each record
//! of theirs beside the same one of a run in which nothing comes. It comes later by no more than the system's longest piece that nothing
//! interrupts: a way through the kernel, or an entry of the scheduler. Who is less urgent keeps the bound that counts the loader's budget.

use crate::slots::{load, unload, Shop};
use std::collections::BTreeMap;
use tactus_record::EventKind;
use tactus_scenarios::{file, Finished};

/// Tasks that are more urgent than the loader, then it, the slot's server and a task that is less urgent than both.
fn system(loads: &str) -> String {
    let task = |name: &str, period: u64, execution: u64, priority: u64| {
        format!(
            "[[task]]\nname = '{name}'\ncore = 0\nperiod = '{period} us'\nexecution = '{execution} us'\npriority = {priority}\n"
        )
    };
    format!(
        "[system]\ncores = 1\nduration = '800 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-fp'\n\
         [[component]]\nname = 'loader'\ncrate = '{}'\nloader = true\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n{}{}{}\
         [[task]]\nname = 'load'\ncomponent = 'loader'\ncore = 0\nperiod = '5 ms'\nexecution = '1700 us'\npriority = 6\n{}\
         [[server]]\nname = 'apps'\ncores = [0]\nkind = 'deferrable'\nbudget = '1 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n\
         priority = 5\n[[slot]]\nname = 'guest'\nserver = 'apps'\nclass = 'app'\nmemory = '1280 KiB'\nheap = '16 KiB'\ntasks = 1\n\
         uses = {{ console = 'console.write' }}\nkeys = ['dev.pub']\n{loads}",
        file("os/components/loader").display(),
        file("os/components/services").display(),
        task("fast", 701, 60, 9),
        task("control", 2_903, 300, 8),
        task("wide", 7_109, 900, 7),
        task("last", 40_000, 2_000, 1),
    )
}

/// By task and kind of record: when (ns).
fn records(run: &Finished) -> BTreeMap<(String, u8), Vec<u64>> {
    let names: Vec<String> = run.summary.tasks().map(|task| task.name().to_string()).collect();
    let mut found: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for record in &run.trace().cores[0] {
        let of_jobs = [EventKind::Release, EventKind::Dispatch, EventKind::Preempt, EventKind::Complete];
        if let Some(task) = record.task.filter(|_| of_jobs.contains(&record.kind)) {
            found.entry((names[task.index()].clone(), record.kind as u8)).or_default().push(record.time.as_nanos());
        }
    }
    found
}

/// The scheduler's longest entry (ns).
fn longest_entry(run: &Finished) -> u64 {
    let (mut entered, mut longest) = (None, 0);
    for record in &run.trace().cores[0] {
        match record.kind {
            EventKind::Enter => entered = Some(record.time.as_nanos()),
            EventKind::Leave => longest = longest.max(entered.map_or(0, |at| record.time.as_nanos() - at)),
            _ => {}
        }
    }
    longest
}

#[test]
fn a_load_of_a_mebibyte_moves_no_record_of_who_is_more_urgent_than_the_loader() {
    let shop = Shop::new("undisturbed");
    shop.pack(("tests/scenarios/guests", "large"), "large", &[("look", "200 us", "90 ms")], "dev");
    let run = |name: &str, loads: &str| {
        let run = Finished::run(&shop.scratch.write(name, &system(loads)), &[]);
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        run
    };
    let without = run("without.toml", "");
    let with = run("with.toml", &(load(10, "guest", "large") + &unload(650, "guest")));
    assert!(with.said.output.contains("large has 1048576"), "{}", with.said.output);
    let longest = with.kernel().iter().chain(&without.kernel()).map(|core| core.longest).max().expect("a core");
    let entry = longest_entry(&with).max(longest_entry(&without));
    let (there, alone) = (records(&with), records(&without));
    let urgent = alone.iter().filter(|(key, _)| ["fast", "control", "wide"].contains(&key.0.as_str()));
    let (mut all, mut moved, mut most) = (0, 0, 0);
    for (key, times) in urgent {
        assert_eq!(times.len(), there[key].len(), "{key:?}");
        let shifts = times.iter().zip(&there[key]).map(|(alone, there)| alone.abs_diff(*there));
        // From where the processor is when the timer expires, the way into the scheduler differs by some instructions.
        moved += shifts.clone().filter(|shift| *shift > 50).count();
        (all, most) = (all + times.len(), most.max(shifts.max().unwrap_or(0)));
    }
    println!(
        "{all} records of more urgent tasks, {moved} moved by more than 50 ns, at most by {most} ns; longest in the kernel {longest} ns, \
         longest entry of the scheduler {entry} ns"
    );
    assert!(all > 4_000 && most <= longest.max(entry) && 100 * moved < all, "{all} {moved} {most}");
}
