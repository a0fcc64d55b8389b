//! What the standard library and `humantime` have elsewhere.

use crate::partition::ApexLinuxPartition;
use a653rs::bindings::{ApexProcessP1, ApexTimeP4, INFINITE_TIME_VALUE};
use a653rs::prelude::ApexTimeP1Ext;
pub use alloc::format;
pub use alloc::string::{String, ToString};
use core::time::Duration;
use tactus_rt::apex::Apex;

/// Sleeps. A process that has a period spends the time, since its job would end; any other one waits.
pub fn sleep(time: Duration) {
    let period = Apex::get_my_id().and_then(Apex::get_process_status).map(|status| status.attributes.period);
    if period == Ok(INFINITE_TIME_VALUE) {
        // The time is over in any case.
        let _ = <Apex as ApexTimeP1Ext>::timed_wait(time);
        return;
    }
    let end = ApexLinuxPartition::get_time().saturating_add(time.as_nanos() as i64);
    while ApexLinuxPartition::get_time() < end {}
}

/// A time, for people.
pub fn format_duration(time: Duration) -> String {
    alloc::format!("{time:?}")
}
