//! Services of a small kernel whose messages monitors watch, to count what a monitor costs them in instructions:
//! `valgrind --tool=callgrind --toggle-collect='*measured*' target/release/examples/services receive plain 1 1000`.
//!
//! The first word says what is counted: a service (`receive`, `send`, `activate`: send and make a task ready) or `update`, the
//! notification alone. The second is the encoding of the tables. The third is how the object is watched: the number of monitors
//! (the source's three properties in turn, 0 for a function that does nothing), `direct` (the service without any monitoring), or
//! `pointer` (the same, called through a pointer in the object). The source's services copy a message; so do these.

#[path = "../tests/common/dataflow.rs"]
mod dataflow;

use std::hint::black_box;
use tactus_monitor::{Encoded, Encoding, Step, Stepper};

/// A message object and those who wait for it.
#[derive(Default)]
struct Object {
    buffer: [u64; 4],
    ready: u64,
    waiting: u32,
    verdicts: u32,
}

/// A monitor, and the column of the event that this example raises.
type Watch<'t> = (Stepper<'t>, u32);

/// What an object's table holds for each task: the function that steps the monitors of this access.
type Notified = for<'w, 't> fn(&'w mut [Watch<'t>]) -> u32;

fn nothing(_: &mut [Watch<'_>]) -> u32 {
    0
}

fn update(watches: &mut [Watch<'_>]) -> u32 {
    watches.iter_mut().map(|(stepper, event)| u32::from(stepper.step(*event) != Step::Continues)).sum()
}

/// The functions by task, and the monitors that they step.
struct Monitoring<'t> {
    by_task: [Notified; 3],
    watches: Vec<Watch<'t>>,
}

impl Monitoring<'_> {
    #[inline(always)]
    fn notify(&mut self, task: usize) -> u32 {
        self.by_task[task](&mut self.watches)
    }
}

#[inline(always)]
fn receive(object: &mut Object, message: &mut [u64; 4], task: usize, monitoring: Option<&mut Monitoring<'_>>) {
    *message = object.buffer;
    if let Some(monitoring) = monitoring {
        object.verdicts += monitoring.notify(task);
    }
}

#[inline(always)]
fn send(object: &mut Object, message: &mut [u64; 4], task: usize, monitoring: Option<&mut Monitoring<'_>>) {
    object.buffer = *message;
    if let Some(monitoring) = monitoring {
        object.verdicts += monitoring.notify(task);
    }
}

#[inline(always)]
fn activate(object: &mut Object, message: &mut [u64; 4], task: usize, monitoring: Option<&mut Monitoring<'_>>) {
    object.ready |= 1 << object.waiting;
    send(object, message, task, monitoring);
}

/// The service without monitoring and with it, and one that calls the first through a pointer.
macro_rules! services {
    ($($service:ident $plain:ident $watched:ident;)*) => {$(
        #[inline(never)]
        fn $plain(object: &mut Object, message: &mut [u64; 4], task: usize) {
            $service(object, message, task, None);
        }
        #[inline(never)]
        fn $watched(object: &mut Object, message: &mut [u64; 4], task: usize, monitoring: &mut Monitoring<'_>) {
            $service(object, message, task, Some(monitoring));
        }
    )*};
}

services! {
    receive plain_receive measured_receive;
    send plain_send measured_send;
    activate plain_activate measured_activate;
}

type Plain = fn(&mut Object, &mut [u64; 4], usize);

#[inline(never)]
fn measured_direct<const SERVICE: usize>(object: &mut Object, message: &mut [u64; 4], task: usize) {
    match SERVICE {
        0 => plain_receive(object, message, task),
        1 => plain_send(object, message, task),
        _ => plain_activate(object, message, task),
    }
}

#[inline(never)]
fn measured_pointer(service: &Plain, object: &mut Object, message: &mut [u64; 4], task: usize) {
    service(object, message, task);
}

#[inline(never)]
fn measured_update(monitoring: &mut Monitoring<'_>, task: usize) -> u32 {
    monitoring.notify(task)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [service, encoding, watched, count] = &words[..] else {
        eprintln!("write receive, send, activate or update; an encoding; direct, pointer or a number of monitors; and a count");
        std::process::exit(2);
    };
    let encoding = Encoding::ALL.into_iter().find(|known| known.name() == encoding).expect("an encoding");
    let count: u32 = count.parse().expect("a count");
    let machines = [1, 2, 3].map(dataflow::machine);
    let tables = machines.each_ref().map(|machine| Encoded::new(machine, Some(encoding)).expect("a table"));
    let column = |n: usize| machines[n].events.iter().position(|event| event == "r20").expect("an event") as u32;
    let many: usize = watched.parse().unwrap_or(0);
    let watches = (0..many).map(|n| (tables[(n + 1) % 3].stepper(false).expect("a sound table"), column((n + 1) % 3)));
    let by_task: [Notified; 3] = [nothing, nothing, if many == 0 { nothing } else { update }];
    let mut monitoring = Monitoring { by_task: black_box(by_task), watches: watches.collect() };
    let (mut object, mut message) = (Object::default(), [1; 4]);
    for _ in 0..count {
        let (object, message, task) = (&mut object, &mut message, black_box(2));
        match (service.as_str(), watched.as_str()) {
            ("receive", "direct") => measured_direct::<0>(object, message, task),
            ("send", "direct") => measured_direct::<1>(object, message, task),
            ("activate", "direct") => measured_direct::<2>(object, message, task),
            ("receive", "pointer") => measured_pointer(&black_box(plain_receive as Plain), object, message, task),
            ("send", "pointer") => measured_pointer(&black_box(plain_send as Plain), object, message, task),
            ("activate", "pointer") => measured_pointer(&black_box(plain_activate as Plain), object, message, task),
            ("receive", _) => measured_receive(object, message, task, &mut monitoring),
            ("send", _) => measured_send(object, message, task, &mut monitoring),
            ("activate", _) => measured_activate(object, message, task, &mut monitoring),
            _ => object.verdicts += measured_update(&mut monitoring, task),
        }
    }
    assert_eq!(object.verdicts, 0, "the events conform");
    println!("{count} of {service}, {watched}: {}", black_box(&object.buffer)[0]);
}
