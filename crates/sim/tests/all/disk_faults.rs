//! Every fault of a drive in every state of its disk: random disks that the check accepts, of which some clients are programs that
//! ask, flush and cancel when they like. Whatever the drive does wrong, no promise is broken: it holds, or is void from the fault on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tactus_disk::{Arrivals, Asked, Event, Finished, Outcome, Station};
use tactus_generate::Random;
use tactus_model::System;
use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Duration, Instant};
use tactus_trace::{judge, DiskFate, DiskInput, DiskSummary, DiskTrace, DiskView, Served, Trace, View};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    Fails,
    Short,
    Silent,
    Unasked,
    PowerCut,
    Slower,
}

/// What the disk did when it went wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Idle,
    Seeking,
    Transferring,
    Flushing,
    QueueFull,
}

const FAULTS: [Fault; 6] = [Fault::Fails, Fault::Short, Fault::Silent, Fault::Unasked, Fault::PowerCut, Fault::Slower];
const STATES: [State; 5] = [State::Idle, State::Seeking, State::Transferring, State::Flushing, State::QueueFull];

/// A file of a disk of which the drive does some things wrong.
fn text(random: &mut Random) -> String {
    let drives = ["source-10k", "atlas-10k", "cheetah-15k7"];
    let queue = *random.of(&["edf", "g-matrix"]);
    // A drive at 15,000 rpm on paper and at 10,000 in truth, with all that the former can do: its queue fills.
    let overloaded = random.chance(0.2);
    let drive = if overloaded { drives[2] } else { *random.of(&drives) };
    let mut text = format!(
        "[system]\ncores = 1\nduration = '10 s'\nseed = {}\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\ncore = 0\n\
         period = '10 ms'\nexecution = '1 ms'\n[[disk]]\nname = 'd'\ndrive = '{drive}'\nqueue = '{queue}'\nmap = '{}'\n",
        random.below(1 << 30),
        random.of(&["directed", "symmetric"]),
    );
    if overloaded || random.chance(0.3) {
        text += &format!("actual = '{}'\n", if overloaded { drives[1] } else { *random.of(&drives) });
    }
    let cached = *random.of(&[0, 1, 1, 3]);
    text += &format!("write-cache = {cached}\n");
    let mut faults = Vec::new();
    for key in ["failed", "short", "silent", "unasked"] {
        if random.chance(0.3) {
            faults.push(format!("{key} = {}", random.between(3, 300)));
        }
    }
    if cached > 0 && random.chance(0.7) {
        faults.push(format!("power-cuts = '{} ms'", random.between(100, 4_000)));
    }
    if random.chance(0.4) {
        faults.push(format!("tolerated = {}", random.between(1, 2)));
    }
    if !faults.is_empty() {
        text += &format!("faults = {{ {} }}\n", faults.join(", "));
    }
    for n in 0..random.between(1, 4) {
        text += &format!(
            "[[disk.client]]\nname = 'c{n}'\nstart = '{} GiB'\nextent = '1 GiB'\nplaces = 6\nsize = '{} KiB'\nwrite = {}\n",
            2 * n,
            random.of(&[1, 8, 64]),
            random.chance(0.5),
        );
        if n > 0 && random.chance(0.3) {
            text += &format!("best-effort = {}\n", random.between(1, 6));
        } else {
            let busy = if overloaded && n == 0 { (5.0, 8.0) } else { (5.0, 400.0) };
            let period = random.log_uniform(busy.0, busy.1) as u64;
            let deadline = (period as f64 * random.log_uniform(0.4, 10.0)) as u64;
            text += &format!("period = '{period} ms'\ndeadline = '{} ms'\noffset = '{} ms'\n", deadline.max(1), n);
        }
    }
    text
}

