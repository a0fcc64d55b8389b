//! Of sixteen partitions on one core one goes wild: what the others do is the same, record for record, and at the same times but for the
//! kernel's and the scheduler's own.

use tactus_record::EventKind;
use tactus_scenarios::{file, Finished, Scratch};

/// Ways to go wild, of `tests/scenarios/wild/src/main.rs`.
const KINDS: u32 = 20;
/// How far (ns) a record of others may lie from where it lies beside a partition that behaves: an entry of the scheduler, in which the
/// kernel's longest path is the least.
const MOVED: u64 = 5_000;

/// The system with a component of this name in its last partition; without a number in it, it behaves.
fn system(scratch: &Scratch, name: &str, restarts: &str) -> std::path::PathBuf {
    let wild = file("tests/scenarios/wild");
    let mut text = format!(
        "[system]\ncores = 1\nduration = '300 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n\
         [[component]]\nname = '{name}'\ncrate = '{}'\n{restarts}\n",
        wild.display()
    );
    for n in 0..16 {
        let own = if n == 15 { format!("component = '{name}'\n") } else { String::new() };
        text += &format!(
            "[[partition]]\nname = 'p{n}'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '{n} ms', length = '1 ms' }}]\n\
             [[task]]\nname = 't{n}'\npartition = 'p{n}'\npriority = 1\nperiod = '20 ms'\nexecution = '300 us'\n{own}"
        );
    }
    for (channel, more) in
        [("noise", "kind = 'sampling'\nrefresh-period = '1 s'"), ("flood", "kind = 'queuing'\ndepth = 8")]
    {
        text +=
            &format!("[[channel]]\nname = '{channel}'\nsource = 't15'\ndestinations = ['t3']\nsize = '8 B'\n{more}\n");
    }
    scratch.write("isolation.toml", &text)
}

/// What a record tells of a task, times aside: what happened, the task, the job, the nominal release.
type Told = (EventKind, u16, u32, Option<u64>);

/// What the trace tells of the other partitions' tasks, and when.
fn others(run: &Finished) -> Vec<(Told, u64)> {
    let trace = run.trace();
    let records = trace.cores[0].iter().filter_map(|r| Some((r, r.task.filter(|task| task.0 != 15)?)));
    // What else there is counts times.
    let fixed = |kind: EventKind, arg: u64| (kind == EventKind::Release).then_some(arg);
    records.map(|(r, task)| ((r.kind, task.0, r.job, fixed(r.kind, r.arg)), r.time.as_nanos())).collect()
}

#[test]
fn whatever_one_partition_does_the_traces_of_fifteen_others_are_the_same_but_for_the_kernels_time() {
    let scratch = Scratch::new("isolation");
    let tame = Finished::run(&system(&scratch, "tame", ""), &[]);
    assert_eq!(tame.summary.outcome(), "held", "{}", tame.said.output);
    let calm = others(&tame);
    assert!(calm.len() > 600, "{}", calm.len());
    let again = "restarted-by = 'root'\nrestarts = { most = 32, per = '1 s' }";
    let ways = (0..KINDS).map(|kind| (kind, "")).chain([(0, again), (11, again)]);
    let mut most = 0;
    for (kind, restarts) in ways {
        let run = Finished::run(&system(&scratch, &format!("wild-{kind}"), restarts), &[]);
        let beside = others(&run);
        let moved = calm.iter().zip(&beside).map(|(calm, beside)| calm.1.abs_diff(beside.1)).max();
        let same = calm.iter().zip(&beside).position(|(calm, beside)| calm.0 != beside.0);
        assert_eq!((same, calm.len()), (None, beside.len()), "way {kind}: {}", run.said.output);
        let moved = moved.unwrap_or(0);
        println!("way {kind}: {} records, moved by at most {moved} ns", beside.len());
        assert!(moved <= MOVED, "way {kind}: moved by {moved} ns");
        most = most.max(moved);
        assert!((0..15).all(|n| run.summary.task(&format!("t{n}")).missed() == 0), "way {kind}: {}", run.said.output);
        let stopped = run.summary.json["culprits"].as_array().map_or(0, Vec::len);
        assert_eq!(stopped > 0, !(12..=18).contains(&kind), "way {kind}: {}", run.said.output);
    }
    println!("moved by at most {most} ns");
}
