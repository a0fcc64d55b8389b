//! The built-in workload: each job uses its demand, no more and no less, touching its memory as it goes.
//!
//! Demand is time charged, not instructions: where emulated cores take turns, a count of instructions says nothing about
//! time. An emulated core that is alone takes the same time for each instruction. There the last stretch, too short for
//! another look at the clock, is so many instructions: the job ends at the same instant whenever its looks were.
#![no_std]
#![no_main]

use core::cmp::Reverse;
use tactus_rt::abi::layout::{MAX_CHANNELS, STEP_WORDS};
use tactus_rt::abi::port::{ServicePort, DESTINATION, SOURCE};
use tactus_rt::abi::shared::{name_text, slices, DEEPEST_SECTION};
use tactus_rt::demands::{demand, steps, waits};
use tactus_rt::heap::Lines;
use tactus_rt::port::{PortError, QueuingDestination, QueuingSource, SamplingDestination, SamplingSource};
use tactus_rt::request::{ClientState, ServerState};
use tactus_rt::spend::{self, execute, MOST_INSTRUCTIONS};
use tactus_rt::time::Duration;
use tactus_rt::{calls, cards, clock, Job};

tactus_rt::component! { job: burn, services: [] }

/// How long (ns) a job goes on between looks at the clock, about, where cores take turns in short slices.
const LOOK: u64 = 500;
/// The same where slices are long: nothing is near that another core waits for.
const LONG_LOOK: u64 = 2_000;
/// The same where there is one core.
const LONGEST_LOOK: u64 = 20_000;
/// Closer to its end than this (ns) it looks after every step, or looks no more.
const NEAR: u64 = 1_500;
/// The last stretch is at least so many instructions, so that no look falls behind it: a step and a look take fewer.
const LAST_INSTRUCTIONS: u64 = 400;
const _: () = assert!(NEAR <= MOST_INSTRUCTIONS && LAST_INSTRUCTIONS <= MOST_INSTRUCTIONS);
/// Instructions of a step, about. One long run of them is what an emulator executes fastest.
const STEP_INSTRUCTIONS: u64 = 68;

/// Goes through the steps of a job that signals and awaits events.
#[cold]
fn burn_through(job: &Job, steps: &[[u64; STEP_WORDS]], demand: Duration) {
    for [after, kind, of, gives] in steps {
        burn_until(job, Duration::from_nanos(*after));
        match kind {
            0 => _ = job.wait(Duration::from_nanos(*of)),
            1 => job.await_event(*of as u16, (*gives as u16).checked_sub(1)),
            _ => job.signal(*of as u16, *kind == 3),
        }
    }
    burn_until(job, demand);
}

/// The longest message that it writes, and the longest that it reads (bytes).
const MESSAGE: usize = 64;

/// Reads all that has come by the channels of its task, whatever it is, and writes the job's number to those of which it is the source;
/// where a queue is full, or a source writes all the time, it goes on without.
#[cold]
fn exchange(job: &Job) {
    let number = job.number().to_le_bytes();
    let mut message = [0; MESSAGE];
    for card in cards::ports() {
        let name = name_text(&card.name);
        if card.service != 0 {
            continue;
        }
        if let Ok(port) = SamplingDestination::open(name) {
            let _ = port.read(&mut message);
        } else if let Ok(port) = QueuingDestination::open(name) {
            for _ in 0..card.depth {
                match port.receive(&mut message) {
                    Ok(None) => break,
                    Err(PortError::TooLong) => port.clear(),
                    _ => {}
                }
            }
        } else {
            message.chunks_mut(8).for_each(|word| word.copy_from_slice(&number[..word.len()]));
            let sent = &message[..(card.size as usize).min(MESSAGE)];
            let _ = match SamplingSource::open(name) {
                Ok(port) => port.write(sent),
                Err(_) => QueuingSource::open(name).and_then(|port| port.send(sent)),
            };
        }
    }
}

/// What it keeps of the services that its jobs ask, by their numbers, and of the one that they give.
static CLIENTS: [ClientState; MOST_SERVICES] = [const { ClientState::new() }; MOST_SERVICES];
static SERVER: ServerState = ServerState::new();
/// Each client of a service has two of the channels.
const MOST_SERVICES: usize = MAX_CHANNELS / 2;

/// Takes the answers that have come, and asks where nothing is outstanding: the job's number.
#[cold]
fn ask(job: &Job) {
    let mut message = [0; MESSAGE];
    for card in cards::ports().iter().filter(|card| card.direction == SOURCE) {
        let Some(name) = name_text(&card.name).strip_suffix('?') else { continue };
        let Some(client) = ServicePort::of(card.service).and_then(|of| CLIENTS.get(usize::from(of.service))) else {
            continue;
        };
        let _ = client.answer(name, job, &mut message);
        let number = job.number().to_le_bytes();
        let _ = client.ask(name, job, &number[..number.len().min(card.size as usize - size_of::<u64>())]);
    }
}

