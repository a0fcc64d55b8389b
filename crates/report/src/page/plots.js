// Distributions, by uPlot: response times of a task against bound and deadline, and the system's own work.

/** A histogram over [0, most]: left edges, and counts per bin for each column of values. */
function histogram(columns, most, bins) {
  const width = most / bins;
  const edges = Float64Array.from({ length: bins + 1 }, (_, i) => i * width);
  const counts = columns.map((values) => {
    const out = new Float64Array(bins + 1);
    for (const v of values) if (v >= 0) out[Math.min(bins - 1, Math.floor(v / width))]++;
    return out;
  });
  return { edges, counts };
}

/** Heights are log10(1 + count), so that one late job among thousands can be seen. */
const heights = (counts) => counts.map((n) => Math.log10(1 + n));
const COUNT_TICKS = [0, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 1e7];

function countAxis(highest) {
  // Threes only where there are few decades to tell apart.
  const shown = COUNT_TICKS.filter((n) => n === 0 || (n <= Math.max(1, highest) && (highest < 200 || !String(n).startsWith("3"))));
  return {
    splits: () => shown.map((n) => Math.log10(1 + n)),
    values: () => shown.map((n) => (n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : String(n))),
  };
}

/** Draws upright lines: `[value, dashed, label]`. One beyond the right edge is named there with an arrow. */
function uprights(lines) {
  return (u) => {
    const { ctx, bbox } = u;
    const ratio = window.devicePixelRatio || 1;
    ctx.save();
    ctx.font = `${11 * ratio}px ${palette.font}`;
    ctx.textBaseline = "top";
    ctx.textAlign = "left";
    lines.forEach(([value, dashed, label], i) => {
      const x = u.valToPos(value, "x", true);
      const beyond = x > bbox.left + bbox.width + 1;
      ctx.strokeStyle = css(dashed ? palette.soft : palette.late);
      if (!beyond) {
        ctx.lineWidth = 1.5 * ratio;
        ctx.setLineDash(dashed ? [4 * ratio, 3 * ratio] : []);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
      const text = beyond ? `${label} →` : label;
      const wide = ctx.measureText(text).width;
      const right = beyond || x + wide + 6 * ratio > bbox.left + bbox.width;
      const left = right ? Math.min(x, bbox.left + bbox.width) - wide - 4 * ratio : x + 4 * ratio;
      const top = bbox.top + i * 13 * ratio;
      ctx.fillStyle = css(palette.card, 0.85);
      ctx.fillRect(left - 2 * ratio, top, wide + 4 * ratio, 12 * ratio);
      ctx.fillStyle = ctx.strokeStyle;
      ctx.fillText(text, left, top);
    });
    ctx.restore();
  };
}

function axes(unit, highest, space) {
  const axis = {
    stroke: css(palette.soft), font: `11px ${palette.font}`,
    grid: { stroke: css(palette.faint), width: 1 }, ticks: { stroke: css(palette.line), width: 1, size: 4 },
  };
  return [
    { ...axis, size: 28, space, values: (_, splits) => splits.map((v) => `${Number(v.toFixed(6))} ${unit}`) },
    { ...axis, size: 38, ...countAxis(highest) },
  ];
}

/** The response times of one task. */
function responsePlot(task, into, width, height) {
  const values = Array.from(task.jobs.response).filter((v) => !Number.isNaN(v));
  const longest = values.reduce((a, b) => Math.max(a, b), 0);
  const lines = [[task.deadline, true, "deadline"]];
  if (task.bound !== null) lines.push([task.bound, false, "bound"]);
  // A line more than five times as far as the longest response would squeeze all bars to the left.
  const near = lines.map(([value]) => value).filter((value) => value <= 5 * longest);
  const most = Math.max(longest, ...near, 1000) * 1.06;
  const { edges, counts } = histogram([values], most, Math.max(24, Math.min(90, Math.floor(width / 6))));
  const highest = counts[0].reduce((a, b) => Math.max(a, b), 0);
  const [unit, name] = most >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const colour = levelColour(task);
  // Names of lines beyond the edge stand above the bars.
  const beyond = lines.filter(([value]) => value > most).length;
  const top = (Math.log10(1 + highest) || 1) * (1.08 + (beyond * 17) / height);
  return new uPlot({
    width, height, padding: [8, 18, 0, 0], legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: [0, most / unit] }, y: { range: [0, top] } },
    axes: axes(name, highest, 64),
    series: [{}, {
      fill: css(colour, 0.75), stroke: css(colour), width: 0, points: { show: false },
      paths: uPlot.paths.bars({ align: 1, size: [1, Infinity], gap: 1 }),
    }],
    hooks: { draw: [uprights(lines.map(([value, dashed, label]) => [value / unit, dashed, `${label} ${brief(value)}`]))] },
  }, [edges.map((v) => v / unit), heights(counts[0])], into);
}

