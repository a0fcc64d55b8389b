// Windows of partitions: bands behind the schedule, so that whoever runs outside of his is seen at once.

/** The windows of each core, by start in the major frame, each with its partition. */
function windowsOf(data) {
  const cores = Array.from({ length: data.cores }, () => []);
  data.partitions.forEach((partition, n) => {
    for (const [core, start, end, schedule] of partition.windows) cores[core]?.push({ start, end, schedule, partition: n });
  });
  for (const windows of cores) windows.sort((a, b) => a.start - b.start);
  return cores;
}

function windowColour(partition) {
  return hue(partition * 137.508 + 60);
}

/** The schedule of windows that holds in the frame that begins then. */
function scheduleOf(partition, begin) {
  const past = partition.switches.filter(([frame]) => frame * partition.frame <= begin);
  return past.length ? past[past.length - 1][1] : 0;
}

/** Bands for the windows of a core, of one partition if one is given, as long as frames are wide enough to be seen. */
function drawWindows(context, data, plot, core, only, y, height) {
  data.windows ??= windowsOf(data);
  const frame = data.partitions[0]?.frame;
  if (!frame || plot.x(frame) - plot.x(0) < 12) return;
  for (let begin = Math.floor(plot.t0 / frame) * frame; begin < Math.min(plot.t1, plot.end); begin += frame) {
    const holds = scheduleOf(data.partitions[0], begin);
    for (const { start, end, schedule, partition } of data.windows[core] ?? []) {
      if (schedule !== holds || (only !== null && partition !== only)) continue;
      const a = Math.max(plot.left, plot.x(begin + start));
      const b = Math.min(plot.right, plot.x(begin + end));
      if (b <= a) continue;
      context.fillStyle = css(windowColour(partition), 0.2);
      context.fillRect(a, y, b - a, height);
      context.fillStyle = css(windowColour(partition), 0.7);
      context.fillRect(a, y, 1, height);
    }
  }
}
