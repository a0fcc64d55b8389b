//! Mixed criticality on multicore (MC²): cyclic-executive tables (A), EDF beneath them (B), global EDF beneath both (C).
//!
//! Mollison, Erickson, Anderson, Baruah and Scoredos, "Mixed-criticality real-time scheduling for multicore systems",
//! ICESS 2010; Herman, Kenna, Mollison, Anderson and Johnson, "RTOS support for multicore mixed-criticality systems",
//! RTAS 2012. The guarantee of level ℓ holds while no task of level ℓ or above takes longer than assumed at ℓ.

pub mod supply;
pub mod table;
