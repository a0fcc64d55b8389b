//! Clients that ask for what is not theirs, and drives that fail, lie or say nothing: the service stays up, whoever is
//! concerned is told, and others keep their promises.

use tactus_disk::admission::{edf, Beside, Stream};
use tactus_disk::{
    longest, parameters, services, survey, Answer, Arrivals, Asked, CacheSettings, Client, Drive, Finished, Form, Gate,
    Outcome, Policy, Refusal, Request, Service,
};
use tactus_time::{Duration, Instant};

const GIB: u64 = 1 << 21;

/// Two promised clients; the third is best-effort and hostile.
fn clients() -> [Client; 3] {
    let millis = Duration::from_millis;
    let periodic = |period, deadline| Arrivals::Periodic { offset: Duration::ZERO, period, deadline };
    let client =
        |arrivals, gib: u64, write| Client { arrivals, first: gib * GIB, extent: GIB, places: 16, blocks: 16, write };
    [
        client(periodic(millis(90), millis(80)), 0, true),
        client(periodic(millis(120), millis(120)), 3, false),
        client(Arrivals::BestEffort { outstanding: 4 }, 6, false),
    ]
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a drive does wrong with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    Nothing,
    Fails,
    Short,
    Unasked,
    Silent,
}

/// Everything that came of a run.
#[derive(Default)]
struct Book {
    done: Vec<Finished>,
    told: Vec<Finished>,
    unasked: u64,
    asked: u64,
    let_in: u64,
}

/// Runs for some time: promised clients ask when they may, the hostile one `hostile` times in each step of 1 ms.
fn run(seconds: u64, hostile: u64, wrong: impl Fn(u64) -> Wrong) -> Book {
    let (clients, geometry) = (clients(), parameters::source_10k().unwrap());
    let map = survey(&geometry, &clients, Form::Directed).unwrap();
    let mut service = Service::new(Policy::Edf, 32, map, longest(&geometry, &clients));
    let mut gate = Gate::new(&clients);
    let mut drive = Drive::new(geometry, CacheSettings::default());
    let (mut random, mut book) = (Random(3), Book::default());
    let mut due: Option<(Instant, Answer, Wrong)> = None;
    let mut served = 0;
    for step in 0..seconds * 1_000 {
        let now = Instant::ZERO + Duration::from_millis(step);
        // Whatever the drive has to say since the last step, and what is dispatched then.
        loop {
            let at = due.map_or(now, |due| due.0);
            let mut next = at;
            if let Some((end, answer, wrong)) = due.filter(|due| due.0 <= now) {
                due = None;
                match wrong {
                    Wrong::Silent => {}
                    _ => match service.answer(end, &answer) {
                        Ok(finished) => {
                            gate.ended(&finished);
                            let list = if finished.outcome.is_fault() { &mut book.told } else { &mut book.done };
                            list.push(finished);
                        }
                        Err(_) => {
                            book.unasked += 1;
                            // The true answer comes as well.
                            let request = answer.id ^ 1 << 40;
                            due = Some((end, Answer { id: request, ..answer }, Wrong::Nothing));
                            continue;
                        }
                    },
                }
            } else if let Some(finished) = service.give_up(now) {
                gate.ended(&finished);
                book.told.push(finished);
                next = now;
            } else if due.is_some() {
                break;
            }
            if due.is_none() {
                let Some(request) = service.dispatch(next.min(now)) else { break };
                let end = drive.serve(next.min(now), &request).end;
                let wrong = wrong(served);
                served += 1;
                let mut answer = Answer { id: request.id, blocks: request.blocks, failed: wrong == Wrong::Fails };
                match wrong {
                    Wrong::Short => answer.blocks -= 1,
                    Wrong::Unasked => answer.id ^= 1 << 40,
                    _ => {}
                }
                due = Some((end, answer, wrong));
                if wrong == Wrong::Silent {
                    due = None;
                    break;
                }
            }
        }
        for client in 0..2 {
            let place = random.below(16) as u32;
            if let Ok(request) = gate.ask(now, client, &Asked { place, blocks: 16, write: client == 0 }) {
                service.submit(request).unwrap();
            }
        }
        for _ in 0..hostile {
            book.asked += 1;
            // Mostly nonsense, sometimes nearly right, sometimes right.
            let right = random.below(8) == 0;
            let mut word = |limit: u64, fit: u32| match random.below(3) {
                _ if right => fit,
                0 => random.below(limit) as u32,
                _ => random.below(1 << 31) as u32 * 2,
            };
            let (client, place) = (word(5, 2), word(20, step as u32 % 16));
            let asked = Asked { place, blocks: word(20, 16), write: word(2, 0) == 1 };
            let Ok(request) = gate.ask(now, client.max(2), &asked) else { continue };
            book.let_in += 1;
            assert!(within(&request), "{request:?}");
            service.submit(request).unwrap();
        }
    }
    book
}

