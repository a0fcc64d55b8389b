//! How values are written in `summary.json`: times as whole nanoseconds, names as numbers.

use serde::{Serialize, Serializer};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

pub(crate) fn nanos<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(d.as_nanos())
}

pub(crate) fn some_nanos<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
    d.map(Duration::as_nanos).serialize(s)
}

pub(crate) fn instant<S: Serializer>(t: &Instant, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(t.as_nanos())
}

pub(crate) fn some_instant<S: Serializer>(t: &Option<Instant>, s: S) -> Result<S::Ok, S::Error> {
    t.map(Instant::as_nanos).serialize(s)
}

pub(crate) fn task_id<S: Serializer>(t: &TaskId, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u16(t.0)
}

pub(crate) fn some_task_id<S: Serializer>(t: &Option<TaskId>, s: S) -> Result<S::Ok, S::Error> {
    t.map(|t| t.0).serialize(s)
}

pub(crate) fn core<S: Serializer>(c: &Option<CoreId>, s: S) -> Result<S::Ok, S::Error> {
    c.map(|c| c.0).serialize(s)
}

pub(crate) fn level<S: Serializer>(l: &Option<Level>, s: S) -> Result<S::Ok, S::Error> {
    l.map(|l| l.to_string()).serialize(s)
}
