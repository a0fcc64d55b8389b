//! The machine's own verdict: what a scheduler can say of the promises without a host that reads the trace.

/// What was found of the promises of all tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promises {
    /// How many promises there are: to tasks, to chains and to clients of disks.
    pub made: usize,
    /// Of those, how many the host alone judges, from the trace.
    pub left_out: usize,
    /// A job came to its end or to its bound.
    pub judged: bool,
    /// A job did not do its work within its bound.
    pub missed: bool,
    /// Records were lost.
    pub lost: bool,
    /// A component stays stopped.
    pub stopped: bool,
    /// A monitor found a property violated.
    pub violated: bool,
}

impl Promises {
    /// The verdict's words, and whether a script may go on.
    pub fn verdict(&self) -> (&'static str, bool) {
        match self {
            Promises { lost: true, .. } | Promises { missed: true, .. } | Promises { violated: true, .. } => {
                ("not every promise held", false)
            }
            Promises { made: 0, stopped: false, .. } => ("nothing was promised", true),
            Promises { made: 0, .. } => ("nothing was promised, and a component was stopped", false),
            Promises { stopped: true, .. } => ("a component was stopped", false),
            Promises { made, left_out, .. } if made == left_out => ("the promises are judged from the trace", true),
            Promises { judged: false, left_out: 0, .. } => {
                ("no job of a promised task came to its end or to its bound", false)
            }
            Promises { judged: false, .. } => ("the promises are judged from the trace", true),
            Promises { left_out: 0, .. } => ("every promise held", true),
            _ => ("every promise that is judged here held, the others are judged from the trace", true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Promises;

    #[test]
    fn held_is_said_only_where_something_was_promised_and_judged_and_nothing_was_missed() {
        let held = Promises { made: 2, judged: true, ..Promises::default() };
        assert_eq!(held.verdict(), ("every promise held", true));
        let others = [
            Promises { missed: true, ..held },
            Promises { lost: true, ..held },
            Promises { violated: true, ..held },
            Promises { stopped: true, ..held },
            Promises { judged: false, ..held },
            Promises { stopped: true, ..Promises::default() },
        ];
        assert!(others.iter().all(|it| !it.verdict().1));
        assert_eq!(Promises::default().verdict(), ("nothing was promised", true));
        // What the host alone judges may be broken, whatever is seen here.
        for left_out in [1, 2] {
            assert!(!Promises { left_out, ..held }.verdict().0.contains("every promise held"));
        }
        assert_eq!(
            Promises { left_out: 1, judged: false, ..held }.verdict().0,
            "the promises are judged from the trace"
        );
    }
}
