//! A model of how word from a child scheduler to itself on another core reaches it (`os/kernel/src/mailbox.rs`), of every order in
//! which its steps can come: the sender's, the interrupt's, those of the parent and of the child on the receiving core. It is a
//! model beside the code, step by step as the code has them; it found two ways to lose word, which the kernel has closed since,
//! and shows that they were ways and that none is left.
//!
//! A step is what cannot be parted: one access of the sender's to the word, or what the receiving core does between two points
//! at which an interrupt can come. The kernel is not preempted, so a call is one step.

use std::collections::{HashMap, VecDeque};

/// Messages that are sent.
const MESSAGES: u8 = 3;

/// How far word has come: nothing is on its way, an interrupt is, it came and the child has not had the core since.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Word {
    None,
    Sent,
    Posted,
}

/// Who has the receiving core, and before which step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    /// The parent takes its events.
    ParentTakes,
    /// It walks its list of slots.
    ParentWalks,
    /// It dispatches the child, if it believes that the child has something to run, or the sibling.
    ParentSwitches,
    /// The child takes its events.
    ChildTakes,
    /// It looks at its mailbox.
    ChildLooks,
    /// It says that it has nothing to run.
    ChildIdles,
    /// A sibling of the child's runs, less urgent than it.
    Sibling,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    /// Messages written, and whether the sender has yet to send word of the last one.
    written: u8,
    to_send: bool,
    word: Word,
    interrupt: bool,
    at: At,
    /// Messages that the child has seen.
    seen: u8,
    child_pending: bool,
    parent_pending: bool,
    /// The child's slot in the parent's region.
    active: bool,
    idle: bool,
    /// The parent believes that the child has something to run.
    ready: bool,
}

/// Which rules hold.
#[derive(Clone, Copy)]
struct Rules {
    /// Of "active" and "idle" in a slot the later one stands.
    later_stands: bool,
    /// A child that dispatches while word is posted looks once more.
    looks_again: bool,
    /// The parent may resume a thread in the middle of the child's code, without beginning the child's upcall.
    resumes_threads: bool,
}

impl State {
    const FIRST: State = State {
        written: 0,
        to_send: false,
        word: Word::None,
        interrupt: false,
        at: At::Sibling,
        seen: 0,
        child_pending: false,
        parent_pending: false,
        active: false,
        idle: false,
        ready: false,
    };

    fn link_active(&mut self, rules: Rules) {
        self.active = true;
        self.idle &= !rules.later_stands;
        self.parent_pending = true;
    }

    /// All that can come next.
    fn next(self, rules: Rules) -> Vec<(&'static str, State)> {
        let mut all = Vec::new();
        // The sender.
        if self.to_send {
            let free = self.word == Word::None;
            let word = if free { Word::Sent } else { self.word };
            all.push(("send", State { to_send: false, word, interrupt: self.interrupt || free, ..self }));
        } else if self.written < MESSAGES {
            all.push(("write", State { written: self.written + 1, to_send: true, ..self }));
        }
        // The interrupt, at any point of the receiving core's.
        if self.interrupt {
            let mut it = State { interrupt: false, child_pending: true, ..self };
            if matches!(self.at, At::ChildTakes | At::ChildLooks | At::ChildIdles) {
                it.word = Word::None;
            } else {
                it.word = Word::Posted;
                it.link_active(rules);
                if self.at == At::Sibling {
                    it.at = At::ParentTakes;
                }
            }
            all.push(("interrupt", it));
        }
        // The receiving core.
        match self.at {
            At::ParentTakes => {
                all.push(("parent takes", State { parent_pending: false, at: At::ParentWalks, ..self }));
            }
            At::ParentWalks => {
                // As the library does: what became active is ready, then what became idle is not.
                let ready = (self.ready || self.active) && !self.idle;
                all.push(("parent walks", State { ready, active: false, idle: false, at: At::ParentSwitches, ..self }));
            }
            At::ParentSwitches if self.parent_pending => {
                all.push(("parent again", State { at: At::ParentTakes, ..self }));
            }
            At::ParentSwitches if self.ready => {
                let word = if self.word == Word::Posted { Word::None } else { self.word };
                all.push(("parent gives", State { word, at: At::ChildTakes, ..self }));
                if rules.resumes_threads {
                    all.push(("parent resumes a thread", State { at: At::ChildTakes, ..self }));
                }
            }
            At::ParentSwitches => all.push(("parent gives the sibling", State { at: At::Sibling, ..self })),
            At::ChildTakes => {
                all.push(("child takes", State { child_pending: false, at: At::ChildLooks, ..self }));
            }
            At::ChildLooks => all.push(("child looks", State { seen: self.written, at: At::ChildIdles, ..self })),
            At::ChildIdles => {
                let mut it = self;
                if rules.looks_again && it.word == Word::Posted {
                    (it.word, it.child_pending) = (Word::None, true);
                }
                if it.child_pending {
                    it.at = At::ChildTakes;
                } else {
                    it.idle = true;
                    it.active &= !rules.later_stands;
                    (it.parent_pending, it.at) = (true, At::ParentTakes);
                }
                all.push(("child idles", it));
            }
            At::Sibling => {}
        }
        all
    }
}

/// All states, and the way to one in which nothing can come any more and the child has not seen all.
fn explore(rules: Rules) -> (usize, Option<Vec<&'static str>>) {
    let mut before: HashMap<State, Option<(State, &'static str)>> = HashMap::from([(State::FIRST, None)]);
    let mut queue = VecDeque::from([State::FIRST]);
    let mut lost = None;
    while let Some(state) = queue.pop_front() {
        let next = state.next(rules);
        if next.is_empty() && state.seen < MESSAGES && lost.is_none() {
            let mut way = Vec::new();
            let mut at = state;
            while let Some((from, step)) = before[&at] {
                way.push(step);
                at = from;
            }
            way.reverse();
            lost = Some(way);
        }
        for (step, it) in next {
            before.entry(it).or_insert_with(|| {
                queue.push_back(it);
                Some((state, step))
            });
        }
    }
    (before.len(), lost)
}

#[test]
fn word_to_another_core_is_lost_in_no_order_of_steps() {
    for resumes_threads in [false, true] {
        let (states, lost) = explore(Rules { later_stands: true, looks_again: true, resumes_threads });
        println!("{states} states, threads resumed: {resumes_threads}");
        assert!(states > 200);
        assert_eq!(lost, None);
    }
}

#[test]
fn without_the_later_flag_standing_word_is_lost_between_a_childs_idling_and_its_parents_walk() {
    let (_, lost) = explore(Rules { later_stands: false, looks_again: true, resumes_threads: false });
    let way = lost.expect("it was lost");
    println!("{way:?}");
    assert!(way.ends_with(&["parent walks", "parent gives the sibling"]), "{way:?}");
}

#[test]
fn without_another_look_word_is_lost_where_a_parent_resumes_a_thread_of_the_childs() {
    let (_, lost) = explore(Rules { later_stands: true, looks_again: false, resumes_threads: true });
    println!("{:?}", lost.expect("it was lost"));
    assert_eq!(explore(Rules { later_stands: true, looks_again: false, resumes_threads: false }).1, None);
}
