//! What the check promises, held against simulated runs and their judgement: tests alone, in `tests/`.
#![forbid(unsafe_code)]
