//! What a scheduler makes of a change that was settled: in its own server, and of what it knows of those below, which have not been
//! told: when they have something to run, and what is left in them that keeps later changes from taking effect. What it does not know is left,
//! until they say otherwise.

use super::{goes, Child, Concern, Left, Parted};
use crate::records::Recorder;
use crate::tree::change::{On, Waiting};
use crate::tree::domain::{Domain, Vp};
use crate::tree::Action;
use tactus_time::Instant;

impl Parted {
    /// What has changed in the whole tree changes here.
    pub(super) fn follow(&mut self, domain: &mut Domain, place: usize, at: Instant, records: &mut Recorder) {
        let change = self.changes.list[place];
        if change.is_elsewhere() {
            return;
        }
        let server = match change.on {
            On::Server(server) => Some(server),
            On::Task(_) => None,
        };
        for vp in 0..domain.vps.len() {
            if domain.vps[vp].parent.is_none() {
                continue;
            }
            let own = domain.vps[vp].server;
            self.tell_whether_there(domain, vp);
            match (server, change.action) {
                (Some(changed), Action::Alter(values)) if changed == own => {
                    domain.alter_server(vp, &values, at, records)
                }
                (Some(changed), Action::Add) if self.lies_in(own, changed) => domain.refill(vp, None, at, records),
                (Some(_), Action::Remove) => domain.show(vp, at),
                _ => {}
            }
        }
        for task in 0..self.tasks.len() {
            let place = self.tasks[task];
            let concerned = self.is_in(change.on, self.home_of(place), Some(place));
            let it = &mut domain.tasks[task];
            match change.action {
                Action::Add if concerned && self.is_there(place) => it.begin_at(at),
                Action::Remove if concerned => it.until = Instant::ZERO,
                Action::Alter(values) if concerned && server.is_none() => {
                    it.alter(&values);
                    domain.queue(task, at);
                }
                _ => {}
            }
            let it = &mut domain.tasks[task];
            if it.until > Instant::ZERO {
                it.until = self.end_of(place);
            }
            domain.plan_event(task);
        }
        match change.action {
            Action::Add => self.begin_below(domain, place, at),
            Action::Remove => self.end_below(domain, place, at),
            Action::Alter(_) => self.wake_below(domain, place, at),
        }
    }

    /// What begins in schedulers below, which have not been told: when they have something to run, and what is left in them.
    fn begin_below(&mut self, domain: &mut Domain, place: usize, at: Instant) {
        let change = self.changes.list[place];
        let begins = |it: &Parted, home: u16, task: Option<usize>| it.is_in(change.on, home, task);
        for child in 0..self.below.len() {
            let Child { server, stands, .. } = self.below[child];
            let all = matches!(change.on, On::Server(changed) if self.lies_in(server, changed));
            let before = |at: Instant| if all { Instant::NEVER } else { at };
            let released = self.first_in(server, |home, task| begins(self, home, task), at);
            // Without budget around it there is nothing to run yet.
            let ready = self.below[child].left[place].ready;
            let first = released.max(ready);
            let next = before(domain.tasks[stands].next_event().unwrap_or(Instant::NEVER)).min(first);
            let goes = self.goes_in(server, |inner| begins(self, inner, None));
            let at_once = goes && ready <= at;
            domain.is_wanted(stands, next, at_once);
            for place in self.changes.settled..self.changes.list.len() {
                let other = self.changes.list[place];
                if self.below[child].concerns[place] == Concern::None {
                    continue;
                }
                let begins_in_it =
                    |home: u16, task: Option<usize>| begins(self, home, task) && self.is_in(other.on, home, task);
                let work = self.first_in(server, begins_in_it, at);
                let released_in_it = self.first_in(server, |home, task| task.is_some() && begins_in_it(home, task), at);
                let something = match self.meet(server, change.on, &other) {
                    _ if !other.drains => released_in_it,
                    _ if at_once => Instant::ZERO,
                    true if goes => Instant::ZERO,
                    true => released,
                    // What waits for budget beside the way keeps nothing.
                    false => first,
                };
                let ready = self.ready_after(child, place, change.on);
                let left = &mut self.below[child].left[place];
                left.until = before(left.until).min(something);
                left.ready = match other.action {
                    Action::Add => ready,
                    Action::Remove if released < Instant::NEVER => Instant::ZERO,
                    Action::Remove => ready,
                    Action::Alter(_) => before(ready).min(work),
                };
            }
        }
    }

