//! How summaries and kept runs write what is promised for a task: its kind, and the bound if there is one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tactus_task::Bound;
use tactus_time::Duration;

/// A promise as it is written.
#[derive(Serialize, Deserialize)]
pub struct Promise {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound_ns: Option<u64>,
}

/// The word for no promise.
const NOTHING: &str = "none";

impl From<Option<Bound>> for Promise {
    fn from(promise: Option<Bound>) -> Promise {
        let kind = promise.map_or(NOTHING, Bound::kind).into();
        Promise { kind, bound_ns: promise.map(|bound| bound.length().as_nanos()) }
    }
}

impl TryFrom<Promise> for Option<Bound> {
    type Error = String;

    fn try_from(it: Promise) -> Result<Option<Bound>, String> {
        match (it.kind.as_str(), it.bound_ns.map(Duration::from_nanos)) {
            ("response", Some(bound)) => Ok(Some(Bound::Response(bound))),
            ("tardiness", Some(bound)) => Ok(Some(Bound::Tardiness(bound))),
            (NOTHING, None) => Ok(None),
            (kind, bound) => Err(format!("no promise of kind {kind:?} has bound {bound:?}")),
        }
    }
}

/// Writes a promise: for `#[serde(with)]`.
///
/// # Errors
/// If what it is written to fails.
pub fn serialize<S: Serializer>(promise: &Option<Bound>, out: S) -> Result<S::Ok, S::Error> {
    Promise::from(*promise).serialize(out)
}

/// Reads a promise: for `#[serde(with)]`.
///
/// # Errors
/// If there is no such promise.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bound>, D::Error> {
    Promise::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
}

/// The promises of all tasks.
pub mod each {
    use super::{Bound, Deserialize, Deserializer, Promise, Serializer};

    /// Writes them.
    ///
    /// # Errors
    /// If what they are written to fails.
    pub fn serialize<S: Serializer>(promises: &[Option<Bound>], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(promises.iter().map(|promise| Promise::from(*promise)))
    }

    /// Reads them.
    ///
    /// # Errors
    /// If there is no such promise.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Option<Bound>>, D::Error> {
        let all = Vec::<Promise>::deserialize(from)?;
        all.into_iter().map(Option::try_from).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
    }
}
