//! The block service with clients whose buffers are made here, and a platter of plain bytes.

use std::collections::{BTreeMap, VecDeque};
use tactus_block::{Disk, Medium, Port};
use tactus_disk::parameters::Model;
use tactus_disk::{longest, survey, Arrivals, Client, ClientSetup, DiskSetup, Faults, Form, Policy, Request};
use tactus_rt::channel::{ChannelError, Message};
use tactus_rt::disk::{DiskAnswer, DiskRequest, Operation, Status};
use tactus_time::{Duration, Instant};

const SIZE: usize = 4096;
/// Answers that a buffer has room for.
const ROOM: usize = 62;

/// A buffer: requests, answers that were not taken, data.
struct Buffer {
    requests: VecDeque<Message>,
    answers: VecDeque<DiskAnswer>,
    data: Vec<u8>,
    spoilt: bool,
}

impl Port for Buffer {
    fn receive(&mut self) -> Result<Option<Message>, ChannelError> {
        if self.spoilt {
            return Err(ChannelError::Broken);
        }
        Ok(self.requests.pop_front())
    }
    fn room(&mut self) -> Result<u64, ChannelError> {
        Ok((ROOM - self.answers.len()) as u64)
    }
    fn answer(&mut self, message: &Message) {
        assert!(self.answers.len() < ROOM, "an answer without room");
        self.answers.push_back(DiskAnswer::read(message).expect("an answer"));
    }
    fn holds(&self, at: u64, bytes: u64) -> bool {
        at % 8 == 0 && at.checked_add(bytes).is_some_and(|end| end <= self.data.len() as u64)
    }
    fn load(&mut self, at: u64, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.data[at as usize..][..bytes.len()]);
    }
    fn store(&mut self, at: u64, bytes: &[u8]) {
        self.data[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }
}

/// Bytes by block; what a read found until it ends.
#[derive(Default)]
struct Platter {
    places: BTreeMap<u64, Vec<u8>>,
    under_way: bool,
}

impl Medium for Platter {
    fn begin(&mut self, request: &Request, fill: &mut dyn FnMut(&mut [u8])) {
        assert!(!self.under_way, "one request at a time");
        self.under_way = true;
        let place = self.places.entry(request.block).or_insert_with(|| vec![0; request.blocks as usize * 512]);
        if request.write {
            fill(place);
        }
    }
    fn end(&mut self, request: &Request, look: &mut dyn FnMut(&[u8])) {
        assert!(self.under_way, "it has begun");
        self.under_way = false;
        look(&self.places[&request.block]);
    }
}

/// A promised client that writes, a best-effort one, and requests of the disk's own.
fn setup(write_cache: u32, faults: Faults) -> DiskSetup {
    let millis = Duration::from_millis;
    let periodic =
        |period| Arrivals::Periodic { offset: Duration::ZERO, period: millis(period), deadline: millis(200) };
    let client = |arrivals, first: u64, write| Client { arrivals, first, extent: 1 << 12, places: 8, blocks: 8, write };
    let clients = [
        client(periodic(60), 0, true),
        client(Arrivals::BestEffort { outstanding: 2 }, 1 << 20, false),
        client(periodic(50), 1 << 21, false),
    ];
    let drive = Model::Source10k.geometry().expect("a drive");
    let own = |(client, buffer): (&Client, Option<u32>)| ClientSetup { client: *client, budget: None, buffer };
    DiskSetup {
        number: 0,
        seed: 5,
        drive: Model::Source10k,
        actual: Model::Source10k,
        queue: Policy::GMatrix(4),
        write_cache,
        faults,
        after_pause: longest(&drive, &clients),
        map: survey(&drive, &clients, Form::Directed).expect("a map"),
        clients: clients.iter().zip([Some(0), Some(1), None]).map(own).collect(),
    }
}

struct Run {
    disk: Disk<Buffer, Platter>,
    now: Instant,
    lines: Vec<String>,
}

impl Run {
    fn new(write_cache: u32, faults: Faults) -> Run {
        let buffer = |_| {
            let (requests, answers) = (VecDeque::new(), VecDeque::new());
            Buffer { requests, answers, data: vec![7; 2 * SIZE], spoilt: false }
        };
        let disk = Disk::new(&setup(write_cache, faults), Platter::default(), buffer).expect("a disk");
        Run { disk, now: Instant::ZERO, lines: Vec::new() }
    }
    fn client(&mut self, client: usize) -> &mut Buffer {
        self.disk.port(client).expect("a component")
    }
    /// Jobs of the component, 4 ms apart, for so many of them.
    fn jobs(&mut self, many: usize) {
        for _ in 0..many {
            self.now += Duration::from_millis(4);
            let Run { disk, now, lines } = self;
            disk.work(*now, 16, &mut |line| lines.push(line.to_string()));
        }
    }
    fn ask(&mut self, client: usize, operation: Operation, tag: u64, place: u64) {
        let request = DiskRequest { operation, tag, place, blocks: 8, at: 0 };
        self.client(client).requests.push_back(request.message());
    }
    /// What the client was told since the last time.
    fn told(&mut self, client: usize) -> Vec<(u64, Status)> {
        self.client(client).answers.drain(..).map(|it| (it.tag, it.status)).collect()
    }
}

