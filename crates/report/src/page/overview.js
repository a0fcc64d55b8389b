// The overview: how busy the cores are over the whole run, by level, with a brush for the time that is in sight.

/** Busy cores per bin, summed up from the lowest level to the highest, for a stacked plot. */
function loadByLevel(data, bins) {
  const used = [0, 1, 2, 3].filter((level) => data.tasks.some((task) => (task.level ?? 0) === level));
  const load = new Map(used.map((level) => [level, new Float64Array(bins)]));
  const width = data.duration / bins;
  for (const list of data.runs) {
    for (let i = 0; i < list.n; i++) {
      const out = load.get(data.tasks[list.task[i]].level ?? 0);
      const end = Math.min(list.end[i], data.duration);
      for (let at = list.start[i]; at < end; ) {
        const bin = Math.min(bins - 1, Math.floor(at / width));
        const stop = bin === bins - 1 ? end : Math.min(end, (bin + 1) * width);
        out[bin] += (stop - at) / width;
        at = Math.max(stop, at + 1);
      }
    }
  }
  const stacked = new Map();
  let below = new Float64Array(bins);
  for (const level of used) {
    below = below.map((v, i) => v + load.get(level)[i]);
    stacked.set(level, below);
  }
  return stacked;
}

class Overview {
  constructor(data, gantt) {
    this.data = data;
    this.gantt = gantt;
    this.root = document.getElementById("overview");
    this.bins = 480;
    this.load = loadByLevel(data, this.bins);
  }

  build(width) {
    const { data, bins } = this;
    this.plot?.destroy();
    const levels = [...this.load.keys()].reverse();
    const seconds = Float64Array.from({ length: bins }, (_, i) => ((i + 0.5) * data.duration) / bins / 1e9);
    const axis = { stroke: css(palette.soft), grid: { show: false }, ticks: { show: false }, font: `11px ${palette.font}` };
    const options = {
      width, height: 84, padding: [6, MARGIN, 0, 0], legend: { show: false },
      cursor: { show: false }, select: { show: false },
      scales: { x: { time: false, range: [0, data.duration / 1e9] }, y: { range: [0, data.cores] } },
      axes: [
        { ...axis, size: 22, space: 90, values: (_, splits) => splits.map((s) => `${Number(s.toFixed(6))} s`) },
        { ...axis, size: GUTTER, splits: () => [0, data.cores], values: (_, splits) => splits.map((n) => (n ? `${n} ${n === 1 ? "core" : "cores"} busy` : "0")) },
      ],
      series: [{}, ...levels.map((level) => ({
        stroke: css(palette.levels[level]), width: 0, fill: css(palette.levels[level]), points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }),
      }))],
    };
    this.plot = new uPlot(options, [seconds, ...levels.map((level) => this.load.get(level))], this.root);
    this.brush = element("div", undefined, "brush");
    this.plot.over.append(this.brush);
    this.attach();
    this.show(this.gantt.t0, this.gantt.t1);
  }

  show(t0, t1) {
    if (!this.brush) return;
    this.brush.style.left = `${(t0 / this.data.duration) * 100}%`;
    this.brush.style.width = `${((t1 - t0) / this.data.duration) * 100}%`;
  }

  /** Dragging the brush moves it, dragging its edges resizes it, dragging beside it starts a new one. */
  attach() {
    const { gantt, data } = this;
    const { over } = this.plot;
    const timeAt = (event) => {
      const box = over.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * data.duration;
    };
    let drag = null;
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const at = timeAt(event);
      const box = this.brush.getBoundingClientRect();
      const inBrush = event.target === this.brush;
      const near = (edge) => inBrush && Math.abs(event.clientX - edge) < 8;
      const whole = gantt.t1 - gantt.t0 > data.duration * 0.999;
      if (near(box.left)) drag = { fixed: gantt.t1 };
      else if (near(box.right)) drag = { fixed: gantt.t0 };
      else if (inBrush && !whole) drag = { at, t0: gantt.t0, t1: gantt.t1 };
      else drag = { fixed: at };
      over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const at = timeAt(event);
      if (drag.fixed !== undefined) {
        if (Math.abs(at - drag.fixed) > data.duration / 500) gantt.look(Math.min(at, drag.fixed), Math.max(at, drag.fixed));
        return;
      }
      const span = drag.t1 - drag.t0;
      const t0 = Math.max(0, Math.min(data.duration - span, drag.t0 + at - drag.at));
      gantt.look(t0, t0 + span);
    });
    for (const name of ["pointerup", "pointercancel"]) over.addEventListener(name, () => (drag = null));
    over.addEventListener("wheel", (event) => {
      event.preventDefault();
      gantt.zoom(1.0018 ** event.deltaY, Math.max(gantt.t0, Math.min(gantt.t1, timeAt(event))));
    }, { passive: false });
  }
}
