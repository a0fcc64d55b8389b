//! A number of steps of one monitor, to count their instructions:
//! `valgrind --tool=callgrind --toggle-collect='*one_step*' target/release/examples/step plain 1000`.

use tactus_monitor::{
    Composed, Encoded, Encoding, Formula, Property, Specification, Step, Stepper, Timed, TimedStepper,
};
use tactus_time::Instant;

#[inline(never)]
fn one_step(stepper: &mut Stepper<'_>, event: u32) -> Step {
    stepper.step(event)
}

#[inline(never)]
fn timed_one_step(stepper: &mut TimedStepper<'_>, event: u32, now: Instant) -> Step {
    stepper.step(event, now)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, count] = &words[..] else {
        eprintln!("write an encoding, or timed, and a number of steps");
        std::process::exit(2);
    };
    let count: u32 = count.parse().expect("a number of steps");
    let names = ["measured", "computed", "moves"].map(String::from).to_vec();
    let mut concluded = 0;
    if kind == "timed" {
        let property = Property::parse("always (measured -> eventually[<= 1 s] moves)").expect("a property");
        let timed = Timed::new(&[], &names, &property, None).expect("a monitor");
        let mut stepper = timed.stepper(true).expect("a sound table");
        for n in 0..count {
            concluded +=
                usize::from(timed_one_step(&mut stepper, n % 3, Instant::from_nanos(n.into())) != Step::Continues);
        }
    } else {
        let encoding = Encoding::ALL.into_iter().find(|encoding| encoding.name() == kind).expect("an encoding");
        let property = "always (measured -> next (not moves unless computed))";
        let properties = vec![Formula::parse(property).expect("a formula")];
        let specification = Specification { events: names, properties, silence: true, ..Specification::default() };
        let composed = Composed::new(&specification).expect("a machine").minimised();
        let encoded = Encoded::new(&composed, Some(encoding)).expect("a table");
        let mut stepper = encoded.stepper(true).expect("a sound table");
        for n in 0..count {
            concluded += usize::from(one_step(&mut stepper, n % 3) != Step::Continues);
        }
    }
    println!("{count} steps, {concluded} verdicts");
}
