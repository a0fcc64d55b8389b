//! What becomes of overruns is a sequence that makes sense, under every rule and with servers that run out.

use tactus_policy::{
    Overrun, PolicyConfig, PolicySpec, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_record::EventKind;
use tactus_sim::{simulate, Costs};
use tactus_time::{CoreSet, Duration, Level, TaskId};
use tactus_trace::check;

#[test]
fn left_out_stopped_and_killed_jobs_leave_a_trace_without_fault() {
    let ms = Duration::from_millis;
    let cores = CoreSet::first(2);
    let each: Vec<CoreSet> = cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
    let root = Server {
        parent: 0,
        cores,
        order: TaskOrder::EarliestDeadline,
        queues: each,
        quantum: ms(1),
        supply: None,
        priority: 0,
        background: false,
    };
    let supply = Supply { kind: ServerKind::HardBandwidth, budget: ms(6), period: ms(9), write_backs: None };
    let inside = Server { supply: Some(supply), queues: vec![cores], ..root.clone() };
    let rules = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Kill];
    let places = rules.map(|overrun| TaskPlacement { server: 1, priority: 0, overrun });
    let task = |n: u64| Task {
        level: Level::A,
        core: None,
        offset: ms(n),
        period: ms(8 + n),
        deadline: ms(8 + n),
        budget: ms(3),
    };
    let kind = PolicySpec::Servers(Tree {
        servers: vec![root, inside],
        places: places.into(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    });
    let setup = PolicyConfig { cores: 2, kind, tasks: (0..4).map(task).collect() };
    let demand = |task: TaskId, job: u32| ms(1 + u64::from((job * 5 + u32::from(task.0)) % 9));
    let costs = Costs { schedule: Duration::from_micros(3), release: Duration::from_micros(2), ..Costs::default() };
    for costs in [Costs::default(), costs] {
        let trace = simulate(&setup, ms(2_000), demand, &costs).expect("a good system");
        assert_eq!(check::sequence(&trace), []);
        assert_eq!(check::one_core(&trace), []);
        let dropped = |why| {
            let records = trace.cores.iter().flatten();
            records.filter(|r| r.kind == EventKind::Dropped && r.arg == why).count()
        };
        assert!(dropped(0) > 10 && dropped(1) > 10, "{} left out, {} killed", dropped(0), dropped(1));
    }
}
