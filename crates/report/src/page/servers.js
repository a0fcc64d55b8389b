// Servers: what each has of its budget over time, on each of its cores.

/** The level that stands for a whole budget. */
const FULL_BUDGET = 250;

/** The remaining budget at an instant, in parts of a whole one. */
function budgetAt(server, time) {
  const { time: times, level } = server;
  const next = firstAbove(times, time);
  if (next === 0) return level[0] / FULL_BUDGET;
  if (next === times.length) return level[next - 1] / FULL_BUDGET;
  const share = (time - times[next - 1]) / (times[next] - times[next - 1]);
  return (level[next - 1] + (level[next] - level[next - 1]) * share) / FULL_BUDGET;
}

/** A server's remaining budget as a filled line, and in red where it has none. */
function drawBudget(context, plot, server, top) {
  const { time, level } = server;
  const height = SERVER_ROW - 6;
  const bottom = top + height + 3;
  const y = (part) => bottom - part * height;
  const from = Math.max(1, firstAbove(time, plot.t0));
  const to = firstAbove(time, plot.t1);
  context.beginPath();
  context.moveTo(plot.left, bottom);
  context.lineTo(plot.left, y(budgetAt(server, plot.t0)));
  // Where points crowd, each pixel column has its least and its greatest value.
  let column = -1;
  let least = 1;
  let most = 0;
  const flush = () => {
    if (column < 0) return;
    context.lineTo(column, y(most));
    context.lineTo(column, y(least));
  };
  const crowded = to - from > plot.width * 2;
  for (let i = from; i < to; i++) {
    const x = plot.x(time[i]);
    const part = level[i] / FULL_BUDGET;
    if (!crowded) {
      context.lineTo(x, y(part));
      continue;
    }
    if (Math.floor(x) !== column) {
      flush();
      column = Math.floor(x);
      least = most = part;
    }
    least = Math.min(least, part);
    most = Math.max(most, part);
  }
  flush();
  const end = Math.min(plot.right, plot.x(plot.end));
  context.lineTo(end, y(budgetAt(server, Math.min(plot.t1, plot.end))));
  context.lineTo(end, bottom);
  context.fillStyle = css(palette.link, 0.3);
  context.fill();
  context.fillStyle = css(palette.late);
  for (let i = from; i <= to && i < time.length; i++) {
    if (level[i - 1] || level[i]) continue;
    const a = Math.max(plot.left, plot.x(time[i - 1]));
    const b = Math.min(plot.right, plot.x(time[i]));
    if (b > a) context.fillRect(a, bottom - 2, b - a, 2);
  }
}

/** What to say about a place on a server's row. */
function serverTip(server, time, inPlot) {
  const pairs = [["budget", exact(server.budget)], ["period", exact(server.period)]];
  if (inPlot) pairs.unshift(["at", instant(time)], ["remaining", brief(budgetAt(server, time) * server.budget)]);
  return tipContent(`${server.name} on core ${server.core}`, pairs);
}
