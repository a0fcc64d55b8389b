//! A service that works three times and then does harm to itself, in the middle of its clients' calls.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::time::Duration;
use tactus_rt::{calls, now, Caller};

tactus_rt::component! { services: [serve, linger] }

static SERVED: AtomicU64 = AtomicU64::new(0);

/// `() -> (how often, what the caller may not do)`: counts three calls; faults in the fourth, with flags set that must
/// not come back to the caller.
fn serve(_: Caller, _: [u64; 5]) -> [u64; 2] {
    let served = SERVED.fetch_add(1, Ordering::Relaxed);
    if served == 3 {
        // SAFETY: none: the kernel must stop the component.
        unsafe {
            core::arch::asm!(
                "pushfq",
                "or qword ptr [rsp], 0x44400",
                "popfq",
                "mov qword ptr [0], rax",
                options(noreturn)
            )
        }
    }
    // A service must not be able to end its client's job.
    let refused = calls::invoke(0, [0; 5]).is_ok_and(|[refused, _]| refused == 1);
    [served, u64::from(refused)]
}

/// `() -> ()`: takes 10 ms.
fn linger(_: Caller, _: [u64; 5]) -> [u64; 2] {
    let end = now() + Duration::from_millis(10);
    while now() < end {
        black_box(0);
        core::hint::spin_loop();
    }
    [0; 2]
}
