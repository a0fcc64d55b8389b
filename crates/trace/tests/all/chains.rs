//! Chains through a sampling channel whose source does not write.

use crate::common::*;
use tactus_record::EntryReason::*;
use tactus_record::{CallRefusal, EventKind};
use tactus_time::TaskId;
use tactus_trace::{judge, Bound, ChainView, Summary, Verdict};

/// Four passages of 3 units, from a source that runs first in each period of 5 to a destination that is released 2 units later. How often
/// the source wrote to a channel, if that was less often than its jobs ended.
fn run(written: Option<u32>, channel: u8) -> Summary {
    let mut builder = Builder::new(1);
    for job in 0..4 {
        let begin = 5 * u64::from(job);
        builder.call(0, begin, if job == 0 { Start } else { Timer }, |call| {
            call.release(0, job, begin).dispatch(0, job);
        });
        builder.call(0, begin + 1, Complete, |call| {
            call.complete(0, job, 1).idle();
        });
        builder.call(0, begin + 2, Timer, |call| {
            call.release(1, job, begin + 2).dispatch(1, job);
        });
        builder.call(0, begin + 3, Complete, |call| {
            call.complete(1, job, 1).idle();
            if let Some(written) = written.filter(|_| job == 3) {
                call.put(EventKind::CallRefused, Some(0), written, CallRefusal::NotWritten as u64, channel);
            }
        });
    }
    let mut view = view(1, 20, vec![task("source", 5, Some(Bound::Response(units(1)))), task("sink", 5, None)]);
    view.tasks[1].offset = units(2);
    view.chains.push(ChainView {
        name: "samples".into(),
        tasks: vec![TaskId(0), TaskId(1)],
        by_message: Vec::new(),
        told: vec![true],
        samples: vec![(TaskId(0), 7)],
        client: None,
        deadline: Some(units(4)),
        bound: Some(units(3)),
    });
    judge(&view, &builder.end(20))
}

#[test]
fn what_a_source_did_not_write_has_come_to_no_destination() {
    // One job may have set up what the others write to.
    for (written, completed, missed) in
        [(None, 4, 0), (Some(3), 4, 0), (Some(2), 2, 2), (Some(1), 1, 3), (Some(0), 0, 4)]
    {
        let summary = run(written, 7);
        let chain = &summary.chains[0];
        assert_eq!((chain.begun, chain.completed, chain.missed), (4, completed, missed), "{written:?}");
        assert_eq!(chain.response.is_some(), missed == 0, "{written:?}");
        assert_eq!(summary.verdict == Verdict::Held, missed == 0, "{written:?}: {:?}", summary.verdict);
        let void: Vec<(&str, u64)> = summary.voids.iter().map(|by| (&*by.task, by.missed)).collect();
        assert_eq!(void, if missed > 0 { vec![("source", missed)] } else { Vec::new() }, "{written:?}");
    }
}

#[test]
fn what_a_source_did_not_write_to_another_channel_is_not_missed_here() {
    let summary = run(Some(0), 6);
    let chain = &summary.chains[0];
    assert_eq!((chain.begun, chain.completed, chain.missed), (4, 4, 0));
    assert!(summary.verdict == Verdict::Held && summary.tasks[0].written == Some(0));
}
