//! A partition whose processes do what their names say, and tell of each step: `a.P5HgNc2wj` is the process `a`, periodic with a time
//! capacity of 5 ms and a hard deadline, started by the cold start, of which the error handler does nothing when it misses that; it
//! computes for 2 units, waits for its period, and begins again. `tests/scenarios/tests/all/apex_scripts` says how names are made and what
//! must come.
#![no_std]
#![no_main]

use a653rs::bindings::{
    ApexErrorP1, ApexErrorP4, ApexEventP1, ApexName, ApexProcessAttribute, ApexProcessP1, ApexProcessP4, ApexTimeP1,
    ApexTimeP4, Deadline, ErrorCode, ErrorReturnCode, EventId, ProcessId, INFINITE_TIME_VALUE,
};
use a653rs::prelude::{Partition, StartContext};
use core::fmt::Write;
use core::sync::atomic::{AtomicI64, Ordering};
use tactus_rt::abi::port::ProcessCard;
use tactus_rt::abi::shared::name_text;
use tactus_rt::apex::Apex;
use tactus_rt::{cards, Console};

tactus_rt::apex_partition!(Script);

/// The partition.
struct Script;

/// A millisecond (ns).
const MS: i64 = 1_000_000;
/// Turns of the loop that make a unit of computation: 2 instructions each, of a nanosecond; together a little less than a millisecond.
const TURNS: u64 = 450_000;
/// What comes before the steps in a name: who, a dot, kind, capacity, deadline, start, and the handler's action.
const HEAD: usize = 7;

static EVENT: AtomicI64 = AtomicI64::new(0);

impl Partition<Apex> for Script {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        begin();
    }
    fn warm_start(&self, _: &mut StartContext<Apex>) {
        begin();
    }
}

/// Creates everything that the tasks of the file are.
fn begin() {
    say(b'-', b"init", 0);
    if let Ok(event) = Apex::create_event(name("event")) {
        EVENT.store(event, Ordering::Relaxed);
    }
    for card in cards::processes() {
        let text = name_text(&card.name).as_bytes();
        if text == b"error-handler" {
            let _ = Apex::create_error_handler(handler, 4_096);
            continue;
        }
        let [kind, capacity, deadline, start] = [2, 3, 4, 5].map(|at| text[at]);
        let attributes = ApexProcessAttribute {
            period: if kind == b'P' { card.period as i64 } else { INFINITE_TIME_VALUE },
            time_capacity: match number(capacity) {
                0 => INFINITE_TIME_VALUE,
                n => n * MS,
            },
            entry_point: process,
            stack_size: 8_192,
            base_priority: card.priority as i32,
            deadline: if deadline == b'H' { Deadline::Hard } else { Deadline::Soft },
            name: name(name_text(&card.name)),
        };
        let created = Apex::create_process(&attributes);
        if let Err(code) = created {
            say(text[0], b"create", code as u32);
        }
        if start == b'g' {
            let _ = created.and_then(Apex::start);
        }
    }
}

fn name(text: &str) -> ApexName {
    let mut name = [0; 32];
    name.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    name
}

/// The value of a digit or letter.
fn number(sign: u8) -> i64 {
    (match sign {
        b'0'..=b'9' => sign - b'0',
        _ => sign.to_ascii_lowercase().wrapping_sub(b'a').wrapping_add(10),
    })
    .into()
}

/// Who did what, with which return code, and when (µs).
fn say(who: u8, what: &[u8], code: u32) {
    let what = core::str::from_utf8(what).unwrap_or("?");
    let _ = writeln!(Console, "{} {what} {code} {}", who as char, Apex::get_time() / 1_000);
}

/// Computes for a number of units.
fn compute(units: i64) {
    // SAFETY: counts down a register.
    unsafe { core::arch::asm!("2:", "dec {turns}", "jnz 2b", turns = inout(reg) units as u64 * TURNS => _) }
}

/// The task of the process that runs.
fn own() -> &'static ProcessCard {
    let place = Apex::get_my_index().unwrap_or(0) as usize;
    &cards::processes()[place]
}

fn id_of(who: u8) -> ProcessId {
    let card = cards::processes().iter().find(|card| card.name[0] == who && card.name[1] == b'.');
    card.and_then(|card| Apex::get_process_id(name(name_text(&card.name))).ok()).unwrap_or(0)
}

/// A time-out; 0 stands for none.
fn time_out(n: i64) -> i64 {
    if n == 0 {
        INFINITE_TIME_VALUE
    } else {
        n * MS
    }
}

extern "C" fn process() {
    let text = name_text(&own().name).as_bytes();
    let who = text[0];
    say(who, b"begin", 0);
    let mut at = HEAD;
    while let Some(step) = text.get(at).copied() {
        let has_value = !matches!(step, b'w' | b's' | b'r' | b'x' | b'z' | b'l' | b'j');
        let sign = text.get(at + 1).copied().filter(|_| has_value).unwrap_or(b'0');
        at += 1 + usize::from(has_value);
        let n = number(sign);
        let event: EventId = EVENT.load(Ordering::Relaxed);
        let result: Result<(), ErrorReturnCode> = match step {
            b'c' => {
                compute(n);
                Ok(())
            }
            b'w' => Apex::periodic_wait(),
            b't' => Apex::timed_wait(n * MS),
            b'e' => Apex::wait_event(event, time_out(n)),
            b's' => Apex::set_event(event),
            b'r' => Apex::reset_event(event),
            b'b' => Apex::replenish(time_out(n)),
            b'u' => Apex::suspend_self(time_out(n)),
            b'S' => Apex::suspend(id_of(sign)),
            b'R' => Apex::resume(id_of(sign)),
            b'X' => Apex::stop(id_of(sign)),
            b'G' => Apex::start(id_of(sign)),
            b'x' => Apex::raise_application_error(ErrorCode::ApplicationError, b"script"),
            b'z' => {
                say(who, b"z", 0);
                Apex::stop_self();
                Ok(())
            }
            b'l' => loop {
                core::hint::black_box(0);
            },
            _ => {
                at = HEAD;
                continue;
            }
        };
        say(who, &[step], result.err().map_or(0, |code| code as u32));
    }
    say(who, b"end", 0);
}

/// Takes all errors, and does with whose deadline was missed what its name says.
extern "C" fn handler() {
    while let Ok(status) = Apex::get_error_status() {
        let place = (status.failed_process_id - 1) as usize;
        let text = &cards::processes()[place].name;
        say(b'!', &[text[0]], status.error_code as u32);
        if status.error_code == ErrorCode::DeadlineMissed && matches!(text[6], b'Q' | b'B') {
            let stopped = Apex::stop(status.failed_process_id);
            let _ = stopped.and_then(|()| if text[6] == b'B' { Apex::start(status.failed_process_id) } else { Ok(()) });
        }
    }
    Apex::stop_self();
}
