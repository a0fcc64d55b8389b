//! Mailboxes between two systems that know nothing of each other's phases: how long a message takes at most, and how many wait.
//!
//! Source: R. West, Y. Li and E. Missimer, "Time management in the Quest-V RTOS", OSPERT 2012, section on communication: the status of a
//! mailbox is polled, and sender and receiver are bound to VCPUs. The paper promises a bounded delay and gives no formula. An admitted VCPU with
//! budget C in each period T delivers e units of work within D(e) = 2(T − C) + e + (⌈e/C⌉ − 1)(T − C), and as nothing aligns the two VCPUs, a
//! message takes D(e) of its sender and D(e) of its receiver at most: both black-outs.
//!
//! Here D(e) is the response bound R of the task, which counts the black-out of the server that it is in, and whatever else delays it: of the
//! sender R_s, of the receiver R_r. The receiver looks in each of its jobs, at any point of it; with period T_r and first release φ_r.
//!
//! **Delay.** A message sent at s is taken by the end of the first job of the receiver that is released at s or later, if no earlier one has
//! taken it: that one begins to look after s. It is released by s + T_r, or is the first one; the sender's first job is released at φ_s, so that
//! s ≥ φ_s, and the release comes by s + L with L = max(T_r, φ_r − φ_s). It ends within R_r. So from the send to the end of the job that takes it
//! pass at most **L + R_r**; and from the release of the job that sends, which has ended within R_s, at most **R_s + L + R_r**.
//!
//! **Number.** What has not been taken at t was sent after t − (L + R_r), so by jobs of the sender released after t − (R_s + L + R_r) and not
//! after t: at most ⌈(R_s + L + R_r)/T_s⌉ of them, with as many messages each as a job sends. This holds if each job takes all that waits.

use tactus_time::Duration;

/// A task at an end of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MailboxTask {
    /// R: from a release to the end of its job at most.
    pub response: Duration,
    /// T: from release to release; of the sender at least.
    pub period: Duration,
    /// φ: its first release.
    pub offset: Duration,
}

/// What a mailbox is bounded by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MailboxBound {
    /// L + R_r: from the send of a message to the end of the job that takes it.
    pub from_send: Duration,
    /// R_s + L + R_r: the same from the release of the job that sends it.
    pub from_release: Duration,
    /// The most messages that wait.
    pub waiting: u64,
}

/// Bounds a mailbox into which a job of the sender puts `messages` at most. Nothing where a sum is longer than any time.
pub fn mailbox(sender: MailboxTask, receiver: MailboxTask, messages: u32) -> Option<MailboxBound> {
    let looks = receiver.period.max(receiver.offset.saturating_sub(sender.offset));
    let from_send = looks.checked_add(receiver.response)?;
    let from_release = sender.response.checked_add(from_send)?;
    let jobs = from_release.as_nanos().div_ceil(sender.period.as_nanos().max(1));
    Some(MailboxBound { from_send, from_release, waiting: jobs.saturating_mul(messages.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two servers that are plain: C of T, one job of e units in each period of the server.
    fn served(budget: u64, period: u64, units: u64) -> Duration {
        let blackout = period - budget;
        Duration::from_micros(2 * blackout + units + (units.div_ceil(budget) - 1) * blackout)
    }

    #[test]
    fn both_black_outs_are_counted_and_a_period_of_the_one_who_looks() {
        let us = Duration::from_micros;
        let sender = MailboxTask { response: served(200, 1_000, 300), period: us(5_000), offset: us(0) };
        let receiver = MailboxTask { response: served(100, 2_000, 100), period: us(10_000), offset: us(0) };
        assert_eq!((sender.response, receiver.response), (us(1_600 + 300 + 800), us(3_800 + 100)));
        let bound = mailbox(sender, receiver, 2).unwrap();
        assert_eq!((bound.from_send, bound.from_release), (us(13_900), us(16_600)));
        // Four jobs of the sender in 16.6 ms.
        assert_eq!(bound.waiting, 2 * 4);
    }

    #[test]
    fn a_receiver_that_begins_late_is_waited_for() {
        let ms = Duration::from_millis;
        let sender = MailboxTask { response: ms(1), period: ms(10), offset: ms(5) };
        let receiver = MailboxTask { response: ms(2), period: ms(10), offset: ms(50) };
        let bound = mailbox(sender, receiver, 1).unwrap();
        assert_eq!((bound.from_send, bound.from_release, bound.waiting), (ms(47), ms(48), 5));
    }

    #[test]
    fn what_is_longer_than_any_time_has_no_bound() {
        let one = MailboxTask { response: Duration::MAX, period: Duration::from_millis(1), offset: Duration::ZERO };
        assert_eq!(mailbox(one, one, 1), None);
    }
}
