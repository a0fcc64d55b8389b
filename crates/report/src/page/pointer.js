// Pointer, wheel and keys on the schedule: each becomes a view, a chosen task, or a tool-tip.

const PART_OF_CORE = [[6, "ghost"], [23, "run"], [Infinity, "scheduler"]];

/** What lies at a pointer event: time, and the core or task whose row it is. */
function placeAt(gantt, event) {
  const box = gantt.root.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const share = (x - GUTTER) / gantt.plot().width;
  const place = { x, y, time: gantt.t0 + share * (gantt.t1 - gantt.t0), inPlot: share >= 0 && share <= 1 };
  if (event.target === gantt.coreCanvas) {
    const top = gantt.coreCanvas.getBoundingClientRect().top;
    const row = Math.floor((event.clientY - top - AXIS) / CORE_ROW);
    if (row >= 0 && row < gantt.data.cores) {
      const within = event.clientY - top - AXIS - row * CORE_ROW;
      place.core = row;
      place.part = PART_OF_CORE.find(([end]) => within < end)?.[1] ?? "scheduler";
    }
    place.axis = row < 0;
    if (row >= gantt.data.cores) place.server = gantt.data.servers[Math.floor((event.clientY - top - gantt.serverTop(0)) / SERVER_ROW)];
  } else if (event.target === gantt.rowCanvas) {
    const top = gantt.rowCanvas.getBoundingClientRect().top;
    place.task = gantt.tasks[Math.floor((event.clientY - top + gantt.rows.scrollTop) / TASK_ROW)];
  }
  return place;
}

function hideTip(gantt) {
  gantt.tip.hidden = gantt.crosshair.hidden = true;
}

