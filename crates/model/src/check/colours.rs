//! The rules for colours of memory: how many there are, and who has which.

use crate::colour_assignment::{every_colour, longest_run, Caches, ColourAssignment, ColourBits};
use crate::draft::{At, Draft, DraftBuffer, DraftColours, Given};
use crate::platform::Device;
use crate::problem::{Collector, Location};
use crate::{MAX_COLOURS, PAGE};
use tactus_cache::Colours;

/// How many colours the machine has, and its caches.
pub(super) fn machine(draft: &Draft, out: &mut Collector) -> (u32, Option<Caches>) {
    let caches = draft.platform.geometry.get().map(|at| at.value.clone());
    if let (Some(at), Some(caches)) = (draft.platform.geometry.get(), &caches) {
        let (cores, most) = (draft.cores.value().unwrap_or(1), caches.geometry.processors() as u64);
        if cores > most {
            let why = format!("this machine has {most} processors, and the system has {cores} cores");
            out.refuse(at.place, "[machine] geometry", why, "take a larger machine, or fewer cores");
        }
        if caches.geometry.page != PAGE {
            let why = format!("its pages have {} bytes, and the kernel's have {PAGE}", caches.geometry.page);
            out.refuse(at.place, "[machine] geometry", why, "write page = 4096 there");
        }
    }
    let Some(at) = draft.platform.colours.get() else { return (1, caches) };
    let apart = |count: u64| caches.as_ref().map(|it| Colours::on_hashed_index(&it.geometry, count));
    let count = match at.value {
        DraftColours::Count(count) => match u32::try_from(count) {
            Ok(colours) if colours.is_power_of_two() && colours <= MAX_COLOURS => {
                if let Some(Err(why)) = apart(count) {
                    out.refuse(at.place, "[machine]", why.to_string(), "or remove geometry");
                }
                colours
            }
            _ => {
                let limit = format!("no power of two up to {MAX_COLOURS}");
                out.out_of_range(at.place, "[machine]", "colours", count, limit, "choose 1, 2, 4 and so on");
                1
            }
        },
        DraftColours::FromGeometry if caches.is_none() => {
            if draft.platform.geometry.is_absent() {
                let why = "colours are to come from a geometry, and there is none";
                out.refuse(at.place, "[machine]", why, "add a line like geometry = \"i7-2600\"");
            }
            1
        }
        DraftColours::FromGeometry => {
            let counts = (0..=MAX_COLOURS.ilog2()).map(|power| 1 << power);
            counts.rev().find(|count| matches!(apart(u64::from(*count)), Some(Ok(_)))).unwrap_or(1)
        }
    };
    (count, caches)
}

/// Colours that somebody names, checked one by one.
pub(super) fn named(list: &[At<u64>], subject: &str, count: u32, out: &mut Collector) -> Vec<u32> {
    let mut chosen = Vec::new();
    for colour in list {
        if colour.value >= u64::from(count) {
            let limit = match count {
                1 => "more than there are: memory has one colour".to_string(),
                _ => format!("not one of the machine's, 0 to {}", count - 1),
            };
            let remedy = "choose another, or write more colours in [machine]";
            out.out_of_range(colour.place, subject, "colour", colour.value, limit, remedy);
        } else if chosen.contains(&(colour.value as u32)) {
            out.refuse(colour.place, subject, format!("colour {} is named twice", colour.value), "remove one");
        } else {
            chosen.push(colour.value as u32);
        }
    }
    chosen
}

fn bits(list: &[At<u64>], subject: &str, count: u32, out: &mut Collector) -> ColourBits {
    named(list, subject, count, out).into_iter().fold(0, |bits, colour| bits | 1 << colour)
}

/// Who has which colours; nothing if nobody names any.
pub(super) fn assignment(draft: &Draft, count: u32, out: &mut Collector) -> Option<ColourAssignment> {
    let components: Vec<ColourBits> =
        draft.components.iter().map(|it| bits(&it.colours, &it.subject, count, out)).collect();
    let mut tasks: Vec<ColourBits> = Vec::new();
    for it in &draft.tasks {
        let own = bits(&it.colours, &it.subject, count, out);
        if let (Some(first), Given::Is(component)) = (it.colours.first(), &it.component) {
            let why = format!("its memory is that of component {:?}, and so are its colours", component.value);
            out.refuse(first.place, &it.subject, why, "write colours there");
        }
        tasks.push(own);
    }
    let kernel = bits(&draft.platform.kernel, "[kernel]", count, out);
    let taken = components.iter().chain(&tasks).fold(kernel, |all, own| all | own);
    if taken == 0 || count == 1 {
        return None;
    }
    let rest = every_colour(count) & !taken;
    if rest == 0 {
        let places =
            draft.components.iter().flat_map(|it| &it.colours).chain(draft.tasks.iter().flat_map(|it| &it.colours));
        let place =
            places.chain(&draft.platform.kernel).map(|at| at.place).max_by_key(|place| place.line).unwrap_or_default();
        let why = "every colour is somebody's, and none is left for the scheduler and for whatever names none";
        out.refuse(place, "colours", why, "leave one unnamed, or write more colours in [machine]");
    }
    let or_rest = |own: ColourBits| if own == 0 { rest } else { own };
    let components: Vec<ColourBits> = components.into_iter().map(or_rest).collect();
    let place_of = |task: &crate::draft::DraftTask| {
        let wanted = task.component.get()?;
        draft.components.iter().position(|it| it.name.get().is_some_and(|name| name.value == wanted.value))
    };
    let tasks = tasks.into_iter().zip(&draft.tasks);
    let tasks = tasks.map(|(own, task)| place_of(task).map_or(or_rest(own), |place| components[place])).collect();
    Some(ColourAssignment { kernel: or_rest(kernel), rest, components, tasks })
}

/// The colours of a buffer: those named, which must be of those who share it; else all of theirs.
pub(super) fn of_buffer(
    draft: &DraftBuffer,
    between: &[usize],
    assigned: Option<&ColourAssignment>,
    count: u32,
    out: &mut Collector,
) -> Vec<u32> {
    let chosen = named(&draft.colours, &draft.subject, count, out);
    let Some(assigned) = assigned else { return chosen };
    let theirs = between.iter().fold(0, |bits, place| bits | assigned.components[*place]);
    for at in draft.colours.iter().filter(|at| at.value < u64::from(count) && theirs >> at.value & 1 == 0) {
        let why = format!("colour {} is of none of those that share it", at.value);
        out.refuse(at.place, &draft.subject, why, "choose one of theirs, or give it to one of them");
    }
    match chosen.is_empty() {
        true => (0..count).filter(|colour| theirs >> colour & 1 != 0).collect(),
        false => chosen,
    }
}

/// What a device reads and writes lies in one piece: its driver must have as many colours in a row.
pub(super) fn devices(devices: &[Device], assigned: Option<&ColourAssignment>, count: u32, out: &mut Collector) {
    let Some(assigned) = assigned else { return };
    for it in devices {
        let Some(run) = longest_run(assigned.components[it.component], count) else { continue };
        if it.dma / PAGE > u64::from(run) {
            let why = format!(
                "its dma has {} pages in one piece, and the longest row of its driver's colours is {run}",
                it.dma / PAGE
            );
            let place = Location { line: it.line, column: 1 };
            out.refuse(
                place,
                &format!("device {:?}", it.name),
                why,
                "give the driver more colours in a row, or less dma",
            );
        }
    }
}
