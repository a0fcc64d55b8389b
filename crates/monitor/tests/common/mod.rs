//! What the tests share: random formulas, and an evaluator of formulas on ultimately periodic words that knows nothing of how
//! monitors are made.
#![allow(dead_code)]

use tactus_monitor::{Formula, Interval, Lasso, Letter, Span};

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

/// A formula with `operators` operators over the first `atoms` of [`ATOMS`]. Where it looks back, it does not look ahead from there.
pub fn formula(random: &mut Random, operators: usize, atoms: usize) -> Formula {
    drawn(random, operators, atoms, true)
}

fn drawn(random: &mut Random, operators: usize, atoms: usize, ahead: bool) -> Formula {
    use Formula::*;
    if operators == 0 {
        return match random.below(12) {
            0 => True,
            1 => False,
            _ => Formula::atom(ATOMS[random.below(atoms)]),
        };
    }
    let least = random.below(3) as u32;
    let interval = Interval::Events { least, most: least + random.below(3) as u32 };
    // Seven of each look ahead; what looks back does so from there on.
    let shape = if ahead { random.below(24) } else { 12 + random.below(12) };
    let ahead = ahead && !(18..).contains(&shape);
    if matches!(shape, 0..=4 | 12 | 18..=21) {
        let inner = Box::new(drawn(random, operators - 1, atoms, ahead));
        return match shape {
            0 => Next(inner),
            1 => Always(inner),
            2 => Eventually(inner),
            3 => Within(Span::Always, interval, inner),
            4 => Within(Span::Eventually, interval, inner),
            12 => Not(inner),
            18 => Previously(inner),
            19 => Once(inner),
            20 => Historically(inner),
            _ => Within([Span::Once, Span::Historically][random.below(2)], interval, inner),
        };
    }
    let left = random.below(operators);
    let a = Box::new(drawn(random, left, atoms, ahead));
    let b = Box::new(drawn(random, operators - 1 - left, atoms, ahead));
    match shape {
        5 | 6 => Until(a, b),
        7 | 8 => WeakUntil(a, b),
        9 | 10 => Release(a, b),
        11 => UntilWithin(interval, a, b),
        13 => And(a, b),
        14 => Or(a, b),
        15 | 16 => Implies(a, b),
        17 => Iff(a, b),
        22 => Since(a, b),
        _ => SinceWithin(interval, a, b),
    }
}

/// Whether the word satisfies the formula at its first position.
///
/// What was is worked out on the word as it is written out, by looking at all positions before. An operator of the past, on a cycle
/// on which its operands have the same values again and again, has so from the second time on at the latest, and one with an interval
/// from the time on that the interval is over. So the cycle is written out that often first, and the rest of the word is that cycle.
pub fn satisfies(formula: &Formula, word: &Lasso) -> bool {
    let mut letters = word.prefix.clone();
    (0..settles(formula, word.cycle.len())).for_each(|_| letters.extend(&word.cycle));
    let back = letters.len();
    letters.extend(&word.cycle);
    values(formula, &letters, back)[0]
}

/// After how many times round a cycle what a formula says of the past has the same values each time.
fn settles(formula: &Formula, cycle: usize) -> usize {
    use Formula::*;
    let itself = match formula {
        Previously(_) | Once(_) | Historically(_) | Since(..) => 1,
        Within(Span::Once | Span::Historically, Interval::Events { most, .. }, _)
        | SinceWithin(Interval::Events { most, .. }, ..) => (*most as usize).div_ceil(cycle),
        _ => 0,
    };
    itself + formula.operands().into_iter().map(|operand| settles(operand, cycle)).max().unwrap_or(0)
}

/// The values at all positions of a lasso: those of until and release by repeating their equation from false or from true until
/// nothing changes, all with an interval and all of the past by looking at each position that they speak of.
fn values(formula: &Formula, letters: &[Letter], back: usize) -> Vec<bool> {
    use Formula::*;
    let last = letters.len() - 1;
    let after = |i: usize| if i == last { back } else { i + 1 };
    let of = |f: &Formula| values(f, letters, back);
    let each = |f: &dyn Fn(usize) -> bool| (0..letters.len()).map(f).collect::<Vec<bool>>();
    let fixpoint = |start: bool, f: &dyn Fn(usize, bool) -> bool| {
        let mut now = vec![start; letters.len()];
        for _ in 0..=letters.len() {
            let before = now.clone();
            for i in (0..letters.len()).rev() {
                now[i] = f(i, now[after(i)]);
            }
            if before == now {
                break;
            }
        }
        now
    };
    let events = |interval: &Interval| {
        let Interval::Events { least, most } = interval else { panic!("no time here") };
        *least as usize..=*most as usize
    };
    // The position that many events later.
    let later = |i: usize, away: usize| (0..away).fold(i, |i, _| after(i));
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
        Previously(a) => {
            let a = of(a);
            each(&|i| i > 0 && a[i - 1])
        }
        Once(a) => {
            let a = of(a);
            each(&|i| a[..=i].contains(&true))
        }
        Historically(a) => {
            let a = of(a);
            each(&|i| !a[..=i].contains(&false))
        }
        Since(a, b) => {
            let (a, b) = (of(a), of(b));
            each(&|i| (0..=i).any(|j| b[j] && !a[j + 1..=i].contains(&false)))
        }
        SinceWithin(interval, a, b) => {
            let (a, b) = (of(a), of(b));
            let held = |i: usize, away: usize| away <= i && b[i - away] && !a[i - away + 1..=i].contains(&false);
            each(&|i| events(interval).any(|away| held(i, away)))
        }
        UntilWithin(interval, a, b) => {
            let (a, b) = (of(a), of(b));
            let comes = |i: usize, away: usize| b[later(i, away)] && (0..away).all(|before| a[later(i, before)]);
            each(&|i| events(interval).any(|away| comes(i, away)))
        }
        Within(span, interval, a) => {
            let a = of(a);
            each(&|i| match span {
                Span::Eventually => events(interval).any(|away| a[later(i, away)]),
                Span::Always => events(interval).all(|away| a[later(i, away)]),
                Span::Once => events(interval).any(|away| away <= i && a[i - away]),
                Span::Historically => events(interval).all(|away| away > i || a[i - away]),
            })
        }
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
