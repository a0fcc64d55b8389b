//! Verification of images: right ones pass, each kind of damage is caught, and nothing makes it panic.

use crate::common::draft::{caught, Draft};
use crate::common::{component, example, image, system, task};
use proptest::prelude::*;
use tactus_abi::image::{Component, Grant, Mapping, Memory, MemoryKind, EXECUTABLE, WRITABLE};
use tactus_abi::layout::{CARDS, CLOCK, DEMANDS, HEAP, INFO, PROGRAM, STACKS, STACK_STRIDE, TASK_PAGE, TASK_PAGES};
use tactus_image::verify;
use tactus_model::{Body, Demand, System};
use tactus_time::Duration;

/// What is damaged.
fn right() -> Vec<u8> {
    image(&example()).unwrap().bytes
}

const TOP: u64 = STACKS + 3 * STACK_STRIDE; // of thread 2, the task `plain` in component 1

caught! {
    right();
    a_foreign_file_is_caught: |it| it.bytes[0] = 0 => "mark of an image";
    another_version_is_caught: |it| it.u32(8, 1) => "version 1";
    no_cores_are_caught: |it| it.u32(12, 0) => "number of cores";
    nine_cores_are_caught: |it| it.u32(12, 9) => "number of cores";
    too_many_components_are_caught: |it| it.u32(16, 257) => "no components, or too many";
    a_count_beyond_the_file_is_caught: |it| it.u32(24, u32::MAX) => "ends within its memory objects";
    fewer_threads_than_cores_are_caught: |it| it.u32(32, 1) => "too few or too many threads";
    too_many_frames_are_caught: |it| it.u32(36, 16385) => "more frames";
    colours_that_are_no_power_of_two_are_caught: |it| it.u32(40, 3) => "number of colours";
    a_turn_without_end_is_caught: |it| it.u32(44, 1_000_000_001) => "more than a second";
    a_word_on_speculation_that_nobody_knows_is_caught: |it| it.u32(48, 4) => "speculative execution";
    a_crooked_trace_address_is_caught: |it| it.u64(56, 4097) => "not page-aligned";
    a_cut_image_is_caught: |it| it.bytes.truncate(8192) => "length that is not the image's";

    a_second_root_is_caught: |it| it.u32(it.component(1) + 40, 1) => "is a scheduler and not the first";
    a_name_that_is_no_text_is_caught: |it| { let at = it.component(1); it.bytes[at] = 0xff } => "no text";
    an_entry_outside_code_is_caught: |it| it.u64(it.component(1) + 24, 0x40_3000) => "begins where it has no code";
    grants_of_another_component_are_caught: |it| it.u32(it.component(2) + 32, 0) => "do not follow";
    a_component_without_the_end_of_a_job_is_caught: |it| it.u32(it.grant(0), 0x40_1020) => "not the end of a job";

    a_grant_to_nobody_is_caught: |it| it.u32(it.grant(3) + 8, 77) => "component that there is not";
    a_grant_into_data_is_caught: |it| it.u64(it.grant(3), 0x40_3000) => "leads to where there is no code";
    a_grant_back_to_a_caller_is_caught: |it| it.u32(it.grant(5) + 8, 3) => "in a circle";
    a_grant_to_itself_is_caught: |it| it.u32(it.grant(3) + 8, 3) => "in a circle";
    a_grant_that_goes_elsewhere_is_caught: |it| it.u32(it.grant(3) + 8, 1) => "lacks a stack";

    contents_outside_the_image_are_caught: |it| {
        let end = it.bytes.len() as u64;
        it.u64(it.memory(it.memory_at(1, INFO)) + 16, end);
    } => "outside the image";
    contents_at_the_end_of_numbers_are_caught: |it| {
        it.u64(it.memory(it.memory_at(1, INFO)) + 16, !0xfff);
    } => "outside the image";
    contents_in_the_arrays_are_caught: |it| it.u64(it.memory(it.memory_at(1, INFO)) + 16, 0) => "within the image's arrays";
    contents_between_pages_are_caught: |it| {
        let offset = it.contents(1, INFO) as u64;
        it.u64(it.memory(it.memory_at(1, INFO)) + 16, offset + 8);
    } => "not page-aligned";
    contents_that_are_anothers_are_caught: |it| {
        let others = it.contents(2, INFO) as u64;
        it.u64(it.memory(it.memory_at(1, INFO)) + 16, others);
    } => "another's too";
    a_length_of_nothing_is_caught: |it| it.u64(it.memory(it.memory_at(1, HEAP)) + 8, 0) => "no whole number of pages";
    a_length_beyond_all_memory_is_caught: |it| it.u64(it.memory(it.memory_at(1, HEAP)) + 8, !0xfff) => "longer than any memory";
    more_contents_than_memory_are_caught: |it| it.u64(it.memory(it.memory_at(1, HEAP)) + 24, 1 << 20) => "more contents than memory";
    a_page_that_is_only_half_in_place_is_caught: |it| it.u64(it.memory(it.memory_at(1, INFO)) + 24, 8) => "not all of it";
    an_unknown_kind_of_memory_is_caught: |it| it.u32(it.memory(it.memory_at(1, HEAP)), 11) => "no known kind";
    a_second_trace_is_caught: |it| it.u32(it.memory(it.memory_at(1, HEAP)), MemoryKind::Trace as u32) => "than the layout says";
    regions_for_other_cores_are_caught: |it| {
        let regions = it.parsed.memories.iter().position(|it| it.kind == MemoryKind::Regions as u32).unwrap();
        it.u64(it.memory(regions) + 8, 4096);
    } => "another length than the layout says";

    code_that_can_be_written_is_caught: |it| it.u32(it.at(1, 0x40_1000) + 16, WRITABLE | EXECUTABLE) => "written and executed";
    code_made_writable_is_caught: |it| it.u32(it.at(1, 0x40_1000) + 16, WRITABLE) => "another kind";
    data_made_executable_is_caught: |it| it.u32(it.at(1, 0x40_3000) + 16, EXECUTABLE) => "another kind";
    a_heap_made_executable_is_caught: |it| it.u32(it.at(1, HEAP) + 16, EXECUTABLE) => "other rights";
    a_clock_that_can_be_set_is_caught: |it| it.u32(it.at(1, CLOCK) + 16, WRITABLE) => "other rights";
    information_that_can_be_changed_is_caught: |it| it.u32(it.at(1, INFO) + 16, WRITABLE) => "other rights";
    a_task_that_can_write_its_page_is_caught: |it| it.u32(it.at(1, TASK_PAGE) + 16, WRITABLE) => "other rights";
    unknown_rights_are_caught: |it| it.u32(it.at(1, HEAP) + 16, 5) => "rights that there are not";
    a_mapping_between_pages_is_caught: |it| it.u64(it.at(1, HEAP) + 8, HEAP + 1) => "not page-aligned";
    a_mapping_in_the_kernel_is_caught: |it| it.u64(it.at(1, HEAP) + 8, !0xfff) => "no place for it";
    a_mapping_at_null_is_caught: |it| it.u64(it.at(1, HEAP) + 8, 0) => "no place for it";
    a_mapping_on_top_of_another_is_caught: |it| it.u64(it.at(1, 0x40_3000) + 8, 0x40_2000) => "on top of another";
    a_mapping_of_nobody_is_caught: |it| it.u32(it.at(1, HEAP), 99) => "component that there is not";
    a_mapping_of_nothing_is_caught: |it| it.u32(it.at(1, HEAP) + 4, 9999) => "object that there is not";
    the_trace_in_a_task_is_caught: |it| it.u32(it.at(1, HEAP) + 4, 0) => "";
    a_task_page_at_anothers_place_is_caught: |it| it.u64(it.at(1, TASK_PAGE) + 8, TASK_PAGE + 4096) => "more than the layout says";
    a_swapped_task_page_is_caught: |it| {
        let other = it.memory_at(0, TASK_PAGES + 4096) as u32;
        it.u32(it.at(1, TASK_PAGE) + 4, other);
    } => "more than the layout says";

    a_heap_shared_by_two_components_is_caught: |it| {
        let other = it.memory_at(3, HEAP) as u32;
        it.u32(it.at(4, HEAP) + 4, other);
    } => "by more than the layout says";
    data_shared_by_two_components_is_caught: |it| {
        let other = it.memory_at(2, 0x40_3000) as u32;
        it.u32(it.at(1, 0x40_3000) + 4, other);
    } => "by more than the layout says";
    another_components_information_is_caught: |it| {
        let other = it.memory_at(2, INFO) as u32;
        it.u32(it.at(1, INFO) + 4, other);
    } => "by more than the layout says";
    a_table_of_demands_shared_is_caught: |it| {
        let other = it.memory_at(2, DEMANDS) as u32;
        it.u32(it.at(1, DEMANDS) + 4, other);
    } => "by more than the layout says";

    a_stack_in_a_foreign_component_is_caught: |it| it.u32(it.at(1, TOP - 8192), 2) => "stack where it can";
    a_stack_that_ends_too_low_is_caught: |it| it.u64(it.at(1, TOP - 8192) + 8, TOP - 12288) => "no place for it";
    a_stack_without_a_guard_page_is_caught: |it| {
        it.u64(it.memory(it.memory_at(1, TOP - 8192)) + 8, STACK_STRIDE);
        it.u64(it.at(1, TOP - 8192) + 8, TOP - STACK_STRIDE);
    } => "no place for it";
    a_stack_of_a_thread_that_there_is_not_is_caught: |it| {
        it.u64(it.at(1, TOP - 8192) + 8, TOP - 8192 + 4 * STACK_STRIDE);
    } => "no place for it";

    an_upcall_outside_the_scheduler_is_caught: |it| it.u32(it.thread(0), 1) => "core's upcall";
    a_task_in_the_scheduler_is_caught: |it| it.u32(it.thread(2), 0) => "runs a task in the scheduler";
    tasks_out_of_order_are_caught: |it| it.u32(it.thread(2) + 8, 1) => "task in its place";
    an_upcall_in_a_task_is_caught: |it| it.u32(it.thread(2) + 4, 1) => "upcall in what is no scheduler";
    a_thread_in_another_component_is_caught: |it| it.u32(it.thread(2), 3) => "";
    a_thread_in_no_component_is_caught: |it| it.u32(it.thread(2), 99) => "component that there is not";

    a_component_told_another_number_is_caught: |it| it.u32(it.contents(1, INFO), 2) => "that it is another one";
    a_component_told_of_more_grants_is_caught: |it| it.u32(it.contents(1, INFO) + 4, 2) => "more or fewer grants";
    a_component_told_of_another_heap_is_caught: |it| it.u64(it.contents(1, INFO) + 16, 1 << 30) => "another heap";
    a_component_told_of_the_run_is_caught: |it| it.u64(it.contents(1, INFO) + 40, 1) => "only the scheduler";
    a_component_that_touches_more_than_it_has_is_caught: |it| it.u64(it.contents(2, INFO) + 48, 1 << 20) => "touch more";
    other_rings_are_caught: |it| it.u64(it.contents(0, INFO) + 32, 4096) => "other trace rings";
    another_plan_is_caught: |it| it.u64(it.contents(0, INFO) + 24, 5000) => "another set-up";
    an_endless_table_of_demands_is_caught: |it| it.u64(it.contents(1, DEMANDS), 512) => "table of demands";
    an_empty_table_of_demands_is_caught: |it| it.u64(it.contents(1, DEMANDS), 0) => "table of demands";
    a_card_of_another_component_is_caught: |it| it.u64(it.contents(0, CARDS) + 48, 3) => "another component";
    a_card_of_another_thread_is_caught: |it| it.u64(it.contents(0, CARDS) + 56, 3) => "another thread";
    a_card_with_an_unknown_promise_is_caught: |it| it.u64(it.contents(0, CARDS) + 64, 3) => "promise that there is not";
    a_card_with_an_unknown_level_is_caught: |it| it.u64(it.contents(0, CARDS) + 96, 4) => "level that there is not";
}

