//! A monitor as an image holds it: words, and where its bytes lie.

use crate::clock::{Rule, TimedDescriptor, TimedStepper};
use crate::step::{Descriptor, Stepper};
use crate::table::{Encoding, Table, TableError};
use crate::watcher::Watcher;
use core::fmt;
use tactus_time::Duration;

/// A monitor in words: encoding, states, events, initial state, state in which it is true, in which it is false ([`Stored::NONE`] for
/// none), whether it starts anew, rule (0 for none), stages, length in ns (low half, high half), place and length of its table, place
/// of its classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored(pub [u32; Stored::WORDS]);

/// What is stored is no monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredError {
    /// An encoding, a rule or a state that there is not.
    Unknown,
    /// The bytes that it names are not there.
    Outside,
    /// The table is none.
    Table(TableError),
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredError::Unknown => f.write_str("it has an encoding, a rule or a state that there is not"),
            StoredError::Outside => f.write_str("its table lies outside the tables"),
            StoredError::Table(error) => error.fmt(f),
        }
    }
}

impl Stored {
    /// How many words.
    pub const WORDS: usize = 14;
    /// Stands for no state.
    pub const NONE: u32 = u32::MAX;

    /// The monitor at work, with its table among these bytes. Every value of the table is looked at.
    ///
    /// # Errors
    /// See [`StoredError`].
    pub fn watcher<'t>(&self, tables: &'t [u8]) -> Result<Watcher<'t>, StoredError> {
        let [encoding, states, events, initial, truth, falsity, reset, rule, stages, low, high, at, length, classes] =
            self.0;
        let encoding = *Encoding::ALL.get(encoding as usize).ok_or(StoredError::Unknown)?;
        let bytes = |at: u32, length: u32| {
            let end = (at as usize).checked_add(length as usize).ok_or(StoredError::Outside)?;
            tables.get(at as usize..end).ok_or(StoredError::Outside)
        };
        let table = Table::new(encoding, states, events, bytes(at, length)?).map_err(StoredError::Table)?;
        let state = |state: u32| (state != Stored::NONE).then_some(state);
        let known = |state: Option<u32>| state.is_none_or(|state| state < states);
        if initial >= states || !known(state(truth)) || !known(state(falsity)) {
            return Err(StoredError::Unknown);
        }
        let (reset, (true_state, false_state)) = (reset != 0, (state(truth), state(falsity)));
        if rule == 0 {
            return Ok(Watcher::Untimed(Stepper::new(Descriptor { table, initial, true_state, false_state, reset })));
        }
        let rule = rule_of(rule, stages, Duration::from_nanos(u64::from(high) << 32 | u64::from(low)))?;
        let classes = bytes(classes, states)?;
        Ok(Watcher::Timed(TimedStepper::new(TimedDescriptor { table, classes, initial, rule, reset })))
    }
}

fn rule_of(number: u32, stages: u32, length: Duration) -> Result<Rule, StoredError> {
    Ok(match number {
        1 => Rule::Response(length),
        2 => Rule::Invariance(length),
        3 => Rule::Freshness(length),
        4 => Rule::LeastDistance(length),
        5 => Rule::GreatestDistance(length),
        6 => Rule::Latency { stages: u8::try_from(stages).map_err(|_| StoredError::Unknown)?, length },
        _ => return Err(StoredError::Unknown),
    })
}

/// Number, stages and length of a rule.
#[cfg(feature = "std")]
fn number_of(rule: Rule) -> (u32, u32, Duration) {
    match rule {
        Rule::Response(length) => (1, 0, length),
        Rule::Invariance(length) => (2, 0, length),
        Rule::Freshness(length) => (3, 0, length),
        Rule::LeastDistance(length) => (4, 0, length),
        Rule::GreatestDistance(length) => (5, 0, length),
        Rule::Latency { stages, length } => (6, stages.into(), length),
    }
}