/// A system with one disk that the check accepts; some clients are programs.
fn accepted(random: &mut Random) -> System {
    loop {
        let text = text(random);
        let mut system =
            System::parse_toml(&text, Path::new("faults.toml")).unwrap_or_else(|why| panic!("{why}\n{text}"));
        if tactus_analysis::disks(&system)[0].refused.is_none() {
            for client in &mut system.disks[0].clients {
                client.buffer = random.chance(0.5).then_some(0);
            }
            return system;
        }
    }
}

/// What was seen of a run from outside.
#[derive(Default)]
struct Seen {
    ended: Vec<Finished>,
    /// The request that the drive had at the end.
    unanswered: Option<Finished>,
    inputs: Vec<DiskInput>,
    /// When the power was found to have gone, and when the drive got what it did not do.
    cuts: Vec<Instant>,
    /// A request found the queue full since the drive answered last.
    full: bool,
    struck: BTreeSet<(Fault, State)>,
}

/// Runs a station with programs that ask at random.
fn run(system: &System, station: Station, random: &mut Random) -> Seen {
    let end = Instant::ZERO + system.duration;
    let (mut station, mut seen) = (station, Seen::default());
    let disk = &system.disks[0];
    let programs: Vec<usize> = (0..disk.clients.len()).filter(|n| disk.clients[*n].buffer.is_some()).collect();
    let mut waits: BTreeMap<(usize, u32), ()> = BTreeMap::new();
    let mut now = Instant::ZERO;
    loop {
        now += Duration::from_micros(random.log_uniform(10.0, 60_000.0) as u64);
        while station.next() < end && station.next() <= now {
            step(&mut station, system, &mut seen);
        }
        if now >= end {
            seen.unanswered = station.service().unanswered(end);
            return seen;
        }
        for &client in &programs {
            let own = disk.clients[client].client;
            if random.chance(0.3) {
                continue;
            }
            if let Some((&(of, number), ())) = waits.first_key_value().filter(|_| random.chance(0.05)) {
                waits.pop_first();
                if let Some(finished) = station.cancel(now, of, number) {
                    let input = DiskInput {
                        client: of as u32,
                        number,
                        place: 0,
                        blocks: 0,
                        write: false,
                        cancels: true,
                        at: now,
                    };
                    seen.inputs.push(input);
                    seen.ended.push(finished);
                }
            }
            let flush = own.write && random.chance(0.2);
            let place = random.below(own.places.into()) as u32;
            let (blocks, write) = if flush { (0, true) } else { (own.blocks, own.write) };
            if let Ok(request) = station.ask(now, client, &Asked { place, blocks, write }) {
                let number = request.number();
                waits.insert((client, number), ());
                let input = DiskInput { client: client as u32, number, place, blocks, write, cancels: false, at: now };
                seen.inputs.push(input);
            }
        }
        station.start(now);
    }
}

/// One event of the station, with the state in which a fault finds it.
fn step(station: &mut Station, system: &System, seen: &mut Seen) {
    let now = station.next();
    let (cuts, refused, unasked) = (station.cuts(), station.refused(), station.unasked());
    let under_way = station.service().under_way();
    let without_cut = station.clone();
    let mut ended = Vec::new();
    station.advance(&mut |event| {
        if let Event::Ended(finished) = event {
            ended.push(finished);
        }
    });
    if station.cuts() != cuts {
        seen.cuts.push(now);
        let state = match under_way {
            None => State::Idle,
            Some(request) if request.is_flush() => State::Flushing,
            // The last 20 µs for each sector: the outer tracks of all drives pass them faster.
            Some(request) if ends_within(without_cut, u64::from(request.blocks) * 20_000) => State::Transferring,
            Some(_) => State::Seeking,
        };
        seen.struck.insert((Fault::PowerCut, state));
        if ended.len() >= Station::room(&system.disks[0].streams()) {
            seen.struck.insert((Fault::PowerCut, State::QueueFull));
        }
    }
    seen.full |= station.refused() > refused;
    for it in &ended {
        let fault = match it.outcome {
            Outcome::Failed => Fault::Fails,
            Outcome::Short => Fault::Short,
            Outcome::Silent => Fault::Silent,
            Outcome::Done if it.is_over() => Fault::Slower,
            Outcome::Done if station.unasked() > unasked => Fault::Unasked,
            _ => continue,
        };
        let state = match it.after_pause {
            _ if it.request.is_flush() => State::Flushing,
            _ if seen.full => State::QueueFull,
            true => State::Idle,
            false if it.request.blocks > 16 => State::Transferring,
            false => State::Seeking,
        };
        seen.struck.insert((fault, state));
    }
    seen.full &= ended.is_empty();
    seen.ended.extend(ended);
}

