// Brings the parts together: filter, chosen task, misses, the address, and the self-measurement under #bench.

class Page {
  /** `unpacked`: how long it took to unpack the data, in milliseconds. */
  constructor(data, unpacked) {
    this.data = data;
    this.unpacked = unpacked;
    this.filter = document.getElementById("filter");
    this.range = document.getElementById("range");
    this.hidden = new Set();
    this.misses = data.tasks
      .flatMap((task) => task.jobs.missed.map((i, n) => ({ task, time: task.jobs.missedAt[n], i })))
      .sort((a, b) => a.time - b.time);
    this.gantt = new Gantt(data, {
      looked: (t0, t1) => this.looked(t0, t1),
      picked: (task) => this.choose(task),
      miss: (direction) => this.goToMiss(direction),
      resized: (width) => this.resized(width),
    });
    this.overview = new Overview(data, this.gantt);
    this.histograms = new Histograms();
    this.table = new TaskTable((id) => this.jump(data.tasks[id]));
    this.buildToolbar();
    this.applyFilter();
    this.resized(this.gantt.width);
    this.looked(this.gantt.t0, this.gantt.t1);
    this.plotOverheads();
    this.watchWorld();
    this.gantt.look(0, firstWindow(data));
    this.follow();
  }

  looked(t0, t1) {
    this.overview?.show(t0, t1);
    this.range.textContent = `${instant(Math.round(t0))} + ${brief(t1 - t0)}`;
  }

  resized(width) {
    if (!this.overview || this.plotWidth === width) return;
    this.plotWidth = width;
    this.overview.build(width);
  }

  buildToolbar() {
    const { gantt } = this;
    const chips = document.getElementById("level-chips");
    const levels = [...new Set(this.data.tasks.map((task) => task.level))].filter((level) => level !== null).sort();
    document.getElementById("legend-budget").hidden = !this.data.servers.length;
    if (!levels.length) document.getElementById("legend-runs").textContent = "runs (colour: task)";
    for (const level of levels.length > 1 ? levels : []) {
      const chip = element("button", LEVELS[level]);
      chip.type = "button";
      chip.title = `Show or hide level ${LEVELS[level]}`;
      const paint = () => {
        chip.setAttribute("aria-pressed", String(!this.hidden.has(level)));
        chip.style.background = this.hidden.has(level) ? "" : `var(--${LEVELS[level].toLowerCase()})`;
      };
      chip.addEventListener("click", () => {
        if (!this.hidden.delete(level)) this.hidden.add(level);
        paint();
        this.applyFilter();
      });
      paint();
      chips.append(chip);
    }
    this.filter.addEventListener("input", () => this.applyFilter());
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("zoom-in", () => gantt.zoom(0.5));
    on("zoom-out", () => gantt.zoom(2));
    on("zoom-all", () => gantt.look(0, this.data.duration));
    on("previous-miss", () => this.goToMiss(-1));
    on("next-miss", () => this.goToMiss(1));
    document.getElementById("miss-count").textContent =
      this.misses.length === 1 ? "1 miss" : this.misses.length ? `${counted(this.misses.length)} misses` : "no miss";
    for (const id of ["previous-miss", "next-miss"]) document.getElementById(id).disabled = !this.misses.length;
  }

