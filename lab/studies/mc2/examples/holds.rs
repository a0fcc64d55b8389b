//! A system of MC² with a lock for each container and core, `n` tasks on four cores, for `lab/studies/mc2-holds.sh`, which counts for how long
//! these locks are held.

use tactus_mc2_variants::{Fine, Machinery};
use tactus_policy::{Mc2, PolicyConfig, PolicySpec, Slot, Table, Task};
use tactus_slow_machine::{exact, ms, run_policy};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

const CORES: u16 = 4;

/// As many tasks of each level; each runs for 10 µs of its 20 µs every 10 to 40 ms.
fn setup(n: u16) -> PolicyConfig {
    let length = Duration::from_micros(20);
    let task = |id: u16| {
        let level = [Level::A, Level::B, Level::C, Level::D][usize::from(id % 4)];
        let period = if level == Level::A { ms(10) } else { ms(10 + u64::from(id * 7 % 31)) };
        Task {
            level,
            core: (level <= Level::B).then_some(CoreId((id / 4 % CORES) as u8)),
            offset: Duration::ZERO,
            period,
            deadline: period,
            budget: if level == Level::D { Duration::ZERO } else { length },
        }
    };
    let tasks: Vec<Task> = (0..n).map(task).collect();
    let table = |core: u16| {
        let own = (0..n).filter(|id| id % 4 == 0 && id / 4 % CORES == core).enumerate();
        let slots = own.map(|(k, id)| {
            let start = length * k as u64;
            Slot { task: TaskId(id), start, end: start + length }
        });
        Table { cycle: ms(10), slots: slots.collect() }
    };
    let mc2 =
        Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables: (0..CORES).map(table).collect() };
    PolicyConfig { cores: usize::from(CORES), kind: PolicySpec::Mc2(mc2), tasks }
}

fn main() {
    let n = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(20);
    let machinery = Machinery { interrupt_master: true, timer_merging: true, work_redistribution: true };
    let (fine, cores) = Fine::new(&setup(n), machinery).expect("the set-up is good");
    let entries = run_policy(&fine, cores, &|_, _| Duration::from_micros(10), Instant::ZERO + ms(200), exact());
    println!("{n} tasks, {} decisions", entries.len());
}
