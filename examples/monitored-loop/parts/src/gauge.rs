//! Measures what monitors cost whoever makes their events happen, in instructions of a machine whose time-stamp counter counts them:
//! signals that so many monitors watch, in each encoding and with a clock; messages through channels that are watched and that are
//! not; calls of a service that are watched and that are not; and the same step done by a component of its own.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::channel::{Receiver, Sender};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant, Job, Screen, Signal};

tactus_rt::component! { job: measure, services: [] }

static WATCHED: (Sender, Receiver) = (Sender::new(), Receiver::new());
static TWICE: Sender = Sender::new();
static PLAIN: Sender = Sender::new();

/// The median of what an action takes, less an empty pair of readings.
fn gauge(name: &str, mut action: impl FnMut()) {
    let mut took = [0; 101];
    for time in &mut took {
        let begin = time_stamp();
        action();
        *time = time_stamp() - begin;
    }
    took.sort_unstable();
    let empty = {
        let begin = time_stamp();
        time_stamp() - begin
    };
    let _ = writeln!(Screen, "gauge {name} {} {}", took[50] - empty, took[100] - empty);
}

fn measure(job: &Job) {
    if job.number() > 0 {
        return;
    }
    let opened = WATCHED.0.open("watched").and_then(|()| TWICE.open("twice")).and_then(|()| PLAIN.open("plain"));
    let _ = writeln!(Screen, "gauge opened {opened:?}");
    gauge("null", calls::null);
    gauge("unwatched-signal", || drop(Signal::new("nobody").raise()));
    for (name, signal) in [
        ("signals-1", Signal::new("k1")),
        ("signals-2", Signal::new("k2")),
        ("signals-3", Signal::new("k3")),
        ("signals-4", Signal::new("k4")),
        ("signals-6", Signal::new("k6")),
        ("signals-8", Signal::new("k8")),
        ("signals-10", Signal::new("k10")),
        ("plain", Signal::new("plain")),
        ("row-per-word", Signal::new("row")),
        ("packed-words", Signal::new("packed")),
        ("bit-string", Signal::new("bits")),
        ("timed", Signal::new("timed")),
    ] {
        gauge(name, || drop(signal.raise()));
    }
    let message = [1; 8];
    gauge("send-unwatched", || drop(PLAIN.send(&message)));
    gauge("send-watched", || drop(WATCHED.0.send(&message)));
    gauge("send-watched-twice", || drop(TWICE.send(&message)));
    let [nothing, watched, twice, step] = ["nothing", "watched", "twice", "step"].map(grant);
    gauge("call-unwatched", || drop(nothing.call([0; 5])));
    gauge("call-watched", || drop(watched.call([0; 5])));
    gauge("call-watched-twice", || drop(twice.call([0; 5])));
    // The property that a component of its own watches: a call for each event.
    gauge("outside", || drop(step.call([0; 5])));
}
