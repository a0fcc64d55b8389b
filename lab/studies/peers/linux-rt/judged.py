#!/usr/bin/env python3
"""What judged.sh runs, and what came of it.

    judged.py make OUT COUNT    draws systems, has `tactus linux` write what runs them, and plants faults
    judged.py judge OUT         has each trace judged, and compares with rt-app's own logs
"""
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

TACTUS = os.environ.get("TACTUS", "./tactus")
PERIODS = [5, 8, 10, 16, 20, 25, 40]
# What rt-app's clock and the trace's may differ by where neither says that a job is late: from its last look at the clock to its sleep.
NEAR_US = 120


def task(name, period, execution, **more):
    """Times in µs."""
    return {"name": name, "period": period, "execution": execution, **more}


def toml(name, policy, cores, tasks, resources=()):
    text = f'[system]\nname = "{name}"\ncores = {cores}\nduration = "1 s"\n\n[policy]\nkind = "{policy}"\n'
    for resource in resources:
        text += f'\n[[resource]]\nname = "{resource}"\nprotocol = "inheritance"\n'
    for it in tasks:
        text += f'\n[[task]]\nname = "{it["name"]}"\nperiod = "{it["period"]} us"\nexecution = "{it["execution"]} us"\n'
        for key in ("core", "priority"):
            if key in it:
                text += f"{key} = {it[key]}\n"
        if "actual" in it:
            text += f'actual = {{ file = "{it["actual"]}" }}\n'
        elif "work" in it:
            text += f'actual = "{it["work"]} us"\n'
        if "section" in it:
            resource, after, length = it["section"]
            text += f'sections = [{{ resource = "{resource}", after = "{after} us", length = "{length} us" }}]\n'
    return text