/// Whether the request at the drive would end so soon if the power stayed.
fn ends_within(station: Station, nanos: u64) -> bool {
    let (now, mut station) = (station.next(), station.with_faults(Default::default()));
    let mut end = None;
    while end.is_none() && station.next() < Instant::NEVER {
        let at = station.next();
        station.advance(&mut |event| end = end.or(matches!(event, Event::Ended(_)).then_some(at)));
    }
    end.is_some_and(|end| end.since(now).as_nanos() <= nanos)
}

/// What should come, from what was seen: whether a promise was broken, and whether one was void.
fn expected(system: &System, disk: &DiskView, seen: &Seen, end: Instant) -> DiskFate {
    let is_fault = |it: &&Finished| matches!(it.outcome, Outcome::Failed | Outcome::Short | Outcome::Silent);
    let mut faults: Vec<Instant> = seen.ended.iter().filter(is_fault).map(|it| it.started).collect();
    faults.sort();
    let allowed = disk.tolerated.faults as usize;
    let many = (allowed..faults.len()).find(|&n| faults[n].since(faults[n - allowed]) <= disk.tolerated.within);
    let over = seen.ended.iter().filter(|it| !matches!(it.outcome, Outcome::Silent | Outcome::Cancelled));
    let over = over.chain(&seen.unanswered).filter(|it| it.is_over()).map(|it| it.started + it.expected);
    let from = over.chain(seen.cuts.iter().copied()).chain(many.map(|n| faults[n])).min().unwrap_or(Instant::NEVER);
    let (mut broken, mut void) = (false, false);
    for (n, client) in disk.clients.iter().enumerate() {
        let Some(bound) = client.bound else { continue };
        let Arrivals::Periodic { offset, period, deadline } = system.disks[0].clients[n].client.arrivals else {
            continue;
        };
        let limit = bound.min(deadline);
        let own = |it: &&Finished| it.request.client() as usize == n;
        void |= seen.ended.iter().filter(own).any(|it| it.outcome.is_fault());
        let mut came: BTreeMap<u32, Instant> = BTreeMap::new();
        if client.sporadic {
            let asked = seen.inputs.iter().filter(|it| it.client as usize == n && !it.cancels);
            came.extend(asked.map(|it| (it.number, it.at)));
        } else {
            let all =
                (0..).map(|k: u32| (k, Instant::ZERO + offset + period.checked_mul(k.into()).unwrap_or_default()));
            came.extend(all.take_while(|it| it.1 < end));
        }
        for it in seen.ended.iter().filter(own) {
            let Some(arrived) = came.remove(&it.request.number()) else { continue };
            if it.outcome != Outcome::Cancelled && it.ended > arrived + limit {
                if arrived + limit < from {
                    broken = true
                } else {
                    void = true
                }
            }
        }
        for late in came.into_values().map(|arrived| arrived + limit).filter(|due| *due < end) {
            if late < from {
                broken = true
            } else {
                void = true
            }
        }
    }
    let promised = disk.clients.iter().any(|client| client.bound.is_some());
    match (broken, void, promised) {
        (true, ..) => DiskFate::Broken,
        (_, true, _) => DiskFate::Void,
        (.., false) => DiskFate::NothingPromised,
        _ => DiskFate::Held,
    }
}

