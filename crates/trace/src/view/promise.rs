//! What analysis promised.

use serde::{Deserialize, Serialize, Serializer};
use tactus_time::Duration;

/// What analysis promised for a task. Written as its kind, and the bound if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "bound_ns", rename_all = "snake_case", try_from = "Written")]
pub enum Promise {
    /// No response longer than this (hard).
    Response(#[serde(serialize_with = "nanos")] Duration),
    /// No job later than its deadline by more than this.
    Tardiness(#[serde(serialize_with = "nanos")] Duration),
    /// Nothing.
    None,
}

fn nanos<S: Serializer>(bound: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u64(bound.as_nanos())
}

#[derive(Deserialize)]
struct Written {
    kind: String,
    bound_ns: Option<u64>,
}

impl TryFrom<Written> for Promise {
    type Error = String;

    fn try_from(it: Written) -> Result<Promise, String> {
        match (it.kind.as_str(), it.bound_ns.map(Duration::from_nanos)) {
            ("response", Some(bound)) => Ok(Promise::Response(bound)),
            ("tardiness", Some(bound)) => Ok(Promise::Tardiness(bound)),
            ("none", None) => Ok(Promise::None),
            (kind, bound) => Err(format!("no promise of kind {kind:?} has bound {bound:?}")),
        }
    }
}
