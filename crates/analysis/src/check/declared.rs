//! Tests that declare what they model.
//!
//! A test is a value: its name, where it is from, the features that its theorem covers, what else the theorem needs, and the function. A
//! task is judged by the tests that cover all of its features and those of whoever can delay it, and whose needs are met; of their
//! bounds the best one counts. Where there is none, nothing is promised, and the first feature that no test covers says why.

use super::subject::Subject;
use crate::effort::Effort;
use crate::task::Sporadic;
use crate::terms::Terms;
use tactus_task::{Bound, Feature, Features};
use tactus_time::Duration;

/// What a test says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Its name, by which a bound is explained.
    pub name: &'static str,
    /// The paper or theorem.
    pub source: &'static str,
    /// Where it is used, for people.
    pub place: &'static str,
    /// What it covers.
    pub covers: Features,
    /// Whether some schedule of sporadic tasks meets its bound, where nothing costs anything.
    pub exact: bool,
}

/// What a test gives for each task of its input: a bound, or none.
pub(super) type Answers = Vec<Option<Bound>>;

/// A function of an input, with execution times that may be others than its own.
pub(super) type Asked<I, Answer> = fn(&I, &[Sporadic], &mut Effort) -> Answer;

/// A test of inputs of this kind.
pub(super) struct Test<I> {
    pub declared: Declared,
    /// The first precondition of the theorem that is not met for the task at this place of the input.
    pub needs: fn(&I, usize) -> Option<String>,
    /// The bounds of all tasks of the input.
    pub bounds: Asked<I, Answers>,
    /// Whether all are in time, where that takes less than their bounds.
    pub fits: Option<Asked<I, bool>>,
    /// What the bound of the task at a place adds up from, where it does; places are those of the input.
    pub terms: TermsOf<I>,
}

/// A function that gives the terms of one bound.
pub(super) type TermsOf<I> = fn(&I, &[Sporadic], usize, &mut Effort) -> Option<Terms>;

/// The terms of the bound that a test of this name has given to the i-th task, if they add up to it.
pub(super) fn terms<I>(
    (input, tasks, i): (&I, &[Sporadic], usize),
    chosen: &[&Test<I>],
    (bound, by): (Option<Bound>, &str),
    effort: &mut Effort,
) -> Option<Terms> {
    let test = chosen.iter().find(|test| test.declared.name == by)?;
    let terms = (test.terms)(input, tasks, i, effort)?;
    terms.gives(bound?, tasks[i].deadline).then_some(terms)
}

/// No precondition beside what is covered.
pub(super) fn nothing<I>(_: &I, _: usize) -> Option<String> {
    None
}

/// Responses as bounds.
pub(super) fn responses(all: Vec<Option<Duration>>) -> Answers {
    all.into_iter().map(|one| one.map(Bound::Response)).collect()
}

/// Why none of these tests covers a task, if none does.
pub(super) fn uncovered(subject: &Subject, n: usize, tests: &[Declared]) -> Option<String> {
    let wanted = subject.features(n);
    if tests.iter().any(|test| test.covers.cover(wanted)) {
        return None;
    }
    let told = |feature: Feature| match subject.owner(n, feature) {
        Some(name) => format!("{} (`{name}`)", feature.words()),
        None => feature.words().to_string(),
    };
    let place = tests.first().map_or("this kind", |test| test.place);
    let [first, others @ ..] = &least_uncovered(wanted, tests)[..] else { return None };
    let first = told(*first);
    let others: Vec<String> = others.iter().map(|feature| told(*feature)).collect();
    Some(match others.is_empty() {
        true => format!("no test of {place} covers {first}"),
        false => format!("no test of {place} covers {first} together with {}", others.join(" and ")),
    })
}

/// Of features that no test covers together a part of which that holds too, and of no part of it: one alone, if there is one.
fn least_uncovered(wanted: Features, tests: &[Declared]) -> Vec<Feature> {
    let covered = |features: Features| tests.iter().any(|test| test.covers.cover(features));
    if let Some(alone) = wanted.iter().find(|feature| !covered(Features::of(&[*feature]))) {
        return vec![alone];
    }
    let without =
        |left: Features, feature: Feature| Some(left.without(Features::of(&[feature]))).filter(|it| !covered(*it));
    wanted.iter().fold(wanted, |left, feature| without(left, feature).unwrap_or(left)).iter().collect()
}

