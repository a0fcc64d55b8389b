// Tool-tips: what lies under the pointer, with exact times. Names go in as text, never as HTML.

function element(tag, text, className) {
  const out = document.createElement(tag);
  if (text !== undefined) out.textContent = text;
  if (className) out.className = className;
  return out;
}

/** Lines of a tool-tip: a heading, then pairs of name and value. */
function tipContent(heading, pairs) {
  const out = [element("b", heading)];
  for (const [name, value, bad] of pairs) {
    const line = element("span", undefined, bad ? "bad" : undefined);
    line.append(element("i", name), element("span", value));
    out.push(line);
  }
  return out;
}

function stretchPairs(list, i) {
  return [
    ["from", instant(list.start[i])],
    ["to", instant(list.end[i])],
    ["length", exact(list.end[i] - list.start[i])],
  ];
}

function jobPairs(task, number, end) {
  const i = jobIndex(task.jobs, number);
  if (i < 0) return [];
  const { release, complete, response } = task.jobs;
  const deadline = release[i] + task.deadline;
  const finished = !Number.isNaN(complete[i]);
  const pairs = [
    ["released", instant(release[i])],
    ["deadline", instant(deadline)],
    ["completed", finished ? instant(complete[i]) : "never"],
  ];
  if (finished) pairs.push(["response", exact(response[i])]);
  const over = overAt(task, task.jobs, i, end) - deadline;
  if (over > 0) pairs.push(["past the deadline by", exact(over), true]);
  if (finished && task.bound !== null) {
    pairs.push(["bound", `${exact(task.bound)} (${(100 * response[i] / task.bound).toFixed(1)}%)`, response[i] > task.bound]);
  }
  return pairs;
}

/** What to say about a place on a core's row. */
function coreTip(data, core, time, slack, part) {
  const turns = data.turns[core];
  const fault = data.faults.find((f) => f.core === core && Math.abs(f.time - time) <= slack * 2);
  if (fault) return tipContent(fault.what, [["at", instant(fault.time)]]);
  if (part === "scheduler") {
    const i = stretchAt(turns, time, slack);
    if (i < 0) return null;
    const pairs = [["entered by", REASONS[turns.reason[i]] ?? "?"], ...stretchPairs(turns, i)];
    if (turns.late[i] >= 0) pairs.push(["after the set time", exact(turns.late[i])]);
    return tipContent(`Scheduler on core ${core}`, pairs);
  }
  const list = part === "ghost" ? data.ghosts[core] : data.runs[core];
  const i = stretchAt(list, time, slack);
  if (i < 0) return null;
  const task = data.tasks[list.task[i]];
  const ghost = part === "ghost" ? "Ghost of " : "";
  const pairs = [...stretchPairs(list, i), ["ended", ENDINGS[list.ending[i]]], ...jobPairs(task, list.job[i], data.end)];
  return tipContent(`${ghost}${task.name}, job ${list.job[i]}`, pairs);
}

/** What to say about a place on a task's row. */
function taskTip(data, task, time, slack) {
  for (const [list, ghost] of [[task.runs, ""], [task.ghosts, "Ghost of "]]) {
    const i = stretchAt(list, time, slack);
    if (i < 0) continue;
    const pairs = [["on core", String(list.core[i])], ...stretchPairs(list, i), ["ended", ENDINGS[list.ending[i]]]];
    return tipContent(`${ghost}${task.name}, job ${list.job[i]}`, [...pairs, ...jobPairs(task, list.job[i], data.end)]);
  }
  const i = firstAbove(task.jobs.release, time + slack, task.jobs.n) - 1;
  if (i < 0) return null;
  const pairs = jobPairs(task, task.jobs.number[i], data.end);
  return tipContent(`${task.name}, job ${task.jobs.number[i]}`, pairs);
}
