//! How a kept run writes lengths of time, tasks, cores and choices: each as its whole number. For `#[serde(with = "plain")]`.

use serde::{de::Error, Deserialize, Deserializer, Serialize, Serializer};
use tactus_record::RequestOrder;
use tactus_task::{Overrun, ResourceProtocol};
use tactus_time::{CoreId, Duration, TaskId};

/// What is written as something else.
pub(super) trait Plain: Sized {
    /// What is written.
    type As;
    /// What is written for it.
    fn plain(&self) -> Self::As;
    /// What was written; nothing if there is no such value.
    fn of(plain: Self::As) -> Option<Self>;
}

macro_rules! plain {
    ($type:ty, $number:ty, |$it:ident| $plain:expr, $of:expr) => {
        impl Plain for $type {
            type As = $number;
            fn plain(&self) -> $number {
                let $it = self;
                $plain
            }
            fn of(plain: $number) -> Option<Self> {
                $of(plain)
            }
        }
    };
}

plain!(Duration, u64, |it| it.as_nanos(), |ns| Some(Duration::from_nanos(ns)));
plain!(TaskId, u16, |it| it.0, |n| Some(TaskId(n)));
plain!(CoreId, u8, |it| it.0, |n| Some(CoreId(n)));
plain!(RequestOrder, u8, |it| *it as u8, RequestOrder::from_u8);
plain!(Overrun, usize, |it| index(&Overrun::ALL, it), |n: usize| Overrun::ALL.get(n).copied());
plain!(ResourceProtocol, usize, |it| index(&ResourceProtocol::ALL, it), |n: usize| ResourceProtocol::ALL
    .get(n)
    .copied());
plain!((TaskId, u8), (u16, u8), |it| (it.0 .0, it.1), |(task, n)| Some((TaskId(task), n)));
plain!(
    (TaskId, Duration),
    TaskBudget,
    |it| TaskBudget { task: it.0 .0, budget_ns: it.1.as_nanos() },
    |it: TaskBudget| { Some((TaskId(it.task), Duration::from_nanos(it.budget_ns))) }
);

/// A task's budget.
#[derive(Serialize, Deserialize)]
pub(super) struct TaskBudget {
    task: u16,
    budget_ns: u64,
}

fn index<T: PartialEq>(all: &[T], it: &T) -> usize {
    all.iter().position(|other| other == it).unwrap_or(0)
}

impl<T: Plain> Plain for Option<T> {
    type As = Option<T::As>;
    fn plain(&self) -> Self::As {
        self.as_ref().map(T::plain)
    }
    fn of(plain: Self::As) -> Option<Self> {
        plain.map_or(Some(None), |it| T::of(it).map(Some))
    }
}

impl<T: Plain> Plain for Vec<T> {
    type As = Vec<T::As>;
    fn plain(&self) -> Self::As {
        self.iter().map(T::plain).collect()
    }
    fn of(plain: Self::As) -> Option<Self> {
        plain.into_iter().map(T::of).collect()
    }
}

impl Plain for [Duration; 3] {
    type As = [u64; 3];
    fn plain(&self) -> [u64; 3] {
        self.map(Duration::as_nanos)
    }
    fn of(plain: [u64; 3]) -> Option<Self> {
        Some(plain.map(Duration::from_nanos))
    }
}

pub(super) fn serialize<T: Plain<As: Serialize>, S: Serializer>(it: &T, out: S) -> Result<S::Ok, S::Error> {
    it.plain().serialize(out)
}

pub(super) fn deserialize<'de, T: Plain<As: Deserialize<'de>>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::of(T::As::deserialize(from)?).ok_or_else(|| D::Error::custom("a number that stands for nothing"))
}
