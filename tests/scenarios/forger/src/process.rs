//! A process of a partition of ARINC 653 that says what is not its to say, one thing in each of its turns.
#![no_std]
#![no_main]

mod attempts;

use a653rs::partition;

tactus_rt::apex_partition!(forger::Partition);

#[partition(tactus_rt::apex::Apex)]
mod forger {
    #[start(cold)]
    fn cold_start(ctx: start::Context) {
        warm_start(ctx);
    }

    #[start(warm)]
    fn warm_start(mut ctx: start::Context) {
        ctx.create_process().unwrap().start().unwrap();
    }

    #[periodic(period = "20ms", time_capacity = "Infinite", stack_size = "10KB", base_priority = 1, deadline = "Soft")]
    fn process(ctx: process::Context) {
        loop {
            super::attempts::make_one();
            let _ = ctx.periodic_wait();
        }
    }
}
