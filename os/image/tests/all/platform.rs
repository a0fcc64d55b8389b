//! What components get beside calls: schedulers, restarts, windows, devices, sequences. Right images pass, and each kind
//! of damage is caught.

use crate::common::draft::caught;
use crate::common::elf::{Elf, Segment, EXECUTE, READ, WRITE};
use crate::common::{component, image, image_with, program, programs, system, task};
use tactus_abi::image::{role, Memory, MemoryKind, ThreadKind, NO_COMPONENT};
use tactus_abi::layout::{
    BUFFERS, COMPONENTS, DEVICES, DEVICE_CARDS, DEVICE_CONFIGURATION, DEVICE_DMA, DEVICE_STRIDE, HEAP, REGIONS,
};
use tactus_abi::shared::{name_text, BufferCard, ComponentCard, DeviceCard};
use tactus_image::{verify, Image, Parsed};
use tactus_model::{Body, Buffer, Device, DeviceKind, Platform, Restart, Rights, Superior, System};
use tactus_monitor::{Action, Monitor, Occurrence, OccurrenceKind, Property, DEFAULT_TABLE_LIMIT};
use tactus_time::Duration;

/// Components by their numbers: 0 root, 1 task, 2 to 8 the user's.
const MANAGER: usize = 2;
const CAMERA: usize = 3;
const FILTER: usize = 4;
const PARENT: usize = 5;
const CHILD: usize = 6;
const DRIVER: usize = 7;

/// Two cores; a memory manager, two that share a buffer, two schedulers, a driver with three devices.
fn example() -> System {
    let mut camera = task("camera", Some(0));
    camera.body = Body::Component(1);
    let mut components =
        ["manager", "camera", "filter", "parent", "child", "driver"].map(|name| component(name, &[], &[]));
    let restart = |by| Some(Restart { by, most: 3, per: Duration::from_millis(500), waits: false });
    components[0].rights = Rights { memory_manager: true, console: true, ..Rights::default() };
    components[1].rights = Rights { restart: restart(Superior::Root), ..Rights::default() };
    components[2].rights = Rights { restart: restart(Superior::Component(1)), threads: 2, ..Rights::default() };
    components[3].rights = Rights { scheduler: Some(Superior::Root), ..Rights::default() };
    components[4].rights = Rights { scheduler: Some(Superior::Component(3)), threads: 1, ..Rights::default() };
    components[5].rights = Rights { brands: 2, lines: vec![11, 18], ..Rights::default() };
    let buffer = |name: &str, pages: u64, between: &[usize], reader| Buffer {
        name: name.to_string(),
        bytes: pages * 4096,
        between: between.to_vec(),
        reader,
        colours: vec![1, 3],
        line: 50,
    };
    let device =
        |name: &str, kind, dma| Device { name: name.to_string(), component: 5, kind, bytes: 8192, dma, line: 60 };
    let pci = DeviceKind::Pci { vendor: 0x1af4, devices: [0x1041, 0x1000], bar: 4 };
    let platform = Platform {
        root: None,
        colours: 4,
        colour_assignment: None,
        caches: None,
        memory: None,
        pool: 1 << 20,
        buffers: vec![buffer("frames", 4, &[1, 2], Some(2)), buffer("own", 2, &[2], None)],
        devices: vec![
            device("timer", DeviceKind::Memory { address: 0xfed0_0000 }, 0),
            device("net", pci, 0x4000),
            device("plain", DeviceKind::Memory { address: 0xb000_0000 }, 0x2000),
        ],
        speculation: tactus_model::Speculation::default(),
    };
    System { platform, ..system(2, vec![task("plain", Some(1)), camera], components.into()) }
}