#[test]
fn what_a_client_writes_it_reads_back_and_nobody_else_does() {
    for write_cache in [0, 2] {
        let mut run = Run::new(write_cache, Faults::default());
        run.ask(0, Operation::Write, 1, 3);
        run.ask(1, Operation::Read, 2, 3);
        run.jobs(20);
        run.ask(0, Operation::Flush, 3, 0);
        run.jobs(20);
        run.client(0).data.fill(0);
        run.ask(0, Operation::Read, 4, 3);
        run.jobs(30);
        assert_eq!(run.told(0), [(1, Status::Done), (3, Status::Done), (4, Status::Done)]);
        assert!(run.client(0).data[..SIZE].iter().all(|byte| *byte == 7));
        assert_eq!(run.told(1), [(2, Status::Done)]);
        assert!(run.client(1).data[..SIZE].iter().all(|byte| *byte == 0), "its own place was never written");
        assert!(run.client(1).data[SIZE..].iter().all(|byte| *byte == 7), "nothing beyond its length");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason_and_what_waits_can_be_cancelled() {
    let mut run = Run::new(0, Faults::default());
    run.ask(0, Operation::Write, 1, 8);
    run.ask(1, Operation::Write, 2, 0);
    let right = DiskRequest { operation: Operation::Read, tag: 3, place: 0, blocks: 8, at: 0 };
    let wrong = [
        DiskRequest { blocks: 7, ..right },
        DiskRequest { at: SIZE as u64 + 8, ..right },
        DiskRequest { at: u64::MAX - 7, ..right },
        DiskRequest { at: 4, ..right },
        DiskRequest { place: u64::MAX, ..right },
        DiskRequest { blocks: 0, ..right },
    ];
    for request in wrong {
        run.client(1).requests.push_back(request.message());
    }
    run.client(1).requests.push_back([9; 8]);
    // Two are outstanding at most; the third is one too many, and the second is cancelled while it waits.
    (4..7).for_each(|tag| run.ask(1, Operation::Read, tag, tag));
    run.ask(1, Operation::Cancel, 10, 5);
    run.ask(1, Operation::Cancel, 11, 99);
    run.jobs(1);
    use Status::{Cancelled, Data, Done, Length, NotWaiting, Outstanding, Place, ReadOnly, Unknown};
    assert_eq!(run.told(0), [(1, Place)]);
    let refused = [(2, ReadOnly), (3, Length), (3, Data), (3, Data), (3, Data), (3, Place), (3, Length), (9, Unknown)];
    assert_eq!(run.told(1), [&refused[..], &[(6, Outstanding), (10, Done), (5, Cancelled), (11, NotWaiting)]].concat());
    run.jobs(20);
    assert_eq!(run.told(1), [(4, Done)]);
    // A second request within the period comes too soon, and the client is told when it may come.
    run.ask(0, Operation::Write, 12, 0);
    run.ask(0, Operation::Write, 13, 0);
    run.jobs(1);
    let early = run.client(0).answers.pop_front().expect("refused at once");
    assert_eq!((early.tag, early.status, early.again), (13, Status::Early, run.now + Duration::from_millis(60)));
    assert!(Status::ALL.iter().all(|status| !status.to_string().is_empty()));
}

#[test]
fn a_client_that_takes_no_answers_or_spoils_its_buffer_is_not_heard_and_others_are() {
    let mut run = Run::new(0, Faults::default());
    (0..200).for_each(|tag| run.ask(1, Operation::Cancel, tag, 0));
    run.ask(0, Operation::Write, 1, 0);
    run.jobs(30);
    assert_eq!((run.client(1).answers.len(), run.client(1).requests.len()), (ROOM, 200 - ROOM));
    assert_eq!(run.told(0), [(1, Status::Done)]);
    run.client(1).answers.clear();
    run.client(1).spoilt = true;
    run.ask(0, Operation::Write, 2, 0);
    run.jobs(30);
    assert_eq!((run.client(1).answers.len(), run.told(0)), (0, vec![(2, Status::Done)]));
}

#[test]
fn random_words_reach_nobodys_places_and_delay_no_promised_request() {
    let mut run = Run::new(0, Faults::default());
    let mut seed = 1_u64;
    let mut draw = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33 ^ seed << 31
    };
    let (mut put, mut done, mut longest) = (0, 0, Duration::ZERO);
    for job in 0..8_000_u64 {
        if job % 16 == 0 {
            run.ask(0, Operation::Write, job, job % 8);
        }
        while run.client(1).requests.len() < 16 {
            let right = draw() % 16 == 0;
            let mut pick = |fit: u64, near: u64| match draw() % 3 {
                _ if right => fit,
                0 => draw() % near,
                1 => u64::MAX - draw() % near,
                _ => draw(),
            };
            let request = [pick(0, 6), job, pick(job % 8, 20), pick(8, 20), pick(0, 1 << 14), draw(), draw(), draw()];
            run.client(1).requests.push_back(request);
            put += 1;
        }
        run.jobs(1);
        done += run.told(1).iter().filter(|(_, status)| *status == Status::Done).count();
        for answer in run.client(0).answers.drain(..) {
            assert_eq!(answer.status, Status::Done);
            longest = longest.max(answer.ended.since(answer.arrived));
        }
    }
    assert!(put > 100_000 && done > 500, "{put} {done}");
    // As long as one best-effort request that has begun, one of the disk's own, and its own take at most.
    assert!(longest < Duration::from_millis(60), "{longest}");
    assert!(run
        .disk
        .platter()
        .places
        .iter()
        .all(|(block, bytes)| *block < 1 << 12 || bytes.iter().all(|byte| *byte == 0)));
    assert!(run.client(1).data.iter().all(|byte| *byte == 0 || *byte == 7));
}

#[test]
fn after_a_power_cut_every_client_is_told_and_what_was_flushed_is_there() {
    let faults = Faults { power_cuts: Duration::from_millis(900), ..Faults::default() };
    let mut run = Run::new(2, faults);
    let (mut kept, mut tag, mut cuts, mut lost) = (None::<u8>, 0_u64, 0, 0);
    // Writes a place and flushes; after a cut it reads what is there.
    let mut answer = |run: &mut Run, operation| {
        tag += 1;
        loop {
            run.ask(0, operation, tag, 2);
            for _ in 0..200 {
                run.jobs(1);
                match run.told(0).first() {
                    Some((_, Status::Early)) => break,
                    Some((_, status)) => return *status,
                    None => {}
                }
            }
        }
    };
    for n in 0..250_u32 {
        let byte = (n % 250) as u8 + 1;
        run.client(0).data.fill(byte);
        if answer(&mut run, Operation::Write) == Status::Done && answer(&mut run, Operation::Flush) == Status::Done {
            kept = Some(byte);
            continue;
        }
        cuts += 1;
        while answer(&mut run, Operation::Read) != Status::Done {
            cuts += 1;
        }
        // What was flushed last, what was under way, or in each half sector one of the two.
        let seen: Vec<u8> = run.client(0).data[..SIZE].chunks(256).map(|half| half[0]).collect();
        let old = kept.unwrap_or(0);
        assert!(seen.iter().all(|it| [old, byte].contains(it)), "{n}: {seen:?}, flushed {old}, under way {byte}");
        lost += u32::from(seen.contains(&old));
        kept = Some(byte);
        run.client(0).data.fill(byte);
        while answer(&mut run, Operation::Write) != Status::Done || answer(&mut run, Operation::Flush) != Status::Done {
        }
    }
    assert!(cuts > 20 && lost > 3, "{cuts} {lost}");
    assert!(run.lines.iter().any(|line| line.ends_with(",4\n")), "a request was lost with the power");
}

#[test]
fn what_is_told_of_the_disks_own_requests_does_not_depend_on_when_the_component_looks() {
    let told = |looks: &mut dyn Iterator<Item = u64>| {
        let mut run = Run::new(0, Faults::default());
        for at in looks {
            let lines = &mut run.lines;
            run.disk.work(Instant::from_nanos(at), 8, &mut |line| lines.push(line.to_string()));
        }
        run.lines
    };
    let often = told(&mut (0..3_000).map(|n| n * 1_000_000));
    let rarely = told(&mut (0..600).map(|n| n * 5_000_000 + n % 7 * 900_000));
    assert!(often.len() > 50, "{}", often.len());
    assert!(often.iter().zip(&rarely).all(|(a, b)| a == b) && rarely.len() + 3 > often.len());
}
