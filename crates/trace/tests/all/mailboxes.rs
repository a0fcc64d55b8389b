//! Messages between two sandboxes, judged from both traces: each by when it was sent and when it was taken.

use crate::common::{at, units};
use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Duration, TaskId};
use tactus_trace::{judge_mailbox, MailboxSide, MailboxSummary, MailboxView, Trace};

const TAKES: u8 = 128;

fn view() -> MailboxView {
    MailboxView {
        name: "targets".into(),
        number: 2,
        source: TaskId(0),
        destination: TaskId(1),
        ends: ["rich's map".into(), "critical's guidance".into()],
        depth: 4,
        messages: 1,
        from_send: Some(units(12)),
        from_release: Some(units(15)),
        has_room: true,
        responses: [Some(units(3)), Some(units(2))],
        latency: Some(units(13)),
    }
}

/// A job of each of these releases, which begins a unit later and takes another one; and what was counted when it ended.
fn run(task: u16, level: u8, jobs: &[(u64, u32, u32)]) -> Trace {
    let mut records = Vec::new();
    for (n, (release, count, beside)) in jobs.iter().enumerate() {
        let record = |kind, time: u64, job, arg: u64, (level, ticket)| Record {
            time: at(time),
            arg,
            job,
            task: Some(TaskId(task)),
            kind,
            level,
            core: CoreId(0),
            ticket,
        };
        let job = n as u32;
        records.push(record(EventKind::Release, *release, job, at(*release).as_nanos(), (0, 0)));
        records.push(record(EventKind::Dispatch, release + 1, job, 0, (0, 0)));
        records.push(record(EventKind::Complete, release + 2, job, units(1).as_nanos(), (0, 0)));
        records.push(record(EventKind::Mailed, release + 2, *count, at(release + 2).as_nanos(), (level, *beside)));
    }
    Trace { cores: vec![records], dropped: vec![0], ..Trace::default() }
}

fn judged(view: &MailboxView, sent: &[(u64, u32, u32)], taken: &[(u64, u32, u32)]) -> MailboxSummary {
    let (from, to) = (run(0, 2, sent), run(1, 2 | TAKES, taken));
    let side = |trace| MailboxSide { trace, began: units(100), duration: units(100), restarted: false };
    judge_mailbox(view, side(&from), side(&to))
}

#[test]
fn each_message_is_held_to_the_time_from_its_send_and_from_the_release_of_its_job() {
    let it = judged(&view(), &[(0, 1, 0), (20, 2, 0)], &[(10, 1, 0), (30, 2, 0)]);
    assert_eq!((it.sent, it.taken, it.refused, it.late, it.broken.len()), (2, 2, 0, 0, 0), "{it:?}");
    // Sent by 2, taken by 12.
    assert_eq!((it.from_send, it.from_release), (Some(units(10)), Some(units(12))));
    let it = judged(&view(), &[(0, 1, 0), (20, 2, 0)], &[(10, 1, 0), (33, 2, 0)]);
    let words = ["message 2 was taken 13 ms after its send, over 12 ms"];
    assert_eq!((it.late, it.broken), (1, words.map(str::to_string).to_vec()));
}

#[test]
fn one_that_is_not_taken_is_late_when_its_time_is_over_and_not_before() {
    let it = judged(&view(), &[(0, 1, 0), (90, 2, 0)], &[(10, 1, 0)]);
    assert_eq!((it.sent, it.taken, it.broken.len()), (2, 1, 0), "{it:?}");
    let it = judged(&view(), &[(0, 1, 0), (80, 2, 0)], &[(10, 1, 0)]);
    assert_eq!(it.broken.len(), 2, "{it:?}");
    assert!(it.broken[0].contains("message 2 was not taken 18 ms after its send"), "{it:?}");
}

#[test]
fn none_is_taken_that_was_not_sent_or_before_its_job_began() {
    let it = judged(&view(), &[(0, 1, 0)], &[(10, 2, 0)]);
    assert!(it.broken.iter().any(|it| it.contains("2 messages were taken, and 1 sent")), "{it:?}");
    let it = judged(&view(), &[(20, 1, 0)], &[(10, 1, 0)]);
    assert!(it.broken.iter().any(|it| it.contains("and the job that sent it began at")), "{it:?}");
    let it = judged(&view(), &[(0, 1, 0), (20, 0, 0)], &[(10, 1, 0)]);
    assert!(
        it.broken.iter().any(|it| it.contains("rich's map: the count of what was sent went from 1 to 0")),
        "{it:?}"
    );
}