  /** Tasks whose name holds every word of the filter, most critical first. */
  applyFilter() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.data.tasks.filter((task) => {
      return !this.hidden.has(task.level) && words.every((word) => task.name.toLowerCase().includes(word));
    });
    shown.sort((a, b) => (a.level ?? 0) - (b.level ?? 0) || a.id - b.id);
    this.gantt.show(shown);
    this.table.show(shown);
    this.histograms.show(shown);
  }

  /** Makes sure that a task is among those shown. */
  unhide(task) {
    if (this.gantt.tasks.includes(task)) return;
    this.filter.value = "";
    for (const chip of document.querySelectorAll('#level-chips [aria-pressed="false"]')) chip.click();
    this.applyFilter();
  }

  choose(task) {
    this.unhide(task);
    this.gantt.choose(task);
    this.gantt.reveal(task);
    this.table.choose(task.id);
    this.details(task);
  }

  /** Chooses a task and shows its longest response. */
  jump(task) {
    this.choose(task);
    const { jobs } = task;
    let worst = -1;
    for (let i = 0; i < jobs.n; i++) if (worst < 0 || jobs.response[i] > jobs.response[worst]) worst = i;
    if (worst >= 0) this.frame(task, worst);
    document.getElementById("schedule").scrollIntoView();
  }

  /** Shows one job with some room around it. */
  frame(task, i) {
    const release = task.jobs.release[i];
    const end = Math.max(release + task.deadline, task.jobs.complete[i] || 0);
    const room = (end - release) * 0.75;
    this.gantt.look(release - room, end + room);
  }

  goToMiss(direction) {
    const { misses, gantt } = this;
    if (!misses.length) return;
    const here = this.lastMiss ?? (direction > 0 ? -1 : misses.length);
    this.lastMiss = (here + direction + misses.length) % misses.length;
    const miss = misses[this.lastMiss];
    this.choose(miss.task);
    this.frame(miss.task, miss.i);
    document.getElementById("miss-count").textContent = `miss ${counted(this.lastMiss + 1)} of ${counted(misses.length)}`;
    gantt.root.focus({ preventScroll: true });
  }

  details(task) {
    const panel = document.getElementById("selected");
    panel.hidden = false;
    const text = element("div");
    const list = element("dl");
    const answered = Array.from(task.jobs.response).filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
    const rank = (share) => (answered.length ? exact(answered[Math.max(0, Math.ceil(answered.length * share) - 1)]) : "–");
    const facts = [
      ["Period", brief(task.period)], ["Deadline", brief(task.deadline)],
      ["Bound", task.bound === null ? "none" : exact(task.bound)],
      ["Jobs", counted(task.jobs.n)], ["Missed", counted(task.jobs.missed.length)],
      ["Median", rank(0.5)], ["p99", rank(0.99)], ["Longest", rank(1)],
    ];
    for (const [name, value] of facts) {
      const pair = element("div");
      pair.append(element("dt", name), element("dd", value));
      list.append(pair);
    }
    text.append(element("h3", task.name), list);
    const plot = element("div");
    panel.replaceChildren(text, plot);
    this.detailPlot?.destroy();
    this.detailPlot = responsePlot(task, plot, Math.max(240, plot.clientWidth), 190);
    this.detailTask = task;
  }

  plotOverheads() {
    const root = document.getElementById("overhead-plots");
    root.replaceChildren();
    const lengths = this.data.turns.map((turns) => turns.end.map((end, i) => end - turns.start[i]));
    const late = this.data.turns.map((turns) => turns.late.filter((v) => v >= 0));
    const some = (columns) => columns.some((column) => column.length);
    const width = Math.max(300, root.clientWidth > 860 ? (root.clientWidth - 14) / 2 : root.clientWidth);
    if (some(lengths)) corePlot("Calls of the scheduler, from entry to decision", lengths, root, width);
    if (some(late)) corePlot("Timer lateness, from the set time to the entry", late, root, width);
  }

  watchWorld() {
    const repaint = () => {
      this.histograms.forget();
      this.gantt.restyle();
      this.overview.build(this.gantt.width);
      this.applyFilter();
      this.plotOverheads();
      if (this.detailTask) this.details(this.detailTask);
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    let timer;
    addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(repaint, 200);
    });
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, textarea")) return;
      event.preventDefault();
      this.filter.focus();
      this.filter.select();
    });
  }

  /** Does what the address asks: `#t=from,to`, `#task=number`, both, or `#bench`. */
  follow() {
    const hash = location.hash.slice(1);
    if (hash === "bench") return this.bench();
    const asked = new URLSearchParams(hash);
    const task = asked.has("task") ? this.data.tasks[Number(asked.get("task"))] : undefined;
    const [t0, t1] = (asked.get("t") ?? "").split(",").map(Number);
    if (t1 > t0) {
      if (task) this.choose(task);
      this.gantt.look(t0, t1);
      document.getElementById("schedule").scrollIntoView();
    } else if (task) {
      this.jump(task);
    }
  }

  /** Draws 60 frames of zooming in and moving, each made to finish, and writes what they took. */
  bench() {
    const { gantt, data } = this;
    const times = [];
    const steps = 60;
    for (let i = 0; i < steps; i++) {
      const span = data.duration * 0.72 ** Math.min(i, steps - i);
      const t0 = (data.duration - span) * (0.5 + 0.4 * Math.sin(i / 5));
      gantt.look(t0, t0 + span);
      const before = performance.now();
      gantt.draw();
      // Reading one pixel back waits until everything before it has been drawn.
      gantt.coreCanvas.getContext("2d").getImageData(0, 0, 1, 1);
      gantt.rowCanvas.getContext("2d").getImageData(0, 0, 1, 1);
      times.push(performance.now() - before);
    }
    gantt.look(0, data.duration);
    times.sort((a, b) => a - b);
    const runs = data.runs.reduce((n, list) => n + list.n, 0);
    const all = data.ghosts.concat(data.turns).reduce((n, list) => n + list.n, runs);
    const out = element("pre", `frames ${steps}, stretches ${all}, median ${times[steps / 2].toFixed(2)} ms, ` +
      `p95 ${times[Math.floor(steps * 0.95)].toFixed(2)} ms, max ${times[steps - 1].toFixed(2)} ms; ` +
      `data unpacked in ${this.unpacked.toFixed(0)} ms`);
    out.id = "bench";
    document.querySelector("main").prepend(out);
  }
}

readPalette();
const began = performance.now();
readData().then((data) => new Page(data, performance.now() - began)).catch((error) => {
  const notice = element("p", `The schedule cannot be drawn: ${error.message}. The tables hold every figure.`, "card notice");
  notice.id = "failed";
  document.getElementById("schedule").before(notice);
});

/** How much of the run is shown at first: two of the longest periods, but no more than sixty of the shortest. */
function firstWindow(data) {
  const periods = data.tasks.map((task) => task.period).filter((period) => period > 0);
  if (!periods.length) return data.duration;
  return Math.min(data.duration, 2 * Math.max(...periods), 60 * Math.min(...periods));
}
