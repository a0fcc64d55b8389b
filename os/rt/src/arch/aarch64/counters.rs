//! Counters of events: the kernel opens none of this processor's to components, and none is driven from here.