/// Systems of all sizes: what they run, whom their components call, how their demands are drawn.
fn systems() -> impl Strategy<Value = System> {
    let tasks = prop::collection::vec((0..8_u8, 0..6_usize, 0..3_u8, 0..200_000_u64, 100..20_000_u64), 0..12);
    let uses = prop::collection::vec(prop::collection::vec(0..6_usize, 0..4), 0..6);
    (1..=8_usize, tasks, uses, any::<u64>()).prop_map(|(cores, tasks, uses, seed)| {
        let names: Vec<String> = (0..uses.len()).map(|n| format!("user-{n}")).collect();
        let components = uses.iter().enumerate().map(|(own, targets)| {
            // Only to those behind it: no circles.
            let targets = targets.iter().enumerate().map(|(n, to)| (format!("g{n}"), own + 1 + to));
            let targets: Vec<_> = targets.filter(|(_, to)| *to < uses.len()).collect();
            let targets: Vec<_> = targets.iter().map(|(name, to)| (name.as_str(), *to, "serve")).collect();
            component(&names[own], &["serve"], &targets)
        });
        let components: Vec<_> = components.collect();
        let tasks = tasks.into_iter().enumerate().map(|(n, (core, body, demand, memory, micros))| {
            let mut it = task(&format!("task-{n}"), (core < cores as u8).then_some(core));
            it.body = if body < components.len() { Body::Component(body) } else { Body::Workload };
            it.memory = memory;
            it.period = Duration::from_micros(micros);
            it.demand = match demand {
                0 => it.demand,
                1 => Demand::Uniform { min: Duration::from_micros(1), max: Duration::from_micros(micros) },
                _ => Demand::List(vec![Duration::from_micros(5); 700]),
            };
            it
        });
        let tasks = tasks.collect();
        System { seed, memory: 512 << 20, ..system(cores, tasks, components) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_built_passes(system in systems()) {
        let image = image(&system).unwrap_or_else(|error| panic!("{error}"));
        let said = verify(&image.bytes);
        prop_assert!(said.is_ok(), "{}", said.unwrap_err());
    }

    #[test]
    fn no_damage_makes_it_panic(
        system in systems(),
        damage in prop::collection::vec((any::<u32>(), any::<u8>(), any::<bool>()), 1..5),
        cut in prop::option::of(any::<u32>()),
    ) {
        let image = image(&system).unwrap_or_else(|error| panic!("{error}")).bytes;
        let arrays = verify(&image).unwrap().array_bytes as usize;
        // Many kinds of damage to each image: building one takes longer than looking at it.
        for round in 0..64_u32 {
            let mut bytes = image.clone();
            for (place, value, in_arrays) in &damage {
                let span = if *in_arrays { arrays } else { bytes.len() };
                let at = (place.wrapping_mul(round * 2 + 1)) as usize % span;
                bytes[at] = value.wrapping_add(round as u8);
            }
            let _ = verify(&bytes);
            if let Some(cut) = cut {
                let length = cut.wrapping_mul(round * 2 + 1) as usize % bytes.len();
                bytes.truncate(length);
                prop_assert!(verify(&bytes).is_err());
            }
        }
    }

    #[test]
    fn bytes_that_were_never_an_image_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        prop_assert!(verify(&bytes).is_err());
    }
}

/// Every byte of the arrays is changed in turn. What goes unnoticed gives nobody a right that the layout keeps from
/// him: other places within a program's range, other entries within its code, other contents that may only be read.
#[test]
fn no_single_change_of_the_arrays_that_goes_unnoticed_lets_anybody_write_more() {
    let draft = Draft::new(right());
    let first = [draft.component(0), draft.grant(0), draft.memory(0), draft.mapping(0), draft.thread(0)];
    let arrays = draft.parsed.array_bytes as usize;
    let mut unnoticed = 0;
    for (at, flip) in (0..arrays).flat_map(|at| [0x01, 0x10, 0x80].map(|flip| (at, flip))) {
        let mut bytes = draft.bytes.clone();
        bytes[at] ^= flip;
        let Ok(after) = verify(&bytes) else { continue };
        unnoticed += 1;
        let place = first.iter().rposition(|start| at >= *start);
        let field = |size: usize| (at - place.map_or(0, |array| first[array])) % size;
        match place {
            None => assert!(
                (36..64).contains(&at),
                "{at}: only the pool, the timer's divisor, speculation and the trace's place"
            ),
            Some(0) => assert!((24..32).contains(&field(size_of::<Component>())), "{at}: only the entry"),
            Some(1) => assert!(field(size_of::<Grant>()) < 8, "{at}: only the entry"),
            Some(2) => assert!((8..32).contains(&field(size_of::<Memory>())), "{at}: only length and contents"),
            Some(3) => {
                let (old, new) = draft
                    .parsed
                    .mappings
                    .iter()
                    .zip(&after.mappings)
                    .find(|(a, b)| {
                        (a.component, a.memory, a.address, a.flags) != (b.component, b.memory, b.address, b.flags)
                    })
                    .unwrap();
                let moved = (old.component, old.memory, old.flags) == (new.component, new.memory, new.flags);
                let program = |it: &Mapping| (PROGRAM..INFO).contains(&it.address);
                let only_read = (old.flags | new.flags) & WRITABLE == 0;
                assert!(moved && program(old) && program(new) || only_read, "{old:?} → {new:?}");
            }
            Some(_) => panic!("{at}: a change of a thread went unnoticed"),
        }
    }
    // Else the loop above would have checked nothing.
    assert!(unnoticed > 20);
}
