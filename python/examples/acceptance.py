"""How many task sets can be scheduled on four cores? A schedulability study in a minute, from drawing to falsifying.

    pip install 'tactus[tables]'
    python acceptance.py

Draws task sets of growing utilisation, asks several tests of global and partitioned EDF, prints the share that each accepts, and
then lets the simulator look for a deadline that is missed by a set that nobody accepts, and by sets that somebody does.
"""

import polars

import tactus
from tactus import generate, tests

CORES = 4
SETS = 50
TESTS = ["global-edf/gfb", "global-edf/rta", "global-edf/any", "partitioned-edf/ffd", "semi-partitioned-edf/cd-split"]

# 1. Draw. Set `number` of a cap is the same on every computer.
caps = [step / 4 for step in range(4, 17)]
drawn = [
    (cap, generate.task_set("uni-medium", "moderate", cap, seed=2012, number=number))
    for cap in caps
    for number in range(SETS)
]

# 2. Ask every test about every set, on all processors; the table goes to polars as it is.
verdicts = polars.DataFrame(tests.accepts_all(TESTS, [tasks for _, tasks in drawn], cores=CORES))
verdicts = verdicts.with_columns(polars.Series("cap", [cap for cap, _ in drawn]))
curves = verdicts.group_by("cap").agg(polars.col(test).mean() for test in TESTS).sort("cap")
print(f"share of {SETS} sets that each test accepts, on {CORES} cores")
with polars.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
    print(curves)

# 3. Nobody who is accepted may miss a deadline; whoever is refused may.
any_test = verdicts["global-edf/any"].to_list()
for wanted in (True, False):
    misses = 0
    chosen = [tasks for (_, tasks), accepted in zip(drawn, any_test) if accepted is wanted][-20:]
    for tasks in chosen:
        run = tasks.system(CORES, "global-edf", "500 ms").simulate()
        misses += run.summary["total"]["missed"] > 0
    said = "accepted" if wanted else "refused"
    print(f"of {len(chosen)} sets that are {said}, {misses} miss a deadline in half a second from a common release")
    assert not (wanted and misses), "a set that a test had accepted missed a deadline"

# 4. One set in detail: bounds beside what happened.
tasks = next(tasks for (cap, tasks), accepted in zip(drawn, any_test) if cap >= 2 and accepted)
bounds = tests.responses("global-edf/tardiness", tasks, CORES)
run = tasks.system(CORES, "global-edf", "1 s").simulate()
frame = polars.DataFrame(run.jobs()).group_by("task").agg(polars.col("response_ns").max()).sort("task")
print(f"\n{tasks.name}: {len(tasks)} tasks, utilisation {tasks.utilisation:.2f}, {len(run.jobs())} jobs")
longest = dict(zip(frame["task"], frame["response_ns"]))
for task, bound in list(zip(tasks, bounds))[:5]:
    told = "none" if bound is None else f"{bound / 1e6:.1f} ms"
    print(f"  {task.name}: longest response {longest[task.name] / 1e6:.1f} ms, deadline {task.deadline / 1e6:.1f} ms, bound {told}")
