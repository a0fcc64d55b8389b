//! Slots and their loader: what the image gives them, what the loader is told, and that damage is caught.

use crate::common::draft::{caught, Draft};
use crate::common::{component, image, image_with, program, programs, system, task};
use std::mem::offset_of;
use tactus_abi::image::{role, WRITABLE};
use tactus_abi::layout::{HEAP, INFO, PROGRAM, STACKS, STACK_STRIDE, TASK_PAGE, TOLD};
use tactus_abi::shared::{name_text, Info, TaskPage};
use tactus_abi::slot::{LoadCard, LoaderHead, SlotCard, SLOT};
use tactus_image::{verify, Image, USER_STACK};
use tactus_model::{Body, Load, LoadKind, Restart, Rights, Slot, Superior, System};
use tactus_time::Duration;

/// Components by their numbers: 0 root, 1 log, 2 loader, 3 and 4 the slots.
const LOADER: usize = 2;
const GUEST: usize = 3;
const OTHER: usize = 4;

/// A loader, a slot of two tasks with a heap, one of one task without; a package that comes twice, and goes.
fn example() -> System {
    let mut loader = component("loader", &[], &[]);
    loader.rights = Rights { loader: true, ..Rights::default() };
    let restart = Restart { by: Superior::Component(1), most: 1000, per: Duration::from_nanos(1), waits: false };
    let of = |n: usize, name: &str, heap: u64| {
        let mut it = component(name, &[], &[("say", 0, "log")]);
        it.slot = Some(n);
        it.rights = Rights { restart: Some(restart), heap, ..Rights::default() };
        it
    };
    let components = vec![component("log", &["log"], &[]), loader, of(0, "guest", 8192), of(1, "other", 0)];
    let of = |name: &str, component: usize| {
        let mut it = task(name, Some(0));
        it.body = Body::Component(component);
        it
    };
    let tasks = vec![of("load", 1), of("guest.0", 2), of("guest.1", 2), of("other.0", 3)];
    let slot = |name: &str, component: usize, tasks: std::ops::Range<usize>, heap: u64| Slot {
        name: name.to_string(),
        component,
        server: 0,
        tasks,
        pages: 20,
        heap,
        class: "app".to_string(),
        keys: vec![[component as u8; 32]; component - 1],
        older: component == 3,
        line: 70,
    };
    let load = |at: u64, slot: usize, bytes: Option<&[u8]>| Load {
        at: Duration::from_millis(at),
        slot,
        what: bytes.map_or(LoadKind::Unload, |bytes| LoadKind::Load { path: "a.package".into(), bytes: bytes.into() }),
        line: 80,
    };
    let mut system = system(1, tasks, components);
    system.slots = vec![slot("guest", 2, 1..3, 8192), slot("other", 3, 3..4, 0)];
    system.loads =
        vec![load(10, 0, Some(b"one")), load(20, 0, None), load(30, 1, Some(b"another")), load(40, 0, Some(b"one"))];
    system.platform.pool = 40 * 4096;
    system
}

fn built() -> Image {
    let system = example();
    image_with(&system, &program(&["complete", "slot"], 1), &program(&[], 2), &programs(&system)).unwrap()
}

#[test]
fn a_slot_is_a_component_without_program_and_its_loader_knows_all_of_it() {
    let image = built();
    let parsed = verify(&image.bytes).unwrap();
    let it = |number: usize| &parsed.components[number];
    assert_eq!((it(LOADER).role, it(GUEST).role), (role::LOADER | role::WINDOW, role::SLOT | role::WINDOW));
    assert_eq!((it(GUEST).restarted_by, it(GUEST).restarts, it(GUEST).entry), (LOADER as u32, 0, PROGRAM));
    assert!(parsed.mapping_at(GUEST, PROGRAM).is_none() && parsed.mapping_at(GUEST, TASK_PAGE + 4096).is_some());
    assert!(parsed.mapping_at(GUEST, HEAP).is_some() && parsed.mapping_at(OTHER, HEAP).is_none());
    let says = |number: usize| parsed.infos[number].grants.iter().any(|name| name_text(name) == SLOT);
    assert_eq!([1, LOADER, GUEST].map(says), [false, true, false]);
    // Two stacks, two pages of heap.
    let steps = example().slots[0].set_back_steps();
    assert_eq!(steps, 33 + 2 * USER_STACK / 4096 + 2);
    // The same addresses in each slot, whichever numbers threads and tasks have.
    for (slot, tasks) in [(GUEST, 2), (OTHER, 1)] {
        for n in 0..tasks {
            let top = STACKS + (n + 1) * STACK_STRIDE;
            assert!(parsed.mapping_at(slot, top - USER_STACK).is_some_and(|it| it.flags == WRITABLE));
            assert!(parsed.mapping_at(slot, TASK_PAGE + n * 4096).is_some());
        }
    }
    // What comes twice lies there once.
    let table = Draft::new(image.bytes.clone()).contents(LOADER, TOLD);
    let told = &image.bytes[table..][..parsed.infos[LOADER].told_bytes as usize];
    assert!(told.ends_with(b"oneanother"), "{:?}", &told[told.len() - 20..]);
}

#[test]
fn a_root_scheduler_that_knows_no_slots_is_refused() {
    let error = image(&example()).unwrap_err().to_string();
    assert!(error.contains("slot"), "{error}");
}

#[test]
fn more_memory_or_keys_than_a_slot_can_have_are_refused() {
    let refused = |change: &dyn Fn(&mut System)| {
        let mut system = example();
        change(&mut system);
        let programs = programs(&system);
        image_with(&system, &program(&["complete", "slot"], 1), &program(&[], 2), &programs).unwrap_err().to_string()
    };
    let said = refused(&|it| it.slots[1].pages = 513);
    assert!(said.contains("memory of slot \"other\"") && said.contains("2 MiB"), "{said}");
    let said = refused(&|it| it.slots[0].keys = vec![[0; 32]; 9]);
    assert!(said.contains("keys of slot \"guest\""), "{said}");
}