fn parsed(image: &Image) -> Parsed {
    verify(&image.bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn memory_at(parsed: &Parsed, component: usize, address: u64) -> Memory {
    let mapping = parsed.mapping_at(component, address).unwrap_or_else(|| panic!("nothing at {address:#x}"));
    parsed.memories[mapping.memory as usize]
}

#[test]
fn schedulers_have_regions_and_an_upcall_on_each_core_and_spare_threads_come_last() {
    let parsed = parsed(&image(&example()).unwrap());
    let threads: Vec<_> = parsed.threads.iter().map(|it| (it.component as usize, it.kind, it.number)).collect();
    let (task, upcall, spare) = (ThreadKind::Task as u32, ThreadKind::Upcall as u32, ThreadKind::Spare as u32);
    assert_eq!(
        threads,
        [
            (0, upcall, 0),
            (0, upcall, 1),
            (1, task, 0),
            (CAMERA, task, 1),
            (PARENT, upcall, 0),
            (PARENT, upcall, 1),
            (CHILD, upcall, 0),
            (CHILD, upcall, 1),
            (FILTER, spare, 0),
            (FILTER, spare, 1),
            (CHILD, spare, 0),
        ]
    );
    for number in 0..parsed.components.len() {
        let has = parsed.mapping_at(number, REGIONS).is_some();
        assert_eq!(has, [0, PARENT, CHILD].contains(&number), "{number}");
    }
}

#[test]
fn roles_restarters_and_lines_are_those_of_the_file_and_told_to_those_who_need_them() {
    let image = image(&example()).unwrap();
    let parsed = parsed(&image);
    let it = |number: usize| &parsed.components[number];
    assert_eq!(it(MANAGER).role, role::MEMORY | role::CONSOLE | role::WINDOW);
    assert_eq!((it(CAMERA).role, it(FILTER).role), (role::WINDOW, role::WINDOW));
    assert_eq!((it(PARENT).role, it(CHILD).role), (role::SCHEDULER, role::SCHEDULER));
    assert_eq!((it(CAMERA).restarted_by, it(FILTER).restarted_by), (0, CAMERA as u32));
    assert_eq!(it(PARENT).restarted_by, NO_COMPONENT);
    assert_eq!((it(DRIVER).brands, it(DRIVER).lines), (2, 1 << 11 | 1 << 18));
    assert_eq!((parsed.header.pool_frames, parsed.header.colours), (256, 4));
    let told: Vec<_> = (0..8).filter(|it| parsed.mapping_at(*it, COMPONENTS).is_some()).collect();
    assert_eq!(told, [0, MANAGER, CAMERA, PARENT, CHILD]);
    assert_eq!(parsed.infos[CAMERA].components, 8);
}

#[test]
fn a_buffer_whose_messages_monitors_watch_takes_no_window() {
    let mut system = example();
    let sent = Occurrence { kind: OccurrenceKind::Send, of: Some("frames".to_string()) };
    system.monitors = vec![Monitor {
        name: "order".to_string(),
        property: Property::parse("distance(sent) >= 1 ms").unwrap(),
        events: vec![("sent".to_string(), sent)],
        automata: Vec::new(),
        encoding: None,
        minimise: true,
        reset: false,
        table_limit: DEFAULT_TABLE_LIMIT,
        action: Action::Note,
        line: 70,
    }];
    let parsed = parsed(&image(&system).unwrap());
    let windows = [CAMERA, FILTER].map(|number| parsed.components[number].role & role::WINDOW != 0);
    assert_eq!(windows, [false, true], "the filter has a buffer of its own");
    assert_eq!(parsed.infos[CAMERA].buffers, 1);
}

#[test]
fn a_buffer_is_told_to_those_who_share_it_and_to_the_manager_alone() {
    let parsed = parsed(&image(&example()).unwrap());
    let told: Vec<_> = parsed.infos.iter().map(|info| info.buffers).collect();
    assert_eq!(told, [0, 0, 2, 1, 2, 0, 0, 0]);
}

#[test]
fn a_driver_sees_its_devices_and_nobody_else_does() {
    let parsed = parsed(&image(&example()).unwrap());
    let at = |device: u64, offset: u64| DEVICES + device * DEVICE_STRIDE + offset;
    let kind = |address| memory_at(&parsed, DRIVER, address).kind;
    assert_eq!(kind(at(0, 0)), MemoryKind::Device as u32);
    assert_eq!(memory_at(&parsed, DRIVER, at(0, 0)).offset, 0xfed0_0000);
    assert_eq!(kind(at(1, 0)), MemoryKind::Pci as u32);
    assert_eq!(kind(at(1, DEVICE_DMA)), MemoryKind::Dma as u32);
    assert_eq!(kind(at(1, DEVICE_CONFIGURATION)), MemoryKind::PciConfiguration as u32);
    assert_eq!(memory_at(&parsed, DRIVER, at(2, DEVICE_DMA)).offset, 0);
    let devices = parsed.mappings.iter().filter(|it| (DEVICES..DEVICES + 16 * DEVICE_STRIDE).contains(&it.address));
    assert!(devices.clone().count() == 6 && devices.into_iter().all(|it| it.component as usize == DRIVER));
    assert_eq!(parsed.infos[DRIVER].devices, 3);
}

#[test]
fn a_component_can_be_the_root_scheduler() {
    let mut user = task("user", Some(0));
    user.body = Body::Component(1);
    let components = vec![
        component("first", &["serve"], &[]),
        component("user", &[], &[("serve", 0, "serve")]),
        component("chief", &[], &[]),
    ];
    let mut chief = system(1, vec![user], components);
    chief.platform.root = Some(2);
    let files = [program(&["serve"], 3), program(&[], 4), program(&["complete"], 5)];
    let image = image_with(&chief, &program(&["complete"], 1), &program(&[], 2), &files).unwrap();
    let parsed = parsed(&image);
    let names: Vec<_> = parsed.components.iter().map(|it| name_text(&it.name)).collect();
    assert_eq!(names, ["chief", "first", "user"]);
    assert_eq!(parsed.grants_of(2).iter().map(|it| it.component).collect::<Vec<_>>(), [0, 1]);
    // One that does not take ends of jobs cannot be.
    let error = image_with(&chief, &program(&["complete"], 1), &program(&[], 2), &programs(&chief)).unwrap_err();
    assert!(error.to_string().contains("component \"chief\" (/crates/chief) has no service \"complete\""), "{error}");
}

/// A program with this table of restartable sequences; its code lies from 0x401000 to 0x402234.
fn with_sequences(sequences: &[[u64; 2]]) -> Vec<u8> {
    let table = sequences.iter().flatten().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let bytes = table.len() as u64;
    Elf {
        segments: vec![
            Segment::new(0x40_0000, READ, [table, vec![1]].concat()),
            Segment::new(0x40_1000, READ | EXECUTE, vec![3; 0x1234]),
            Segment::new(0x40_3000, READ | WRITE, vec![3; 16]),
        ],
        entry: 0x40_1000,
        symbols: vec![("TACTUS_SEQUENCES".to_string(), 0x40_0000, bytes)],
        ..Elf::default()
    }
    .write()
}

fn sequences(sequences: &[[u64; 2]]) -> Result<Image, String> {
    let mut first = task("first", Some(0));
    first.body = Body::Component(0);
    let system = system(1, vec![first], vec![component("user", &[], &[])]);
    let files = [with_sequences(sequences)];
    image_with(&system, &program(&["complete"], 1), &program(&[], 2), &files).map_err(|error| error.to_string())
}

#[test]
fn restartable_sequences_are_read_out_of_the_program() {
    let image = sequences(&[[0x40_1100, 0x40_1110], [0x40_1020, 0x40_1030]]).unwrap();
    let found = parsed(&image).components[1].sequences;
    assert_eq!(found, [[0x40_1020, 0x40_1030], [0x40_1100, 0x40_1110], [0, 0], [0, 0]]);
}

#[test]
fn sequences_that_are_none_are_refused() {
    for (wrong, says) in [
        (vec![[0x40_1030, 0x40_1020]], "0x401030 to 0x401020 is no stretch of code"),
        (vec![[0x40_3000, 0x40_3008]], "no stretch of code"),
        (vec![[0x40_1020, 0x40_4030]], "no stretch of code"),
        (vec![[0x40_1020, 0x40_1030], [0x40_1028, 0x40_1040]], "overlaps another"),
        ((0..5).map(|n| [0x40_1000 + n * 16, 0x40_1008 + n * 16]).collect(), "names 5 sequences"),
    ] {
        let error = sequences(&wrong).unwrap_err();
        assert!(error.contains("TACTUS_SEQUENCES") && error.contains(says), "{error}");
    }
}

// Fields of a component: role at 40, restarted_by at 44, brands at 48, lines at 52, sequences at 80, restarts at 152.
caught! {
    image(&example()).unwrap().bytes;
    an_unknown_role_is_caught: |it| it.u32(it.component(DRIVER) + 40, 1 << 31) => "role that there is not";
    a_role_that_nobody_gave_is_caught: |it| it.u32(it.component(DRIVER) + 40, role::CONSOLE) => "not told of the others";
    a_scheduler_without_regions_is_caught: |it| it.u32(it.component(DRIVER) + 40, role::SCHEDULER) => "lacks an upcall";
    a_window_of_the_root_is_caught: |it| it.u32(it.component(0) + 40, role::ROOT | role::WINDOW) => "has a window";
    a_manager_without_a_window_is_caught: |it| it.u32(it.component(MANAGER) + 40, role::MEMORY) => "no window";
    a_second_restarter_is_caught: |it| it.u32(it.component(CAMERA) + 44, 5) => "";
    a_restarter_that_there_is_not_is_caught: |it| it.u32(it.component(CAMERA) + 44, 99) => "by nobody that there is";
    a_component_that_restarts_itself_is_caught: |it| it.u32(it.component(CAMERA) + 44, CAMERA as u32) => "by itself";
    a_manager_that_is_restarted_is_caught: |it| it.u32(it.component(MANAGER) + 44, 0) => "would forget";
    a_line_of_two_is_caught: |it| {
        it.u32(it.component(DRIVER - 1) + 48, 1);
        it.u32(it.component(DRIVER - 1) + 52, 1 << 11);
    } => "another's";
    a_line_that_no_machine_has_is_caught: |it| it.u32(it.component(DRIVER) + 52, 1 << 30) => "no machine has";
    too_many_brands_are_caught: |it| it.u32(it.component(DRIVER) + 48, 33) => "more brands";
    a_sequence_in_data_is_caught: |it| {
        it.u64(it.component(DRIVER) + 80, 0x40_3000);
        it.u64(it.component(DRIVER) + 88, 0x40_3008);
    } => "no code of its own";

    a_window_without_a_pool_is_caught: |it| it.u32(36, 0) => "no memory for it";
    an_upcall_of_another_core_is_caught: |it| it.u32(it.thread(4) + 8, 1) => "not the upcall in its place";
    a_missing_upcall_is_caught: |it| it.u32(it.thread(5), CHILD as u32) => "";
    a_spare_thread_out_of_order_is_caught: |it| it.u32(it.thread(8) + 8, 1) => "not the spare one in its place";
    an_upcall_in_no_scheduler_is_caught: |it| it.u32(it.thread(8) + 4, 1) => "upcall in what is no scheduler";
    regions_of_another_are_caught: |it| it.u32(it.at(PARENT, REGIONS), DRIVER as u32) => "no place for it";

    a_device_of_another_driver_is_caught: |it| it.u32(it.at(DRIVER, DEVICES + DEVICE_STRIDE), CAMERA as u32) => "drive";
    device_memory_of_another_driver_is_caught: |it| it.u32(it.at(DRIVER, DEVICES + DEVICE_STRIDE + DEVICE_DMA), CAMERA as u32) => "another component drives";
    the_kernels_interrupt_controller_is_caught: |it| it.u64(it.shown(DRIVER, DEVICES) + 16, 0xfee0_0000) => "interrupt controller";
    a_device_in_memory_is_caught: |it| it.u64(it.shown(DRIVER, DEVICES) + 16, 0x10_0000) => "lies where memory is";
    a_device_at_the_end_of_numbers_is_caught: |it| it.u64(it.shown(DRIVER, DEVICES) + 16, !0xfff) => "lies where memory is";
    a_device_shown_twice_is_caught: |it| it.u64(it.shown(DRIVER, DEVICES) + 16, 0xb000_1000) => "another mapping shows";
    a_device_made_executable_is_caught: |it| it.u32(it.at(DRIVER, DEVICES) + 16, 2) => "other rights";
    a_device_in_place_of_a_heap_is_caught: |it| it.u32(it.shown(DRIVER, HEAP), MemoryKind::Device as u32) => "lies where memory is";
    memory_for_another_device_is_caught: |it| it.u64(it.shown(DRIVER, DEVICES + DEVICE_STRIDE + DEVICE_DMA) + 16, 0x1234_5000) => "does not drive";

    a_card_of_another_role_is_caught: |it| it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * CAMERA + 24, 2) => "something else";
    a_card_with_another_restarter_is_caught: |it| it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * CAMERA + 32, 5) => "something else";
    a_card_with_another_parent_is_caught: |it| it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * CHILD + 28, DRIVER as u32) => "scheduler under none";
    a_limit_of_restarts_that_is_not_the_kernels_is_caught: |it| it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * CAMERA + 36, 0) => "tells others something else";
    a_restart_without_a_limit_is_caught: |it| {
        it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * CAMERA + 36, 0);
        it.u32(it.component(CAMERA) + 152, 0);
    } => "without a limit";
    a_card_with_other_threads_is_caught: |it| it.u32(it.contents(0, COMPONENTS) + size_of::<ComponentCard>() * FILTER + 48, 2) => "other spare threads";
    a_buffer_with_a_third_is_caught: |it| it.u32(it.contents(CAMERA, BUFFERS) + 44, DRIVER as u32) => "";
    a_buffer_for_one_without_a_window_is_caught: |it| it.u32(it.contents(MANAGER, BUFFERS) + 48, DRIVER as u32) => "without a window";
    a_buffer_that_another_is_told_of_is_caught: |it| {
        it.u32(it.contents(CAMERA, BUFFERS) + 44, MANAGER as u32);
        it.u32(it.contents(CAMERA, BUFFERS) + 48, MANAGER as u32);
    } => "does not share";
    a_buffer_whose_channel_the_kernel_does_not_keep_is_caught: |it| it.u32(it.contents(MANAGER, BUFFERS) + 60, 1) => "keeps none";
    a_buffer_of_no_colour_is_caught: |it| it.u64(it.contents(MANAGER, BUFFERS) + 24, 0) => "colours";
    a_buffer_beyond_the_window_is_caught: |it| it.u32(it.contents(MANAGER, BUFFERS) + 40, 511) => "leaves the window";
    a_buffer_on_another_is_caught: |it| it.u32(it.contents(MANAGER, BUFFERS) + size_of::<BufferCard>() + 40, 3) => "lies on another";
    a_device_told_elsewhere_is_caught: |it| it.u64(it.contents(DRIVER, DEVICE_CARDS) + 24, DEVICES + DEVICE_STRIDE * 9) => "elsewhere";
    a_device_told_longer_is_caught: |it| it.u64(it.contents(DRIVER, DEVICE_CARDS) + size_of::<DeviceCard>() + 48, 0x8000) => "other device memory";
}
