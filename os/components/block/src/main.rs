//! The component that serves a disk of the system file: one task, whose jobs look what is due and what clients ask, and perhaps a
//! second one, which the interrupt of its virtio disk releases.
//!
//! Its bytes are on the device that it drives, a virtio disk or memory that the host lends (ivshmem); without one they are in its
//! own memory where clients are components, and nowhere where all requests are the disk's own.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod buffer;
#[cfg(target_os = "none")]
mod platter;

#[cfg(target_os = "none")]
mod component {
    extern crate alloc;

    use crate::buffer::Buffer;
    use crate::platter::Platter;
    use core::fmt::Write;
    use tactus_block::Disk;
    use tactus_disk::DiskSetup;
    use tactus_rt::virtio::{disk_interrupted, disk_line};
    use tactus_rt::{calls, cards, now, Job, Screen};
    use tactus_sync::{Lock, Order, Rank};

    tactus_rt::component! { job: work, services: [] }

    /// One task has the component's state, so that nobody ever waits for it.
    struct Only;

    impl Rank for Only {
        const NUMBER: u32 = 1;
    }

    static STATE: Lock<Option<Disk<Buffer, Platter>>, Only> = Lock::new(None);

    /// Things done in one job at most. A job that does not come so far goes on in the next, before it looks at clients.
    const MOST: u32 = 16;

    fn work(job: &Job) {
        if let Some(line) = job.line() {
            return interrupted(job, line);
        }
        let mut order = Order::unlocked();
        let mut state = STATE.lock(&mut order);
        let Some(disk) = &mut *state else {
            *state = Some(begin());
            return;
        };
        // The disk's own requests wait meanwhile, and are served at their instants afterwards.
        if disk.platter().prepare() {
            return;
        }
        disk.work(now(), MOST, &mut |line| {
            let _ = Screen.write_str(line);
        });
        if let Some([announced, waited]) = disk.platter().answers_to_tell() {
            let _ = writeln!(Screen, "block: its interrupt announced {announced} answers, {waited} were waited for");
        }
    }

    /// The device has an answer. It is handed over at the instant that the model says, by the task that serves the disk.
    fn interrupted(job: &Job, line: u64) {
        match disk_line().map(u64::from) {
            Some(own) if own == line => {}
            Some(own) => give_up(format_args!("its disk interrupts on line {own}; write interrupt = {own}")),
            None => {
                give_up("a line releases its task, but it has no [[device]] of kind virtio-blk; remove \"interrupt\"")
            }
        }
        disk_interrupted();
        job.acknowledge();
    }

    fn begin() -> Disk<Buffer, Platter> {
        let setup = match DiskSetup::decode(cards::told()) {
            Ok(setup) => setup,
            Err(_) if cards::told().is_empty() => {
                give_up("the file has no [[disk]] with this component; write component = \"block\" there")
            }
            Err(error) => give_up(error),
        };
        let platter = Platter::new(&setup).unwrap_or_else(|why| give_up(why));
        let disk = Disk::new(&setup, platter, Buffer::new);
        disk.unwrap_or_else(|| give_up("the drive's parameters make no drive; name another"))
    }

    fn give_up(why: impl core::fmt::Display) -> ! {
        let _ = writeln!(Screen, "block: {why}");
        calls::give_up()
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
