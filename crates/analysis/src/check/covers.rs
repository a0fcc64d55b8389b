//! Sets of features that several tests cover alike.

use tactus_task::{Feature, Features};

/// What makes no theorem of responses untrue that holds for sporadic tasks: their releases are a period apart at least, and what causes them
/// costs entries of the scheduler, which are counted; a job that is left out or ended takes less than a whole one, and what one that
/// stops may do is told apart ([`Subject::beside_stopping`](super::subject::Subject::beside_stopping)); channels, disks and
/// monitors are done by jobs and by entries of the kernel that are part of their costs; memory is part of execution times.
pub(super) const SPORADIC: Features = Features::of(&[
    Feature::Offset,
    Feature::Sporadic,
    Feature::After,
    Feature::Interrupt,
    Feature::Message,
    Feature::Raised,
    Feature::Handler,
    Feature::ConstrainedDeadline,
    Feature::Skip,
    Feature::Stop,
    Feature::Kill,
    Feature::Component,
    Feature::Channel,
    Feature::Monitor,
    Feature::Disk,
    Feature::Colours,
    Feature::Caches,
    Feature::MissCost,
]);

/// Orders by a number that a task keeps.
pub(super) const FIXED: Features = Features::kept_orders();

/// Sections in which jobs never wait for each other once they have begun.
pub(super) const CEILINGS: Features = Features::of(&[
    Feature::SectionNonPreemptive,
    Feature::SectionCeiling,
    Feature::SectionMsrp,
    Feature::SectionFmlp,
    Feature::SectionAcrossCores,
    Feature::NestedSections,
    Feature::Withdrawn,
]);

/// Those of them under which the holder is always the one that runs.
pub(super) const NON_PREEMPTIVE: Features =
    CEILINGS.without(Features::of(&[Feature::SectionCeiling, Feature::SectionMsrp]));

/// Sections with priority inheritance.
pub(super) const INHERITANCE: Features =
    Features::of(&[Feature::SectionInheritance, Feature::NestedSections, Feature::Withdrawn]);

/// These features.
pub(super) const fn one(feature: Feature) -> Features {
    Features::of(&[feature])
}