/// Where a field of the slot's card lies.
fn card(it: &Draft, slot: usize, field: usize) -> usize {
    it.contents(LOADER, TOLD) + size_of::<LoaderHead>() + slot * size_of::<SlotCard>() + field
}

fn load(it: &Draft, load: usize, field: usize) -> usize {
    card(it, 2, 0) + load * size_of::<LoadCard>() + field
}

fn role_of(number: usize) -> impl Fn(&Draft) -> usize {
    move |it| it.component(number) + 40
}

caught! {
    built().bytes;
    a_task_that_is_told_to_be_another_of_its_component_is_caught: |it| {
        let at = it.contents(GUEST, TASK_PAGE + 4096) + offset_of!(TaskPage, index);
        assert_eq!(it.bytes[at], 1);
        it.u64(at, 0);
    } => "another scheduler";
    a_task_that_is_told_another_ones_name_is_caught: |it| {
        let at = it.contents(GUEST, TASK_PAGE + 4096) + offset_of!(TaskPage, name);
        it.bytes[at] ^= 1;
    } => "another scheduler";
    a_thread_in_another_place_of_its_slot_is_caught: |it| { let at = it.thread(2) + 12; assert_eq!(it.bytes[at], 1); it.u32(at, 2) } => "another place of its slot";
    a_thread_with_a_place_in_no_slot_is_caught: |it| { let at = it.thread(1) + 12; assert_eq!(it.bytes[at], 0); it.u32(at, 1) } => "another place of its slot";
    a_restore_from_no_slot_is_caught: |it| {
        let at = load(it, 1, offset_of!(LoadCard, what));
        it.u32(at, tactus_abi::slot::load::RESTORE);
        let at = load(it, 1, offset_of!(LoadCard, other));
        it.u32(at, 2)
    } => "a slot that there is not";
    a_slot_that_writes_to_the_console_is_caught: |it| { let at = role_of(GUEST)(it); it.u32(at, role::SLOT | role::WINDOW | role::CONSOLE) } => "another role";
    a_slot_without_a_window_is_caught: |it| { let at = role_of(GUEST)(it); it.u32(at, role::SLOT) } => "another role";
    a_loader_that_manages_memory_is_caught: |it| { let at = role_of(LOADER)(it); it.u32(at, role::LOADER | role::WINDOW | role::MEMORY) } => "manages memory";
    a_second_loader_is_caught: |it| { let at = role_of(1)(it); it.u32(at, role::LOADER | role::WINDOW) } => "loader";
    a_slot_whose_loader_is_none_is_caught: |it| { let at = it.component(GUEST) + 44; it.u32(at, 1) } => "no loader";
    a_slot_that_begins_elsewhere_is_caught: |it| { let at = it.component(GUEST) + 24; it.u64(at, PROGRAM + 16) } => "before a program";
    memory_where_a_program_comes_is_caught: |it| { let at = it.at(GUEST, HEAP) + 8; it.u64(at, PROGRAM) } => "lies where programs of a slot come";
    another_that_speaks_for_the_loader_is_caught: |it| {
        // What everybody may call then: that a job is finished.
        let own = it.parsed.components[LOADER].first_grant as usize;
        let (complete, at) = (it.parsed.grants[own].entry, it.grant(own + 1));
        it.u64(at, complete);
    } => "can speak as one";
    a_loader_that_cannot_speak_is_caught: |it| {
        let at = it.contents(LOADER, INFO) + offset_of!(Info, grants) + 24;
        it.bytes[at..at + 4].copy_from_slice(b"mute");
    } => "cannot tell the scheduler";
    a_card_of_no_slot_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, component)); it.u32(at, 1) } => "other slots";
    a_card_with_others_tasks_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, first_task)); it.u32(at, 0) } => "other tasks";
    a_card_with_a_task_more_is_caught: |it| { let at = card(it, 1, offset_of!(SlotCard, tasks)); it.u32(at, 2) } => "other tasks";
    a_card_with_more_memory_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, pages)); it.u64(at, 21) } => "more memory than there is";
    a_card_with_no_memory_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, pages)); it.u64(at, 0) } => "no memory";
    a_card_with_other_steps_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, set_back)); it.u64(at, 40) } => "more or fewer steps";
    a_card_with_another_heap_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, heap)); it.u64(at, 4096) } => "another heap";
    a_card_with_keys_of_nobody_is_caught: |it| { let at = card(it, 1, offset_of!(SlotCard, keys)); it.u32(at, 3) } => "keys or rights";
    a_card_with_a_right_that_the_slot_has_not_is_caught: |it| {
        let at = it.contents(GUEST, INFO) + offset_of!(Info, grants) + 24;
        it.bytes[at..at + 3].copy_from_slice(b"ask");
    } => "what that has not";
    a_card_with_a_budget_over_its_period_is_caught: |it| { let at = card(it, 0, offset_of!(SlotCard, budget)); it.u64(at, 1 << 40) } => "a supply";
    loads_out_of_order_are_caught: |it| { let at = load(it, 2, offset_of!(LoadCard, at)); it.u64(at, 1) } => "another order";
    a_load_into_no_slot_is_caught: |it| { let at = load(it, 0, offset_of!(LoadCard, slot)); it.u32(at, 2) } => "a package, or a slot";
    a_package_that_is_not_there_is_caught: |it| { let at = load(it, 0, offset_of!(LoadCard, bytes)); it.u64(at, 1 << 20) } => "a package, or a slot";
}
