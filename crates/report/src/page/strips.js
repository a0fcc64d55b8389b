// Strips: every row of the schedule as one line of pixels. Each stretch adds its colour to the pixels that it
// covers, by the share that it covers; so stretches far below a pixel blend instead of vanishing, edges are smooth
// at any zoom, and a frame costs the visible stretches plus one small image, however many stretches there are.

/** How many strips a stack of levels has. */
const TALL = 16;

class Strips {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.width = 0;
    this.height = 0;
  }

  /** Starts a frame of `height` strips over the time from `t0` to `t1`. */
  begin(width, height, t0, t1) {
    if (width !== this.width || height > this.height) {
      this.width = width;
      this.height = Math.max(height, this.height);
      this.canvas.width = width;
      this.canvas.height = this.height;
      this.image = this.context.createImageData(width, this.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.sum = new Float32Array(width * 4);
    }
    this.used = height;
    this.t0 = t0;
    this.t1 = t1;
    this.scale = width / (t1 - t0);
  }

  /** Adds a list's stretches; `colours` holds three bytes for each value of `keys`, or one colour if there are none. */
  add(list, keys, colours) {
    const { start, end, n } = list;
    const { sum, scale, t0, t1, width } = this;
    for (let i = firstAbove(end, t0, n); i < n && start[i] < t1; i++) {
      const a = Math.max(0, (start[i] - t0) * scale);
      const b = Math.min(width, (end[i] - t0) * scale);
      const key = keys ? keys[i] * 3 : 0;
      const red = colours[key];
      const green = colours[key + 1];
      const blue = colours[key + 2];
      const last = b | 0;
      for (let x = a | 0; x <= last && x < width; x++) {
        const share = (x + 1 < b ? x + 1 : b) - (x > a ? x : a);
        const at = x * 4;
        sum[at] += red * share;
        sum[at + 1] += green * share;
        sum[at + 2] += blue * share;
        sum[at + 3] += share;
      }
    }
  }

  /** Writes what has been added as strip `row` and starts the next. Whatever is there at all stays visible. */
  flush(row, opacity = 1) {
    const { sum, pixels, width } = this;
    let to = row * width;
    for (let at = 0; at < sum.length; at += 4) {
      const share = sum[at + 3];
      if (share > 0.0004) {
        // The root lifts what is thinly spread: one hundredth of a pixel's time still shows.
        const alpha = Math.min(1, 0.2 + 0.8 * Math.sqrt(share)) * opacity * 255;
        pixels[to] = ((alpha << 24) | ((sum[at + 2] / share) << 16) | ((sum[at + 1] / share) << 8) | (sum[at] / share)) >>> 0;
      } else {
        pixels[to] = 0;
      }
      to++;
    }
    sum.fill(0);
  }

  /**
   * Writes what a core ran as `TALL` strips from `row` on: in each column the levels stand on one another, as high
   * as the share of its time that they had. `groups` holds the level of each value of `keys`.
   */
  stack(row, list, keys, colours, groups) {
    const { start, end, n } = list;
    const { scale, t0, t1, width, pixels } = this;
    if (this.tall?.length !== width * 16) this.tall = new Float32Array(width * 16);
    const sum = this.tall;
    for (let i = firstAbove(end, t0, n); i < n && start[i] < t1; i++) {
      const a = Math.max(0, (start[i] - t0) * scale);
      const b = Math.min(width, (end[i] - t0) * scale);
      const key = keys[i];
      const last = b | 0;
      for (let x = a | 0; x <= last && x < width; x++) {
        const share = (x + 1 < b ? x + 1 : b) - (x > a ? x : a);
        const at = x * 16 + groups[key] * 4;
        sum[at] += colours[key * 3] * share;
        sum[at + 1] += colours[key * 3 + 1] * share;
        sum[at + 2] += colours[key * 3 + 2] * share;
        sum[at + 3] += share;
      }
    }
    for (let x = 0; x < width; x++) {
      let done = 0;
      let covered = 0;
      for (let at = x * 16; at < x * 16 + 16; at += 4) {
        const share = sum[at + 3];
        if (share < 0.0004) continue;
        covered += share;
        const upTo = Math.max(done + 1, Math.round(covered * TALL));
        const pixel = ((255 << 24) | ((sum[at + 2] / share) << 16) | ((sum[at + 1] / share) << 8) | (sum[at] / share)) >>> 0;
        for (; done < upTo && done < TALL; done++) pixels[(row + TALL - 1 - done) * width + x] = pixel;
      }
      for (; done < TALL; done++) pixels[(row + TALL - 1 - done) * width + x] = 0;
    }
    sum.fill(0);
  }

  /** Ends the frame; the strips can be drawn. */
  end() {
    this.context.putImageData(this.image, 0, 0, 0, 0, this.width, this.used);
  }

  /** Draws strip `row`, or several from there on, into a rectangle. */
  draw(context, row, x, y, width, height, rows = 1) {
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, row, this.width, rows, x, y, width, height);
  }
}