/// Answers as many requests as a job may, each with what it asked.
#[cold]
fn serve(job: &Job) {
    let mut message = [0; MESSAGE];
    let mut served = cards::ports().iter().filter(|card| card.direction == DESTINATION && card.service != 0);
    let Some((name, _)) = served.find_map(|card| name_text(&card.name).split_once('?')) else { return };
    while let Some((asked, length)) = SERVER.next(name, job, &mut message) {
        let _ = asked.answer(job, &message[..length]);
    }
}

fn burn(job: &Job) {
    let ports = tactus_rt::info().ports != 0;
    if ports {
        exchange(job);
        ask(job);
    }
    let demand = demand(job.number());
    let (waits, steps) = (waits(), steps(job.number()));
    match job.sections() {
        _ if !steps.is_empty() => burn_through(job, steps, demand),
        0 if waits.is_empty() => burn_until(job, demand),
        count => burn_with_steps(job, (count, waits), demand),
    }
    if ports {
        serve(job);
    }
}

/// Waits, and enters and leaves the sections on the way, the outermost first; what is not over when the job has had its demand ends with
/// it.
#[cold]
fn burn_with_steps(job: &Job, (count, mut waits): (usize, &[[u64; 2]]), demand: Duration) {
    let sections = || (0..count).filter_map(|number| Some((number, job.section(number)?)));
    // Where the sections end that are held, which lie one inside the other.
    let mut held = [Duration::ZERO; DEEPEST_SECTION];
    let (mut depth, mut entered) = (0_usize, 0_u64);
    loop {
        let begins = sections().filter(|(number, it)| entered & 1 << number == 0 && it.from < demand);
        let next = begins.map(|(number, it)| (it.from, Reverse(it.until), number)).min();
        let end = depth.checked_sub(1).map(|innermost| held[innermost]);
        if let Some(([after, length], rest)) = waits.split_first() {
            let after = Duration::from_nanos(*after);
            // What ends then has ended, and what begins then has not begun.
            let first = end.is_none_or(|end| after < end) && next.is_none_or(|next| after <= next.0);
            if first && after < demand {
                burn_until(job, after);
                job.wait(Duration::from_nanos(*length));
                waits = rest;
                continue;
            }
        }
        match (next, end) {
            (next, Some(end)) if next.is_none_or(|next| end <= next.0) => {
                if end >= demand {
                    break;
                }
                burn_until(job, end);
                job.leave();
                depth -= 1;
            }
            (Some((from, Reverse(until), number)), _) => {
                burn_until(job, from);
                entered |= 1 << number;
                if job.enter(number) {
                    held[depth] = until;
                    depth += 1;
                }
            }
            (None, _) => break,
        }
    }
    burn_until(job, demand);
}

fn burn_until(job: &Job, demand: Duration) {
    let info = tactus_rt::info();
    let lines = Lines::of_jobs();
    let instruction = info.instruction_nanos.max(1);
    let step = STEP_INSTRUCTIONS * instruction;
    let alone = info.cores == 1;
    let near = Duration::from_nanos(if alone { NEAR.max(LAST_INSTRUCTIONS * instruction) } else { NEAR });
    let (mut line, mut told) = (0, 0);
    loop {
        let charged = job.charged();
        if charged >= demand {
            return;
        }
        let left = demand - charged;
        if alone && left <= near {
            execute(left.as_nanos() / instruction);
            // Behind it the time is up, unless this is a machine on which instructions take less.
            continue;
        }
        // Look at the clock now and then, and often near the end: reading it is dear under emulation, pausing dearer.
        let slices = clock::slices();
        let long = slices > clock::time_stamp();
        let look = match slices {
            slices::NONE if alone => (left.as_nanos() / 4).min(LONGEST_LOOK),
            _ if long => LONG_LOOK,
            _ => LOOK,
        };
        let steps = if left > near { (look / step).max(1) } else { 1 };
        if slices != slices::NONE {
            let end = job.charged_at(demand);
            if end != told {
                told = end;
                // Refused by nobody: the image builder lets this component tell it.
                let _ = calls::computes_until(end);
            }
        }
        for _ in 0..steps {
            spend::row();
            lines.touch(line);
            line = if line + 1 >= lines.count() { 0 } else { line + 1 };
        }
        if slices != slices::NONE && !long {
            // This ends the slice.
            core::hint::spin_loop();
        }
    }
}
