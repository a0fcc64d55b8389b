//! The report: one self-contained HTML file that a person opens, offline, to see whether a run kept its promises.
//!
//! Figures come from the judge's summary, the schedule from the trace; this crate computes neither. What can be
//! read without scripts (verdict, key facts, tables) is plain HTML; the schedule and the distributions are drawn
//! on canvases from compact data inside the file. Nothing is loaded from anywhere, and a content policy in the
//! page says so to the browser. The same input gives the same bytes.
#![forbid(unsafe_code)]

mod budget;
mod colours;
mod disk;
mod history;
mod kept;
mod monitor;
mod pack;
mod page;
mod partition;
mod sandboxes;
mod tables;
mod text;
mod verdict;

pub use colours::{list as list_colours, CacheUse, ColourUse, PartCaches, PartUse};
pub use kept::Kept;
pub use page::{html, Details, Stop};
pub use sandboxes::{sandboxes_page, SandboxRow};
