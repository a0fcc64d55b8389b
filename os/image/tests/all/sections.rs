//! Images of systems that share resources: the page of each task with critical sections, and that nothing else passes
//! verification.

use crate::common::draft::caught;
use crate::common::{example, image_with, program, programs};
use std::mem::offset_of;
use tactus_abi::image::WRITABLE;
use tactus_abi::layout::{PAGE, SECTION_PAGE, SECTION_PAGES, TASK_PAGE};
use tactus_abi::shared::{name_text, SectionPage, TaskPage};
use tactus_image::{verify, ImageError};
use tactus_model::{Resource, ResourceProtocol, Section, System};
use tactus_time::Duration;

/// The first task and the controller's second one share a resource.
fn sharing() -> System {
    let mut system = example();
    let name = "bus".to_string();
    system.scheduling.resources =
        vec![Resource { name, protocol: ResourceProtocol::Ceiling, withdrawn: false, line: 0 }];
    let section = |after, length| Section {
        resource: 0,
        after: Duration::from_micros(after),
        length: Duration::from_micros(length),
        actual: None,
    };
    system.scheduling.sections = vec![vec![section(100, 200), section(400, 50)], vec![], vec![], vec![section(0, 10)]];
    system
}

fn right() -> Vec<u8> {
    let system = sharing();
    let scheduler = program(&["complete", "section"], 1);
    image_with(&system, &scheduler, &program(&[], 2), &programs(&system)).unwrap().bytes
}

/// Components: the root scheduler, the workloads, then the user's.
const PLAIN: usize = 1;
const CONTROLLER: usize = 3;
/// The page of sections of the last task, at home in the controller.
const LAST: u64 = SECTION_PAGE + 3 * PAGE;

#[test]
fn a_task_with_sections_has_a_page_that_it_and_the_scheduler_write_and_a_grant_to_tell_of_their_ends() {
    let bytes = right();
    let parsed = verify(&bytes).unwrap();
    for (component, task, grant, sections) in
        [(PLAIN, 0, 1, vec![[0, 100_000, 300_000], [0, 400_000, 450_000]]), (CONTROLLER, 3, 2, vec![[0, 0, 10_000]])]
    {
        let at = |component, address: u64| parsed.mapping_at(component, address + task * PAGE).unwrap();
        let (own, root) = (at(component, SECTION_PAGE), at(0, SECTION_PAGES));
        assert_eq!((own.memory, own.flags, root.flags), (root.memory, WRITABLE, WRITABLE));
        let memory = parsed.memories[own.memory as usize];
        let page = &bytes[memory.offset as usize..(memory.offset + memory.file_bytes) as usize];
        let words: Vec<u64> = page.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words[..11], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, grant]);
        assert_eq!(words[11..11 + 3 * sections.len()], sections.concat());
        assert_eq!(name_text(&parsed.infos[component].grants[grant as usize]), "section");
        assert_eq!(parsed.grants_of(component)[grant as usize].component, 0);
    }
    assert!(
        parsed.mapping_at(2, SECTION_PAGE + PAGE).is_none() && parsed.mapping_at(0, SECTION_PAGES + PAGE).is_none()
    );
}

#[test]
fn a_scheduler_that_cannot_be_told_of_the_ends_of_sections_is_refused() {
    let system = sharing();
    let built = image_with(&system, &program(&["complete"], 1), &program(&[], 2), &programs(&system));
    let Err(ImageError::MissingService { service, .. }) = built else { panic!("it was built") };
    assert_eq!(service, "section");
}

caught! { right();
    a_page_on_which_something_is_held_is_caught: |it| {
        let at = it.contents(PLAIN, SECTION_PAGE);
        it.u64(at, 1);
    } => "tells another scheduler";
    an_end_that_nobody_is_told_is_caught: |it| {
        let at = it.contents(PLAIN, SECTION_PAGE) + offset_of!(SectionPage, grant);
        it.u64(at, 7);
    } => "tells another scheduler";
    an_end_that_another_component_is_told_is_caught: |it| {
        // The controller's grant 1 is the filter's service.
        let at = it.contents(CONTROLLER, LAST) + offset_of!(SectionPage, grant);
        it.u64(at, 1);
    } => "tells another scheduler";
    a_section_that_ends_before_it_begins_is_caught: |it| {
        let at = it.contents(PLAIN, SECTION_PAGE) + offset_of!(SectionPage, sections) + 8;
        it.u64(at, 300_001);
    } => "tells another scheduler";
    more_sections_than_a_page_holds_are_caught: |it| {
        let at = it.contents(PLAIN, TASK_PAGE) + offset_of!(TaskPage, sections);
        it.u64(at, 65);
    } => "tells another scheduler";
    sections_that_nobody_declares_are_caught: |it| {
        let at = it.contents(PLAIN, TASK_PAGE) + offset_of!(TaskPage, sections);
        it.u64(at, 0);
    } => "tells another scheduler";
    a_page_that_another_task_writes_is_caught: |it| {
        let (at, other) = (it.at(CONTROLLER, LAST), it.memory_at(PLAIN, SECTION_PAGE));
        it.u32(at + 4, other as u32);
    } => "is seen by nobody, or by more than the layout says";
}
