//! The example of the crate `a653rs` (`examples/partition.rs` there, MIT or Apache-2.0): only its hypervisor, its entry, and the sizes of
//! two messages, which are longer than the standard allows, are others.
#![no_std]
#![no_main]

use a653rs::partition;

tactus_rt::apex_partition!(hello::Partition);

#[partition(tactus_rt::apex::Apex)]
mod hello {
    #[sampling_out(name = "Ch1", msg_size = "1KB")]
    struct Channel1;

    #[sampling_in(refresh_period = "500ms")]
    #[sampling_in(msg_size = "2KB")]
    struct ChannelTwo;

    #[queuing_out(msg_count = 20, msg_size = "12KB", discipline = "FIFO")]
    struct Channel3;

    #[queuing_in(msg_count = 10, msg_size = "2MB", discipline = "Priority")]
    struct ChannelFour;

    #[start(cold)]
    fn cold_start(ctx: start::Context) {
        warm_start(ctx);
    }

    #[start(warm)]
    fn warm_start(mut ctx: start::Context) {
        ctx.create_aperiodic2().unwrap().start().unwrap();
        ctx.create_periodic3().unwrap().start().unwrap();
        ctx.create_channel_1().unwrap();
        ctx.create_channel_two().unwrap();

        // Maybe we do not always want to initialize channel3
        // ctx.create_channel_3().unwrap();
    }

    #[aperiodic(name = "ap2", time_capacity = "Infinite", stack_size = "10KB", base_priority = 1, deadline = "Soft")]
    fn aperiodic2(ctx: aperiodic2::Context) {
        ctx.get_time();
    }

    #[periodic(period = "10ms", time_capacity = "Infinite", stack_size = "10KB", base_priority = 1, deadline = "Hard")]
    fn periodic3(_ctx: periodic3::Context) {}
}