#[cfg(feature = "std")]
impl crate::Built {
    /// Puts the monitor's table behind the others; its words.
    pub fn store(&self, reset: bool, tables: &mut Vec<u8>) -> Stored {
        let at = tables.len() as u32;
        let layout = self.layout();
        let encoding = Encoding::ALL.iter().position(|known| *known == layout.encoding).unwrap_or(0) as u32;
        let (bytes, classes, initial, finals, (rule, stages, length)): (&[u8], &[u8], _, _, _) = match self {
            crate::Built::Untimed { encoded, .. } => {
                (&encoded.bytes, &[], encoded.initial(), encoded.finals(), (0, 0, Duration::ZERO))
            }
            crate::Built::Timed(timed) => {
                let none = (None, None);
                (&timed.bytes, &timed.machine.outputs, timed.machine.initial, none, number_of(timed.rule))
            }
        };
        tables.extend_from_slice(bytes);
        let classes_at = tables.len() as u32;
        tables.extend_from_slice(classes);
        let nanos = length.as_nanos();
        let state = |state: Option<u32>| state.unwrap_or(Stored::NONE);
        Stored([
            encoding,
            layout.states,
            layout.events,
            initial,
            state(finals.0),
            state(finals.1),
            reset.into(),
            rule,
            stages,
            nanos as u32,
            (nanos >> 32) as u32,
            at,
            layout.bytes,
            classes_at,
        ])
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::{Automaton, Monitor, Property, Step};
    use tactus_time::Instant;

    fn monitor(property: &str) -> Monitor {
        let event =
            |name: &str| (name.to_owned(), crate::Occurrence::parse(&format!("start {name}")).expect("an event"));
        Monitor {
            name: "m".into(),
            property: Property::parse(property).expect("a property"),
            events: ["a", "b", "c"].map(event).into(),
            automata: Vec::<Automaton>::new(),
            encoding: None,
            minimise: true,
            reset: false,
            table_limit: 1 << 16,
            action: crate::Action::Note,
            line: 1,
        }
    }

    #[test]
    fn what_is_stored_steps_as_what_was_built() {
        let properties = [
            "always (a -> next (not b unless c))",
            "(not b) until (a or c)",
            "always (a -> eventually[<= 5 ns] (b or c))",
            "always (a or b -> always[<= 3 ns] not c)",
            "always (c -> once[<= 9 ns] (a or b))",
            "distance(a or b or c) >= 2 ns",
            "distance(a or b or c) <= 4 ns",
            "latency(a, b, c) <= 7 ns",
            "always (c -> a since previously b)",
            "always (a -> (b or a) until[<= 6 ns] c)",
            "always (a -> (b or a) since[<= 8 ns] c)",
        ];
        let mut tables = vec![7; 3];
        let built: Vec<_> = properties.map(|it| monitor(it).build().expect("a monitor")).into();
        let stored: Vec<Stored> = built.iter().map(|it| it.store(it.layout().states % 2 == 0, &mut tables)).collect();
        let mut random = 12345_u32;
        for (built, stored) in built.iter().zip(&stored) {
            let mut one = built.watcher(built.layout().states % 2 == 0).expect("sound");
            let mut other = stored.watcher(&tables).expect("sound");
            let mut now = Instant::ZERO;
            for _ in 0..2_000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                now = now.saturating_add(Duration::from_nanos(u64::from(random >> 29)));
                assert_eq!(one.expire(now), other.expire(now));
                let column = (random >> 8) % 3;
                assert_eq!(one.step(column, now), other.step(column, now));
                assert_eq!((one.state(), one.expiry()), (other.state(), other.expiry()));
            }
        }
    }

    #[test]
    fn damage_is_an_error_and_no_step_goes_astray() {
        let mut tables = Vec::new();
        let stored = monitor("always (a -> next (not b unless c))").build().expect("one").store(false, &mut tables);
        for word in 0..Stored::WORDS {
            for value in [u32::MAX - 1, 1 << 20, 5, 1, 0] {
                let mut words = stored.0;
                words[word] = value;
                let Ok(mut watcher) = Stored(words).watcher(&tables) else { continue };
                for column in 0..9 {
                    assert!(watcher.step(column % 4, Instant::ZERO) != Step::Stopped || column > 0);
                }
            }
        }
        assert_eq!(stored.watcher(&[]).err(), Some(StoredError::Outside));
    }
}
