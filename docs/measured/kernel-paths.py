#!/usr/bin/env python3
"""Makes kernel-paths.md: what the kernel executes on each path, instruction by instruction, by groups.

Runs the measured system of `./tactus bench kernel` in the emulator, one instruction at a time, and cuts what the kernel
executes into visits: from an entry to the next. The most frequent visit of each kind is told. Groups are the functions of
the sources that the instructions come from, inlined ones included, and labels of the entry code; what a group is for is the
first sentence of its comment there.

    ./tactus bench kernel                     # builds kernel and system
    docs/measured/kernel-paths.py <kernel ELF> out/bench-kernel/system.img [path of the page]

Needs qemu-system-x86_64, objdump, nm and grep.
"""
import bisect, collections, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNEL, IMAGE = sys.argv[1], sys.argv[2]
PAGE = sys.argv[3] if len(sys.argv) > 3 else os.path.join(HERE, "kernel-paths.md")


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


# Where labels and functions begin.
symbols = []
for line in run("nm", "-C", KERNEL).splitlines():
    parts = line.split(" ", 2)
    if len(parts) == 3 and parts[1] in "tT":
        symbols.append((int(parts[0], 16), parts[2]))
symbols.sort()
starts = [s[0] for s in symbols]
named = {name: at for at, name in symbols}


def symbol(pc):
    return symbols[bisect.bisect_right(starts, pc) - 1][1]