fn within(request: &Request) -> bool {
    let own = clients()[request.client() as usize];
    (own.first..own.first + own.extent).contains(&request.block)
        && request.block + u64::from(request.blocks) <= own.first + own.extent
        && request.write == own.write
}

fn bounds() -> Vec<Duration> {
    let (clients, geometry) = (clients(), parameters::source_10k().unwrap());
    let map = survey(&geometry, &clients, Form::Directed).unwrap();
    let each = services(&map, &clients);
    let most = longest(&geometry, &clients);
    let beside = Beside { best_effort: each[2], after_pause: most - *each.iter().min().unwrap() };
    let streams: Vec<Stream> = clients[..2]
        .iter()
        .zip(&each)
        .filter_map(|(client, service)| match client.arrivals {
            Arrivals::Periodic { period, deadline, .. } => Some(Stream { period, deadline, service: *service }),
            Arrivals::BestEffort { .. } => None,
        })
        .collect();
    edf(&streams, &beside).unwrap()
}

/// The drive is looked at every millisecond only, so that an answer is noticed so much later.
fn kept(book: &Book, more: impl Fn(&Finished) -> Duration) {
    let bounds = bounds();
    for it in &book.done {
        if let Some(bound) = bounds.get(it.request.client() as usize) {
            let response = it.ended.since(it.request.arrival);
            assert!(response <= *bound + more(it), "{response}, bound {bound}: {it:?}");
        }
    }
}

#[test]
fn a_hostile_client_gets_nothing_that_is_not_its_own_and_delays_nobody() {
    let book = run(20, 50, |_| Wrong::Nothing);
    assert!(book.asked == 1_000_000 && book.let_in > 1_000, "{} of {}", book.let_in, book.asked);
    kept(&book, |_| Duration::from_millis(1));
    assert!(book.told.is_empty() && book.unasked == 0);
}

#[test]
fn a_drive_that_fails_lies_or_answers_short_is_told_of_and_others_keep_their_promises() {
    for (n, kind) in [Wrong::Fails, Wrong::Short, Wrong::Unasked].into_iter().enumerate() {
        let book = run(20, 2, |served| if served % 7 == n as u64 { kind } else { Wrong::Nothing });
        let outcome = if kind == Wrong::Fails { Outcome::Failed } else { Outcome::Short };
        let told = if kind == Wrong::Unasked { book.unasked } else { book.told.len() as u64 };
        assert!(told > 150 && book.told.iter().all(|it| it.outcome == outcome), "{kind:?} {told}");
        assert!(kind != Wrong::Unasked || book.told.is_empty());
        // One request after a pause is in the bound; after each failure there is another.
        let more =
            Duration::from_millis(1) + longest(&parameters::source_10k().unwrap(), &clients()).checked_mul(4).unwrap();
        kept(&book, |_| more);
        assert!(book.done.len() > 1_000, "the service stays up: {}", book.done.len());
    }
}

#[test]
fn a_drive_that_says_nothing_is_given_up_after_a_while_and_the_rest_is_served() {
    let book = run(20, 2, |served| if served % 100 == 50 { Wrong::Silent } else { Wrong::Nothing });
    let given_up = book.told.iter().filter(|it| it.outcome == Outcome::Silent).count();
    assert!(given_up >= 10 && given_up == book.told.len(), "{given_up}");
    // A request is delayed by no more than one that is given up in each hundred.
    let limit = longest(&parameters::source_10k().unwrap(), &clients()).checked_mul(5).unwrap();
    kept(&book, |_| limit);
    assert!(book.done.len() > 1_000);
}

#[test]
fn what_is_refused_says_what_is_right() {
    let mut gate = Gate::new(&clients());
    let now = Instant::ZERO;
    let right = Asked { place: 3, blocks: 16, write: true };
    assert_eq!(gate.ask(now, 9, &right), Err(Refusal::NoClient));
    assert_eq!(gate.ask(now, 0, &Asked { place: 16, ..right }), Err(Refusal::Place(16)));
    assert_eq!(gate.ask(now, 0, &Asked { blocks: 15, ..right }), Err(Refusal::Length(16)));
    assert_eq!(gate.ask(now, 1, &right), Err(Refusal::Direction));
    assert!(gate.ask(now, 0, &right).is_ok_and(|request| within(&request)));
    let early = gate.ask(now + Duration::from_millis(89), 0, &right).unwrap_err();
    assert_eq!(early.to_string(), "its period is not over; ask again at 90 ms, or shorten the period");
    let read = Asked { write: false, ..right };
    let all: Vec<_> = (0..5).map(|_| gate.ask(now, 2, &read)).collect();
    assert!(all[..4].iter().all(Result::is_ok) && all[4] == Err(Refusal::Outstanding(4)));
    assert_eq!(gate.refused(), 6);
}