function showTip(gantt, place) {
  const { root, tip, crosshair, data } = gantt;
  const top = gantt.coreCanvas.offsetTop;
  crosshair.hidden = !place.inPlot;
  crosshair.style.left = `${place.x}px`;
  crosshair.style.top = `${top}px`;
  crosshair.style.height = `${root.clientHeight - top}px`;
  // Three pixels of grace, so that stretches thinner than a pixel can be met.
  const slack = ((gantt.t1 - gantt.t0) / gantt.plot().width) * 1.5;
  let content = null;
  if (place.inPlot && place.core !== undefined) content = coreTip(data, place.core, place.time, slack, place.part);
  else if (place.server) content = serverTip(place.server, place.time, place.inPlot);
  else if (place.inPlot && place.task) content = taskTip(data, place.task, place.time, slack);
  else if (place.task) {
    const { name, level, core, period, deadline } = place.task;
    content = tipContent(name, [
      ["level", level === null ? "none" : LEVELS[level]],
      ["core", core === null ? "any" : String(core)],
      ["period", exact(period)],
      ["deadline", exact(deadline)],
    ]);
  } else if (place.inPlot && place.axis) content = tipContent(instant(place.time), []);
  tip.hidden = !content;
  if (!content) return;
  tip.replaceChildren(...content);
  const left = place.x + 16 + tip.offsetWidth > root.clientWidth ? place.x - 14 - tip.offsetWidth : place.x + 16;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${place.y + 18}px`;
}

/** Picks the task under the pointer. */
function pick(gantt, place) {
  let task = place.task;
  if (place.core !== undefined && place.inPlot) {
    const slack = ((gantt.t1 - gantt.t0) / gantt.plot().width) * 1.5;
    const list = place.part === "ghost" ? gantt.data.ghosts[place.core] : gantt.data.runs[place.core];
    const i = stretchAt(list, place.time, slack);
    if (i >= 0) task = gantt.data.tasks[list.task[i]];
  }
  if (task) gantt.listen.picked?.(task);
}

function attachPointer(gantt) {
  let drag = null;
  const bandTo = (place) => {
    const a = Math.max(GUTTER, Math.min(drag.x, place.x));
    const b = Math.min(gantt.plot().right, Math.max(drag.x, place.x));
    gantt.band.hidden = false;
    Object.assign(gantt.band.style, {
      left: `${a}px`, width: `${Math.max(0, b - a)}px`, top: `${gantt.coreCanvas.offsetTop}px`,
      height: `${gantt.root.clientHeight - gantt.coreCanvas.offsetTop}px`,
    });
  };
  for (const canvas of [gantt.coreCanvas, gantt.rowCanvas]) {
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const place = placeAt(gantt, event);
      drag = { ...place, t0: gantt.t0, t1: gantt.t1, scroll: gantt.rows.scrollTop, moved: false };
      drag.select = place.inPlot && (event.shiftKey || place.axis);
      canvas.setPointerCapture(event.pointerId);
      gantt.root.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = placeAt(gantt, event);
      if (!drag) return showTip(gantt, place);
      drag.moved ||= Math.hypot(place.x - drag.x, place.y - drag.y) > 4;
      if (!drag.moved) return;
      hideTip(gantt);
      if (drag.select) return bandTo(place);
      const by = ((drag.x - place.x) / gantt.plot().width) * (drag.t1 - drag.t0);
      const span = drag.t1 - drag.t0;
      const t0 = Math.max(0, Math.min(gantt.data.duration - span, drag.t0 + by));
      gantt.look(t0, t0 + span);
      if (canvas === gantt.rowCanvas) gantt.rows.scrollTop = drag.scroll + drag.y - place.y;
    });
    canvas.addEventListener("pointerup", (event) => {
      const place = placeAt(gantt, event);
      gantt.band.hidden = true;
      if (drag && !drag.moved) pick(gantt, place);
      else if (drag?.select && Math.abs(place.x - drag.x) > 4) {
        gantt.look(Math.min(drag.time, place.time), Math.max(drag.time, place.time));
      }
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => {
      drag = null;
      gantt.band.hidden = true;
    });
    canvas.addEventListener("pointerleave", () => drag || hideTip(gantt));
    canvas.addEventListener("dblclick", (event) => {
      const place = placeAt(gantt, event);
      if (place.inPlot) gantt.zoom(0.25, place.time);
    });
    canvas.addEventListener("wheel", (event) => wheel(gantt, canvas, event), { passive: false });
  }
}

/** The wheel zooms over cores and overview; over tasks it scrolls them unless Ctrl is held. Sideways it moves. */
function wheel(gantt, over, event) {
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  const unit = event.deltaMode === 1 ? 24 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    gantt.pan(((sideways * unit) / gantt.plot().width) * (gantt.t1 - gantt.t0));
  } else if (over !== gantt.rowCanvas || event.ctrlKey || event.metaKey) {
    event.preventDefault();
    const place = placeAt(gantt, event);
    gantt.zoom(1.0018 ** (event.deltaY * unit), Math.max(gantt.t0, Math.min(gantt.t1, place.time)));
  }
}

function attachKeys(gantt) {
  const span = () => gantt.t1 - gantt.t0;
  const keys = {
    ArrowLeft: () => gantt.pan(-span() / 5),
    ArrowRight: () => gantt.pan(span() / 5),
    ArrowUp: () => (gantt.rows.scrollTop -= TASK_ROW * 3),
    ArrowDown: () => (gantt.rows.scrollTop += TASK_ROW * 3),
    PageUp: () => (gantt.rows.scrollTop -= gantt.rows.clientHeight),
    PageDown: () => (gantt.rows.scrollTop += gantt.rows.clientHeight),
    Home: () => gantt.look(0, span()),
    End: () => gantt.look(gantt.data.duration - span(), gantt.data.duration),
    "+": () => gantt.zoom(0.5),
    "=": () => gantt.zoom(0.5),
    "-": () => gantt.zoom(2),
    0: () => gantt.look(0, gantt.data.duration),
    m: () => gantt.listen.miss?.(1),
    M: () => gantt.listen.miss?.(-1),
  };
  gantt.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    hideTip(gantt);
    keys[event.key]();
  });
}
