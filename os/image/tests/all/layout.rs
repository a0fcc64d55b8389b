//! What a built image holds, as verification reads it back.

use crate::common::{component, example, image, image_with, program, programs, system, task, BASE};
use tactus_abi::image::{Memory, MemoryKind, WRITABLE};
use tactus_abi::layout::{CARDS, DEMANDS, HEAP, PAGE, PLAN, STACKS, STACK_STRIDE, TASK_PAGE, TASK_PAGES, TRACE};
use tactus_abi::shared::name_text;
use tactus_image::{verify, Image, ImageError, Parsed, SYSTEM_STACK, USER_HEAP, USER_STACK};
use tactus_model::{Action, Body, Change, Demand, Migration, Part, Server, ServerKind, System, TaskOrder, Values};
use tactus_time::{CoreSet, Duration, TaskId};

fn parsed(image: &Image) -> Parsed {
    verify(&image.bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// The memory object that the component sees at this address.
fn memory_at(parsed: &Parsed, component: usize, address: u64) -> Memory {
    let mapping = parsed.mapping_at(component, address).unwrap_or_else(|| panic!("nothing at {address:#x}"));
    parsed.memories[mapping.memory as usize]
}

/// Its contents in the image.
fn contents(image: &Image, memory: Memory) -> &[u8] {
    &image.bytes[memory.offset as usize..(memory.offset + memory.file_bytes) as usize]
}

#[test]
fn the_scheduler_comes_first_then_each_workload_task_then_each_user_component_once() {
    let image = image(&example()).unwrap();
    assert_eq!(image.facts.components, ["scheduler", "plain", "drawn", "controller", "filter", "log"]);
    let parsed = parsed(&image);
    let names: Vec<_> = parsed.components.iter().map(|it| name_text(&it.name)).collect();
    assert_eq!(names, image.facts.components);
    let threads: Vec<_> = image.facts.threads.iter().map(|it| (it.component, it.task().map(|task| task.0))).collect();
    assert_eq!(threads, [(0, None), (0, None), (1, Some(0)), (2, Some(1)), (3, Some(2)), (3, Some(3))]);
    assert_eq!(image.sections_report(), format!("6 components · image {} KiB", image.bytes.len() / 1024));
}

#[test]
fn grants_follow_the_file_behind_the_end_of_a_job_and_lead_to_the_services_entries() {
    let image = image(&example()).unwrap();
    let parsed = parsed(&image);
    let of = |component: usize| -> Vec<_> {
        let names = parsed.infos[component].grants.iter().map(name_text);
        names.zip(parsed.grants_of(component)).map(|(name, it)| (name, it.component, it.entry)).collect()
    };
    assert_eq!(of(0), []);
    assert_eq!(of(1), [("complete", 0, 0x40_1010)]);
    assert_eq!(of(3), [("complete", 0, 0x40_1010), ("smooth", 4, 0x40_1010)]);
    assert_eq!(of(4), [("complete", 0, 0x40_1010), ("write", 5, 0x40_1010)]);
    // `reset` is the filter's second service, and nobody was granted it.
    assert!(parsed.grants.iter().all(|grant| grant.entry != 0x40_1020));
}

#[test]
fn instances_of_one_program_share_its_code_and_nothing_that_can_be_written() {
    let image = image(&example()).unwrap();
    let parsed = parsed(&image);
    let at = |component, address| parsed.mapping_at(component, address).unwrap().memory;
    assert_eq!(at(1, BASE), at(2, BASE));
    assert_eq!(at(1, BASE + 0x1000), at(2, BASE + 0x1000));
    assert_ne!(at(1, BASE + 0x3000), at(2, BASE + 0x3000));
    assert_ne!(at(1, BASE), at(3, BASE));
    // Both copies begin as the file has them, and go on with zeros.
    for component in [1, 2] {
        let data = memory_at(&parsed, component, BASE + 0x3000);
        assert_eq!((data.kind, data.bytes), (MemoryKind::Copied as u32, 0x2000));
        let mut expected = [2; 4096];
        expected[16..].fill(0);
        assert_eq!(contents(&image, data), expected);
    }
    let code = memory_at(&parsed, 1, BASE + 0x1000);
    assert_eq!(code.bytes, 0x2000);
    assert_eq!(contents(&image, code)[..0x1234], [2; 0x1234]);
    assert_eq!(contents(&image, code)[0x1234..], [0; 0x2000 - 0x1234]);
}

#[test]
fn every_thread_has_a_stack_in_every_component_that_it_can_get_to_and_in_no_other() {
    let image = image(&example()).unwrap();
    let stacks: Vec<_> = image.facts.stacks.iter().map(|it| (it.thread, it.component)).collect();
    let expected = [
        (0, 0),
        (1, 0), // upcalls
        (2, 0),
        (2, 1),
        (3, 0),
        (3, 2), // workload
        (4, 0),
        (4, 3),
        (4, 4),
        (4, 5),
        (5, 0),
        (5, 3),
        (5, 4),
        (5, 5), // controller → filter → log
    ];
    assert_eq!(stacks, expected);
    let parsed = parsed(&image);
    for it in &image.facts.stacks {
        assert_eq!(it.top, STACKS + (u64::from(it.thread) + 1) * STACK_STRIDE);
        assert_eq!(it.bytes, if it.component < 3 { SYSTEM_STACK } else { USER_STACK });
        let memory = memory_at(&parsed, it.component as usize, it.top - it.bytes);
        assert_eq!((memory.kind, memory.bytes, memory.file_bytes), (MemoryKind::Copied as u32, it.bytes, 0));
    }
}

#[test]
fn a_tasks_page_is_written_by_the_scheduler_and_read_by_its_component_at_the_tasks_own_place() {
    let image = image(&example()).unwrap();
    let parsed = parsed(&image);
    for (task, component) in [(0, 1), (1, 2), (2, 3), (3, 3)] {
        let ours = parsed.mapping_at(component, TASK_PAGE + task * PAGE).unwrap();
        let schedulers = parsed.mapping_at(0, TASK_PAGES + task * PAGE).unwrap();
        assert_eq!(ours.memory, schedulers.memory);
        assert_eq!((ours.flags, schedulers.flags), (0, WRITABLE));
    }
}

#[test]
fn demands_are_the_models_own_and_long_enough_for_the_run() {
    let mut system = example();
    system.duration = Duration::from_millis(95);
    system.tasks[1].offset = Duration::from_millis(3);
    let image = image(&system).unwrap();
    let parsed = parsed(&image);
    let table = |component: usize| -> Vec<u64> {
        let memory = memory_at(&parsed, component, DEMANDS);
        let words = contents(&image, memory).chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let words: Vec<u64> = words.collect();
        words[1..=words[0] as usize].to_vec()
    };
    assert_eq!(table(1), [1_000_000]);
    // Jobs at 3, 13 … 93 ms: ten, and two to spare.
    let drawn = (0..12).map(|job| system.tasks[1].demand(system.seed, TaskId(1), job).as_nanos());
    assert_eq!(table(2), drawn.collect::<Vec<_>>());
    assert!(parsed.mapping_at(3, DEMANDS).is_none());
}

#[test]
fn demands_are_long_enough_for_a_task_whose_period_gets_shorter_and_that_is_added_anew() {
    let mut system = example();
    system.duration = Duration::from_millis(95);
    system.tasks[1].offset = Duration::from_millis(3);
    let change = |action| Change { at: Duration::from_millis(20), part: Part::Task(1), action, line: 1 };
    let faster = change(Action::Alter(Values { period: Some(Duration::from_millis(5)), ..Values::default() }));
    let count = |system: &System| {
        let image = image(system).unwrap();
        let memory = memory_at(&parsed(&image), 2, DEMANDS);
        u64::from_le_bytes(contents(&image, memory)[..8].try_into().unwrap())
    };
    assert_eq!(count(&system), 12);
    system.scheduling.changes = vec![faster.clone()];
    assert_eq!(count(&system), 19 + 2);
    system.scheduling.changes = vec![change(Action::Remove), change(Action::Add), faster];
    assert_eq!(count(&system), 19 + 1 + 2);
}

#[test]
fn a_list_of_demands_is_stored_once_however_long_the_run() {
    let mut system = example();
    let list: Vec<_> = [300, 100, 200].map(Duration::from_micros).into();
    system.tasks[0].demand = Demand::List(list);
    system.duration = Duration::from_secs(3600);
    system.memory = 1 << 30;
    let image = image(&system).unwrap();
    let memory = memory_at(&parsed(&image), 1, DEMANDS);
    let words: Vec<_> =
        contents(&image, memory)[..32].chunks(8).map(|it| u64::from_le_bytes(it.try_into().unwrap())).collect();
    assert_eq!(words, [3, 300_000, 100_000, 200_000]);
}

#[test]
fn heaps_are_as_large_as_tasks_ask_and_components_are_told() {
    let mut system = example();
    system.tasks[2].memory = 100_000;
    let image = image(&system).unwrap();
    let parsed = parsed(&image);
    let heaps: Vec<_> = (0..6).map(|component| memory_at(&parsed, component, HEAP).bytes).collect();
    // The scheduler's set-up of 6 bytes takes a page more.
    assert_eq!(heaps, [(1 << 20) + 4096, 4096, 12288, 102_400, USER_HEAP, USER_HEAP]);
    assert_eq!(parsed.infos[2].touch_bytes, 10_000);
    assert_eq!(parsed.infos[3].touch_bytes, 0);
}

#[test]
fn only_the_scheduler_sees_plan_cards_and_trace() {
    let image = image(&example()).unwrap();
    let parsed = parsed(&image);
    assert_eq!(&contents(&image, memory_at(&parsed, 0, PLAN))[..7], b"a plan\0");
    assert_eq!(parsed.infos[0].plan_bytes, 6);
    assert_eq!(name_text(&parsed.infos[0].system), "bench");
    assert_eq!(memory_at(&parsed, 0, TRACE).bytes, 2 * image.facts.ring_bytes);
    assert!((1..6).all(|component| [CARDS, TRACE].iter().all(|at| parsed.mapping_at(component, *at).is_none())));
    let cards: Vec<_> =
        parsed.cards.iter().map(|it| (name_text(&it.name), name_text(&it.component), it.thread)).collect();
    assert_eq!(
        cards,
        [("plain", "plain", 2), ("drawn", "drawn", 3), ("fast", "controller", 4), ("slow", "controller", 5)]
    );
    assert!(parsed
        .cards
        .iter()
        .all(|it| (it.promise, it.bound, it.deadline, it.level) == (1, 9_000_000, 10_000_000, 255)));
}

#[test]
fn turns_are_bounded_only_where_cores_take_turns() {
    for (cores, turn) in [(1, 0), (2, 2_500), (8, 2_500)] {
        let system = system(cores, vec![task("one", Some(0))], Vec::new());
        let image = image(&system).unwrap();
        assert_eq!(parsed(&image).header.turn, turn << system.machine.shift, "{cores} cores");
    }
}

#[test]
fn the_trace_lies_below_firmware_and_a_high_image_and_above_all_else() {
    for memory in [64 << 20, 128 << 20, 2 << 30] {
        let mut system = example();
        system.memory = memory;
        let facts = image(&system).unwrap().facts;
        let end = facts.trace_address + 2 * facts.ring_bytes;
        assert_eq!(facts.trace_address % (2 << 20), 0);
        assert!(end + facts.image_bytes + (2 << 20) <= memory, "{facts:?}");
        assert!(facts.trace_address >= (32 << 20) + facts.image_bytes, "{facts:?}");
        assert!(facts.memory_needed <= memory);
        // What is said to be needed is enough, and gives the same rings.
        system.memory = facts.memory_needed;
        assert_eq!(image(&system).unwrap().facts.ring_bytes, facts.ring_bytes);
    }
}

#[test]
fn rings_hold_the_busiest_core_and_shrink_to_the_memory_before_a_run_is_refused() {
    // 10,000 jobs per second: 1 s wants 10,000 × 16 × 32 B and a quarter, 6.4 MB for the core.
    let mut busy = task("busy", Some(1));
    busy.period = Duration::from_micros(100);
    let mut system = system(2, vec![busy], Vec::new());
    let wanted = (10_000_u64 * 16 * 5 / 4 * 32 + 64).div_ceil(4096) * 4096;
    assert_eq!(image(&system).unwrap().facts.ring_bytes, wanted);
    system.memory = 9 << 20;
    let less = image(&system).unwrap().facts.ring_bytes;
    assert!(less < wanted && less >= 10_000 * 8 * 32, "{less}");
    system.memory = 4 << 20;
    let error = image(&system).unwrap_err();
    let ImageError::Memory { needed, .. } = error else { panic!("{error}") };
    assert!(error.to_string().contains("write memory = \""), "{error}");
    system.memory = needed;
    assert_eq!(image(&system).unwrap().facts.ring_bytes, wanted, "the remedy works");
    system.duration = Duration::from_secs(3600);
    let error = image(&system).unwrap_err().to_string();
    assert!(error.contains("shorter duration"), "{error}");
}

#[test]
fn rings_hold_what_servers_do_as_their_budgets_end_and_come_back() {
    let mut system = system(2, vec![task("rare", Some(1))], Vec::new());
    let bare = image(&system).unwrap().facts.ring_bytes;
    let server = |cores, period| Server {
        name: "s".to_string(),
        parent: None,
        cores,
        kind: ServerKind::Deferrable,
        budget: Duration::from_micros(50),
        period: Duration::from_micros(period),
        write_backs: None,
        order: TaskOrder::EarliestDeadline,
        spread: Migration::Partitioned,
        clusters: Vec::new(),
        quantum: Duration::ZERO,
        priority: 0,
        background: false,
        line: 9,
    };
    // 10,000 periods on core 0, and 4,000 on both: those of the busier one count.
    system.scheduling.servers = vec![server(CoreSet::first(1), 100), server(CoreSet::first(2), 250)];
    let jobs = 1_000_u64 / 10 * 16;
    let records = |periods: u64| (jobs + periods * 10) * 5 / 4;
    let bytes = |records: u64| (records * 32 + 64).div_ceil(4096) * 4096;
    assert_eq!(
        [bare, image(&system).unwrap().facts.ring_bytes],
        [bytes(records(0)).max(64 << 10), bytes(records(14_000))]
    );
}

#[test]
fn the_trace_can_be_left_to_the_kernel() {
    let image = image(&example()).unwrap().with_trace_anywhere();
    assert_eq!((image.facts.trace_address, parsed(&image).header.trace_address), (0, 0));
}

#[test]
fn the_largest_system_fits() {
    let mut tasks: Vec<_> = (0..240).map(|n| task(&format!("task-{n}"), Some((n % 8) as u8))).collect();
    let mut components = Vec::new();
    for (place, task) in tasks.iter_mut().enumerate().take(60) {
        task.body = Body::Component(place % 30);
    }
    for place in 0..30 {
        components.push(component(&format!("user-{place}"), &["serve"], &[]));
    }
    let image = image(&system(8, tasks, components)).unwrap();
    assert_eq!(image.facts.components.len(), 1 + 180 + 30);
    assert_eq!(image.facts.threads.len(), 248);
    parsed(&image);
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    assert_eq!(image(&example()).unwrap(), image(&example()).unwrap());
}

#[test]
fn a_scheduler_without_its_service_is_refused() {
    let system = example();
    let error = image_with(&system, &program(&["done"], 1), &program(&[], 2), &programs(&system)).unwrap_err();
    assert_eq!(error.to_string(), "the built-in scheduler has no service \"complete\"; its program provides done");
}
