//! Automata in the Hanoi format (HOA 1), as Spot and others write them: `ltl2tgba --monitor --deterministic 'G(read -> X !read)'`.
//!
//! Its propositions are the events, of which one happens at a time: an edge is taken by those events whose letter, that proposition
//! alone, its label allows. An event for which a state has no edge is the violation, and so is one after which there always is one,
//! whatever comes, and though nothing more may happen: as a system file's property is judged. What
//! a deterministic monitor cannot say is refused: other conditions of acceptance, alternation, two edges for one event.

use super::{error, violated_elsewhere, LanguageError, Read};
use crate::automaton::{Automaton, Transition};
use crate::compose::Specification;

/// The most states of a file.
const MOST_STATES: usize = 4096;
/// The most propositions, so that the letters of a label are bits.
const MOST_EVENTS: usize = 63;
/// The deepest nesting of labels.
const DEEPEST: usize = 64;
/// The letter at which none of the propositions holds: nothing happens. It stands behind those of the events.
const SILENCE: usize = 1;

/// Reads one automaton as the specification of a monitor. Columns are in the order of the propositions.
///
/// # Errors
/// The text is not in the format, or the automaton is none that a deterministic monitor can be.
pub fn read_hoa(text: &str, name: &str) -> Result<Specification, LanguageError> {
    let words = words(text)?;
    let mut reader = Reader { words: &words, at: 0, events: Vec::new(), edges: Vec::new() };
    let initial = reader.automaton()?;
    let Reader { events, mut edges, .. } = reader;
    // Whoever comes to a state without an edge has nowhere to go. A run that falls silent for good goes on, where silence may.
    while let Some(stuck) = edges.iter().position(|row| row.as_ref().is_some_and(|row| row.iter().all(Option::is_none)))
    {
        edges[stuck] = None;
        edges.iter_mut().flatten().flatten().filter(|to| **to == Some(stuck)).for_each(|to| *to = None);
    }
    if edges.get(initial).is_none_or(Option::is_none) {
        let what = "an automaton that accepts no sequence of events";
        return Err(error(0, format!("{what}; one proposition holds at a time, or none")));
    }
    let (mut states, mut transitions, mut at) = (vec![initial], Vec::new(), 0);
    while let Some(&from) = states.get(at) {
        for (event, to) in events.iter().zip(edges[from].iter().flatten()) {
            let Some(to) = *to else { continue };
            transitions.push(Transition { from: format!("s{from}"), event: event.clone(), to: format!("s{to}") });
            if !states.contains(&to) {
                states.push(to);
            }
        }
        at += 1;
    }
    let states = states.iter().map(|state| format!("s{state}")).collect();
    violated_elsewhere(Automaton { name: name.into(), states, transitions }, events)
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    /// `States:`
    Header(String),
    /// A number, a name, `t`, `f`, `--BODY--`.
    Name(String),
    Text(String),
    Sign(char),
}

fn syntax<T>(line: usize, reason: String) -> Read<T> {
    Err(error(line, reason))
}

/// All words, each with its line.
fn words(text: &str) -> Read<Vec<(usize, Word)>> {
    let (mut all, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => (None, end + 2),
                None => return syntax(line, "a comment begins here and never ends; close it with */".into()),
            },
            '"' => {
                let Some(end) = rest[1..].find('"') else {
                    return syntax(line, "a text begins here and never ends; close it with a quote".into());
                };
                (Some(Word::Text(rest[1..=end].to_owned())), end + 2)
            }
            '[' | ']' | '{' | '}' | '(' | ')' | '!' | '&' | '|' => (Some(Word::Sign(first)), 1),
            '@' | '-' | '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => {
                let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '-' | '_' | '.');
                let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
                let name = rest[..length].to_owned();
                match rest[length..].starts_with(':') {
                    true => (Some(Word::Header(name)), length + 1),
                    false => (Some(Word::Name(name)), length),
                }
            }
            _ => return syntax(line, format!("the sign {first:?} has no place in this format; remove it")),
        };
        all.extend(word.map(|word| (line, word)));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(all)
}

struct Reader<'t> {
    words: &'t [(usize, Word)],
    at: usize,
    events: Vec<String>,
    /// By state, where there is one, and event, and behind them silence: where it leads.
    edges: Vec<Option<Vec<Option<usize>>>>,
}

