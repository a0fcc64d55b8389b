//! What was written through channels: the root scheduler sees how many messages each source has written and how many were taken, so that
//! whoever signals a request or an answer has sent one, and that a source which does not write is told.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_policy::EventCall;
use tactus_record::RequestEvent;
use tactus_rt::port::ObservedPort;
use tactus_rt::time::TaskId;

/// A channel and what was seen of it.
pub struct Channel {
    port: ObservedPort,
    /// The signal by which its messages are told, if they are requests or answers.
    event: Option<u16>,
    /// What had been written when the writer's last message was told. Of the core that runs the writer.
    told: AtomicU64,
}

/// All channels. `signals`: whether the task may do so.
pub fn channels(signals: impl Fn(TaskId, EventCall) -> bool) -> Vec<Channel> {
    let one = |port: ObservedPort| {
        let writer = TaskId(port.writer() as u16);
        let client = port.service().map(|of| u16::from(of.client));
        let events =
            client.map(|client| [RequestEvent::Request(client), RequestEvent::Answer(client)].map(RequestEvent::event));
        let event = events.into_iter().flatten().find(|event| signals(writer, EventCall::Signal(*event)));
        Channel { port, event, told: AtomicU64::new(0) }
    };
    ObservedPort::all().map(one).collect()
}

/// Whether the message that this signal tells of was sent: the channel's count says so, or that there was no room for one more. A signal of
/// no message tells of none.
#[cold]
pub fn is_sent(channels: &[Channel], call: EventCall) -> bool {
    let (EventCall::Signal(event) | EventCall::Broadcast(event)) = call else { return true };
    let Some(channel) = channels.iter().find(|it| it.event == Some(event)) else { return true };
    let written = channel.port.written();
    channel.told.swap(written, Ordering::Relaxed) != written || channel.port.is_full()
}

/// The sources of sampling channels, each channel's number, and how often its source has written.
#[cold]
pub fn sampled(channels: &[Channel]) -> impl Iterator<Item = (TaskId, u8, u64)> + '_ {
    let sources = channels.iter().filter(|it| it.port.is_sampling());
    sources.map(|it| (TaskId(it.port.writer() as u16), it.port.channel() as u8, it.port.written()))
}
