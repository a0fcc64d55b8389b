//! Images whose servers have schedulers of their own: who tells whom of what, and that nothing else passes verification.

use crate::common::draft::caught;
use crate::common::{example, image_per_server};
use tactus_abi::image::WRITABLE;
use tactus_abi::layout::{CHILD_PAGE, CHILD_PAGES, PAGE, PARENT_PAGE, PARENT_PAGES, TASK_PAGE, TASK_PAGES};
use tactus_abi::shared::{name_text, TaskPage};
use tactus_abi::slot::label;
use tactus_image::{verify, ChildScheduler, Image};
use tactus_time::TaskId;

/// One scheduler inside the other; the last two tasks, both of the controller, are one's and the other's.
fn built() -> Image {
    let child = |name: &str, parent: Option<usize>, task: u16| ChildScheduler {
        name: name.to_string(),
        parent,
        plan: b"another plan".to_vec(),
        tasks: vec![TaskId(task)],
    };
    image_per_server(&example(), &[child("outer", None, 2), child("inner", Some(0), 3)]).unwrap()
}

/// Components: the root scheduler, the two below, then workloads and the user's.
const OUTER: usize = 1;
const INNER: usize = 2;
const PLAIN: usize = 3;
const CONTROLLER: usize = 5;
/// The page of the last task, at home in the controller.
const LAST: u64 = TASK_PAGE + 3 * PAGE;

fn right() -> Vec<u8> {
    built().bytes
}

#[test]
fn each_scheduler_of_a_components_tasks_is_told_of_the_end_of_its_jobs_by_a_grant_of_its_own() {
    let image = built();
    let names = ["scheduler", "outer", "inner", "plain", "drawn", "controller", "filter", "log"];
    assert_eq!(image.facts.components, names);
    let parsed = verify(&image.bytes).unwrap();
    let of = |component: usize| -> Vec<_> {
        let names = parsed.infos[component].grants.iter().map(name_text);
        names.zip(parsed.grants_of(component)).map(|(name, it)| (name, it.component as usize)).collect()
    };
    assert_eq!(of(PLAIN), [("complete", 0)]);
    assert_eq!(of(CONTROLLER), [("complete", OUTER), ("smooth", 6), ("complete 2", INNER)]);
    // Of the controller's two tasks the second has its index, too.
    for (task, component, scheduler, grant, index) in
        [(0, PLAIN, 0, 0, 0), (1, 4, 0, 0, 0), (2, CONTROLLER, OUTER, 0, 0), (3, CONTROLLER, INNER, 2, 1)]
    {
        let at = |component, address: u64| parsed.mapping_at(component, address + task * PAGE).unwrap();
        let (read, written) = (at(component, TASK_PAGE), at(scheduler, TASK_PAGES));
        assert_eq!((read.memory, read.flags, written.flags), (written.memory, 0, WRITABLE));
        let memory = parsed.memories[read.memory as usize];
        let page = &image.bytes[memory.offset as usize..(memory.offset + memory.file_bytes) as usize];
        let words: Vec<u64> = page.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let mut expected = vec![0; size_of::<TaskPage>() / 8];
        let name = label(&example().tasks[task as usize].name);
        for (word, bytes) in expected[NAME / 8..].iter_mut().zip(name.chunks(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap());
        }
        expected.get_mut(COMPLETE / 8).into_iter().for_each(|word| *word = grant);
        expected.get_mut(INDEX / 8).into_iter().for_each(|word| *word = index);
        assert_eq!(words, expected);
    }
}

const COMPLETE: usize = std::mem::offset_of!(TaskPage, complete);
const INDEX: usize = std::mem::offset_of!(TaskPage, index);
const NAME: usize = std::mem::offset_of!(TaskPage, name);

caught! {
    right();
    a_page_that_names_anothers_scheduler_is_caught: |it| it.u64(it.contents(CONTROLLER, LAST) + COMPLETE, 0) => "another scheduler than its task's";
    a_page_that_names_a_service_is_caught: |it| it.u64(it.contents(CONTROLLER, LAST) + COMPLETE, 1) => "another scheduler than its task's";
    a_page_that_names_no_grant_is_caught: |it| it.u64(it.contents(CONTROLLER, LAST) + COMPLETE, 77) => "another scheduler than its task's";
    a_page_of_a_job_that_has_not_begun_is_caught: |it| it.u64(it.contents(CONTROLLER, LAST), 1) => "another scheduler than its task's";
    a_page_that_ends_early_is_caught: |it| it.u64(it.shown(CONTROLLER, LAST) + 24, 39) => "another scheduler than its task's";
    a_page_that_another_scheduler_writes_is_caught: |it| it.u32(it.at(INNER, TASK_PAGES + 3 * PAGE), 0) => "more than the layout says";
    a_last_grant_to_another_service_of_the_scheduler_is_caught: |it| it.u64(it.grant(4), 0x40_1000) => "more than the layout says";

    what_a_parent_tells_and_can_write_is_caught: |it| it.u32(it.at(INNER, PARENT_PAGE) + 16, WRITABLE) => "other rights";
    what_a_parent_tells_by_another_is_caught: |it| it.u64(it.at(OUTER, PARENT_PAGES + 2 * PAGE) + 8, PARENT_PAGES + PAGE) => "more than the layout says";
    what_a_child_has_counted_and_cannot_write_is_caught: |it| it.u32(it.at(INNER, CHILD_PAGE) + 16, 0) => "other rights";
    what_a_child_has_counted_and_the_one_above_can_write_is_caught: |it| it.u32(it.at(OUTER, CHILD_PAGES + 2 * PAGE) + 16, WRITABLE) => "other rights";
    what_a_child_has_counted_for_another_is_caught: |it| it.u64(it.at(OUTER, CHILD_PAGES + 2 * PAGE) + 8, CHILD_PAGES + PAGE) => "more than the layout says";
    what_a_child_has_counted_and_the_root_reads_as_anothers_is_caught: |it| it.u64(it.at(0, CHILD_PAGES + 2 * PAGE) + 8, CHILD_PAGES + 3 * PAGE) => "more than the layout says";
    what_a_child_has_counted_in_what_is_none_is_caught: |it| it.u32(it.at(INNER, CHILD_PAGE), PLAIN as u32) => "no place for it";
    what_two_schedulers_say_of_changes_on_one_page_is_caught: |it| {
        let other = it.memory_at(OUTER, CHILD_PAGE) as u32;
        it.u32(it.at(INNER, CHILD_PAGE) + 4, other);
    } => "";
}
