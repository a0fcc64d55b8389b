//! Reads an image back and checks that it gives nobody more than the layout allows. Shares no code with the builder
//! but the stored forms, so that a mistake there is seen here.

mod contents;
mod fault;
mod monitors;
mod platform;
mod ports;
mod slots;
mod space;

use crate::parsed::Parsed;
use fault::{is_name, rule};
pub use fault::{Part, VerifyError};
use tactus_abi::image::{role, ThreadKind};
use tactus_abi::layout::{MAX_GRANTS, MAX_INVOCATIONS};

/// Reads an image and checks everything that the kernel and the components rely on.
///
/// # Errors
/// The first rule that the image breaks, and which part of it does. Never panics, whatever the bytes.
pub fn verify(bytes: &[u8]) -> Result<Parsed, VerifyError> {
    let mut image = Parsed::read(bytes)?;
    components(&image)?;
    let reach = calls(&image)?;
    threads(&image)?;
    space::memories(&image)?;
    let uses = space::mappings(&image)?;
    space::sharing(&image, &uses)?;
    space::entries(&image)?;
    space::stacks(&image, &uses, &reach)?;
    platform::mapped(&image, &uses)?;
    slots::mapped(&image, &uses)?;
    contents::read(&mut image, bytes)?;
    monitors::check(&image, bytes)?;
    platform::told(&image, bytes)?;
    ports::told(&image, bytes)?;
    slots::told(&image, bytes)?;
    Ok(image)
}

fn components(image: &Parsed) -> Result<(), VerifyError> {
    let mut next = 0_u64;
    for (number, it) in image.components.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Component, number, text);
        check(is_name(&it.name), "has a name that is no text")?;
        check(
            (it.role & role::ROOT != 0) == (number == 0),
            "is a scheduler and not the first, or the other way round",
        )?;
        check(u64::from(it.first_grant) == next, "has grants that do not follow those of the one before")?;
        check(it.grants as usize <= MAX_GRANTS, "has more grants than a component can hold")?;
        let plans = platform::plans(image, number);
        check((it.grants == 0) == plans, "has no grant, or is the scheduler and has one")?;
        platform::component(image, number)?;
        slots::component(image, number)?;
        next += u64::from(it.grants);
    }
    rule(next == image.grants.len() as u64, Part::Header, 0, "counts grants that belong to nobody, or too few")
}

/// Checks the grants; for each component, whether a thread that begins there can get to each other one.
fn calls(image: &Parsed) -> Result<Vec<Vec<bool>>, VerifyError> {
    let count = image.components.len();
    for (number, it) in image.grants.iter().enumerate() {
        rule((it.component as usize) < count, Part::Grant, number, "leads to a component that there is not")?;
        rule(it.reserved == 0, Part::Grant, number, "has something where zero belongs")?;
    }
    let mut entry = None;
    for number in (1..count).filter(|number| !platform::plans(image, *number)) {
        let first = image.grants_of(number)[0];
        let same = *entry.get_or_insert(first.entry) == first.entry;
        let holds = platform::plans(image, first.component as usize) && same;
        rule(holds, Part::Component, number, "has a first grant that is not the end of a job")?;
    }
    // What can be reached in at most so many steps, step by step: a fixpoint instead of the builder's search.
    let mut reach: Vec<Vec<bool>> = (0..count).map(|from| (0..count).map(|to| from == to).collect()).collect();
    let mut depth = vec![1_usize; count];
    // Ends: depths are bounded, and reach only grows.
    loop {
        let mut changed = false;
        for from in 0..count {
            for grant in image.grants_of(from) {
                let target = grant.component as usize;
                let deeper = depth[from].max(depth[target] + 1);
                rule(deeper <= MAX_INVOCATIONS, Part::Component, from, "can call in a circle, or too deep")?;
                changed |= std::mem::replace(&mut depth[from], deeper) != deeper;
                let beyond = reach[target].clone();
                for (mine, gained) in reach[from].iter_mut().zip(beyond) {
                    changed |= gained && !std::mem::replace(mine, *mine || gained);
                }
            }
        }
        if !changed {
            return Ok(reach);
        }
    }
}

fn threads(image: &Parsed) -> Result<(), VerifyError> {
    let cores = image.header.cores as usize;
    for (number, it) in image.threads.iter().enumerate() {
        let check = |holds, text| rule(holds, Part::Thread, number, text);
        check((it.component as usize) < image.components.len(), "begins in a component that there is not")?;
        check(it.place == image.place_of(number), "lies in another place of its slot, or in one and is of none")?;
        if number < cores {
            let upcall = it.component == 0 && it.kind == ThreadKind::Upcall as u32 && it.number as usize == number;
            check(upcall, "should be a core's upcall: in the scheduler and without a task")?;
        } else {
            let task = it.kind == ThreadKind::Task as u32;
            check(!task || it.component != 0, "runs a task in the scheduler")?;
            check(!task || it.number as usize == number - cores, "does not run the task in its place")?;
        }
    }
    platform::threads(image)
}
