//! Random partitions. Times are so that nothing hangs on microseconds: what is waited for ends five milliseconds beside a period.

use super::text::LONGEST;
use super::{Handling, Partition, Script, Step, System};

/// Random numbers (Steele, Lea and Flood 2014: SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Whether it comes, once in this number of times.
    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A system of one partition that has the whole core, or of three with windows, which last a third of the frame.
pub fn draw(seed: u64) -> System {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let duration = 400;
    if random.once_in(2) {
        let frame = 10;
        return System { partitions: vec![partition(&mut random, (0, frame), frame)], duration };
    }
    let windows = [(0, 6), (7, 6), (14, 6)];
    System { partitions: windows.map(|window| partition(&mut random, window, 20)).into(), duration }
}

fn partition(random: &mut Random, window: (u64, u64), frame: u64) -> Partition {
    let count = 2 + random.below(3);
    let names: Vec<char> = ('a'..='z').take(count as usize).collect();
    let handler = random.once_in(2).then(|| random.one(&[10, 20]));
    let restarts = random.once_in(2);
    let scripts = names.iter().map(|who| script(random, *who, &names, handler.is_some())).collect();
    Partition { scripts, handler, restarts, window, frame }
}

fn script(random: &mut Random, who: char, names: &[char], handled: bool) -> Script {
    let periodic = random.once_in(2);
    let period = random.one(&[10, 20]);
    let capacity = match (periodic, random.below(3)) {
        (_, 0) => 0,
        (true, _) => random.one(&[3, 4, 5, 7]),
        (false, _) => random.one(&[5, 15, 25, 35]),
    };
    let handling = random.one(&[Handling::Ignore, Handling::Stop, Handling::Restart, Handling::Restart]);
    let mut script = Script {
        who,
        periodic,
        period,
        capacity,
        hard: random.once_in(2),
        started: !random.once_in(4),
        handling,
        steps: Vec::new(),
    };
    // What takes time, so that a loop does not turn without.
    script.steps.push(Step::Compute(1 + random.below(3)));
    script.steps.push(if periodic { Step::Period } else { Step::Sleep(random.one(&[5, 15])) });
    for _ in 0..random.below(6) {
        let step = step(random, periodic, names, handled);
        let place = random.below(script.steps.len() as u64 + 1) as usize;
        script.steps.insert(place, step);
    }
    if random.once_in(8) {
        script.steps.push(Step::Forever);
    } else if !random.once_in(5) {
        script.steps.push(Step::Again);
    }
    while script.name().len() > LONGEST {
        let place = script.steps.len() - 2;
        script.steps.remove(place);
    }
    script
}

fn step(random: &mut Random, periodic: bool, names: &[char], handled: bool) -> Step {
    let other = random.one(names);
    match random.below(15) {
        0 => Step::Compute(1 + random.below(8)),
        1 if periodic => Step::Period,
        1 | 2 => Step::Sleep(random.one(&[0, 5, 15, 25])),
        3 | 4 => Step::Await(random.one(&[0, 5, 15, 25])),
        5 | 6 => Step::Set,
        7 => Step::Reset,
        8 => Step::Replenish(random.one(&[0, 3, 5, 15])),
        9 => Step::SuspendSelf(random.one(&[0, 5, 15])),
        10 => Step::Suspend(other),
        11 => Step::Resume(other),
        12 => Step::Stop(other),
        13 if handled => Step::Raise,
        _ => Step::Start(other),
    }
}
