//! A typed reader of rt-app objects: takes keys one by one, reports what cannot be read, and goes on.

use super::events::Events;
use super::json::{Member, Node, Value};
use crate::draft::{At, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::LONGEST;
use tactus_time::Duration;

/// Where complaints and notes go.
pub(super) struct Reader<'a> {
    pub out: &'a mut Collector,
    pub notes: Vec<String>,
    /// The thread that is being read, as complaints call it.
    pub thread: String,
    /// The timers that threads wait on, also of threads that have faults of another kind.
    pub timers: Vec<Timer>,
    /// Whether threads of this file wait for each other, and by which events.
    pub waits_for_others: bool,
    /// Whether a thread was refused because it is no periodic task, which it need not be where threads wait for each other.
    pub not_periodic: bool,
    pub events: Events,
}

/// A timer that a thread waits on.
pub(super) struct Timer {
    pub thread: String,
    pub name: At<String>,
}

impl Reader<'_> {
    /// Keeps a note once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// One object.
pub(super) struct Fields<'a> {
    members: &'a [Member],
    pub place: Location,
    /// What complaints are about.
    pub subject: String,
}

impl<'a> Fields<'a> {
    pub fn open(value: &'a Value, subject: String, reader: &mut Reader<'_>) -> Option<Fields<'a>> {
        match &value.node {
            Node::Object(members) => Some(Fields { members, place: value.place, subject }),
            _ => {
                let what = if subject.is_empty() { "the file".to_string() } else { subject };
                let complaint =
                    Complaint::Malformed { what, found: describe(Some(value)), expected: "an object in { }".into() };
                reader.out.add(value.place, "", complaint);
                None
            }
        }
    }

    /// The same with other members.
    pub fn with(&self, members: &'a [Member]) -> Fields<'a> {
        Fields { members, place: self.place, subject: self.subject.clone() }
    }

    pub fn members(&self) -> &'a [Member] {
        self.members
    }

    /// The last value of the key: rt-app's reader keeps the last.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.iter().rev().find(|member| member.key == key).and_then(|member| member.value.as_ref())
    }

    /// Notes keys that are not among these.
    pub fn check_known(&self, known: &[&'static str], reader: &mut Reader<'_>) {
        for member in self.members.iter().filter(|member| !known.contains(&member.key.as_str())) {
            self.unknown(member, known, reader);
        }
    }

    /// Notes a key that is not known, as rt-app passes over what it does not know.
    pub fn unknown(&self, member: &Member, known: &[&'static str], reader: &mut Reader<'_>) {
        /// More notes than anybody reads.
        const MOST: usize = 20;
        if reader.notes.len() >= MOST {
            return;
        }
        let key: String = member.key.chars().take(40).collect();
        let meant = nearest(&member.key, known.iter().copied());
        let meant = meant.map_or(String::new(), |near| format!(" (did you mean {near:?}?)"));
        let (line, subject) = (member.place.line, &self.subject);
        let of = if subject.is_empty() { String::new() } else { format!("{subject}: ") };
        reader.note(format!("line {line}: {of}key {key:?} is not known and ignored, as in rt-app{meant}"));
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        reader: &mut Reader<'_>,
        take: impl Fn(&Node) -> Option<T>,
    ) -> Given<T> {
        let Some(member) = self.members.iter().rev().find(|member| member.key == key) else { return Given::Absent };
        let place = member.value.as_ref().map_or(member.place, |value| value.place);
        match member.value.as_ref().and_then(|value| take(&value.node)) {
            Some(taken) => Given::is(taken, place),
            None => {
                let found = describe(member.value.as_ref());
                let complaint = Complaint::Malformed { what: key.into(), found, expected: expected.into() };
                reader.out.add(place, &self.subject, complaint);
                Given::Broken
            }
        }
    }

    pub fn integer(&self, key: &str, expected: &str, reader: &mut Reader<'_>) -> Given<i64> {
        self.read(key, expected, reader, integer)
    }

    pub fn text(&self, key: &str, reader: &mut Reader<'_>) -> Given<String> {
        self.read(key, "a text in quotes", reader, |node| match node {
            Node::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// A list of whole numbers that are not negative.
    pub fn numbers(&self, key: &str, reader: &mut Reader<'_>) -> Given<Vec<u64>> {
        self.read(key, "a list of cores like [0, 1]", reader, |node| match node {
            Node::List(values) => {
                values.iter().map(|value| integer(&value.node).and_then(|n| u64::try_from(n).ok())).collect()
            }
            _ => None,
        })
    }

    /// A time, written in whole microseconds.
    pub fn microseconds(&self, key: &str, reader: &mut Reader<'_>) -> Given<Duration> {
        self.read(key, EXPECTED_TIME, reader, microseconds)
    }
}

pub(super) const EXPECTED_TIME: &str = "a whole number of microseconds, a day at most";

fn integer(node: &Node) -> Option<i64> {
    match node {
        Node::Number(number) => number.parse().ok(),
        _ => None,
    }
}

pub(super) fn microseconds(node: &Node) -> Option<Duration> {
    let n = u64::try_from(integer(node)?).ok()?;
    (n <= LONGEST.as_nanos() / 1_000).then(|| Duration::from_micros(n))
}

/// A value as a complaint quotes it.
pub(super) fn describe(value: Option<&Value>) -> String {
    let short = |text: &str| text.chars().take(40).collect::<String>();
    match value.map(|value| &value.node) {
        None => "without a value".into(),
        Some(Node::Null) => "null".into(),
        Some(Node::Boolean(truth)) => truth.to_string(),
        Some(Node::Number(number)) => short(number),
        Some(Node::Text(text)) => format!("{:?}", short(text)),
        Some(Node::List(_)) => "a list".into(),
        Some(Node::Object(_)) => "an object".into(),
    }
}
