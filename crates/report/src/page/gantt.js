// The schedule: cores on top, tasks below, over one time axis. Draws, and turns pointer and keys into views.

const GUTTER = 210;
const MARGIN = 18;
const AXIS = 26;
const CORE_ROW = 30;
const TASK_ROW = 24;
const SERVER_ROW = 24;
const CORE_STRIPS = TALL + 2;
const LEAST_SPAN = 1000;

class Gantt {
  constructor(data, listen) {
    this.data = data;
    this.listen = listen;
    this.root = document.getElementById("gantt");
    this.rows = document.getElementById("rows");
    this.space = document.getElementById("row-space");
    this.coreCanvas = document.getElementById("core-canvas");
    this.rowCanvas = document.getElementById("row-canvas");
    this.crosshair = document.getElementById("crosshair");
    this.band = document.getElementById("band");
    this.tip = document.getElementById("tip");
    this.strips = new Strips();
    this.tasks = data.tasks;
    data.partitions.forEach((it, n) => it.tasks.forEach((task) => (data.tasks[task].partition = n)));
    this.chosen = null;
    this.t0 = 0;
    this.t1 = data.duration;
    this.rows.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.layout()).observe(this.root);
    attachPointer(this);
    attachKeys(this);
    this.restyle();
  }

  /** Colours have changed. */
  restyle() {
    readPalette();
    const table = new Uint8Array(Math.max(1, this.data.tasks.length) * 3);
    const seen = [0, 0, 0, 0];
    this.data.tasks.forEach((task, i) => {
      task.colour = levelColour(task);
      task.colourText = textOn(task.colour);
      table.set((task.shade = shadeColour(task, seen[task.level ?? 0]++)), i * 3);
      task.shadeText = textOn(task.shade);
    });
    this.shades = table;
    this.levels = Uint8Array.from(this.data.tasks, (task) => task.level ?? 0);
    this.layout();
  }

  /** The tasks shown, in this order. */
  show(tasks) {
    this.tasks = tasks;
    document.getElementById("no-rows").hidden = tasks.length > 0;
    this.layout();
  }

  layout() {
    const width = this.root.clientWidth;
    if (!width) return;
    this.ratio = window.devicePixelRatio || 1;
    const wanted = this.tasks.length * TASK_ROW;
    const seen = Math.min(wanted, Math.max(240, Math.min(624, window.innerHeight - 330)));
    this.rows.style.height = `${seen}px`;
    // The scroll bar stands beside the plot, so that both canvases end at the same place.
    this.width = Math.floor(this.rows.clientWidth || width);
    this.size(this.coreCanvas, AXIS + this.data.cores * CORE_ROW + this.data.servers.length * SERVER_ROW + 6);
    this.size(this.rowCanvas, Math.max(1, seen));
    this.space.style.height = `${Math.max(0, wanted - seen)}px`;
    this.hatches = palette.levels.map((colour) => hatch(this.coreCanvas.getContext("2d"), css(colour)));
    this.listen.resized?.(this.width);
    this.redraw();
  }

  size(canvas, height) {
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(this.width * this.ratio);
    canvas.height = Math.round(height * this.ratio);
    canvas.drawnHeight = height;
  }

  /** Shows the time from `t0` to `t1`, held within the run and to a span that can be drawn. */
  look(t0, t1) {
    const { duration } = this.data;
    const span = Math.min(duration, Math.max(LEAST_SPAN, t1 - t0));
    const middle = (t0 + t1) / 2;
    this.t0 = Math.max(0, Math.min(duration - span, middle - span / 2));
    this.t1 = this.t0 + span;
    this.listen.looked?.(this.t0, this.t1);
    this.redraw();
  }

  /** Zooms by a factor around an instant. */
  zoom(factor, around = (this.t0 + this.t1) / 2) {
    const { duration } = this.data;
    const span = Math.min(duration, Math.max(LEAST_SPAN, (this.t1 - this.t0) * factor));
    const share = (around - this.t0) / (this.t1 - this.t0);
    const t0 = Math.max(0, Math.min(duration - span, around - share * span));
    this.look(t0, t0 + span);
  }

  pan(by) {
    const span = this.t1 - this.t0;
    const t0 = Math.max(0, Math.min(this.data.duration - span, this.t0 + by));
    this.look(t0, t0 + span);
  }

  choose(task) {
    this.chosen = task;
    this.redraw();
  }

  /** Scrolls so that the task's row is in sight. */
  reveal(task) {
    const row = this.tasks.indexOf(task);
    if (row < 0) return;
    const top = row * TASK_ROW;
    const { scrollTop, clientHeight } = this.rows;
    if (top < scrollTop || top + TASK_ROW > scrollTop + clientHeight) {
      this.rows.scrollTop = Math.max(0, top - clientHeight / 2);
    }
  }

  redraw() {
    if (this.pending || !this.width) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.draw();
    });
  }

  /** What a row needs to know to place things. */
  plot() {
    const { t0, t1, width } = this;
    const room = width - GUTTER - MARGIN;
    const scale = room / (t1 - t0);
    return {
      t0, t1, left: GUTTER, right: width - MARGIN, width: room, end: this.data.end,
      x: (time) => GUTTER + (time - t0) * scale,
    };
  }

  draw() {
    const plot = this.plot();
    const ticks = timeTicks(this.t0, this.t1, Math.max(2, plot.width / 130));
    this.drawCores(plot, ticks);
    this.drawRows(plot, ticks);
  }

  begin(canvas) {
    const context = canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, canvas.drawnHeight);
    return context;
  }

  grid(context, plot, ticks, top, bottom) {
    context.fillStyle = css(palette.line);
    for (const [time] of ticks) context.fillRect(Math.round(plot.x(time)), top, 1, bottom - top);
  }

  /** Confines drawing to the plot, right of the names. */
  clip(context, height, draw) {
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, this.width - GUTTER - MARGIN, height);
    context.clip();
    draw();
    context.restore();
  }

  drawCores(plot, ticks) {
    const { data, strips } = this;
    const context = this.begin(this.coreCanvas);
    const height = this.coreCanvas.drawnHeight;
    strips.begin(Math.round(plot.width * this.ratio), data.cores * CORE_STRIPS, this.t0, this.t1);
    for (let core = 0; core < data.cores; core++) {
      strips.add(data.ghosts[core], data.ghosts[core].task, this.shades);
      strips.flush(core * CORE_STRIPS, 0.4);
      strips.add(data.turns[core], null, palette.work);
      strips.flush(core * CORE_STRIPS + 1);
      strips.stack(core * CORE_STRIPS + 2, data.runs[core], data.runs[core].task, this.shades, this.levels);
    }
    strips.end();
    context.font = `12px ${palette.font}`;
    context.textBaseline = "middle";
    context.fillStyle = css(palette.soft);
    for (const [time, label] of ticks) {
      const x = plot.x(time);
      const wide = context.measureText(label).width;
      context.fillText(label, Math.min(this.width - wide, Math.max(GUTTER, x - wide / 2)), AXIS / 2);
    }
    this.clip(context, height, () => {
      this.grid(context, plot, ticks, AXIS, height);
      for (let core = 0; core < data.cores; core++) {
        drawWindows(context, data, plot, core, null, AXIS + core * CORE_ROW, CORE_ROW - 2);
        this.drawCore(context, plot, core);
      }
      for (const fault of data.faults) drawFault(context, plot, fault.time, AXIS + fault.core * CORE_ROW + 15);
      data.servers.forEach((server, n) => drawBudget(context, plot, server, this.serverTop(n)));
    });
    context.font = `12.5px ${palette.font}`;
    context.fillStyle = css(palette.ink);
    for (let core = 0; core < data.cores; core++) context.fillText(`Core ${core}`, 10, AXIS + core * CORE_ROW + 15);
    data.servers.forEach((server, n) => {
      const text = this.fitted(context, server, GUTTER - 70);
      context.fillStyle = css(palette.ink);
      context.fillText(text, 10, this.serverTop(n) + SERVER_ROW / 2);
      context.fillStyle = css(palette.soft);
      context.fillText(`core ${server.core}`, GUTTER - 54, this.serverTop(n) + SERVER_ROW / 2);
    });
    context.fillStyle = css(palette.line);
    context.fillRect(0, height - 1, this.width, 1);
  }

  /** The upper edge of the row of a server. */
  serverTop(n) {
    return AXIS + this.data.cores * CORE_ROW + n * SERVER_ROW;
  }

  drawCore(context, plot, core) {
    const { data, strips } = this;
    const y = AXIS + core * CORE_ROW;
    const ghosts = data.ghosts[core];
    strips.draw(context, core * CORE_STRIPS, plot.left, y + 1, plot.width, 5);
    if (inSight(ghosts.start, plot, ghosts.n) < 600) {
      visible(ghosts, plot, 3, (x, width, i) => {
        context.fillStyle = this.hatches[data.tasks[ghosts.task[i]].level ?? 0];
        context.fillRect(x, y + 1, width, 5);
      });
    }
    strips.draw(context, core * CORE_STRIPS + 2, plot.left, y + 7, plot.width, TALL, TALL);
    drawPreemptions(context, data.runs[core], plot, y + 7, 16);
    drawLabels(context, data.runs[core], plot, y + 15.5, 
      (i) => data.tasks[data.runs[core].task[i]].name, (i) => data.tasks[data.runs[core].task[i]].shadeText);
    strips.draw(context, core * CORE_STRIPS + 1, plot.left, y + 24, plot.width, 3);
  }

  drawRows(plot, ticks) {
    const context = this.begin(this.rowCanvas);
    const height = this.rowCanvas.drawnHeight;
    const scroll = this.rows.scrollTop;
    const first = Math.floor(scroll / TASK_ROW);
    const shown = this.tasks.slice(first, first + Math.ceil(height / TASK_ROW) + 1);
    const { strips } = this;
    strips.begin(Math.round(plot.width * this.ratio), shown.length * 2, this.t0, this.t1);
    shown.forEach((task, i) => {
      strips.add(task.ghosts, null, task.colour);
      strips.flush(i * 2, 0.35);
      strips.add(task.runs, null, task.colour);
      strips.flush(i * 2 + 1);
    });
    strips.end();
    shown.forEach((task, i) => {
      const y = (first + i) * TASK_ROW - scroll;
      if (task === this.chosen || (first + i) % 2) {
        context.fillStyle = css(task === this.chosen ? palette.chosen : palette.row);
        context.fillRect(0, y, this.width, TASK_ROW);
      }
    });
    this.clip(context, height, () => {
      this.grid(context, plot, ticks, 0, height);
      shown.forEach((task, i) => this.drawTask(context, plot, task, i, (first + i) * TASK_ROW - scroll));
      for (const fault of this.data.faults) {
        const row = shown.findIndex((task) => task.id === fault.task);
        if (row >= 0) drawFault(context, plot, fault.time, (first + row) * TASK_ROW - scroll + TASK_ROW / 2);
      }
    });
    shown.forEach((task, i) => this.drawName(context, task, (first + i) * TASK_ROW - scroll));
  }

  drawTask(context, plot, task, strip, y) {
    if (task.partition !== undefined) drawWindows(context, this.data, plot, task.core, task.partition, y, TASK_ROW);
    drawWaits(context, task, plot, y + 15);
    this.strips.draw(context, strip * 2, plot.left, y + 9, plot.width, 12);
    drawHatches(context, task.ghosts, plot, y + 9, 12, this.hatches[task.level ?? 0]);
    this.strips.draw(context, strip * 2 + 1, plot.left, y + 9, plot.width, 12);
    drawPreemptions(context, task.runs, plot, y + 9, 12);
    drawLabels(context, task.runs, plot, y + 15.5, (i) => String(task.runs.job[i]), () => task.colourText);
    drawArrows(context, task, plot, y + 2, y + 21);
    drawMisses(context, task, plot, y + 2, y + 23);
    drawOutlived(context, task, plot, y + 1);
  }

  drawName(context, task, y) {
    const middle = y + TASK_ROW / 2;
    context.fillStyle = css(task.colour);
    context.beginPath();
    context.roundRect(10, middle - 7, 14, 14, 3);
    context.fill();
    context.textBaseline = "middle";
    if (task.level !== null) {
      context.font = `600 10px ${palette.font}`;
      context.fillStyle = css(palette.card);
      context.textAlign = "center";
      context.fillText(LEVELS[task.level], 17, middle + 0.5);
      context.textAlign = "left";
    }
    const missed = task.jobs.missed.length;
    const note = missed ? `✗ ${counted(missed)}` : "";
    context.font = `12.5px ${palette.font}`;
    const taken = note ? context.measureText(note).width + 12 : 0;
    context.fillStyle = css(palette.ink);
    context.fillText(this.fitted(context, task, GUTTER - 40 - taken), 31, middle + 0.5);
    if (note) {
      context.fillStyle = css(palette.late);
      context.fillText(note, GUTTER - taken, middle + 0.5);
    }
  }

  /** The name of a task or server, shortened to the room there is. */
  fitted(context, task, room) {
    if (task.fitted?.room === room) return task.fitted.text;
    let text = task.name;
    for (let n = text.length - 1; n > 0 && context.measureText(text).width > room; n--) text = task.name.slice(0, n) + "…";
    task.fitted = { room, text };
    return text;
  }
}