/** One distribution per core, as stepped lines in one plot. */
function corePlot(title, columns, into, width) {
  const longest = columns.reduce((most, values) => values.reduce((a, b) => Math.max(a, b), most), 0);
  const { edges, counts } = histogram(columns, longest * 1.03 || 1000, 120);
  const highest = Math.max(...counts.map((column) => column.reduce((a, b) => Math.max(a, b), 0)));
  const [unit, name] = longest >= 1e7 ? [1e6, "ms"] : [1e3, "µs"];
  const colours = columns.map((_, core) => mix(palette.levels[core % 4], palette.ink, core >= 4 ? 0.45 : 0));
  const card = element("div", undefined, "plot-card");
  card.append(element("h3", title));
  into.append(card);
  return new uPlot({
    width: width - 22, height: 210, padding: [8, 18, 0, 0],
    legend: { markers: { width: 2 } },
    scales: { x: { time: false, range: [0, edges[edges.length - 1] / unit] }, y: { range: [0, Math.log10(1 + highest) * 1.06 || 1] } },
    axes: axes(name, highest, 70),
    series: [
      { label: "from", value: (_, v) => (v === null ? "–" : `${v.toFixed(2)} ${name}`) },
      ...colours.map((colour, core) => ({
        label: `Core ${core}`, stroke: css(colour), width: 1.5, points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }),
        value: (_, v) => (v === null ? "–" : counted(Math.round(10 ** v - 1))),
      })),
    ],
  }, [edges.map((v) => v / unit), ...counts.map(heights)], card);
}

/** The grid of response plots; each is drawn when it comes into sight. */
class Histograms {
  constructor(pick) {
    this.pick = pick;
    this.root = document.getElementById("histograms");
    this.cards = new Map();
    this.watch = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.fill(entry.target);
    }, { rootMargin: "300px" });
  }

  show(tasks) {
    this.watch.disconnect();
    this.root.replaceChildren(...tasks.map((task) => this.card(task)));
    for (const card of this.root.children) this.watch.observe(card);
  }

  card(task) {
    if (this.cards.has(task)) return this.cards.get(task);
    const card = element("div", undefined, "plot-card");
    const head = element("h3");
    const link = element("a", task.name);
    link.href = `#task=${task.id}`;
    link.title = task.name;
    if (task.level !== null) head.append(element("span", LEVELS[task.level], `level level-${LEVELS[task.level]}`));
    head.append(link, element("small", `${counted(task.jobs.n)} jobs`));
    card.append(head);
    card.task = task;
    this.cards.set(task, card);
    return card;
  }

  fill(card) {
    if (card.plot || !card.clientWidth) return;
    card.plot = responsePlot(card.task, card, card.clientWidth - 22, 128);
  }

  /** Colours or widths have changed: draws again what is in sight. */
  forget() {
    for (const card of this.cards.values()) {
      card.plot?.destroy();
      card.plot = null;
    }
  }
}