impl Reader<'_> {
    fn line(&self) -> usize {
        self.words.get(self.at).or(self.words.last()).map_or(1, |(line, _)| *line)
    }
    fn peek(&self) -> Option<&Word> {
        self.words.get(self.at).map(|(_, word)| word)
    }
    fn fail<T>(&self, wanted: &str) -> Read<T> {
        let found = match self.peek() {
            None => "the end of the file".into(),
            Some(Word::Header(name)) => format!("\"{name}:\""),
            Some(Word::Name(text) | Word::Text(text)) => format!("{text:?}"),
            Some(Word::Sign(sign)) => format!("{sign:?}"),
        };
        syntax(self.line(), format!("found {found}, where {wanted} is wanted"))
    }
    /// Refuses what was read last.
    fn refuse<T>(&self, what: impl Into<String>, remedy: &str) -> Read<T> {
        let line = self.words.get(self.at.saturating_sub(1)).map_or(1, |(line, _)| *line);
        Err(error(line, format!("{}; {remedy}", what.into())))
    }
    fn take(&mut self, word: &Word) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }
    fn number(&mut self, wanted: &str) -> Read<usize> {
        let number = match self.peek() {
            Some(Word::Name(name)) => name.parse().ok().filter(|number| *number < MOST_STATES),
            _ => None,
        };
        let Some(number) = number else { return self.fail(wanted) };
        self.at += 1;
        Ok(number)
    }

    /// The initial state; events and edges are kept.
    fn automaton(&mut self) -> Read<usize> {
        if !self.take(&Word::Header("HOA".into())) || !self.take(&Word::Name("v1".into())) {
            return self.fail("HOA: v1");
        }
        let (body, accepts_all) = (Word::Name("--BODY--".into()), [Word::Name("0".into()), Word::Name("t".into())]);
        let (mut initial, mut accepts) = (None, false);
        while !self.take(&body) {
            let Some(Word::Header(header)) = self.peek().cloned() else { return self.fail("a header or --BODY--") };
            self.at += 1;
            match header.as_str() {
                "Start" if initial.is_some() => return self.refuse("a second initial state", DETERMINISTIC),
                "Start" => initial = Some(self.number("the number of a state")?),
                "AP" => self.propositions()?,
                "Acceptance" => {
                    accepts = accepts_all.iter().all(|word| self.take(word));
                    if !accepts {
                        return self.refuse("a condition of acceptance beside 0 t", DETERMINISTIC);
                    }
                }
                "Alias" => return self.refuse("an alias", "write what it stands for"),
                // Names, properties and what other tools add change nothing of what is accepted.
                _ => {
                    while self.peek().is_some_and(|word| !matches!(word, Word::Header(_)) && *word != body) {
                        self.at += 1;
                    }
                }
            }
        }
        let (Some(initial), true, false) = (initial, accepts, self.events.is_empty()) else {
            return self.refuse("a head without Start:, AP: or Acceptance:", "add it; each event is a proposition");
        };
        self.body()?;
        Ok(initial)
    }

    fn propositions(&mut self) -> Read<()> {
        let count = self.number("the number of propositions")?;
        while let Some(Word::Text(name)) = self.peek().cloned() {
            if self.events.contains(&name) {
                return self.refuse(format!("the proposition {name:?} twice"), "remove one");
            }
            self.events.push(name);
            self.at += 1;
        }
        match self.events.len() {
            found if found == count && found <= MOST_EVENTS => Ok(()),
            found => self.refuse(format!("{found} propositions, where {count} are told"), "name so many, 63 at most"),
        }
    }

    /// The letters that a label allows, as bits: letter n is the proposition n alone, and the one behind them is silence.
    fn label(&mut self, depth: usize) -> Read<u64> {
        let mut any = 0;
        loop {
            let mut all = self.literal(depth)?;
            while self.take(&Word::Sign('&')) {
                all &= self.literal(depth)?;
            }
            any |= all;
            if !self.take(&Word::Sign('|')) {
                return Ok(any);
            }
        }
    }
    fn literal(&mut self, depth: usize) -> Read<u64> {
        if depth > DEEPEST {
            return self.refuse(format!("a label that is nested deeper than {DEEPEST}"), "write it flatter");
        }
        if self.take(&Word::Sign('!')) {
            return Ok(!self.literal(depth + 1)?);
        }
        if self.take(&Word::Sign('(')) {
            let inner = self.label(depth + 1)?;
            return if self.take(&Word::Sign(')')) { Ok(inner) } else { self.fail("\")\"") };
        }
        let letters = match self.peek() {
            Some(Word::Name(name)) if name == "t" => Some(u64::MAX),
            Some(Word::Name(name)) if name == "f" => Some(0),
            Some(Word::Name(name)) => name.parse::<usize>().ok().filter(|n| *n < self.events.len()).map(|n| 1 << n),
            _ => None,
        };
        let Some(letters) = letters else { return self.fail("the number of a proposition, t or f") };
        self.at += 1;
        Ok(letters)
    }

    fn body(&mut self) -> Read<()> {
        while !self.take(&Word::Name("--END--".into())) {
            if !self.take(&Word::Header("State".into())) {
                return self.fail("\"State:\" or --END--");
            }
            let state = self.number("the number of a state (without a label: write labels on edges)")?;
            self.at += usize::from(matches!(self.peek(), Some(Word::Text(_))));
            let mut row = vec![None; self.events.len() + SILENCE];
            while self.take(&Word::Sign('[')) {
                let letters = self.label(0)?;
                if !self.take(&Word::Sign(']')) {
                    return self.fail("\"]\"");
                }
                let to = self.number("the number of a state")?;
                for (event, place) in row.iter_mut().enumerate().filter(|(event, _)| letters >> event & 1 == 1) {
                    if place.replace(to).is_some_and(|other| other != to) {
                        let what = match self.events.get(event) {
                            Some(event) => format!("the event {event:?}, which leads from {state} to two states"),
                            None => format!("silence, which leads from {state} to two states"),
                        };
                        return self.refuse(what, DETERMINISTIC);
                    }
                }
            }
            self.edges.resize(self.edges.len().max(state + 1), None);
            if self.edges[state].replace(row).is_some() {
                return self.refuse(format!("the state {state} twice"), "join its edges");
            }
        }
        match self
            .edges
            .iter()
            .flatten()
            .flatten()
            .flatten()
            .find(|to| self.edges.get(**to).is_none_or(Option::is_none))
        {
            Some(to) => self.refuse(format!("an edge to the state {to}, which is not there"), "add the state"),
            None if self.at < self.words.len() => self.refuse("a second automaton", "give each a file of its own"),
            None => Ok(()),
        }
    }
}

/// What to do about an automaton that is no deterministic monitor.
const DETERMINISTIC: &str = "let the tool write a deterministic monitor (ltl2tgba --monitor --deterministic)";
