// Numbers as a person reads them. Times come in nanoseconds.

/** Groups of three behind the decimal point, kept together by narrow no-break spaces. */
function grouped(text) {
  return text.replace(/\.(\d+)$/, (_, digits) => "." + digits.replace(/(\d{3})(?=\d)/g, "$1\u202f"));
}

/** A length, exact to the nanosecond. */
function exact(ns) {
  const sign = ns < 0 ? "−" : "";
  const n = Math.abs(ns);
  if (n < 1e3) return `${sign}${n} ns`;
  if (n < 1e6) return `${sign}${grouped((n / 1e3).toFixed(3))} µs`;
  if (n < 1e9) return `${sign}${grouped((n / 1e6).toFixed(6))} ms`;
  return `${sign}${grouped((n / 1e9).toFixed(9))} s`;
}

/** A point of time in the run, exact to the nanosecond. */
function instant(ns) {
  return grouped((ns / 1e9).toFixed(9)) + " s";
}

/** A length to about four digits. */
function brief(ns) {
  const [unit, name] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / unit).toPrecision(4))} ${name}`;
}

/** A count with its thousands set apart. */
function counted(n) {
  return n.toLocaleString("en");
}

/** A round step that gives at most `most` ticks over `span`. */
function roundStep(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  return Math.max(1, step);
}

/** Ticks of the time axis with their labels. */
function timeTicks(t0, t1, most) {
  const step = roundStep(t1 - t0, most);
  const [unit, name] = step >= 1e8 ? [1e9, "s"] : [1e6, "ms"];
  const decimals = Math.max(0, Math.round(Math.log10(unit)) - Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let t = Math.ceil(t0 / step) * step; t <= t1; t += step) {
    ticks.push([t, `${grouped((t / unit).toFixed(decimals))} ${name}`]);
  }
  return ticks;
}
