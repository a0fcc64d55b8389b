// Marks: what is drawn over the strips once there is room for it. Each function draws one kind within one row.

/** A diagonal pattern that lets the ground through. */
function hatch(context, colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const x of [-6, 0, 6]) {
    pen.moveTo(x, 6);
    pen.lineTo(x + 6, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

/** Calls `each(x, width, index)` for every visible stretch that is at least `least` pixels wide. */
function visible(list, plot, least, each) {
  for (let i = firstAbove(list.end, plot.t0, list.n); i < list.n && list.start[i] < plot.t1; i++) {
    const a = Math.max(plot.left, plot.x(list.start[i]));
    const b = Math.min(plot.right, plot.x(list.end[i]));
    if (b - a >= least) each(a, b - a, i);
  }
}

/** How many stretches or jobs of an ascending column are in sight. */
function inSight(column, plot, n) {
  return firstAbove(column, plot.t1, n) - firstAbove(column, plot.t0, n);
}

function drawHatches(context, list, plot, y, height, pattern) {
  if (inSight(list.start, plot, list.n) > 600) return;
  context.fillStyle = pattern;
  visible(list, plot, 3, (x, width) => context.fillRect(x, y, width, height));
}

/** Ends of stretches: a dark edge where a job lost its core. */
function drawPreemptions(context, list, plot, y, height) {
  if (inSight(list.end, plot, list.n) > plot.width / 7) return;
  context.fillStyle = css(palette.ink);
  visible(list, plot, 1, (x, width, i) => {
    if (list.ending[i] === 0 && list.end[i] <= plot.t1) context.fillRect(x + width - 2, y, 2, height);
  });
}

/** Text inside stretches that are wide enough for it. */
function drawLabels(context, list, plot, y, label, colour) {
  if (inSight(list.start, plot, list.n) > plot.width / 5) return;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  visible(list, plot, 16, (x, width, i) => {
    const text = label(i);
    context.fillStyle = colour(i);
    const room = Math.floor((width - 7) / 6.4);
    if (text.length <= room) context.fillText(text, x + 4, y);
    else if (room >= 4) context.fillText(text.slice(0, room - 1) + "…", x + 4, y);
  });
}

function arrow(context, x, top, bottom, up) {
  const tip = up ? top : bottom;
  const back = up ? tip + 4 : tip - 4;
  context.moveTo(x, top);
  context.lineTo(x, bottom);
  context.moveTo(x - 2.5, back);
  context.lineTo(x, tip);
  context.lineTo(x + 2.5, back);
}

/** Releases and deadlines: arrows where there is room, ticks where there is less, nothing in a crowd. */
function drawArrows(context, task, plot, top, bottom) {
  const { jobs } = task;
  const from = Math.max(0, firstAbove(jobs.release, plot.t0 - task.deadline, jobs.n));
  const to = firstAbove(jobs.release, plot.t1, jobs.n);
  const pitch = plot.width / Math.max(1, to - from);
  if (pitch < 5) return;
  context.lineWidth = 1;
  context.strokeStyle = css(palette.ink, pitch < 14 ? 0.35 : 0.75);
  context.beginPath();
  for (let i = from; i < to; i++) {
    const release = Math.round(plot.x(jobs.release[i])) + 0.5;
    const deadline = Math.round(plot.x(jobs.release[i] + task.deadline)) + 0.5;
    if (pitch < 14) {
      context.moveTo(release, bottom - 4);
      context.lineTo(release, bottom);
      continue;
    }
    if (release >= plot.left) arrow(context, release, top, bottom, true);
    if (deadline >= plot.left && deadline <= plot.right) arrow(context, deadline, top, bottom, false);
  }
  context.stroke();
}

/** A thin line from release to completion: the job is there and waits or runs. */
function drawWaits(context, task, plot, y) {
  const { jobs } = task;
  const from = Math.max(0, firstAbove(jobs.release, plot.t0, jobs.n) - 1);
  const to = firstAbove(jobs.release, plot.t1, jobs.n);
  if (to - from > plot.width / 5) return;
  context.fillStyle = css(palette.soft, 0.8);
  for (let i = from; i < to; i++) {
    const end = overAt(task, jobs, i, plot.end);
    const a = Math.max(plot.left, plot.x(jobs.release[i]));
    const b = Math.min(plot.right, plot.x(end));
    if (b > a) context.fillRect(a, y, b - a, 1);
  }
}

/** Time past deadlines in red, with a cross where a miss begins. Never left out, however far one zooms out. */
function drawMisses(context, task, plot, top, bottom) {
  const { jobs } = task;
  if (!jobs.missed.length) return;
  context.fillStyle = css(palette.late);
  context.strokeStyle = css(palette.late);
  context.lineWidth = 1.75;
  context.beginPath();
  let last = -Infinity;
  for (let n = 0; n < jobs.missed.length; n++) {
    const at = jobs.missedAt[n];
    const end = Math.max(at, overAt(task, jobs, jobs.missed[n], plot.end));
    if (end < plot.t0 || at > plot.t1) continue;
    const a = Math.max(plot.left, plot.x(at));
    const b = Math.min(plot.right, Math.max(a + 2, plot.x(end)));
    if (b < last + 1) continue;
    context.fillRect(a, bottom - 3, b - a, 3);
    if (a > last + 7 || last === -Infinity) {
      context.moveTo(a - 3, top);
      context.lineTo(a + 3, top + 6);
      context.moveTo(a + 3, top);
      context.lineTo(a - 3, top + 6);
      last = a;
    }
  }
  context.stroke();
}

/** A triangle where a job is still there when its bound ends. Never left out, however far one zooms out. */
function drawOutlived(context, task, plot, top) {
  const { jobs } = task;
  context.fillStyle = css(palette.late);
  let last = -Infinity;
  for (const at of jobs.outlivedAt) {
    if (at < plot.t0 || at > plot.t1) continue;
    const x = plot.x(at);
    if (x < last + 7) continue;
    last = x;
    context.beginPath();
    context.moveTo(x - 5, top);
    context.lineTo(x + 5, top);
    context.lineTo(x, top + 9);
    context.fill();
  }
}

/** A diamond where a component was stopped. */
function drawFault(context, plot, time, y) {
  if (time < plot.t0 || time > plot.t1) return;
  const x = plot.x(time);
  context.fillStyle = css(palette.late);
  context.beginPath();
  context.moveTo(x, y - 6);
  context.lineTo(x + 6, y);
  context.lineTo(x, y + 6);
  context.lineTo(x - 6, y);
  context.fill();
}