/// The tests of a list that cover a task and whose needs are met; or why there is none.
pub(super) fn choose<'t, I>(
    subject: &Subject,
    n: usize,
    (input, i): (&I, usize),
    tests: &'t [Test<I>],
) -> Result<Vec<&'t Test<I>>, String> {
    if let Some(why) = subject.unknown(n) {
        return Err(why);
    }
    let declared: Vec<Declared> = tests.iter().map(|test| test.declared).collect();
    if let Some(why) = uncovered(subject, n, &declared) {
        return Err(why);
    }
    let wanted = subject.features(n);
    let covering = tests.iter().filter(|test| test.declared.covers.cover(wanted));
    let (mut chosen, mut lacks) = (Vec::new(), None);
    for test in covering {
        match (test.needs)(input, i) {
            None => chosen.push(test),
            Some(why) => lacks = lacks.or(Some(why)),
        }
    }
    // What covers more is no closer than what covers less.
    let covers = |test: &&Test<I>| test.declared.covers;
    let least = chosen
        .iter()
        .filter(|one| !chosen.iter().any(|other| covers(one) != covers(other) && covers(one).cover(covers(other))));
    let chosen: Vec<&Test<I>> = least.copied().collect();
    match (chosen.is_empty(), lacks) {
        (true, lacks) => Err(lacks.unwrap_or_else(|| "no test".into())),
        (false, _) => Ok(chosen),
    }
}

/// The better of two answers: a response before a tardiness, and the least.
fn better(one: Option<(Bound, &'static str)>, other: Option<(Bound, &'static str)>) -> Option<(Bound, &'static str)> {
    let key = |bound: Bound| match bound {
        Bound::Response(time) => (false, time),
        Bound::Tardiness(time) => (true, time),
    };
    match (one, other) {
        (Some(a), Some(b)) if key(b.0) < key(a.0) => Some(b),
        (Some(a), _) => Some(a),
        (None, b) => b,
    }
}

/// The best answers of the chosen tests, each of which is asked once for all that share it: a bound and the name of its test, or the name of
/// the first test alone. Once a test that is exact has given a bound, no other is asked for that task.
pub(super) fn best<'t, I>(
    chosen: &[Option<Vec<&'t Test<I>>>],
    ask: &mut dyn FnMut(&Test<I>) -> Answers,
) -> Vec<Option<(Option<Bound>, &'static str)>> {
    let mut asked: Vec<(&'t Test<I>, Answers)> = Vec::new();
    let mut one = |i: usize, tests: &[&'t Test<I>]| {
        let mut found = None;
        for test in tests {
            let place = asked.iter().position(|(other, _)| std::ptr::eq(*other, *test)).unwrap_or_else(|| {
                asked.push((test, ask(test)));
                asked.len() - 1
            });
            let answer = asked[place].1[i];
            found = better(found, answer.map(|bound| (bound, test.declared.name)));
            if test.declared.exact && answer.is_some() {
                break;
            }
        }
        match found {
            Some((bound, by)) => (Some(bound), by),
            None => (None, tests.first().map_or("", |test| test.declared.name)),
        }
    };
    chosen.iter().enumerate().map(|(i, tests)| tests.as_ref().map(|tests| one(i, tests))).collect()
}

/// Whether all tasks that have a test are shown to be in time.
pub(super) fn all_in_time<I>(
    input: &I,
    tasks: &[Sporadic],
    chosen: &[Option<Vec<&Test<I>>>],
    effort: &mut Effort,
) -> bool {
    // One that answers for all, where it covers all.
    let first = chosen.iter().flatten().next().and_then(|tests| tests.first());
    if let Some((fits, test)) = first.and_then(|test| Some((test.fits?, *test))) {
        if chosen.iter().flatten().all(|tests| tests.iter().any(|it| std::ptr::eq(*it, test))) {
            return fits(input, tasks, effort);
        }
    }
    let found = best(chosen, &mut |test| (test.bounds)(input, tasks, effort));
    let punctual = |(answer, task): (&Option<(Option<Bound>, &str)>, &Sporadic)| match answer {
        None => true,
        Some((Some(Bound::Response(r)), _)) => *r <= task.deadline,
        Some((Some(Bound::Tardiness(_)) | None, _)) => false,
    };
    found.iter().zip(tasks).all(punctual)
}