# Every instruction: its length and the line that it comes from.
code, line, last = {}, "", None
for text in run("objdump", "-d", "-l", "-C", "-M", "intel", KERNEL).splitlines():
    found = re.match(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(.*)", text)
    if found:
        at, count = int(found[1], 16), len(found[2].split())
        if found[3] or last is None:
            last = at
            code[at] = [count, found[3], line]
        else:
            code[last][0] += count
    elif re.match(r"^(/|\w+/).*:\d+( \(discriminator.*)?$", text):
        line = text.split(" ")[0]

sources = {}


def lines_of(path):
    if path not in sources:
        try:
            sources[path] = open(path, errors="replace").read().splitlines()
        except OSError:
            sources[path] = []
    return sources[path]


def sentence(comment):
    words = " ".join(part.strip().lstrip("/#!").strip() for part in comment)
    return re.split(r"(?<=[.:])\s", words, maxsplit=1)[0] if words else ""


def group(pc):
    """The function or label that the instruction belongs to, and what that is for."""
    path, _, number = code[pc][2].rpartition(":")
    rust = path.endswith(".rs") and os.sep + "os" + os.sep in path and not path.endswith("entry.rs")
    if rust:
        text, at = lines_of(path), int(number) - 1
        while at >= 0 and at < len(text):
            found = re.match(r"\s*(?:pub(?:\([a-z]+\))? )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)", text[at])
            if found:
                comment, above = [], at - 1
                while above >= 0 and re.match(r"\s*(///|#\[|//)", text[above]):
                    if "///" in text[above]:
                        comment.insert(0, text[above])
                    above -= 1
                return f"{os.path.basename(path)}: {found[1]}", sentence(comment)
            at -= 1
    name = symbol(pc)
    if "::" not in name and not name.startswith("kernel_"):
        text = lines_of(os.path.join(ROOT, "os/kernel/src/arch/entry.rs"))
        if name.startswith("trap_") and name[5:].isdigit():
            return f"entry: {name}", "Vector and error code."
        for at, it in enumerate(text):
            if it == name + ":":
                comment, above = [], at - 1
                while re.match(r"\s*(#|\.global)", text[above]):
                    if "#" in text[above]:
                        comment.insert(0, text[above])
                    above -= 1
                return f"entry: {name}", sentence(comment)
        return f"entry: {name}", ""
    # The core library, inlined: to whom it belongs.
    return f"{name.split('::')[-1]} (core library, inlined)", ""


entries = {at for name, at in named.items() if name == "call_entry" or re.match(r"^trap_\d+$", name)}


def visits():
    """What the kernel executes, visit by visit."""
    with tempfile.TemporaryDirectory() as folder:
        fifo, memory = os.path.join(folder, "trace"), os.path.join(folder, "memory")
        os.mkfifo(fifo)
        machine = subprocess.Popen(
            ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-machine",
             "pc", "-m", "128M", "-cpu", "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip", "-accel", "tcg", "-icount",
             "shift=0,sleep=off", "-singlestep", "-d", "exec,nochain", "-D", fifo, "-device",
             "isa-debug-exit,iobase=0xf4,iosize=0x04", "-no-reboot",
             "-kernel", KERNEL, "-initrd", IMAGE],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        filtered = subprocess.Popen(f"grep -o '/ffffffff[0-9a-f]\\{{8\\}}/' < {fifo}", shell=True, text=True,
                                    stdout=subprocess.PIPE)
        current = None
        try:
            for text in filtered.stdout:
                pc = int(text[1:-2], 16)
                if pc in entries:
                    if current:
                        yield tuple(current)
                    current = []
                if current is not None:
                    current.append(pc)
                    if len(current) > 5000:
                        current = None
        finally:
            machine.kill()
            filtered.kill()


# Kinds of visits, by labels that they pass and those that they do not.
KINDS = [
    ("null call", ["call_entry"], ["invoke", "give_back", "switch", "call_other", "invoke_wide", "give_back_wide"]),
    ("invocation", ["invoke"], ["call_other"]),
    ("return", ["give_back"], ["call_other"]),
    ("invocation, ten words", ["invoke_wide"], ["call_other"]),
    ("return, ten words", ["give_back_wide"], ["call_other"]),
    ("dispatch", ["switch"], ["switch_other", "switch_timer"]),
    ("dispatch, timer set", ["switch_timer"], []),
    ("trigger of a brand, upcall runs", ["kernel_trigger", "mov    cr3"], []),
    ("trigger of a brand, upcall not run", ["kernel_trigger"], ["mov    cr3", "upcall::push"]),
    ("trigger of a brand, counted", ["kernel_trigger", "upcall::push"], ["mov    cr3"]),
    ("end of an upcall, the interrupted thread goes on", ["kernel_upcall_done"], ["upcall::done"]),
    ("tick to upcall", ["trap_64", "wire::tick"], []),
    ("timer expiry to the root's upcall", ["trap_64", "mov    cr3"], ["wire::tick"]),
    ("fault to the root's upcall", ["trap_14"], []),
]


def main():
    kinds = [collections.Counter() for _ in KINDS]
    known, traits = {}, {}
    for visit in visits():
        if visit in known:
            for kind in known[visit]:
                kinds[kind][visit] += 1
            continue
        has = set()
        for pc in visit:
            if pc not in traits:
                words = {symbol(pc).removeprefix("tactus_kernel::")}
                text = code.get(pc, [0, "", ""])[1]
                if text.startswith("mov    cr3"):
                    words.add("mov    cr3")
                traits[pc] = words
            has |= traits[pc]
        known[visit] = [k for k, (_, wanted, unwanted) in enumerate(KINDS)
                        if all(w in has for w in wanted) and not any(w in has for w in unwanted)]
        for kind in known[visit]:
            kinds[kind][visit] += 1
    out = [
        "# The kernel's paths, by groups of instructions", "",
        "Made by `docs/measured/kernel-paths.py` from the run that `./tactus bench kernel` measures. Each is the most frequent "
        "visit to the kernel of its kind: only what the kernel itself executes, without the caller's stub. *Bytes* are the "
        "distinct bytes of instructions executed. A group is a function of the sources, inlined or not, or a label of the "
        "entry code; what it is for is its own comment there.", "",
        "| path | visits | instructions | code bytes | CR3 writes |", "|---|--:|--:|--:|--:|",
    ]
    parts = []
    for (name, _, _), counter in zip(KINDS, kinds):
        if not counter:
            print(f"no visit: {name}", file=sys.stderr)
            continue
        visit, _ = counter.most_common(1)[0]
        size = lambda pcs: sum(code[pc][0] for pc in pcs)
        cr3 = sum(code[pc][1].startswith("mov    cr3") for pc in visit)
        out.append(f"| {name} | {sum(counter.values())} | {len(visit)} | {size(set(visit))} | {cr3} |")
        groups = collections.OrderedDict()
        for pc in visit:
            groups.setdefault(group(pc), []).append(pc)
        parts += ["", f"## {name[0].upper()}{name[1:]}", "", "| group | instructions | bytes | what for |", "|---|--:|--:|---|"]
        for (where, purpose), pcs in groups.items():
            parts.append(f"| {where} | {len(pcs)} | {size(set(pcs))} | {purpose.replace('|', '/')} |")
    open(PAGE, "w").write("\n".join(out + parts) + "\n")
    print("\n".join(out[6:]))


main()
