//! The file read and held against its own rules, those that need no look at the tree.

use crate::evidence::numbers;
use crate::relation::fault;
use crate::{Source, Statement, Status};
use serde::Deserialize;
use std::fmt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    statement: Vec<Statement>,
}

/// What is wrong with the file, or with the evidence that it names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// It is not the TOML that is expected: the parser's words, with line, key and the values that it takes.
    Syntax(String),
    /// A source has another number of statements, or its numbers are not 1, 2, 3 and so on: the source, and where they part.
    Numbers {
        /// The source.
        source: Source,
        /// The number that was expected; one more than the count where there are too many.
        expected: usize,
        /// The number that is there, if any.
        found: Option<usize>,
    },
    /// A statement breaks a rule of the file.
    Rule {
        /// The statement, as `source number`.
        statement: String,
        /// The rule that it breaks, and what to do.
        rule: &'static str,
    },
    /// A relation of a statement is none, or does not hold.
    Relation {
        /// The statement, as `source number`.
        statement: String,
        /// The relation.
        relation: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What a statement names is not in the tree.
    Absent {
        /// The statement, as `source number`.
        statement: String,
        /// The file, test, figure or package that is named.
        named: String,
        /// What is wrong with it, and what to do.
        why: &'static str,
        /// The file in which a test of that name is instead, if there is one.
        elsewhere: Option<String>,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax(words) => write!(f, "docs/sources/statements.toml: {words}"),
            Problem::Numbers { source, expected, found: Some(found) } => write!(
                f,
                "{source}: number {found} stands where {expected} is expected; the statements of {source} are 1 to {}, each once, in this order",
                source.count()
            ),
            Problem::Numbers { source, expected, found: None } => {
                write!(f, "{source}: number {expected} is not there; {source} has {} statements", source.count())
            }
            Problem::Rule { statement, rule } => write!(f, "{statement}: {rule}"),
            Problem::Relation { statement, relation, why } => write!(f, "{statement}: the relation `{relation}` {why}"),
            Problem::Absent { statement, named, why, elsewhere } => {
                write!(f, "{statement}: `{named}` {why}")?;
                elsewhere.iter().try_for_each(|path| write!(f, "; {path} has one of that name"))
            }
        }
    }
}

impl std::error::Error for Problem {}

/// Reads the statements, in the order of the file.
///
/// # Errors
///
/// Everything that is wrong with the file by itself: its syntax alone if that is wrong, else all the rules that are broken.
pub fn read(text: &str) -> Result<Vec<Statement>, Vec<Problem>> {
    let file: File = toml::from_str(text).map_err(|error| vec![Problem::Syntax(error.to_string())])?;
    let statements = file.statement;
    let mut problems = Vec::new();
    for source in Source::ALL {
        let mut numbers = statements.iter().filter(|it| it.source == source).map(|it| it.number);
        for expected in 1..=source.count() + 1 {
            let found = numbers.next();
            if found != (expected <= source.count()).then_some(expected) {
                problems.push(Problem::Numbers { source, expected, found });
                break;
            }
        }
    }
    for statement in &statements {
        let broken = rules(statement);
        problems.extend(broken.map(|rule| Problem::Rule { statement: statement.to_string(), rule }));
        problems.extend(statement.relations.iter().filter_map(|relation| {
            let whole = statement;
            let (statement, relation) = (statement.to_string(), relation.clone());
            fault(whole, &relation).map(|why| Problem::Relation { statement, relation, why })
        }));
    }
    if problems.is_empty() {
        Ok(statements)
    } else {
        Err(problems)
    }
}

/// The rules that a statement breaks.
fn rules(it: &Statement) -> impl Iterator<Item = &'static str> {
    let empty = |text: &Option<String>| text.as_deref().is_some_and(|text| text.trim().is_empty());
    let kept_figure = it.command.is_some() && it.figure.is_some() && it.kept.is_some();
    let texts = [&it.command, &it.figure, &it.kept, &it.asserted, &it.note];
    let checks = [
        (it.text.trim().is_empty() || texts.into_iter().any(empty), "a text is empty; write it, or leave the key out"),
        (
            it.status == Status::Shown && it.tests.is_empty() && !kept_figure,
            "nothing is `shown` without `test`, or `command`, `figure` and `kept`; name them, or say `partly`",
        ),
        (it.status != Status::Shown && it.note.is_none(), "what is not `shown` says in `note` what lacks, and why"),
        (
            it.status == Status::NotApplicable && !(it.tests.is_empty() && it.command.is_none()),
            "what cannot be asked has no evidence; leave `test` and `command` out, or choose another status",
        ),
        (
            it.status == Status::Shown
                && it.kept.is_some()
                && it.relations.is_empty()
                && !(numbers(&it.text).is_empty() || it.figure.as_deref().map(numbers).is_none_or(|it| it.is_empty())),
            "its text has numbers and so has the kept figure; say in `relation` how they agree",
        ),
        (
            it.status == Status::Shown
                && !numbers(&it.text).is_empty()
                && it.relations.is_empty()
                && (it.asserted.is_none() || it.tests.is_empty()),
            "its text has numbers; say in `relation` how a figure agrees with them, or in `asserted` what its tests assert of them",
        ),
        (it.kept.is_some() && it.figure.is_none(), "`kept` says where a figure is kept; give the `figure`"),
        (
            it.command
                .as_deref()
                .is_some_and(|text| !["./tactus ", "cargo ", "lab/"].iter().any(|it| text.starts_with(it))),
            "a command begins with `./tactus`, with `cargo`, or with a script in `lab/`",
        ),
        (
            it.command.as_deref().is_some_and(|text| text.matches('\'').count() % 2 == 1),
            "a quote of the command is not closed",
        ),
    ];
    checks.into_iter().filter_map(|(broken, rule)| broken.then_some(rule))
}
