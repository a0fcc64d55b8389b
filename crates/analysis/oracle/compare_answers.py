#!/usr/bin/env python3
"""Holds this crate's answers about global EDF against SchedCAT's; called by schedcat.sh.

Arguments: NAME, the program `global_tests`. Reads NAME.txt (sets), NAME.sc and NAME.our (a digit for each test). Prints, for each test, how many sets
both accept, both refuse and one of them alone accepts. Three kinds of difference have a reason, which is checked for each of them:

- At the very limit this crate refuses (`MARGIN`): what SchedCAT alone accepts, this crate accepts too with every execution
  time shorter by a millionth of the unit or less.
- SchedCAT's LOAD takes the load up to 0.1 too large: what it alone refuses, it accepts with the load found to 0.001.
- SchedCAT's BAR gives up after five seconds: what it alone refuses took that long.

Any other difference ends in exit status 1.
"""

import os
import subprocess
import sys

TESTS = "GFB LOAD BAK FF-DBF BCL BCL-iterative RTA BAR".split()


def answers(program, mode, sets):
    if not sets:
        return []
    asked = subprocess.run([program, mode], input="\n".join(sets), capture_output=True, text=True, check=True)
    return asked.stdout.splitlines()


def shorter(line):
    m, n, *tasks = map(int, line.split())
    scale = 10**9 if max(tasks) < 1000 else 10**6
    tasks = [x * scale - 1000 * (place % 3 == 0) for place, x in enumerate(tasks)]
    return " ".join(map(str, (m, n, *tasks)))


def explained(test, place, alone, sets, schedcat, ours):
    """How many of the differences have the reason that this kind may have, and the reason."""
    if alone == "SchedCAT":
        accepted = [a[place] for a in answers(ours, "schedcat", [shorter(line) for line in sets])]
        return accepted.count("1"), "with shorter execution times this crate accepts"
    if test == "LOAD":
        return answers(schedcat, "load", sets).count("1"), "with the load found to 0.001 SchedCAT accepts"
    if test == "BAR":
        took = [float(answers(schedcat, "time", [line])[place].split()[1]) for line in sets]
        return sum(t > 5e6 for t in took), "SchedCAT gave up on"
    return 0, "without a reason"


def main(name, ours):
    schedcat = os.path.join(os.path.dirname(name), "schedcat")
    with open(name + ".txt") as sets, open(name + ".sc") as theirs, open(name + ".our") as own:
        rows = [tuple(line.rstrip("\n") for line in row) for row in zip(sets, theirs, own, strict=True)]
    print(f"{len(rows)} sets        both accept   both refuse   SchedCAT alone   this crate alone")
    unexplained = 0
    for place, test in enumerate(TESTS):
        counts = {(a, b): [] for a in "01" for b in "01"}
        for line, theirs, own in rows:
            counts[theirs[place], own[place]].append(line)
        both, neither, sc, us = (counts[pair] for pair in (("1", "1"), ("0", "0"), ("1", "0"), ("0", "1")))
        print(f"  {test:14} {len(both):13} {len(neither):13} {len(sc):16} {len(us):18}")
        for alone, apart in (("SchedCAT", sc), ("this crate", us)):
            if apart:
                known, why = explained(test, place, alone, apart, schedcat, ours)
                print(f"    {alone} alone: {len(apart)}, of which {why} {known}")
                unexplained += len(apart) - known
    print(f"{unexplained} differences without a reason")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
