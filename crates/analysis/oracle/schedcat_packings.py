#!/usr/bin/env python3
"""What SchedCAT's heuristics of bin packing make of sets on standard input; the twin of `examples/packings.rs`.

    target/release/examples/draw_sets 100000 9 8 1000 implicit 24 > sets.txt
    python3 crates/analysis/oracle/schedcat_packings.py SCHEDCAT < sets.txt > theirs
    target/release/examples/packings < sets.txt | cmp - theirs

SCHEDCAT is a copy of github.com/brandenburg/schedcat. Its file is Python 2: `range` gives a list there, and `xrange` is known.
"""

import sys
import types


def heuristics(folder):
    module = types.ModuleType("binpack")
    module.range = lambda *bounds: list(range(*bounds))
    module.xrange = range
    with open(folder + "/schedcat/mapping/binpack.py") as file:
        exec(compile(file.read(), file.name, "exec"), module.__dict__)
    return module


def main():
    binpack = heuristics(sys.argv[1])
    asked = [
        form(fit)
        for fit in (binpack.next_fit, binpack.first_fit, binpack.worst_fit, binpack.best_fit)
        for form in (lambda plain: plain, binpack.decreasing)
    ]
    for line in sys.stdin:
        m, _, *tasks = map(int, line.split())
        sizes = [c / t for c, t in zip(tasks[::3], tasks[1::3])]
        words = []
        for heuristic in asked:
            try:
                sets = heuristic(list(range(len(sizes))), m, 1.0, sizes.__getitem__, binpack.report_failure)
                words.append("|".join(",".join(map(str, tasks)) for tasks in sets))
            except binpack.DidNotFit:
                words.append("-")
        print(" ".join(words))


if __name__ == "__main__":
    main()
