//! What a sampling port costs: the partition with the process `writer` writes 64 bytes in each job, the one with `reader` reads them,
//! each between two readings of the clock.
#![no_std]
#![no_main]

use a653rs::bindings::{
    ApexName, ApexProcessAttribute, ApexProcessP4, ApexSamplingPortP4, ApexTimeP4, Deadline, PortDirection,
};
use a653rs::prelude::{Partition, StartContext};
use core::fmt::Write;
use core::sync::atomic::{AtomicI64, Ordering};
use tactus_rt::apex::Apex;
use tactus_rt::{now, Console};

tactus_rt::apex_partition!(Cost);

/// Either partition: each has the process and the direction of the port that the file gives it.
struct Cost;

const PERIOD: i64 = 10_000_000;
const ROUNDS: u8 = 40;
static PORT: AtomicI64 = AtomicI64::new(0);

impl Partition<Apex> for Cost {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        for direction in [PortDirection::Source, PortDirection::Destination] {
            if let Ok(id) = Apex::create_sampling_port(name("state"), 64, direction, PERIOD) {
                PORT.store(id, Ordering::Relaxed);
            }
        }
        for (process, entry_point) in [("writer", writer as extern "C" fn()), ("reader", reader)] {
            let attributes = ApexProcessAttribute {
                period: PERIOD,
                time_capacity: PERIOD,
                entry_point,
                stack_size: 8_192,
                base_priority: 1,
                deadline: Deadline::Soft,
                name: name(process),
            };
            let _ = Apex::create_process(&attributes).and_then(Apex::start);
        }
    }
    fn warm_start(&self, ctx: &mut StartContext<Apex>) {
        self.cold_start(ctx);
    }
}

fn name(text: &str) -> ApexName {
    let mut name = [0; 32];
    name.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    name
}

/// Does it once in each job, and tells the longest of all.
fn measure(what: &str, mut service: impl FnMut(u8) -> bool) {
    let (mut longest, mut done) = (0, 0);
    for round in 1..=ROUNDS {
        let before = now();
        let good = service(round);
        let after = now();
        if good {
            done += 1;
            longest = longest.max(after.as_nanos() - before.as_nanos());
        }
        let _ = Apex::periodic_wait();
    }
    let _ = writeln!(Console, "{done} times {what}, at most {longest} ns");
}

extern "C" fn writer() {
    measure("written", |round| Apex::write_sampling_message(PORT.load(Ordering::Relaxed), &[round; 64]).is_ok());
}

extern "C" fn reader() {
    let mut message = [0; 64];
    measure("read", |_| {
        // SAFETY: a slice holds what is put into it.
        let read = unsafe { Apex::read_sampling_message(PORT.load(Ordering::Relaxed), &mut message) };
        read.is_ok_and(|(_, length)| length == 64) && message[0] == message[63]
    });
}
