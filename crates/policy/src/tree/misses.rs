//! Budgets of misses: where they may be, and what they are charged.

use super::budget::Budget;
use super::core_state::CoreState;
use super::domain::Domain;
use super::parameters::{Server, Tree};
use crate::records::OnCore;
use crate::{PolicyConfig, PolicyConfigError};
use tactus_task::ServerKind;

/// A budget of misses is one of a core, so that it lies in the root and has tasks inside.
pub(super) fn check(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    let told = matches!(setup.kind, crate::PolicySpec::Servers(_) | crate::PolicySpec::Resources(_));
    let of_misses = |server: &Server| server.supply.is_some_and(|supply| supply.kind == ServerKind::Misses);
    let wrong = |(n, server): &(usize, &Server)| {
        let inner = tree.servers.iter().skip(1).any(|child| usize::from(child.parent) == *n);
        of_misses(server) && (!told || inner || server.parent != 0 || server.background || tree.line.is_zero())
    };
    let found = tree.servers.iter().enumerate().find(wrong);
    found.map_or(Ok(()), |(n, _)| Err(PolicyConfigError::Misses(n as u16)))
}

impl Domain {
    /// The job that has the core asked memory for so many lines since the last decision, and made it take back so many. The decision that
    /// follows sees whether a budget came to an end.
    #[cold]
    pub(super) fn charge_lines(&mut self, me: usize, asked: u32, written: u32) {
        let CoreState { doing: OnCore::Job { .. }, charged, .. } = &self.core_states[me] else { return };
        for (vp, _) in charged.iter() {
            if let Some(misses) = self.vps[vp].budget.as_mut().and_then(Budget::misses) {
                misses.charge_lines(self.line, asked, written);
            }
        }
    }
}
