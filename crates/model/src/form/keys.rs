//! A typed reader of TOML tables: takes keys one by one, reports what cannot be read, and goes on.

use crate::draft::Given;
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::text::Lines;
use crate::units::{parse_duration, parse_size, UnitError};
use crate::LONGEST;
use tactus_time::{Duration, Level};
use toml::de::{DeTable, DeValue};
use toml::Spanned;

pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// What the file says, and where complaints go.
pub(super) struct Reader<'a> {
    pub lines: Lines<'a>,
    pub out: &'a mut Collector,
}

/// One table.
pub(super) struct Section<'a> {
    table: &'a DeTable<'a>,
    pub place: Location,
    /// What complaints are about: `task "nav"`.
    pub subject: String,
    /// The keys that unknown ones were most likely meant to be.
    meant: Vec<String>,
}

impl Reader<'_> {
    /// Opens a table and reports the keys that it must not have.
    pub fn open<'v>(&mut self, value: &'v Value<'v>, subject: String, known: &[&'static str]) -> Option<Section<'v>> {
        self.open_without(value, subject, known, &[])
    }

    /// As [`open`](Reader::open), where these keys of other tables are refused, each with its reason and remedy.
    pub fn open_without<'v>(
        &mut self,
        value: &'v Value<'v>,
        subject: String,
        known: &[&'static str],
        refused: &[(&str, &str, &str)],
    ) -> Option<Section<'v>> {
        let place = self.place(value);
        let Some(table) = value.get_ref().as_table() else {
            self.malformed(place, "", subject, value, format!("a table with the keys {}", known.join(", ")));
            return None;
        };
        let mut section = Section { table, place, subject, meant: Vec::new() };
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().to_string();
            if let Some((_, why, remedy)) = refused.iter().find(|it| it.0 == name) {
                self.out.refuse(self.lines.place(key.span().start), &section.subject, *why, *remedy);
                continue;
            }
            let nearest = if self.out.is_full() { None } else { nearest(&name, known.iter().copied()) };
            section.meant.extend(nearest.clone());
            let complaint =
                Complaint::UnknownKey { nearest, key: name.chars().take(40).collect(), known: known.to_vec() };
            self.out.add(self.lines.place(key.span().start), &section.subject, complaint);
        }
        Some(section)
    }

    pub fn place(&self, value: &Value<'_>) -> Location {
        self.lines.place(value.span().start)
    }

    pub fn malformed(
        &mut self,
        place: Location,
        subject: &str,
        what: impl Into<String>,
        value: &Value<'_>,
        expected: impl Into<String>,
    ) {
        let complaint =
            Complaint::Malformed { what: what.into(), found: describe(value.get_ref()), expected: expected.into() };
        self.out.add(place, subject, complaint);
    }

    /// Reads a time out of a value.
    pub fn duration_of(&mut self, value: &Value<'_>, subject: &str, what: &str) -> Given<Duration> {
        let place = self.place(value);
        let expected = "a time like \"25 ms\" (units: ns, us, ms, s)";
        let Some(text) = value.get_ref().as_str() else {
            self.malformed(place, subject, what, value, expected);
            return Given::Broken;
        };
        match parse_duration(text) {
            Ok(length) if length <= LONGEST => return Given::is(length, place),
            Ok(_) | Err(UnitError::TooLarge) => {
                let limit = format!("more than the {} that a file may name", LONGEST);
                self.out.out_of_range(place, subject, what, shorten(text), limit, "shorten it");
            }
            Err(UnitError::Negative) => {
                self.out.out_of_range(place, subject, what, shorten(text), "less than nothing", "remove the sign");
            }
            Err(UnitError::TooFine) => {
                let limit = "finer than a nanosecond";
                self.out.out_of_range(place, subject, what, shorten(text), limit, "round it to nanoseconds");
            }
            Err(UnitError::Form) => self.malformed(place, subject, what, value, expected),
        }
        Given::Broken
    }

    /// Reads a level out of a value.
    pub fn level_of(&mut self, value: &Value<'_>, subject: &str, what: &str) -> Given<Level> {
        let place = self.place(value);
        let level = Level::ALL.into_iter().find(|level| value.get_ref().as_str() == Some(&level.to_string()));
        match level {
            Some(level) => Given::is(level, place),
            None => {
                self.malformed(place, subject, what, value, "one of \"A\", \"B\", \"C\", \"D\"");
                Given::Broken
            }
        }
    }
}

impl<'a> Section<'a> {
    pub fn get(&self, key: &str) -> Option<&'a Value<'a>> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(_, value)| value)
    }

    /// Reports a key that must be there, unless it is, or is misspelt.
    pub fn require(&self, reader: &mut Reader<'_>, key: &'static str, example: &str) {
        if self.get(key).is_none() && !self.meant.iter().any(|meant| meant == key) {
            let complaint = Complaint::MissingKey { key, example: example.into() };
            reader.out.add(self.place, &self.subject, complaint);
        }
    }

    pub fn string(&self, reader: &mut Reader<'_>, key: &str, expected: &str) -> Given<String> {
        self.read(reader, key, expected, |value| value.as_str().map(str::to_string))
    }

    pub fn boolean(&self, reader: &mut Reader<'_>, key: &str) -> Given<bool> {
        self.read(reader, key, "true or false", DeValue::as_bool)
    }

    /// A whole number that is not negative.
    pub fn integer(&self, reader: &mut Reader<'_>, key: &str, expected: &str) -> Given<u64> {
        self.read(reader, key, expected, |value| {
            let number = value.as_integer()?;
            u64::from_str_radix(number.as_str(), number.radix()).ok()
        })
    }

    pub fn float(&self, reader: &mut Reader<'_>, key: &str, expected: &str) -> Given<f64> {
        self.read(reader, key, expected, |value| {
            let number = match value {
                DeValue::Float(number) => number.as_str().parse::<f64>().ok()?,
                DeValue::Integer(number) => i32::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
                _ => return None,
            };
            number.is_finite().then_some(number)
        })
    }

    pub fn duration(&self, reader: &mut Reader<'_>, key: &str) -> Given<Duration> {
        self.get(key).map_or(Given::Absent, |value| reader.duration_of(value, &self.subject, key))
    }

    pub fn level(&self, reader: &mut Reader<'_>, key: &str) -> Given<Level> {
        self.get(key).map_or(Given::Absent, |value| reader.level_of(value, &self.subject, key))
    }

    pub fn size(&self, reader: &mut Reader<'_>, key: &str) -> Given<u64> {
        self.read(reader, key, "a size like \"32 KiB\" (units: B, KiB, MiB, GiB)", |value| {
            value.as_str().and_then(|text| parse_size(text).ok())
        })
    }

    fn read<T>(
        &self,
        reader: &mut Reader<'_>,
        key: &str,
        expected: &str,
        take: impl Fn(&DeValue<'a>) -> Option<T>,
    ) -> Given<T> {
        let Some(value) = self.get(key) else { return Given::Absent };
        let place = reader.place(value);
        match take(value.get_ref()) {
            Some(taken) => Given::is(taken, place),
            None => {
                reader.malformed(place, &self.subject, key, value, expected);
                Given::Broken
            }
        }
    }
}

/// A value as a complaint quotes it.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => shorten(text),
        DeValue::Integer(number) => number.as_str().chars().take(40).collect(),
        DeValue::Float(number) => number.as_str().chars().take(40).collect(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// Quotes a text, its end left out if it is long.
pub(super) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
