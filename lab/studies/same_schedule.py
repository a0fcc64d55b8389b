#!/usr/bin/env python3
"""Compares what two builds of Tactus make of the same systems in the simulator, record by record.

    lab/studies/same_schedule.py OLD NEW [COUNT]

OLD and NEW are `tactus` commands. COUNT (400 if not given) systems are drawn, each from its number: every spread and order, MC², two levels of
criticality, servers, jobs that take less than they may. Records go through the file format of LITMUS^RT, which has stayed the same,
so that renamed words do not matter. Releases of one instant have no order of their own: where files differ, they are sorted.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path


def system(number: int) -> str:
    draw = random.Random(number)
    cores = draw.choice([1, 1, 2, 2, 4, 8])
    kind = draw.choice(["partitioned", "partitioned", "global", "clustered" if cores > 1 else "global", "mc2", "amc", "edf-vd"])
    order = draw.choice(["fp", "rm", "dm", "edf", "fifo", "rr"])
    levels = kind in ("mc2", "amc", "edf-vd")
    duration = draw.choice([120, 200, 300])
    lines = ["[system]", f"cores = {cores}", f'duration = "{duration} ms"', f"seed = {number + 1}", "[policy]"]
    lines.append(f'kind = "{kind if levels else f"{kind}-{order}"}"')
    if kind == "clustered":
        lines.append(f"clusters = {[list(range(cores // 2)), list(range(cores // 2, cores))]}")
    servers = []
    if kind == "partitioned" and order in ("fp", "rm", "dm", "edf") and draw.random() < 0.5:
        for core in range(draw.randint(1, cores)):
            kinds = ["periodic", "polling", "deferrable", "cbs-hard", "cbs-soft"] + ["sporadic"] * (order != "edf")
            period, inside = draw.choice([5, 10, 20]), draw.choice(["fp", "edf", "rm"])
            lines += ["[[server]]", f'name = "server-{core}"', f"cores = [{core}]", f'kind = "{draw.choice(kinds)}"']
            lines += [f'budget = "{period * draw.uniform(0.2, 0.5):.2f} ms"', f'period = "{period} ms"']
            lines += [f'policy = "partitioned-{inside}"'] + [f"priority = {draw.randint(1, 90)}"] * (order == "fp")
            servers.append((core, inside))
    tasks = draw.randint(2, 5 * cores)
    share = draw.uniform(0.4, 1.05) * cores / tasks
    for task in range(tasks):
        period = draw.choice([4, 5, 8, 10, 16, 20, 25, 40, 50, 100])
        time = max(0.02, period * min(0.7, share * draw.uniform(0.4, 1.6)))
        lines += ["[[task]]", f'name = "t{task}"', f'period = "{period} ms"']
        if kind not in ("mc2", "edf-vd") and draw.random() < 0.3:
            lines.append(f'offset = "{draw.randint(0, 100 - period)} ms"' if period < 60 else 'offset = "7 ms"')
        if levels:
            level = draw.choice("ABCD" if kind == "mc2" else "AB")
            times = {at: f"{time * (1.3 - 0.2 * n):.3f} ms" for n, at in enumerate("ABCD" if kind == "mc2" else "AB") if at >= level}
            lines += [f'level = "{level}"', "execution = {" + ", ".join(f'{at} = "{it}"' for at, it in times.items()) + "}"]
            if kind != "mc2" or level in "AB":
                lines.append(f"core = {draw.randrange(cores)}")
            lines += [f"priority = {task + 1}"] * (kind == "amc")
            continue
        lines.append(f'execution = "{time:.3f} ms"')
        if draw.random() < 0.5:
            lines.append(f'actual = {{ min = "{time / 2:.3f} ms", max = "{time:.3f} ms" }}')
        elif draw.random() < 0.3:
            lines.append(f'actual = {{ scale = "{time:.3f} ms", mean = 0.6, deviation = 0.15 }}')
        inside = order
        if servers and draw.random() < 0.5:
            core, inside = draw.choice(servers)
            lines += [f'server = "server-{core}"', f"core = {core}"]
        elif kind == "partitioned":
            lines.append(f"core = {draw.randrange(cores)}")
        elif kind == "clustered":
            lines.append(f"cluster = {draw.randrange(2)}")
        lines += [f"priority = {task + 1}"] * (inside == "fp")
    return "\n".join(lines) + "\n"


def records(command: str, file: Path, out: Path) -> tuple[bytes, list[str]] | str:
    """The records as LITMUS^RT's file has them, and as text, sorted; why there are none, if there are none."""
    said = subprocess.run([command, "simulate", file, "--out", out], capture_output=True, text=True)
    if not (out / "trace.bin").exists():
        return said.stderr + said.stdout
    subprocess.run([command, "trace", out, "--sched-trace", out / "st"], check=True, capture_output=True)
    listed = subprocess.run([command, "trace", out, "--records"], check=True, capture_output=True, text=True)
    return b"".join(it.read_bytes() for it in sorted((out / "st").iterdir())), sorted(listed.stdout.splitlines())


def main() -> None:
    commands, count = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 400
    found = {"the same": 0, "the same but for the order within an instant": 0, "refused by both": 0, "different": 0}
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"s{number}.toml")
            file.write_text(system(number), encoding="utf-8")
            old, new = (records(command, file, Path(folder, name)) for command, name in zip(commands, ("old", "new")))
        if isinstance(old, str) and isinstance(new, str):
            found["refused by both"] += 1
        elif isinstance(old, str) or isinstance(new, str) or old[1] != new[1]:
            found["different"] += 1
            print(f"system {number} differs\n{system(number)}")
        else:
            found["the same" if old[0] == new[0] else "the same but for the order within an instant"] += 1
    print(", ".join(f"{what}: {n}" for what, n in found.items()))
    sys.exit(found["different"] > 0)


if __name__ == "__main__":
    main()
