//! Virtual deadlines of critical tasks under EDF-VD.
//!
//! Baruah, Bonifaci, D'Angelo, Li, Marchetti-Spaccamela, van der Ster and Stougie, "The preemptive uniprocessor scheduling
//! of mixed-criticality implicit-deadline sporadic task systems", ECRTS 2012. With the LO tasks' load U, the critical
//! tasks' loads L and H at their LO and HI times, virtual deadlines x·D keep everything in time as long as nobody exceeds
//! its LO time if x ≥ L ÷ (1 − U), and the critical tasks afterwards if x ≤ (1 − H) ÷ U. Any x between does. **Our
//! choice:** the middle, so that the system's own work finds room on both sides; 1 where U + H ≤ 1, since plain EDF does;
//! and where no x does, the first.

use crate::{Mixed, Policy, System, Task};
use tactus_time::{CoreId, Duration, Level};

impl System {
    /// The relative deadline by which each task competes until a core gives up its LO tasks, by `TaskId`: under EDF-VD a
    /// critical task's virtual one, every other's own.
    pub fn virtual_deadlines(&self) -> Vec<Duration> {
        let factors: Vec<f64> = (0..self.cores).map(|core| self.factor(CoreId(core as u8))).collect();
        let of = |(n, task): (usize, &Task)| {
            let given = self.scheduling.places.get(n).and_then(|place| place.virtual_deadline);
            if self.policy != Policy::Mixed(Mixed::EdfVd) || task.level != Some(Level::A) {
                return task.deadline;
            }
            given.unwrap_or_else(|| {
                let factor = task.core.and_then(|core| factors.get(core.index())).copied().unwrap_or(1.0);
                let scaled = Duration::from_nanos((factor * task.deadline.as_nanos() as f64).ceil() as u64);
                scaled.clamp(Duration::from_nanos(1), task.deadline)
            })
        };
        self.tasks.iter().enumerate().map(of).collect()
    }

    /// x of a core.
    fn factor(&self, core: CoreId) -> f64 {
        let load = |own: Level, at: Level| -> f64 {
            let here = self.tasks.iter().filter(|task| task.core == Some(core) && task.level == Some(own));
            here.map(|task| {
                task.execution[at.index()].unwrap_or_default().as_nanos() as f64 / task.period.as_nanos() as f64
            })
            .sum()
        };
        let (others, low, high) = (load(Level::B, Level::B), load(Level::A, Level::B), load(Level::A, Level::A));
        if others + high <= 1.0 || others >= 1.0 {
            return 1.0;
        }
        let least = low / (1.0 - others);
        let most = ((1.0 - high) / others).min(1.0);
        if least <= most {
            (least + most) / 2.0
        } else {
            least.min(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(high: &str, own: &str) -> System {
        let text = format!(
            "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'edf-vd'\n[[task]]\nname = 'low'\nlevel = 'B'\n\
             period = '10 ms'\nexecution = '4 ms'\n[[task]]\nname = 'high'\nlevel = 'A'\nperiod = '100 ms'\n\
             execution = {{ A = '{high}', B = '20 ms' }}\n{own}"
        );
        System::parse_toml(&text, std::path::Path::new("a.toml")).expect("a good file")
    }

    /// U = 0.4, L = 0.2: x from 1/3 on, and up to (1 − H) ÷ 0.4.
    #[test]
    fn a_virtual_deadline_lies_half_way_between_the_least_and_the_greatest_that_do() {
        let ms = Duration::from_millis;
        assert_eq!(system("60 ms", "").virtual_deadlines(), [ms(10), ms(100)]);
        let [_, made] = system("80 ms", "").virtual_deadlines()[..] else { panic!("two tasks") };
        // (1/3 + 0.5) / 2.
        assert_eq!(made.as_nanos().div_ceil(1_000), 41_667);
        assert_eq!(system("80 ms", "virtual-deadline = '35 ms'").virtual_deadlines()[1], ms(35));
        // None does: the first.
        assert_eq!(system("90 ms", "").virtual_deadlines()[1].as_nanos().div_ceil(1_000), 33_334);
    }
}
