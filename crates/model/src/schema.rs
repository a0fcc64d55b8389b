//! What a system file may hold, found out from the reader itself: each key of each table is tried with a value of each form, and what the reader
//! complains about is not part of it.
//!
//! So there is nothing beside the reader that could say something else. What depends on other keys is not told: a file that is not accepted
//! here is not a system, and one that is may still have faults that the reader tells.

use crate::form;
use crate::problem::{Collector, Complaint, Problem};
use std::path::Path;

/// The tables of a system file; the first one is the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schema {
    /// All tables, each once.
    pub tables: Vec<Table>,
}

/// A table: its name, and the keys that it may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The key that it stands behind; empty for the file.
    pub name: String,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A key and what may stand behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// The forms that its value may have; none where the reader looks at the value beside other keys only.
    pub forms: Vec<Form>,
    /// What the reader says that it expects.
    pub expected: Option<String>,
}

/// The form of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Any text.
    Text,
    /// One of these texts.
    Name(Vec<String>),
    /// A length of time.
    Time,
    /// A size in bytes.
    Size,
    /// A table, by its place in [`Schema::tables`].
    Table(usize),
    /// A table with keys of the file's own.
    Free,
    /// A list of what has one of these forms.
    List(Vec<Form>),
}

/// A text, a time and a size, a level and a name with a point, by which forms of texts are told from each other.
const TEXTS: [&str; 5] = ["zzz", "1 ms", "4 KiB", "A", "a.b"];
const UNKNOWN: &str = "zzz";

/// The tables of system files.
pub fn schema() -> Schema {
    let mut schema = Schema { tables: Vec::new() };
    let known = known_in(&problems("zzz = 1")).unwrap_or_default();
    table(&mut schema, &mut Vec::new(), "", known);
    schema
}

/// A step on the way to a table: its key, and whether it is one of a list.
type Step = (&'static str, bool);

/// Adds the table at the end of this way, with all that is in it; gives its place.
fn table(schema: &mut Schema, way: &mut Vec<Step>, name: &str, known: Vec<&'static str>) -> usize {
    let same = |it: &Table| it.name == name && it.keys.iter().map(|key| key.name).eq(known.iter().copied());
    if let Some(place) = schema.tables.iter().position(same) {
        return place;
    }
    let place = schema.tables.len();
    let keys = known.iter().map(|name| Key { name, forms: Vec::new(), expected: None }).collect();
    schema.tables.push(Table { name: name.into(), keys });
    for (i, key) in known.iter().enumerate() {
        let (forms, expected) = forms(schema, way, key);
        let key = &mut schema.tables[place].keys[i];
        (key.forms, key.expected) = (forms, expected);
    }
    place
}

/// What the reader makes of a key with this value.
fn answer(way: &[Step], key: &str, value: &str) -> Vec<Problem> {
    let mut text = format!("{key} = {value}");
    for (i, (table, of_list)) in way.iter().enumerate().rev() {
        text = match (i, of_list) {
            (0, true) => format!("[[{table}]]\n{text}"),
            (0, false) => format!("[{table}]\n{text}"),
            (_, true) => format!("{table} = [{{ {text} }}]"),
            (_, false) => format!("{table} = {{ {text} }}"),
        };
    }
    let line = text.lines().count();
    // What the rest of the file lacks is complained about elsewhere.
    problems(&text).into_iter().filter(|problem| problem.place.is_some_and(|place| place.line == line)).collect()
}

fn problems(text: &str) -> Vec<Problem> {
    let mut out = Collector::new(Path::new(""));
    form::read(text, &mut out);
    out.finish::<()>(None).err().map(|all| all.iter().cloned().collect()).unwrap_or_default()
}

/// The keys that the reader knows where it has found an unknown one.
fn known_in(problems: &[Problem]) -> Option<Vec<&'static str>> {
    problems.iter().find_map(|problem| match &problem.complaint {
        Complaint::UnknownKey { key, known, .. } if key == UNKNOWN => Some(known.clone()),
        _ => None,
    })
}

fn expected_in(problems: &[Problem]) -> Option<&str> {
    problems.iter().find_map(|problem| match &problem.complaint {
        Complaint::Malformed { expected, .. } => Some(expected.as_str()),
        _ => None,
    })
}

/// The names that the reader knows where it has found an unknown one: what its remedy quotes; of policies, which it does not list, what its table of
/// names has.
fn names_in(problems: &[Problem]) -> Option<Vec<String>> {
    problems.iter().find_map(|problem| match &problem.complaint {
        Complaint::UnknownName { what, remedy, .. } if remedy.starts_with("choose") => {
            let listed = remedy.split('"').skip(1).step_by(2).map(str::to_string);
            let of_policies = form::policy_names().filter(|_| *what == "policy").map(str::to_string);
            Some(listed.chain(of_policies).collect())
        }
        _ => None,
    })
}

