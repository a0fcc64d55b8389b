//! Images of systems whose parts have colours of their own: nobody sees memory of another one's colours, and damage is caught.

use crate::common::draft::caught;
use crate::common::{example, image};
use tactus_abi::image::{Header, Mapping, Memory, MemoryKind};
use tactus_abi::layout::{CLOCK, HEAP, TASK_PAGE, TRACE};
use tactus_image::{verify, Image, ImageError, Interleaved};
use tactus_model::{every_colour, ColourAssignment, System};

/// The example with so many colours: those of the kernel, of the rest, of each component and of each task.
fn coloured(colours: u32, assigned: ColourAssignment) -> System {
    let mut system = example();
    system.platform.colours = colours;
    system.platform.colour_assignment = Some(assigned);
    system
}

fn four() -> System {
    coloured(
        4,
        ColourAssignment {
            kernel: 0b0001,
            rest: 0b0010,
            components: vec![0b0100, 0b1000, 0b1100],
            tasks: vec![0b0010, 0b1000, 0b0100, 0b0100],
        },
    )
}

fn bytes() -> Vec<u8> {
    image(&four()).unwrap().bytes
}

/// The same, with the heap of the component of two colours in parts.
fn in_parts() -> Vec<u8> {
    let mut system = four();
    system.components[2].rights.heap_by_colour = true;
    system.components[2].rights.heap = 100 << 10;
    image(&system).unwrap().bytes
}

#[test]
fn a_heap_in_parts_has_a_part_of_each_colour_side_by_side() {
    let parsed = verify(&in_parts()).unwrap_or_else(|error| panic!("{error}"));
    let of = |it: &&Mapping| it.component == 5 && (HEAP..TRACE).contains(&it.address);
    let parts = parsed.mappings.iter().filter(of).map(|it| {
        let memory = &parsed.memories[it.memory as usize];
        (it.address - HEAP, memory.bytes, memory.colours)
    });
    // Whole pages each: 52 KiB.
    assert_eq!(parts.collect::<Vec<_>>(), [(0, 52 << 10, 0b0100), (52 << 10, 52 << 10, 0b1000)]);
}

/// What each object's colours are, and that everybody who sees it may.
fn look(image: &Image, system: &System) {
    let parsed = verify(&image.bytes).unwrap_or_else(|error| panic!("{error}"));
    let assigned = system.platform.colour_assignment.as_ref().unwrap();
    // Scheduler, two of the workload, three components.
    let own = [
        assigned.rest,
        assigned.tasks[0],
        assigned.tasks[1],
        assigned.components[0],
        assigned.components[1],
        assigned.components[2],
    ];
    assert_eq!(parsed.header.kernel_colours, assigned.kernel);
    for (component, own) in parsed.components.iter().zip(own) {
        assert_eq!((component.colours, component.window_colours), (own, own));
    }
    for it in &parsed.mappings {
        let memory = &parsed.memories[it.memory as usize];
        assert_ne!(memory.kind, MemoryKind::InPlace as u32, "{it:?}");
        let sharers: Vec<usize> = parsed
            .mappings
            .iter()
            .filter(|other| other.memory == it.memory)
            .map(|other| other.component as usize)
            .collect();
        match it.address {
            CLOCK => assert_eq!(memory.colours, assigned.kernel),
            _ if sharers.len() == 1 => assert_eq!(memory.colours, own[it.component as usize], "{it:?}"),
            // A task's page: its component and the scheduler.
            _ => {
                assert_eq!(sharers.len(), 2);
                let task = sharers.iter().find(|component| **component != 0).unwrap();
                assert_eq!(memory.colours, own[*task], "{it:?}");
            }
        }
    }
    let trace = Interleaved { bits: assigned.rest, colours: system.platform.colours };
    assert_eq!(image.facts.trace_pages, trace);
    let end = image.facts.trace_address + trace.extent(image.facts.ring_bytes * 2 / 4096) * 4096;
    assert!(
        end + image.facts.image_bytes <= system.memory
            && image.facts.trace_address % (u64::from(trace.colours) * 4096) == 0
    );
}

#[test]
fn every_object_has_the_colours_of_one_who_sees_it_however_they_are_given_out() {
    look(&image(&four()).unwrap(), &four());
    let mut random = 7_u64;
    let mut draw = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 20
    };
    for _ in 0..40 {
        let colours = 1 << (1 + draw() % 6);
        let mut some = || match draw() & draw() & every_colour(colours) {
            0 => 1,
            bits => bits,
        };
        let components = vec![some(), some(), some()];
        let tasks = vec![some(), some(), components[0], components[0]];
        let mut system = coloured(colours, ColourAssignment { kernel: some(), rest: some(), components, tasks });
        // Enough for the kernel in one colour of 64.
        system.memory = 1 << 30;
        look(&image(&system).unwrap(), &system);
    }
}

#[test]
fn a_part_that_is_too_big_for_its_colours_is_refused_with_what_would_do() {
    let mut system = four();
    // In the colour of the second component and of half of the third.
    system.tasks[1].memory = 40 << 20;
    let refused = image(&system).unwrap_err();
    let ImageError::Colour { colour: 3, needed, .. } = &refused else { panic!("{refused}") };
    let text = refused.to_string();
    assert!(
        text.contains("memory of colour 3 is too small: 41 MiB of it are wanted, 41 MiB by component \"drawn\""),
        "{text}"
    );
    system.memory = needed.next_multiple_of(1 << 20) + (32 << 20);
    assert!(image(&system).is_ok(), "what is told would do");
}

const COLOURS: usize = std::mem::offset_of!(Memory, colours);

caught! { bytes();
    a_heap_of_foreign_colours_is_caught: |it| it.u64(it.shown(1, HEAP) + COLOURS, 1) => "has colours of nobody who sees it";
    a_page_of_a_task_of_no_colour_is_caught: |it| it.u64(it.shown(1, TASK_PAGE) + COLOURS, 0) => "has no colour";
    a_colour_that_there_is_not_is_caught: |it| it.u64(it.shown(1, HEAP) + COLOURS, 16) => "one that there is not";
    memory_that_lies_in_the_image_is_caught: |it| it.u32(it.shown(3, tactus_abi::layout::INFO), 0) => "of another kind";
    a_kernel_without_colours_is_caught: |it| it.u64(std::mem::offset_of!(Header, kernel_colours), 0) => "gives the kernel no colour";
    a_window_of_foreign_colours_is_caught: |it| it.u64(it.component(3) + std::mem::offset_of!(tactus_abi::image::Component, window_colours), 7)
        => "may be shown frames of other colours";
}

caught! { in_parts();
    a_part_of_a_heap_in_its_neighbours_colour_is_caught: |it| it.u64(it.shown(5, HEAP) + COLOURS, 0b1000) => "in no colour of its own";
    a_part_of_a_heap_in_two_colours_is_caught: |it| it.u64(it.shown(5, HEAP) + COLOURS, 0b1100) => "in no colour of its own";
    a_part_of_a_heap_out_of_its_place_is_caught: |it| it.u64(it.at(5, HEAP) + 8, HEAP + 4096) => "";
}