/// What the judge says of the run of a disk.
pub fn judged(view: &View, run: DiskTrace, time: Instant) -> DiskSummary {
    let (kind, core) = (EventKind::End, CoreId(0));
    let last = Record { time, arg: 0, job: 0, task: None, kind, level: 0, core, ticket: 0 };
    let trace = Trace { cores: vec![vec![last]], dropped: vec![0], disks: vec![run], observed: Vec::new() };
    judge(view, &trace).disks.remove(0)
}

/// Adds what waited still when the run ended.
fn with_waiting(mut run: DiskTrace, inputs: &[DiskInput], end: Instant) -> DiskTrace {
    let ended: BTreeSet<(u32, u32)> = run.served.iter().map(|it| (it.client, it.number)).collect();
    for it in inputs.iter().filter(|it| !it.cancels && !ended.contains(&(it.client, it.number))) {
        let (client, number, arrived) = (it.client, it.number, it.at);
        let rest = Served {
            client,
            number,
            from: 0,
            row: 0,
            after_pause: true,
            arrived,
            dispatched: end,
            ended: end,
            expected: Duration::ZERO,
            outcome: None,
        };
        run.served.push(rest);
    }
    run
}

/// Judges this number of random disks; gives the fates, and which faults struck in which states.
fn disks(seeds: std::ops::Range<u64>) -> (BTreeMap<String, u32>, BTreeSet<(Fault, State)>) {
    let (mut fates, mut struck) = (BTreeMap::new(), BTreeSet::new());
    for seed in seeds {
        let random = &mut Random::new(seed);
        let system = accepted(random);
        let check = tactus_analysis::check(&system, &Default::default());
        let plan = tactus_plan::plan(&system, &check, &Default::default());
        let mut view = View { tasks: Vec::new(), tree: None, chains: Vec::new(), ..plan.view };
        for (client, it) in view.disks[0].clients.iter_mut().zip(&system.disks[0].clients) {
            client.sporadic = it.buffer.is_some();
        }
        let station = plan.disk_setups[0].station(true).expect("a drive");
        let seen = run(&system, station.clone(), random);
        let end = Instant::ZERO + system.duration;
        let again = tactus_sim::disk::replay(station, system.duration, &seen.inputs).expect("the same requests");
        assert_eq!(again.power_cuts, seen.cuts, "seed {seed}");
        let fate = expected(&system, &view.disks[0], &seen, end);
        let summary = judged(&view, with_waiting(again, &seen.inputs, end), end);
        assert_eq!(summary.fate, fate, "seed {seed}: {:?}, {:?}", summary.broken, summary.slow);
        assert_ne!(fate, DiskFate::Broken, "seed {seed}: {:?}", summary.broken);
        *fates.entry(format!("{fate:?}")).or_default() += 1;
        struck.extend(seen.struck);
    }
    (fates, struck)
}

#[test]
fn whatever_a_drive_does_wrong_no_promise_of_an_accepted_disk_is_broken() {
    let (fates, struck) = disks(0..60);
    assert!(fates["Held"] > 15 && fates["Void"] > 15, "{fates:?}");
    for state in STATES {
        assert!(struck.contains(&(Fault::PowerCut, state)), "{state:?}: {struck:?}");
    }
}

#[test]
#[ignore = "cargo test --release -p tactus-sim --test all disk_faults:: -- --ignored --nocapture: as many as TACTUS_SYSTEMS says"]
fn every_fault_in_every_state_breaks_no_promise() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise);
    let first = number("TACTUS_FIRST", 1_000);
    let (fates, struck) = disks(first..first + number("TACTUS_SYSTEMS", 20_000));
    println!("{fates:?}");
    // A flush has no blocks of which it could do fewer.
    let all = FAULTS.into_iter().flat_map(|fault| STATES.map(|state| (fault, state)));
    let missing: Vec<_> =
        all.filter(|pair| !struck.contains(pair) && *pair != (Fault::Short, State::Flushing)).collect();
    assert!(missing.is_empty(), "{missing:?} did not come");
}