/// What a kernel writes in its task's name, as far as the trace of its own scheduler shows it: nothing is held for it, and who spoke is named.
#[test]
fn a_message_that_a_kernel_forged_is_not_held_and_its_sandbox_is_named() {
    let source = "rich's map: ";
    // More than the file lets a job send; and at once more than anybody would keep.
    let three = judged(&view(), &[(0, 3, 0), (20, 4, 0)], &[(10, 3, 0)]);
    assert_eq!((three.sent, three.broken.len()), (0, 1), "{three:?}");
    assert!(three.broken[0].starts_with(source) && three.broken[0].contains("a job sent 3 messages"), "{three:?}");
    let it = judged(&view(), &[(0, 1, 0), (20, 60_001, 0)], &[(10, 1, 0)]);
    assert!(it.sent == 1 && it.broken[0].starts_with(source), "{it:?}");
    let three = judged(&MailboxView { messages: 3, ..view() }, &[(0, 3, 0)], &[(10, 3, 0)]);
    assert_eq!((three.sent, three.broken.len()), (3, 0), "{three:?}");
    // While none of its jobs executes: by its scheduler's next decision.
    let forged = |(task, level): (u16, u8), count: u32| {
        let mut trace = run(task, level, &[(0, 1, 0), (20, 2, 0)]);
        let record = Record { time: at(12), arg: at(12).as_nanos(), job: count, ..trace.cores[0][3] };
        trace.cores[0].insert(4, record);
        trace
    };
    let side = |trace| MailboxSide { trace, began: units(100), duration: units(100), restarted: false };
    let honest = [run(0, 2, &[(0, 1, 0), (20, 2, 0)]), run(1, 2 | TAKES, &[(10, 1, 0), (30, 2, 0)])];
    assert!(judge_mailbox(&view(), side(&honest[0]), side(&honest[1])).broken.is_empty());
    let lies = [forged((0, 2), 2), forged((1, 2 | TAKES), 2)];
    let it = judge_mailbox(&view(), side(&lies[0]), side(&honest[1]));
    assert!(it.broken[0].starts_with(source) && it.broken[0].contains("while no job of its executed"), "{it:?}");
    // One that is called taken, and one that was never sent, by a destination that lies.
    let it = judge_mailbox(&view(), side(&honest[0]), side(&lies[1]));
    assert!(it.broken[0].starts_with("critical's guidance: "), "{it:?}");
    let it = judged(&view(), &[(0, 1, 0)], &[(10, 65_000, 0), (30, 120_000, 0)]);
    assert!(it.broken[0].contains("65000 messages were taken, and 1 sent") && it.taken == 1, "{it:?}");
}

/// A count that is none makes an honest destination lose its place, and the source is to blame; a destination that says so without a look is not
/// believed either.
#[test]
fn who_loses_his_place_by_the_others_count_is_not_blamed_for_it() {
    let it = judged(&view(), &[(0, 1, 0), (20, 1 << 30, 0)], &[(10, 1, 0), (30, 1 << 30, 1)]);
    assert_eq!((it.sent, it.taken, it.broken.len()), (1, 1, 2), "{it:?}");
    assert!(it.broken.iter().all(|it| it.starts_with("rich's map: ")), "{it:?}");
    let it = judged(&view(), &[(0, 1, 0)], &[(10, 1, 0), (30, 1, 1 << 30)]);
    assert!(it.broken[0].starts_with("critical's guidance: the count of what was not taken"), "{it:?}");
}

#[test]
fn one_that_is_not_whole_or_finds_no_room_where_all_were_promised_some_is_told() {
    let it = judged(&view(), &[(0, 1, 1)], &[(10, 1, 1)]);
    assert_eq!((it.refused, it.unsound, it.broken.len()), (1, 1, 2), "{it:?}");
    let it = judged(&MailboxView { has_room: false, ..view() }, &[(0, 1, 1)], &[(10, 1, 0)]);
    assert_eq!((it.refused, it.broken.len()), (1, 0), "{it:?}");
}