/// The forms of a key's value, and what the reader expects.
fn forms(schema: &mut Schema, way: &mut Vec<Step>, key: &'static str) -> (Vec<Form>, Option<String>) {
    if way.is_empty() {
        // At the top there are tables, and lists of tables.
        for of_list in [false, true] {
            way.push((key, of_list));
            let known = known_in(&answer(way, UNKNOWN, "1"));
            let inner = known.map(|known| Form::Table(table(schema, way, key, known)));
            way.pop();
            match (inner, of_list) {
                (Some(inner), false) => return (vec![inner], None),
                (Some(inner), true) => return (vec![Form::List(vec![inner])], None),
                (None, _) => {}
            }
        }
        way.push((key, false));
        // Where a table of one key has its faults, the file has keys of its own there.
        let inner = known_in(&answer(way, UNKNOWN, "{ zzz = 1 }"));
        way.pop();
        return (inner.map(|_| Form::Free).into_iter().collect(), None);
    }
    let mut expected: Option<String> = None;
    let mut accepts = |value: &str| {
        let problems = answer(way, key, value);
        if let Some(words) = expected_in(&problems) {
            expected.get_or_insert_with(|| words.to_string());
            return false;
        }
        true
    };
    let mut forms = Vec::new();
    for (value, form) in [("true", Form::Boolean), ("1", Form::Integer), ("0.5", Form::Number)] {
        if accepts(value) {
            forms.push(form);
        }
    }
    if forms.contains(&Form::Number) {
        forms.retain(|form| *form != Form::Integer);
    }
    let texts = TEXTS.map(|text| accepts(&format!("{text:?}")));
    let lists = [accepts("[true]"), accepts("[1]"), accepts("[\"zzz\"]"), accepts("[\"1 ms\"]")];
    let tables = [accepts("{ zzz = 1 }"), accepts("[{ zzz = 1 }]")];
    if forms.len() == 2 && texts == [true; TEXTS.len()] && lists == [true; 4] && tables == [true; 2] {
        return (Vec::new(), None);
    }
    let names = names_in(&answer(way, key, "\"zzz\""));
    match text_form(texts, names) {
        Some(form) => forms.push(form),
        // A word that the reader quotes when it says what it expects.
        None => {
            let quoted = expected.iter().flat_map(|words| words.split('"').skip(1).step_by(2));
            let fits = |word: &&str| expected_in(&answer(way, key, &format!("{word:?}"))).is_none();
            let words: Vec<String> = quoted.filter(fits).map(str::to_string).collect();
            forms.extend((!words.is_empty()).then_some(Form::Name(words)));
        }
    }
    let mut inner = |schema: &mut Schema, value: &str, of_list: bool| {
        let known = known_in(&answer(way, key, value))?;
        way.push((key, of_list));
        let place = table(schema, way, key, known);
        way.pop();
        Some(Form::Table(place))
    };
    match inner(schema, "{ zzz = 1 }", false) {
        Some(form) => forms.push(form),
        None if tables[0] => forms.push(Form::Free),
        None => {}
    }
    let mut items = Vec::new();
    items.extend(lists[1].then_some(Form::Integer));
    items.extend((lists[2] || lists[3]).then_some(Form::Text));
    match inner(schema, "[{ zzz = 1 }]", true) {
        Some(form) => items.push(form),
        None if tables[1] && items.is_empty() => items.push(Form::Free),
        None => {}
    }
    if !items.is_empty() {
        forms.push(Form::List(items));
    }
    (forms, expected)
}

fn text_form([any, time, size, level, point]: [bool; TEXTS.len()], names: Option<Vec<String>>) -> Option<Form> {
    match (names, [any, time, size, level, point]) {
        (Some(names), _) => Some(Form::Name(names)),
        (None, [true, ..]) => Some(Form::Text),
        (None, [false, true, false, ..]) => Some(Form::Time),
        (None, [false, false, true, ..]) => Some(Form::Size),
        (None, [false, false, false, true, _]) => {
            Some(Form::Name(tactus_time::Level::ALL.iter().map(ToString::to_string).collect()))
        }
        (None, [false, false, false, false, false]) => None,
        (None, _) => Some(Form::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_tells_the_form_of_a_tasks_keys() {
        let schema = schema();
        let task = schema.tables.iter().find(|table| table.name == "task").expect("tasks");
        let of = |name: &str| task.keys.iter().find(|key| key.name == name).expect("the key").forms.clone();
        assert_eq!(of("name"), [Form::Text]);
        assert_eq!(of("period"), [Form::Time]);
        assert_eq!(of("memory"), [Form::Size]);
        assert_eq!(of("core"), [Form::Integer]);
        assert!(matches!(of("level")[..], [Form::Name(ref names)] if names.len() == 4));
        assert!(matches!(of("execution")[..], [Form::Time, Form::Table(_)]), "{:?}", of("execution"));
        assert!(matches!(of("sections")[..], [Form::List(_)]), "{:?}", of("sections"));
    }
}
