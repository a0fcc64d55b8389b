//! Who can get where: the components that a thread can enter by grants, and whether calls can go in a circle.

/// Targets of each component's grants, by component number.
pub(crate) struct Calls(pub Vec<Vec<usize>>);

impl Calls {
    /// The components that a thread which begins in `from` can be inside of, ascending, itself among them.
    pub fn reachable(&self, from: usize) -> Vec<usize> {
        let mut seen = vec![false; self.0.len()];
        let mut waiting = vec![from];
        while let Some(component) = waiting.pop() {
            if !std::mem::replace(&mut seen[component], true) {
                waiting.extend(&self.0[component]);
            }
        }
        (0..seen.len()).filter(|component| seen[*component]).collect()
    }

    /// A circle of calls, its first component once more at the end; nothing if there is none.
    pub fn circle(&self) -> Option<Vec<usize>> {
        let mut state = vec![State::New; self.0.len()];
        (0..self.0.len()).find_map(|start| self.circle_from(start, &mut state))
    }

    /// Depth-first with a stack of its own: a chain of grants can be as long as there are components.
    fn circle_from(&self, start: usize, state: &mut [State]) -> Option<Vec<usize>> {
        if state[start] != State::New {
            return None;
        }
        state[start] = State::Open;
        let mut path = vec![(start, 0)];
        while let Some((component, next)) = path.last_mut() {
            let Some(&target) = self.0[*component].get(*next) else {
                state[*component] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match state[target] {
                State::New => {
                    state[target] = State::Open;
                    path.push((target, 0));
                }
                State::Open => {
                    let path = path.iter().map(|(component, _)| *component).skip_while(|c| *c != target);
                    return Some(path.chain([target]).collect());
                }
                State::Done => {}
            }
        }
        None
    }

    /// The longest chain of calls. Ends only where there is no circle.
    pub fn longest_chain(&self) -> Vec<usize> {
        let mut best: Vec<Option<(usize, Option<usize>)>> = vec![None; self.0.len()];
        let mut waiting: Vec<usize> = (0..self.0.len()).collect();
        while let Some(&component) = waiting.last() {
            let open = self.0[component].iter().find(|target| best[**target].is_none());
            if let Some(&open) = open {
                waiting.push(open);
                continue;
            }
            waiting.pop();
            let longest = self.0[component].iter().filter_map(|&t| best[t].map(|(length, _)| (length, t))).max();
            best[component] = Some(longest.map_or((1, None), |(length, next)| (length + 1, Some(next))));
        }
        let start = (0..self.0.len()).max_by_key(|&component| best[component].map(|(length, _)| length));
        std::iter::successors(start, |&component| best[component].and_then(|(_, next)| next)).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_get_where_chains_of_grants_lead() {
        let calls = Calls(vec![vec![], vec![0, 2], vec![0, 3], vec![], vec![0]]);
        assert_eq!(calls.reachable(1), [0, 1, 2, 3]);
        assert_eq!(calls.reachable(4), [0, 4]);
        assert_eq!(calls.reachable(0), [0]);
        assert_eq!(calls.circle(), None);
        assert_eq!(calls.longest_chain(), [1, 2, 3]);
    }

    #[test]
    fn a_circle_is_found_and_named_from_its_first_component() {
        let calls = Calls(vec![vec![], vec![0, 2], vec![3], vec![0, 4], vec![2]]);
        assert_eq!(calls.circle(), Some(vec![2, 3, 4, 2]));
        assert_eq!(Calls(vec![vec![0]]).circle(), Some(vec![0, 0]));
    }
}
