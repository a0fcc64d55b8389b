//! Monitors with a clock beside R2U2, a monitor of mission-time temporal logic that others wrote: the same verdict at the same instant.
//!
//! R2U2 looks at every instant, and ours at events alone. So a trace has one event or none at each instant, and what R2U2 takes for an
//! atom is that an event happens which is one: "r at every event" is "at no instant an event that is not r". Its programs are those
//! that its compiler would make of these formulas, put together here. A chain's latency follows the data, which its logic cannot say. Its
//! since (0.2.3) keeps the last q although r did not hold after it, so that `r since q` is held against its definition alone (`time.rs`).

mod common;

use common::Random;
use r2u2_core::{get_monitor, get_output_buffer, load_bool_signal, monitor_step, Monitor};
use tactus_monitor::{Property, Step, Timed};
use tactus_time::Instant;

/// What R2U2 knows as an operator, by its number.
const LOAD: u8 = 0b11101;
const RETURN: u8 = 0b11100;
const UNTIL: u8 = 0b11001;
const RELEASE: u8 = 0b11000;
const NOT: u8 = 0b10111;
const OR_ELSE: u8 = 0b10101;
const SINCE: u8 = 0b01001;

/// An operand: an atom, a constant, or the result of the instruction with this number.
#[derive(Clone, Copy)]
enum Operand {
    Atom(u32),
    Constant(bool),
    Of(u32),
}

/// A program of R2U2, in the form in which it reads it.
struct Program {
    bytes: Vec<u8>,
    code: Vec<u8>,
    instructions: u32,
}

impl Program {
    const QUEUE: u32 = 128;
    const ENDS: u8 = 0;
    const CONFIGURE: u8 = 2;
    const TEMPORAL: u8 = 4;

    fn new() -> Program {
        Program { bytes: vec![1], code: Vec::new(), instructions: 0 }
    }
    fn words([one, two, queue]: [u32; 3], kinds: [u8; 3]) -> Vec<u8> {
        [one, two, queue].iter().flat_map(|word| word.to_le_bytes()).chain(kinds).collect()
    }
    fn record(to: &mut Vec<u8>, engines: &[u8], body: &[u8]) {
        to.push((1 + engines.len() + body.len()) as u8);
        to.extend(engines.iter().chain(body));
    }
    /// One more instruction; the operand that its result is.
    fn add(&mut self, operator: u8, operands: [Operand; 2], bounds: Option<(u32, u32)>) -> Operand {
        let number = self.instructions;
        self.instructions += 1;
        // A queue for its results, and for operators with bounds those, in a block of four words.
        let length = Program::QUEUE + if bounds.is_some() { 4 } else { 0 };
        let configure = [Program::CONFIGURE, Program::TEMPORAL];
        Program::record(&mut self.bytes, &configure, &Program::words([length, 0, number], [0, 3, 0]));
        if let Some((least, most)) = bounds {
            Program::record(&mut self.bytes, &configure, &Program::words([least, most, number], [2, 2, 0]));
        }
        let [one, two] = operands.map(|operand| match operand {
            Operand::Atom(atom) => (atom, 0),
            Operand::Constant(value) => (u32::from(value), 1),
            Operand::Of(number) => (number, 2),
        });
        let body = Program::words([one.0, two.0, number], [one.1, two.1, operator]);
        Program::record(&mut self.code, &[Program::TEMPORAL], &body);
        Operand::Of(number)
    }
    fn end(mut self, result: Operand) -> Vec<u8> {
        self.add(RETURN, [result, Operand::Constant(false)], None);
        self.bytes.extend(self.code);
        self.bytes.push(Program::ENDS);
        self.bytes
    }
}

const SHAPES: [&str; 7] = [
    "always (P -> eventually[<= D ns] Q)",
    "always (P -> always[<= D ns] Q)",
    "always (P -> once[<= D ns] Q)",
    "distance(P) >= D ns",
    "distance(P) <= D ns",
    "always (P -> R until[<= D ns] Q)",
    "always (P -> historically[<= D ns] R)",
];

