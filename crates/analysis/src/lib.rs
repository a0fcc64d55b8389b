//! Schedulability tests and bounds.
