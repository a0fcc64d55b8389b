//! Looks at who had how much of the core in a second, and that a VCPU too much is refused.
#![no_std]
#![no_main]

use core::fmt::Write;
use parts::{create, enter, MICROSECOND, MILLISECOND};
use tactus_rt::{grant, now, Job, Screen};

tactus_rt::component! { job: judge, services: [] }

/// How the machine says that all is well, or not.
const HELD: u64 = 0x10;
const BROKEN: u64 = 0x11;

/// Who, and the least and the most thousandths of the core. The disk has its 40 but for what it waits for the judge: a piece of 200 µs comes
/// back 5 ms after it was begun, and a later beginning is not caught up. (For the less urgent of the two VCPUs it would have 30, since it
/// would wait as long as the more urgent one works.)
const EXPECTED: [(&str, u64, u64); 4] =
    [("control", 249, 250), ("work", 399, 400), ("disk", 39, 40), ("rest", 295, 310)];

fn wait(nanos: u64) {
    let _ = grant("timeout").call([nanos, 0, 0, 0, 0]);
    let _ = grant("block").call([0; 5]);
}

fn worked() -> [u64; 4] {
    EXPECTED.map(|(name, ..)| grant(name).call([0; 5]).map_or(0, |[nanos, _]| nanos))
}

fn interrupts() -> u64 {
    grant("interrupts").call([0; 5]).map_or(0, |[count, _]| count)
}

fn judge(_: &Job) {
    let _ = grant("timed").call([0; 5]);
    // The others come in first.
    wait(40 * MILLISECOND);
    let mut held = enter(500 * MICROSECOND, 10 * MILLISECOND).is_some();
    let refused = create(MILLISECOND, 100 * MILLISECOND).is_none();
    let _ = writeln!(Screen, "a VCPU more than fits: {}", if refused { "refused" } else { "made, WRONG" });
    held &= refused;
    wait(60 * MILLISECOND);
    let (begin, before, served) = (now().as_nanos(), worked(), interrupts());
    wait(1_000 * MILLISECOND);
    let (length, after) = (now().as_nanos() - begin, worked());
    for (((name, least, most), before), after) in EXPECTED.iter().zip(before).zip(after) {
        let had = (after - before) * 10_000 / length;
        let good = (10 * least..=10 * most).contains(&had);
        held &= good;
        let _ = writeln!(Screen, "{name:<8} {:>3}.{} of 1000{}", had / 10, had % 10, if good { "" } else { "  WRONG" });
    }
    let _ = writeln!(Screen, "{} interrupts served", interrupts() - served);
    let _ = writeln!(Screen, "verdict: {}", if held { "every VCPU had its share" } else { "a share was broken" });
    let _ = grant("end").call([if held { HELD } else { BROKEN }, 0, 0, 0, 0]);
}
