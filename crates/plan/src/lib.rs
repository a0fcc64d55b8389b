//! From a system and its check to what a run needs: the one step that every run takes, on whatever machine and from
//! whichever front end. A [`RunPlan`] says what the policy is made from ([`PolicyConfig`](tactus_policy::PolicyConfig)) and what the
//! judge holds the run against ([`View`](tactus_trace::View)); [`costs`] says what the system's own work costs.
#![forbid(unsafe_code)]

pub mod costs;
mod disk;
mod mailboxes;
pub mod monitors;
pub mod network;
mod policy_config;
mod reconfiguration;
mod resources;
mod run_plan;
mod server_rules;
mod slot_fit;
mod slots;

pub use mailboxes::{mailbox_view, mailboxes, MailboxCheck};
pub use policy_config::{setup, setup_with, Admission};
pub use run_plan::{findings, plan, RunPlan};
pub use server_rules::tree_view;
pub use slot_fit::{slot_fits, Fitting, FittingTask, SlotFit, Unfit};
pub use slots::{offers, PlannedLoad, SlotOffer};
