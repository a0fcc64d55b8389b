//! What the tests share: random formulas, and an evaluator of formulas on ultimately periodic words that knows nothing of how
//! monitors are made.
#![allow(dead_code)]

use tactus_monitor::{Formula, Lasso, Letter};

/// A generator of numbers (Marsaglia's xorshift*), so that a failing case is named by its seed alone.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

pub const ATOMS: [&str; 4] = ["a", "b", "c", "d"];

/// A formula with `operators` operators over the first `atoms` of [`ATOMS`].
pub fn formula(random: &mut Random, operators: usize, atoms: usize) -> Formula {
    use Formula::*;
    if operators == 0 {
        return match random.below(12) {
            0 => True,
            1 => False,
            _ => Formula::atom(ATOMS[random.below(atoms)]),
        };
    }
    let shape = random.below(11);
    if shape < 4 {
        let inner = Box::new(formula(random, operators - 1, atoms));
        return [Not, Next, Always, Eventually][shape](inner);
    }
    let left = random.below(operators);
    let (a, b) = (formula(random, left, atoms), formula(random, operators - 1 - left, atoms));
    [And, Or, Implies, Iff, Until, WeakUntil, Release][shape - 4](Box::new(a), Box::new(b))
}

/// Whether the word satisfies the formula at its first position: the values at all positions of the lasso are computed bottom
/// up, those of until and release by repeating their equation from false or from true until nothing changes.
pub fn satisfies(formula: &Formula, word: &Lasso) -> bool {
    let letters: Vec<Letter> = word.prefix.iter().chain(&word.cycle).copied().collect();
    values(formula, &letters, word.prefix.len())[0]
}

fn values(formula: &Formula, letters: &[Letter], back: usize) -> Vec<bool> {
    use Formula::*;
    let last = letters.len() - 1;
    let after = |i: usize| if i == last { back } else { i + 1 };
    let of = |f: &Formula| values(f, letters, back);
    let each = |f: &dyn Fn(usize) -> bool| (0..letters.len()).map(f).collect::<Vec<bool>>();
    let fixpoint = |start: bool, f: &dyn Fn(usize, bool) -> bool| {
        let mut now = vec![start; letters.len()];
        for _ in 0..=letters.len() {
            for i in (0..letters.len()).rev() {
                now[i] = f(i, now[after(i)]);
            }
        }
        now
    };
    match formula {
        True => each(&|_| true),
        False => each(&|_| false),
        Atom(name) => {
            let bit = ATOMS.iter().position(|known| known == name).expect("an atom of the tests");
            each(&|i| letters[i] >> bit & 1 == 1)
        }
        Not(a) => of(a).into_iter().map(|value| !value).collect(),
        Next(a) => {
            let a = of(a);
            each(&|i| a[after(i)])
        }
        Always(a) => {
            let a = of(a);
            fixpoint(true, &|i, next| a[i] && next)
        }
        Eventually(a) => {
            let a = of(a);
            fixpoint(false, &|i, next| a[i] || next)
        }
        Within(..) => panic!("no time here"),
        And(a, b) | Or(a, b) | Implies(a, b) | Iff(a, b) | Until(a, b) | WeakUntil(a, b) | Release(a, b) => {
            let (a, b) = (of(a), of(b));
            match formula {
                And(..) => each(&|i| a[i] && b[i]),
                Or(..) => each(&|i| a[i] || b[i]),
                Implies(..) => each(&|i| !a[i] || b[i]),
                Iff(..) => each(&|i| a[i] == b[i]),
                Until(..) => fixpoint(false, &|i, next| b[i] || a[i] && next),
                WeakUntil(..) => fixpoint(true, &|i, next| b[i] || a[i] && next),
                _ => fixpoint(true, &|i, next| b[i] && (a[i] || next)),
            }
        }
    }
}