    /// A server ends that lies in schedulers below, or in which they lie. A budget that goes by may have been all that they had to run.
    fn end_below(&mut self, domain: &mut Domain, place: usize, at: Instant) {
        let change = self.changes.list[place];
        for child in 0..self.below.len() {
            let Child { server, stands, .. } = self.below[child];
            let besides = match (change.on, self.below[child].concerns[place]) {
                (On::Task(_), _) | (_, Concern::None | Concern::Beside) => continue,
                (_, Concern::Inside) => Instant::NEVER,
                (_, Concern::Own | Concern::Around) => self.below[child].left[place].ready,
            };
            if besides <= at {
                continue;
            }
            domain.rest(stands, at);
            domain.is_wanted(stands, besides, false);
            let alone = self.is_alone(server, change.on);
            for place in self.changes.settled..self.changes.list.len() {
                let other = self.changes.list[place];
                // Deeper inside, something may wait for budget only: that is left all the same.
                let shallow = matches!(other.on, On::Task(_)) || other.action == Action::Add;
                let known = alone || shallow && self.below[child].concerns[place] == Concern::Own;
                let left = &mut self.below[child].left[place];
                if besides == Instant::NEVER {
                    left.until = Instant::NEVER;
                    left.ready = if other.action == Action::Add { left.ready } else { Instant::NEVER };
                } else if other.drains && known {
                    left.until = left.until.max(besides);
                }
            }
        }
    }

    /// A server deeper inside has its new budget at once: so those have something to run in which work waits for that.
    fn wake_below(&mut self, domain: &mut Domain, place: usize, at: Instant) {
        let change = self.changes.list[place];
        let on = change.on;
        let On::Server(altered) = on else { return };
        let Some(vp) = self.vp_of(altered).map(|vp| &self.whole.vps[vp]).filter(|vp| !vp.is_out()) else { return };
        let goes = goes(vp);
        for child in 0..self.below.len() {
            let Child { server, stands, .. } = self.below[child];
            let around = match self.below[child].concerns[place] {
                Concern::Own => false,
                Concern::Around => true,
                Concern::None | Concern::Inside | Concern::Beside => continue,
            };
            let Left { until, ready } = self.below[child].left[place];
            let drained = if goes { Instant::ZERO } else { until };
            let next = domain.tasks[stands].next_event().unwrap_or(Instant::NEVER);
            let at_once = ready < at || goes && ready == at;
            domain.is_wanted(stands, if at_once { at } else { next.min(ready) }, at_once);
            for place in self.changes.settled..self.changes.list.len() {
                let other = self.changes.list[place];
                let ready_after = self.ready_after(child, place, on);
                let removes = other.action == Action::Remove;
                self.below[child].left[place].ready = if removes { Instant::ZERO } else { ready_after };
                if other.drains && ready < Instant::NEVER {
                    // There may be work that waits for budget around it only: then not before this one had to take effect.
                    let something = match around && self.meet(server, on, &other) {
                        _ if at_once => Instant::ZERO,
                        true => drained,
                        false => ready,
                    };
                    let left = &mut self.below[child].left[place];
                    left.until = left.until.min(something);
                }
            }
        }
    }

    /// Whether a server inside this one has to do with what is changed and with what another change waits for.
    fn meet(&self, server: u16, on: On, other: &Waiting) -> bool {
        let has_to_do = |inner: u16| match self.concern(other.on, inner) {
            Concern::None | Concern::Beside => false,
            // Of what is not there yet nothing is left.
            Concern::Inside => other.action != Action::Add,
            Concern::Own | Concern::Around => true,
        };
        self.inside(server).any(|inner| self.concern(on, inner) != Concern::None && has_to_do(inner))
    }

    /// Whether all servers inside this one have to do with what is changed.
    fn is_alone(&self, server: u16, on: On) -> bool {
        self.inside(server).all(|inner| self.concern(on, inner) != Concern::None)
    }

    /// The servers inside this one in which there can be work.
    fn inside(&self, server: u16) -> impl Iterator<Item = u16> + '_ {
        let inner = move |vp: &&Vp| !vp.barren && vp.server != server && self.lies_in(vp.server, server);
        self.whole.vps.iter().filter(inner).map(|vp| vp.server)
    }

    /// What was told of a change's [`Left::ready`], where a server around what it changes may have begun anew, full.
    fn ready_after(&self, child: usize, place: usize, on: On) -> Instant {
        let ready = self.below[child].left[place].ready;
        let around =
            |server| matches!(self.concern(self.changes.list[place].on, server), Concern::Own | Concern::Around);
        let may_run = matches!(on, On::Server(server) if around(server)) && ready < Instant::NEVER;
        if may_run {
            Instant::ZERO
        } else {
            ready
        }
    }
}
