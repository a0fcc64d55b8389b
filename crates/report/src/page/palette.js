// Colours, taken from the style sheet so that light and dark are told in one place.

const LEVELS = ["A", "B", "C", "D"];
const palette = {};

function parseColour(text) {
  const n = parseInt(text.trim().slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

function mix(a, b, share) {
  return a.map((v, i) => Math.round(v + (b[i] - v) * share));
}

function css([r, g, b], alpha = 1) {
  return `rgb(${r} ${g} ${b} / ${alpha})`;
}

/** Reads the colours again; called at the start and when the colour scheme changes. */
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["card", "ink", "soft", "line", "faint", "late", "work", "link", "row", "chosen"]) {
    palette[name] = parseColour(style.getPropertyValue(`--${name}`));
  }
  palette.levels = ["a", "b", "c", "d"].map((name) => parseColour(style.getPropertyValue(`--${name}`)));
  palette.font = getComputedStyle(document.body).fontFamily;
}

/** The colour of a task's level; of a task without a level, its own: hues as far apart as can be, by the golden angle. */
function levelColour(task) {
  return task.level === null ? hue(task.id * 137.508 + 210) : palette.levels[task.level];
}

/** A colour of this hue (degrees) that is as light as those of the levels. */
function hue(degrees) {
  const channel = (n) => {
    const k = (n + degrees / 30) % 12;
    return Math.round(255 * (0.54 - 0.26 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** A shade of the level's colour, so that neighbours on one core can be told apart. */
function shadeColour(task, index) {
  if (task.level === null) return levelColour(task);
  const towards = [null, palette.card, palette.ink][index % 3];
  return towards ? mix(levelColour(task), towards, 0.24) : levelColour(task);
}

/** Dark or light text, whichever can be read on a colour. */
function textOn([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b > 135 ? "#14171a" : "#ffffff";
}