def drawn(rng, cores, load, count, prefix=""):
    """Tasks of one queue of `cores`, of this load of each; what they take is less than what is assumed by what Linux does in their name.

    In the emulator cores take turns: all together get done what one does, so that loads are of one core.
    """
    shares = [rng.uniform(0.5, 1.5) for _ in range(count)]
    tasks = []
    for n, share in enumerate(shares):
        period = rng.choice(PERIODS) * 1000
        work = max(200, int(period * min(0.9, load * cores * share / sum(shares))))
        tasks.append(task(f"{prefix}{n}", period, min(period, work + work // 20 + 150), work=work))
    return tasks


def ranked(tasks):
    """Priorities by rate."""
    for rank, it in enumerate(sorted(tasks, key=lambda it: -it["period"])):
        it["priority"] = rank + 1
    return tasks


def system(seed):
    """A kind, the cores of the machine, and files: of each its name's end, policy, cores, tasks and resources."""
    rng = random.Random(seed)
    kind = ["fp", "fp", "edf", "lock", "mixed", "global-fp", "global-edf", "fp", "edf", "lock"][seed % 10]
    cores = {"global-fp": [2, 4], "global-edf": [2, 4], "lock": [1], "mixed": [1], "edf": [1, 2]}.get(kind, [1, 2, 4])
    cores = cores[(seed // 10) % len(cores)]
    load = rng.choice([0.45, 0.6, 0.7, 0.78]) / cores
    if kind == "global-fp":
        return kind, cores, [("", "global-fp", cores, ranked(drawn(rng, cores, load, 2 * cores + 1, "t")), [])]
    if kind == "global-edf":
        return kind, cores, [("", "global-edf", cores, drawn(rng, cores, load, 2 * cores + 1, "t"), [])]
    if kind == "edf":
        tasks = []
        for core in range(cores):
            tasks += [{**it, "core": core} for it in drawn(rng, 1, load, 3, f"c{core}t")]
        # Linux leaves no processor out of every partition: one more is for all others.
        return kind, cores + (cores > 1), [("", "partitioned-edf", cores, tasks, [])]
    if kind == "mixed":
        above = [{**it, "core": 0} for it in drawn(rng, 1, 0.4, 2, "d")]
        below = [{**it, "core": 0} for it in ranked(drawn(rng, 1, load - 0.4, 2, "f"))]
        return kind, 1, [("-d", "partitioned-edf", 1, above, []), ("-f", "partitioned-fp", 1, below, [])]
    tasks, resources = [], []
    for core in range(cores):
        own = ranked(drawn(rng, 1, load, 3, f"c{core}t"))
        if kind == "lock":
            resources = ["data"]
            for it in (own[0], own[-1]):
                it["section"] = ("data", it["work"] // 4, max(50, it["work"] // 3))
        tasks += [{**it, "core": core} for it in own]
    return kind, cores, [("", "partitioned-fp", cores, tasks, resources)]


def written(folder, name, files, rng):
    """Has `tactus linux` write what runs the files; of several, one rt-app runs all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    together = None
    for end, policy, cores, tasks, resources in files:
        for it in tasks:
            # One job in nine takes longer than usual, and in some tasks longer than was assumed.
            usual = it["work"]
            often = [usual] * 8 + [int(usual * rng.choice([1.0, 1.0, 1.5, 2.2]))]
            if "section" not in it:
                it["actual"] = f"{name}{end}-{it['name']}.txt"
                (folder / it["actual"]).write_text("\n".join(f"{length} us" for length in often) + "\n")
        path = folder / f"{name}{end}.toml"
        path.write_text(toml(f"{name}{end}", policy, cores, tasks, resources))
        made = folder if end in ("", files[0][0]) else folder / end
        subprocess.run([TACTUS, "linux", path, "--out", made], check=True, stdout=subprocess.DEVNULL)
        if made != folder:
            more = json.loads(next(made.glob("*.json")).read_text())["tasks"]
            shutil.rmtree(made)
            first = next(folder.glob("*.json"))
            together = json.loads(first.read_text())
            together["tasks"].update(more)
            first.write_text(spelt(together))
    return folder


def spelt(program):
    """rt-app's JSON as `tactus linux` has it: policies by name are looked for in it."""
    return json.dumps(program, indent=1, separators=(",", " : "))


# What goes wrong, in a machine that keeps its promises otherwise: control 1 of 5 ms, steer 2.5 of 10 ms, log 4 of 20 ms.
def base(resources=()):
    tasks = [
        task("control", 5000, 1200, core=0, priority=3, work=1000),
        task("steer", 10000, 2800, core=0, priority=2, work=2500),
        task("log", 20000, 4400, core=0, priority=1, work=4000),
    ]
    if resources:
        # log is in its section when the two others come together.
        tasks[2] = task("log", 20000, 6500, core=0, priority=1, work=6000)
        tasks[0]["section"], tasks[2]["section"] = ("data", 200, 300), ("data", 4000, 1900)
    return tasks


def timer(period):
    return {"ref": "unique", "period": period, "mode": "absolute"}


def longer(p):
    p["tasks"]["steer"] = {**p["tasks"]["steer"], "phases": phases(2500, 9000, 10000)}
    p["tasks"]["steer"].pop("run")
    p["tasks"]["steer"].pop("timer")


def phases(usual, once, period):
    return {
        "p0": {"loop": 30, "run": usual, "timer": timer(period)},
        "p1": {"loop": 1, "run": once, "timer": timer(period)},
    }


def lost_wakeup(p):
    p["tasks"]["steer"].pop("run")
    p["tasks"]["steer"].pop("timer")
    p["tasks"]["steer"]["phases"] = {
        "p0": {"loop": 30, "run": 2500, "timer": timer(10000)},
        # Nobody wakes it for two periods.
        "p1": {"loop": 1, "run": 2500, "timer": timer(30000)},
    }


def key(name, values):
    def change(p):
        p["tasks"][name].update(values)

    return change


def hog(policy, priority, run, period):
    def change(p):
        p["tasks"]["hog"] = {"loop": -1, "policy": policy, "priority": priority, "cpus": [0], "run": run, "timer": timer(period)}

    return change


def no_inheritance(p):
    p["global"]["pi_enabled"] = False


def deadline(p):
    for name, period in (("control", 5000), ("steer", 10000), ("log", 20000)):
        it = p["tasks"][name]
        it.pop("priority")
        # steer gets less than it takes.
        share = 2000 if name == "steer" else it["run"] * 3 // 2
        it.update({"policy": "SCHED_DEADLINE", "dl-runtime": share, "dl-period": period, "dl-deadline": period})


# Name, cores of the machine, change of rt-app's file, edit of run.sh, resources, words of the verdict.
FAULTS = [
    ("none", 1, lambda p: None, None, (), r"every promise held"),
    ("longer-job", 1, longer, None, (), r"steer \(job \d+ took more than the 2\.8 ms assumed"),
    ("lost-wake-up", 1, lost_wakeup, None, (), r"steer, job \d+, was not woken in its period"),
    ("deadline-budget", 1, deadline, None, (), r"steer \(job \d+ took more|verdict +broken.*steer"),
    ("wrong-core", 2, key("steer", {"cpus": [1]}), None, (), r"steer ran on core 1 .*the file binds it to core 0"),
    ("no-inheritance", 1, no_inheritance, None, ("data",), r"verdict +broken.*control"),
    ("wrong-priority", 1, key("log", {"priority": 99}), None, (), r"verdict +broken.*(control|steer)"),
    ("stranger-above", 1, hog("SCHED_FIFO", 99, 4500, 40000), None, (), r"verdict +broken.*\(hog\)"),
    ("wrong-class", 1, lambda p: (p["tasks"]["steer"].update({"policy": "SCHED_OTHER"}), p["tasks"]["steer"].pop("priority"),
                                  hog("SCHED_FIFO", 50, 6000, 20000)(p)), None, (), r"verdict +(broken|nothing can be said).*steer"),
    ("wrong-period", 1, key("steer", {"timer": timer(11000)}), None, (), r"steer.*(not woken|elsewhere)|no job|never begins"),
    ("thread-missing", 1, lambda p: p["tasks"].pop("log"), None, (), r"no thread is called \"log\""),
    ("core-not-recorded", 2, lambda p: None, ("-o trace.dat", "-M 2 -o trace.dat"), (), r"no event in the trace|no thread is called|never begins"),
]


def make(out, count):
    for folder in ("systems", "machines", "ran"):
        shutil.rmtree(out / folder, ignore_errors=True)
    rows = []
    for seed in range(count):
        kind, cores, files = system(seed)
        name = f"s{seed:02}-{kind}"
        written(out / "systems" / name, name, files, random.Random(1000 + seed))
        rows.append((name, kind, cores))
    for name, cores, change, edit, resources, _ in FAULTS:
        folder = out / "systems" / f"fault-{name}"
        folder.mkdir(parents=True)
        path = folder / f"{folder.name}.toml"
        path.write_text(toml(folder.name, "partitioned-fp", 1, base(resources), resources))
        subprocess.run([TACTUS, "linux", path, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        program = folder / f"{folder.name}.json"
        words = json.loads(program.read_text())
        change(words)
        program.write_text(spelt(words))
        if edit:
            script = folder / "run.sh"
            text = script.read_text()
            assert edit[0] in text, edit
            script.write_text(text.replace(*edit))
        rows.append((folder.name, "fault", cores))
    for name, _, cores in rows:
        shutil.copytree(out / "systems" / name, out / "machines" / str(cores) / name)
    print(f"{count} systems and {len(FAULTS) - 1} faults")


def judged(file, trace, results):
    run = subprocess.run([TACTUS, "judge", file, "--linux", trace, "--out", results], capture_output=True, text=True)
    return run.stdout + run.stderr


def records(results):
    """Of each task its jobs: release and completion by the run's time (ns), none where it is not told."""
    run = subprocess.run([TACTUS, "trace", results, "--records"], capture_output=True, text=True, check=True)
    jobs = {}
    for line in run.stdout.splitlines():
        words = line.split()
        if len(words) < 6 or not words[0].isdigit():
            continue
        time, _, kind, name, job, argument = words[:6]
        own = jobs.setdefault(name, {}).setdefault(int(job) if job.isdigit() else -1, {})
        if kind == "Release":
            own["release"] = int(argument)
        elif kind == "Complete":
            own["complete"] = int(time)
        elif kind == "Untold":
            own["untold"] = True
    return jobs


def logged(folder, name):
    """Rows of rt-app's log of a thread: where each loop began, and how much of its period was left at its end (µs)."""
    for path in folder.glob(f"rt-app-{name}-*.log"):
        rows = []
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) >= 11 and words[0].isdigit():
                rows.append((int(words[4]), int(words[7])))
        return rows
    return []


def compare(text, jobs, rows, period):
    """Pairs each job with its loop; counts what both say of it."""
    zero = int(re.search(r"time 0 is (\d+) ns", text).group(1))
    told = {job: it for job, it in jobs.items() if "release" in it}
    counts = dict.fromkeys(["jobs", "missed", "found", "near", "not_found", "invented", "untold", "untold_missed"], 0)
    differences = []
    if not rows or not told:
        return counts, differences
    nominal = lambda job: (zero + told[job]["release"]) / 1000

    def pairs(shift):
        for job in told:
            loop = round((nominal(job) - rows[0][0]) / period) + shift
            # The last loop ends with the thread.
            if 0 <= loop < len(rows) - 1:
                yield job, loop

    def response(job):
        return (told[job]["complete"] - told[job]["release"]) / 1000

    def apart(shift):
        all_of = [abs(response(job) - (period - rows[loop][1])) for job, loop in pairs(shift) if "complete" in told[job]]
        return sorted(all_of)[len(all_of) // 2] if all_of else 1e18

    shift = min((0, -1, 1), key=apart)
    for job, loop in pairs(shift):
        slack = rows[loop][1]
        late = slack < 0
        counts["jobs"] += 1
        counts["missed"] += late
        if "complete" not in told[job]:
            counts["untold"] += 1
            counts["untold_missed"] += late
            continue
        differences.append(response(job) - (period - slack))
        ours = response(job) > period
        if ours == late:
            counts["found"] += late
        elif abs(slack) <= NEAR_US:
            counts["near"] += 1
        else:
            counts["not_found" if late else "invented"] += 1
    return counts, differences


def judge(out):
    ran = out / "ran"
    table, all_differences = [], []
    for folder in sorted(ran.glob("s*")):
        kind = folder.name.split("-", 1)[1]
        for file in sorted(folder.glob("*.toml")):
            results = out / "results" / file.stem
            trace = folder / "trace.dat"
            text = judged(file, trace, results) if trace.exists() else "no trace: " + (folder / "log").read_text()[-200:]
            row = {"system": file.stem, "kind": kind, "cores": 0, "jobs": 0}
            verdict = re.search(r"^verdict +(.*)", text, re.M)
            row["verdict"] = verdict.group(1)[:60] if verdict else "none: " + " ".join(text.split())[-160:]
            row["cores"] = int(re.search(r"cores = (\d+)", file.read_text()).group(1))
            if verdict:
                jobs = records(results)
                for name, period in re.findall(r'\[\[task\]\]\nname = "(.*)"\nperiod = "(\d+) us"', file.read_text()):
                    counts, differences = compare(text, jobs.get(name, {}), logged(folder, name), int(period))
                    all_differences += differences
                    for what, n in counts.items():
                        row[what] = row.get(what, 0) + n
            table.append(row)
    columns = ["system", "kind", "cores", "jobs", "missed", "found", "near", "not_found", "invented", "untold", "untold_missed", "verdict"]
    save(out / "judged.csv", columns, table)
    faults = []
    for name, _, _, _, _, words in FAULTS:
        folder = ran / f"fault-{name}"
        text = judged(folder / f"{folder.name}.toml", folder / "trace.dat", out / "results" / folder.name)
        (out / "results" / f"{folder.name}.txt").write_text(text)
        verdict = re.search(r"^verdict +(.*(\n {9,}\S.*)?)", text, re.M)
        said = " ".join(verdict.group(0).split()) if verdict else " ".join(text.split())[-200:]
        named = re.search(words, " ".join(text.split())) or re.search(words, text)
        faults.append({"fault": name, "named": "yes" if named else "no", "said": said[:220]})
    save(out / "faults.csv", ["fault", "named", "said"], faults)
    total = {what: sum(row.get(what, 0) for row in table) for what in columns[3:11]}
    all_differences.sort()
    middle = all_differences[len(all_differences) // 2] if all_differences else 0
    at = lambda share: all_differences[min(len(all_differences) - 1, int(len(all_differences) * share))] if all_differences else 0
    lines = [
        "| kind | cores | systems | jobs | missed by rt-app's log | found | within 120 µs | not found | invented | not judged (of these missed) |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind, cores in sorted({(row["kind"], row["cores"]) for row in table}):
        own = [row for row in table if (row["kind"], row["cores"]) == (kind, cores)]
        n = lambda what: sum(row.get(what, 0) for row in own)
        lines.append(
            f"| {kind} | {cores} | {len(own)} | {n('jobs'):,} | {n('missed'):,} | {n('found'):,} | {n('near')} | {n('not_found')} | "
            f"{n('invented')} | {n('untold')} ({n('untold_missed')}) |"
        )
    lines += ["", f"Response by the trace less rt-app's own: {middle:.0f} µs in the median, {at(0.01):.0f} to {at(0.99):.0f} µs in 98 of 100 jobs.", ""]
    lines += ["| fault | named | what the verdict says |", "|---|---|---|"]
    lines += [f"| {it['fault']} | {it['named']} | {it['said'].replace('|', '/')} |" for it in faults]
    (out / "linux-judged.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(total)
    none = [row["system"] for row in table if row["verdict"].startswith("none")]
    print("without a verdict:", none)
    sys.exit(bool(total["not_found"] or total["invented"] or none or any(it["named"] == "no" for it in faults)))


def save(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    make(folder, int(sys.argv[3])) if sys.argv[1] == "make" else judge(folder)