/// What must hold at each instant, over the atoms p, q, "an event that is not q", and "an event that is not r".
fn program(shape: usize, d: u32) -> Vec<u8> {
    let mut it = Program::new();
    let none = Operand::Constant(false);
    let [p, q, other, others] = [0, 1, 2, 3].map(|atom| it.add(LOAD, [Operand::Atom(atom), none], None));
    let not_p = it.add(NOT, [p, none], None);
    let r = it.add(NOT, [others, none], None);
    let conclusion = match shape {
        0 => it.add(UNTIL, [Operand::Constant(true), q], Some((0, d))),
        1 => {
            let good = it.add(NOT, [other, none], None);
            it.add(RELEASE, [Operand::Constant(false), good], Some((0, d)))
        }
        2 => it.add(SINCE, [Operand::Constant(true), q], Some((0, d))),
        3 => it.add(RELEASE, [Operand::Constant(false), not_p], Some((1, d - 1))),
        4 => it.add(UNTIL, [Operand::Constant(true), p], Some((1, d))),
        5 => it.add(UNTIL, [r, q], Some((0, d))),
        _ => {
            let ever = it.add(SINCE, [Operand::Constant(true), others], Some((0, d)));
            it.add(NOT, [ever, none], None)
        }
    };
    let whole = it.add(OR_ELSE, [not_p, conclusion], None);
    it.end(whole)
}

/// What each event means: is it p, q, r?
const MEANINGS: [[bool; 3]; 5] =
    [[true, false, true], [false, true, false], [true, true, false], [false, false, false], [false, false, true]];

/// One instant of R2U2: whether it says by now that the formula does not hold at some instant.
fn instant(monitor: &mut Monitor, event: Option<usize>) -> bool {
    let [p, q, r] = event.map_or([false; 3], |event| MEANINGS[event]);
    let happens = event.is_some();
    for (atom, value) in [p, q, happens && !q, happens && !r].into_iter().enumerate() {
        load_bool_signal(monitor, atom, value);
    }
    assert!(monitor_step(monitor), "its queues are too short");
    get_output_buffer(monitor).iter().any(|output| !output.verdict.truth)
}

/// Compares so many traces of each shape; how many of them are violated.
fn compare(traces: usize, length: u64) -> [usize; SHAPES.len()] {
    let events: Vec<String> = ["e0", "e1", "e2", "e3", "e4"].map(Into::into).to_vec();
    let mut random = Random::new(77);
    let mut monitors = Vec::new();
    for (shape, text) in SHAPES.iter().enumerate() {
        for d in [2, 3, 5, 9] {
            let text = text.replace('P', "(e0 or e2)").replace('Q', "(e1 or e2)").replace('R', "(e0 or e4)");
            let text = text.replace('D', &d.to_string());
            let timed =
                Timed::new(&[], &events, &Property::parse(&text).expect("a property"), None).expect("a monitor");
            monitors.push((shape, timed, program(shape, d), text));
        }
    }
    let mut violated = [0; SHAPES.len()];
    for trace in 0..traces {
        for which in 0..SHAPES.len() {
            let (shape, timed, program, text) = &monitors[which * 4 + random.below(4)];
            let (mut ours, mut theirs) = (timed.stepper(false).expect("a sound table"), get_monitor(program));
            let often = 1 + random.below(6);
            for now in 0..length {
                let event = (random.below(often) == 0).then(|| random.below(5));
                let taken = event.map(|event| ours.step(event as u32, Instant::from_nanos(now)));
                // The instant is over: what had to come by now is late.
                let late = ours.expire(Instant::from_nanos(now + 1));
                let ours_says = [taken, Some(late)].iter().any(|it| matches!(it, Some(Step::Concluded(_))));
                assert_eq!(ours_says, instant(&mut theirs, event), "trace {trace}, {text}, at {now}");
                if ours_says {
                    violated[*shape] += 1;
                    break;
                }
            }
        }
    }
    violated
}

#[test]
fn monitors_with_a_clock_come_to_the_verdicts_of_r2u2_at_the_same_instants() {
    let violated = compare(400, 40);
    assert!(violated.iter().all(|count| (40..400).contains(count)), "{violated:?}");
}

/// `cargo test --release -p tactus-monitor --test r2u2 -- --ignored --nocapture`
#[test]
#[ignore = "100,000 traces"]
fn monitors_with_a_clock_come_to_the_verdicts_of_r2u2_on_a_hundred_thousand_traces() {
    let violated = compare(100_000, 40);
    println!("100,000 traces for each of {} shapes, of which are violated {violated:?}; no disagreement", SHAPES.len());
}
