// The run's data: JSON about the tasks, and packed columns that become typed arrays.

const ENDINGS = ["preempted", "completed", "budget used up", "taken out", "run ended"];
const REASONS = ["start", "timer", "completion", "event", "fault", "arrival", , , "end of a section"];

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads a stream of varints; sums and products instead of shifts, since times need more than 32 bits. */
function readStream(bytes, [offset, count], Type) {
  const out = new Type(count);
  let at = offset;
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    let scale = 128;
    while (byte & 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    out[i] = value;
  }
  return out;
}

/** Undoes the folding of negative numbers between the positive ones. */
function unfold(n) {
  return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
}

/** Turns gaps and lengths into starts and ends, in place. */
function placeInTime(gap, length) {
  let time = 0;
  for (let i = 0; i < gap.length; i++) {
    gap[i] = time += gap[i];
    length[i] = time += length[i];
  }
  return { start: gap, end: length, n: gap.length };
}

function readStretches(read, name) {
  const list = placeInTime(read(`${name}.gap`, Float64Array), read(`${name}.length`, Float64Array));
  list.task = read(`${name}.task`, Uint16Array);
  list.ending = read(`${name}.ending`, Uint8Array);
  list.job = read(`${name}.job`, Float64Array);
  const last = new Map();
  for (let i = 0; i < list.n; i++) {
    const job = unfold(list.job[i]) + (last.get(list.task[i]) ?? 0);
    list.job[i] = job;
    last.set(list.task[i], job);
  }
  return list;
}

/** The stretches of all cores, sorted out by task: for each task its own columns in order of time. */
function byTask(lists, tasks) {
  const counts = new Uint32Array(tasks);
  for (const list of lists) for (let i = 0; i < list.n; i++) counts[list.task[i]]++;
  const out = Array.from(counts, (n) => ({
    n: 0, start: new Float64Array(n), end: new Float64Array(n), job: new Float64Array(n),
    ending: new Uint8Array(n), core: new Uint8Array(n),
  }));
  // Merges the cores' lists, which are each in order of time.
  const next = lists.map(() => 0);
  for (;;) {
    let from = -1;
    let best = Infinity;
    for (let c = 0; c < lists.length; c++) {
      if (next[c] < lists[c].n && lists[c].start[next[c]] < best) {
        best = lists[c].start[next[c]];
        from = c;
      }
    }
    if (from < 0) return out;
    const list = lists[from];
    const i = next[from]++;
    const to = out[list.task[i]];
    const k = to.n++;
    to.start[k] = list.start[i];
    to.end[k] = list.end[i];
    to.job[k] = list.job[i];
    to.ending[k] = list.ending[i];
    to.core[k] = from;
  }
}

/** When a job is done with: at its completion, else when its task was taken out, else at the end of the run. */
function overAt(task, jobs, i, end) {
  return Number.isNaN(jobs.complete[i]) ? Math.min(task.removed ?? end, end) : jobs.complete[i];
}

/**
 * The jobs of each task: number, release, completion (NaN if none); which of them the judge counts as missed, which outlived
 * their bound, and when.
 */
function readJobs(read) {
  const counts = read("jobs.count", Float64Array);
  const number = read("jobs.number", Float64Array);
  const release = read("jobs.release", Float64Array);
  const response = read("jobs.response", Float64Array);
  const missed = read("jobs.missed", Float64Array);
  const outlived = read("jobs.outlived", Float64Array);
  let at = 0;
  return Array.from(counts, (n) => {
    const jobs = {
      n, number: number.subarray(at, at + n), release: release.subarray(at, at + n),
      complete: new Float64Array(n), response: response.subarray(at, at + n), missed: [], outlived: [],
    };
    for (let i = 0; i < n; i++) {
      jobs.number[i] += i ? jobs.number[i - 1] : 0;
      jobs.release[i] = unfold(jobs.release[i]) + (i ? jobs.release[i - 1] : 0);
      jobs.response[i] = jobs.response[i] ? jobs.response[i] - 1 : NaN;
      jobs.complete[i] = jobs.release[i] + jobs.response[i];
      if (missed[at + i]) jobs.missed.push(i);
      if (outlived[at + i]) jobs.outlived.push(i);
    }
    jobs.missedAt = jobs.missed.map((i) => jobs.release[i] + missed[at + i] - 1);
    jobs.outlivedAt = jobs.outlived.map((i) => jobs.release[i] + outlived[at + i] - 1);
    at += n;
    return jobs;
  });
}

/** Everything that the page draws. */
async function readData() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const bytes = await inflate(document.getElementById("columns").textContent);
  const read = (name, Type) => readStream(bytes, data.streams[name], Type);
  data.runs = [];
  data.ghosts = [];
  data.turns = [];
  for (let core = 0; core < data.cores; core++) {
    data.runs.push(readStretches(read, `run${core}`));
    data.ghosts.push(readStretches(read, `ghost${core}`));
    const turns = placeInTime(read(`turn${core}.gap`, Float64Array), read(`turn${core}.length`, Float64Array));
    turns.reason = read(`turn${core}.reason`, Uint8Array);
    turns.late = read(`turn${core}.late`, Float64Array).map((n) => n - 1);
    data.turns.push(turns);
  }
  data.servers.forEach((server, n) => {
    server.time = read(`budget${n}.gap`, Float64Array);
    for (let i = 1; i < server.time.length; i++) server.time[i] += server.time[i - 1];
    server.level = read(`budget${n}.level`, Uint8Array);
  });
  const runs = byTask(data.runs, data.tasks.length);
  const ghosts = byTask(data.ghosts, data.tasks.length);
  const jobs = readJobs(read);
  data.tasks.forEach((task, i) => Object.assign(task, { id: i, runs: runs[i], ghosts: ghosts[i], jobs: jobs[i] }));
  return data;
}

/** The first index whose value lies above `limit`, in an ascending column. */
function firstAbove(column, limit, n = column.length) {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The stretch of a list that covers an instant, or -1; with `slack`, one that comes that near. */
function stretchAt(list, time, slack = 0) {
  const i = firstAbove(list.end, time - slack, list.n);
  return i < list.n && list.start[i] <= time + slack ? i : -1;
}

/** The place of a job in its task's list, or -1. */
function jobIndex(jobs, number) {
  const i = firstAbove(jobs.number, number - 1, jobs.n);
  return i < jobs.n && jobs.number[i] === number ? i : -1;
}