/// Its own sandbox's verdict tells of a job that took longer than it was promised; who waited for it is not blamed for the time.
#[test]
fn no_time_is_owed_where_a_task_at_an_end_took_longer_than_it_was_promised() {
    let slow = MailboxView { responses: [Some(units(3)), Some(Duration::from_micros(1_999))], ..view() };
    let it = judged(&slow, &[(0, 1, 0)], &[(33, 1, 0)]);
    assert!(it.broken.is_empty() && it.excused.as_ref().is_some_and(|why| why.contains("task 1 took 2 ms")), "{it:?}");
    // But whatever it does, nothing may be lost.
    let it = judged(&slow, &[(0, 1, 0)], &[(33, 2, 0)]);
    assert_eq!(it.broken.len(), 1, "{it:?}");
}

/// A life that begins with this count.
fn life(task: u16, level: u8, base: u32, jobs: &[(u64, u32, u32)]) -> Trace {
    let mut trace = run(task, level, jobs);
    let begin = Record { time: at(0), arg: at(0).as_nanos(), job: base, ticket: 0, ..trace.cores[0][3] };
    trace.cores[0].insert(0, begin);
    trace
}

fn side(trace: &Trace, began: u64, restarted: bool) -> MailboxSide<'_> {
    MailboxSide { trace, began: units(began), duration: units(200 - began), restarted }
}

#[test]
fn a_sender_that_was_started_again_goes_on_with_its_number_and_its_last_life_is_judged() {
    let from = life(0, 2, 7, &[(0, 8, 0), (20, 9, 0)]);
    let to = |last: u32| run(1, 2 | TAKES, &[(0, 5, 0), (20, 7, 0), (50, 8, 0), (70, last, 0)]);
    let judged = |to: &Trace, restarted| judge_mailbox(&view(), side(&from, 140, restarted), side(to, 100, false));
    let it = judged(&to(9), true);
    assert_eq!((it.sent, it.taken, it.earlier, it.unjudged, it.broken.len()), (2, 2, true, 0, 0), "{it:?}");
    assert_eq!(it.from_send, Some(units(10)));
    // What it did not send is still no message, and one that it sent is still owed.
    assert!(judged(&to(10), true).broken[0].contains("3 messages were taken, and 2 sent"));
    assert!(judged(&to(8), true).broken[0].contains("message 9 was not taken"));
    // Without a restart nobody begins with seven.
    assert!(judged(&to(9), false).broken[0].contains("while no job of its executed"));
}

#[test]
fn a_receiver_that_was_started_again_takes_what_waits_and_owes_time_and_room_from_then_on() {
    let from = |refused: [u32; 2]| run(0, 2, &[(0, 1, 0), (10, 2, refused[0]), (40, 3, refused[1])]);
    let judged = |from: &Trace, jobs: &[(u64, u32, u32)]| {
        let to = life(1, 2 | TAKES, 1, jobs);
        judge_mailbox(&view(), side(from, 100, false), side(&to, 120, true))
    };
    let it = judged(&from([0, 0]), &[(0, 2, 0), (30, 3, 0)]);
    assert_eq!((it.sent, it.taken, it.unjudged, it.broken.len()), (3, 3, 2, 0), "{it:?}");
    assert_eq!(it.from_send, Some(units(10)));
    // Room is owed when it has looked, and order always.
    assert!(judged(&from([1, 1]), &[(0, 2, 0), (30, 3, 0)]).broken.is_empty());
    assert!(judged(&from([0, 1]), &[(0, 2, 0), (30, 3, 0)]).broken[0].contains("1 messages found no room"));
    assert!(judged(&from([0, 0]), &[(0, 2, 1), (30, 3, 1)]).broken[0].contains("1 messages were not whole"));
    assert!(judged(&from([0, 0]), &[(0, 2, 0), (36, 3, 0)]).broken[0].contains("message 3 was taken 16 ms after"));
    assert!(judged(&from([0, 0]), &[(0, 2, 0), (30, 4, 0)]).broken[0].contains("4 messages were taken, and 3 sent"));
}
