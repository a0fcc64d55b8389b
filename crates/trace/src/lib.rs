//! From records to judgement: reading traces, statistics, checks, exporters.
#![forbid(unsafe_code)]

mod cause;
mod chains;
mod changes;
pub mod check;
mod disk;
mod disk_budget;
mod disk_table;
mod draw;
mod file;
mod headline;
mod jobs;
mod judge;
mod litmus;
mod mailboxes;
mod merge;
mod monitors;
mod order;
mod overhead;
mod perfetto;
mod processes;
mod promise;
mod schedule;
mod services;
mod spread;
mod summary;
mod view;
mod void;

pub use chains::ChainSummary;
pub use disk_table::{disk_table, read_disk_inputs, read_disk_table};
pub use draw::{draw, list};
pub use file::{FilePart, TraceError, BLOCK_RECORDS, MAGIC, RING_ALIGN, VERSION};
pub use jobs::{jobs, Job};
pub use judge::{judge, late_jobs, LateJob};
pub use litmus::{litmus, write_litmus, LITMUS_RECORD_BYTES};
pub use mailboxes::{judge_mailbox, mail_of_the_workload, MailboxSide, MailboxSummary, MailboxView};
pub use merge::merge;
pub use monitors::{monitor, Conclusion, Finding, Observed, PATH};
pub use order::in_order;
pub use perfetto::perfetto;
pub use schedule::{run_end, schedule, Segment, SegmentKind};
pub use summary::*;
pub use tactus_task::Bound;
pub use view::{
    written_promise, Action, ChainView, ChangeView, Changes, DiskClientView, DiskInput, DiskTrace, DiskView, HeapUse,
    LoadView, Now, PartitionView, Served, ServiceView, SlotView, Target, TaskView, Tolerated, Trace, View,
};

use tactus_time::Duration;

/// Adds to a length; sums over a damaged trace may be too long, and then stay at the longest.
pub(crate) fn extend(sum: &mut Duration, by: Duration) {
    *sum = sum.checked_add(by).unwrap_or(Duration::MAX);
}
