//! Images of systems with channels: who sees what of them, and that nothing else passes verification.

use crate::common::draft::caught;
use crate::common::{example, image};
use tactus_abi::image::WRITABLE;
use tactus_abi::layout::{CHANNELS, CHANNEL_STRIDE, HEAP, INFO, PAGE, PORT_CARDS};
use tactus_abi::port::{PortCard, DESTINATION, QUEUING, SOURCE};
use tactus_image::verify;
use tactus_model::{Channel, ChannelKind, Port, System};
use tactus_time::Duration;

/// The controller's first task tells both tasks of the workload something, and the second of those answers by a queue.
fn telling() -> System {
    let mut system = example();
    let port = |name: &str, task| Port { name: name.into(), task };
    let channel = |name: &str, kind, source, destinations: &[usize]| Channel {
        name: name.into(),
        kind,
        size: 60,
        source: port(name, source),
        destinations: destinations.iter().map(|task| port(name, *task)).collect(),
        latency: None,
        line: 0,
    };
    let sampling = ChannelKind::Sampling { refresh_period: Duration::from_millis(20) };
    system.channels = vec![
        channel("goal", sampling, 2, &[0, 1]),
        channel("answers", ChannelKind::Queuing { depth: 100, messages: 1 }, 1, &[3]),
    ];
    system
}

fn right() -> Vec<u8> {
    image(&telling()).unwrap().bytes
}

/// Components: the root scheduler, the workloads, then the user's.
const ROOT: usize = 0;
const PLAIN: usize = 1;
const DRAWN: usize = 2;
const CONTROLLER: usize = 3;
const GOAL: u64 = CHANNELS;
const ANSWERS: u64 = CHANNELS + CHANNEL_STRIDE;
const TAKEN: u64 = ANSWERS + CHANNEL_STRIDE - PAGE;

#[test]
fn a_source_alone_writes_what_its_destinations_read() {
    let bytes = right();
    let parsed = verify(&bytes).unwrap();
    let flags = |component, address| parsed.mapping_at(component, address).map(|mapping| mapping.flags);
    let by = |address| (0..parsed.components.len()).map(|n| flags(n, address)).collect::<Vec<_>>();
    let (write, read) = (Some(WRITABLE), Some(0));
    assert_eq!(by(GOAL)[..5], [read, read, read, write, None]);
    assert_eq!(by(ANSWERS)[..5], [read, None, write, read, None]);
    assert_eq!(by(TAKEN)[..5], [read, None, read, write, None]);
    let ports: Vec<u32> = parsed.infos.iter().map(|info| info.ports).collect();
    assert_eq!(ports, [2, 1, 2, 2, 0, 0]);
    // A hundred slots of eleven words and eight words before them.
    let memory = parsed.memories[parsed.mapping_at(DRAWN, ANSWERS).unwrap().memory as usize];
    assert_eq!(memory.bytes, (8 * (8 + 100 * 11_u64)).next_multiple_of(PAGE));
}

/// From the start of a card to its fields.
const CHANNEL: usize = std::mem::offset_of!(PortCard, channel);
const KIND: usize = std::mem::offset_of!(PortCard, kind);
const DIRECTION: usize = std::mem::offset_of!(PortCard, direction);
const WRITER: usize = std::mem::offset_of!(PortCard, writer);
const SIZE: usize = std::mem::offset_of!(PortCard, size);
const DEPTH: usize = std::mem::offset_of!(PortCard, depth);

caught! {
    right();
    a_destination_that_can_write_is_caught: |it| it.u32(it.at(PLAIN, GOAL) + 16, WRITABLE) => "as it should";
    a_source_that_cannot_write_is_caught: |it| it.u32(it.at(CONTROLLER, GOAL) + 16, 0) => "as it should";
    a_source_that_takes_is_caught: |it| it.u32(it.at(DRAWN, TAKEN) + 16, WRITABLE) => "as it should";
    messages_that_are_a_heap_are_caught: |it| {
        let other = it.memory_at(PLAIN, HEAP) as u32;
        it.u32(it.at(PLAIN, GOAL) + 4, other);
    } => "more than the layout says";
    messages_of_another_channel_are_caught: |it| it.u64(it.at(PLAIN, GOAL) + 8, ANSWERS) => "more than the layout says";
    messages_between_channels_are_caught: |it| it.u64(it.at(PLAIN, GOAL) + 8, GOAL + PAGE) => "no place for it";
    a_channel_in_another_component_is_caught: |it| it.u32(it.at(PLAIN, GOAL), 4) => "as it should";
    a_channel_in_the_scheduler_is_caught: |it| it.u32(it.at(PLAIN, GOAL), 0) => "on top of another one";
    a_scheduler_that_can_write_messages_is_caught: |it| it.u32(it.at(ROOT, GOAL) + 16, WRITABLE) => "as it should";
    a_scheduler_that_can_take_messages_is_caught: |it| it.u32(it.at(ROOT, TAKEN) + 16, WRITABLE) => "as it should";
    a_writer_of_another_component_is_caught: |it| it.u32(it.contents(ROOT, PORT_CARDS) + WRITER, 0) => "told writes";
    a_writer_that_there_is_not_is_caught: |it| it.u32(it.contents(ROOT, PORT_CARDS) + WRITER, 4_000) => "told writes";
    a_writer_that_a_port_names_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + WRITER, 1) => "does not observe";
    a_channel_that_is_observed_as_another_is_caught: |it| {
        it.u32(it.contents(ROOT, PORT_CARDS) + SIZE, 59);
    } => "told otherwise";
    a_port_of_another_channel_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + CHANNEL, 1) => "as it should";
    a_port_of_no_channel_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + CHANNEL, 64) => "channel that there is not";
    a_port_of_no_kind_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + KIND, 2) => "no kind";
    a_port_of_another_kind_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + KIND, QUEUING) => "no kind";
    a_port_of_no_direction_is_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + DIRECTION, 2) => "neither writes nor reads";
    a_destination_that_is_told_to_write_is_caught: |it| {
        it.u32(it.contents(PLAIN, PORT_CARDS) + DIRECTION, SOURCE);
    } => "as it should";
    a_source_that_is_told_to_read_is_caught: |it| {
        it.u32(it.contents(CONTROLLER, PORT_CARDS) + DIRECTION, DESTINATION);
    } => "as it should";
    longer_messages_than_memory_are_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + SIZE, 4_000) => "other memory";
    messages_without_end_are_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + SIZE, u32::MAX) => "too large";
    messages_of_another_length_are_caught: |it| it.u32(it.contents(PLAIN, PORT_CARDS) + SIZE, 59) => "do not agree";
    a_depth_without_end_is_caught: |it| {
        let card = it.contents(DRAWN, PORT_CARDS) + size_of::<PortCard>();
        it.u32(card + DEPTH, u32::MAX);
    } => "too large";
    another_count_of_ports_is_caught: |it| {
        let ports = it.contents(PLAIN, INFO) + std::mem::offset_of!(tactus_abi::shared::Info, ports);
        it.u32(ports, 0);
    } => "another number of ports";
    processes_without_a_partition_are_caught: |it| {
        let processes = it.contents(PLAIN, INFO) + std::mem::offset_of!(tactus_abi::shared::Info, processes);
        it.u32(processes, 1);
    } => "another number of processes";
}
