// Draws the timeline: what is seen follows from the scene alone, on a canvas or as SVG.

const FONT = "system-ui, 'Liberation Sans', Arial, 'DejaVu Sans', sans-serif";
const ROW_LEAST = 3; // pixels of a process that has a line of its own
const ARROWS_MOST = 3000;
const MARK_HEIGHT = 8; // pixels of a solo event,
const MARK_ROOM = 4; // and how many it has of a line on average at least
const SHARES_LEAST = 4; // pixels of a line that shows what takes how much
const LINE_MOST = 110; // pixels of a line of few
const MAP_LINES = 24; // of the overview

/** Where everything is, for a scene's size and view. */
function layoutOf(scene) {
  const { width, height, view, meta } = scene;
  const left = scene.labelWidth;
  const top = 48 + 22 + (scene.phases.length + scene.iterations.length > 0 ? 22 : 0);
  const room = Math.max(20, height - top - 8);
  const plot = { x: left, y: top, width: Math.max(20, width - left - 10), height: Math.min(room, (view.r1 - view.r0) * LINE_MOST) };
  const pixels = plot.height / (view.r1 - view.r0);
  const fold = Math.max(meta.leastFold || 0, pixels >= ROW_LEAST ? 0 : clamp(Math.ceil(Math.log2((ROW_LEAST + 2) / pixels)), 0, meta.folds));
  const line = pixels * 2 ** fold;
  return {
    plot,
    fold,
    line, // pixels of a line: of one process, or of a group
    many: line < 14, // tiles are drawn line by line only where these are few
    gap: line >= 14 ? 3 : line >= 8 ? 2 : line >= 5 ? 1 : 0,
    lines: Math.ceil(meta.rows / 2 ** fold),
    overview: { x: left, y: 4, width: plot.width, height: 36 },
    axis: { x: left, y: 48, width: plot.width, height: 22 },
    phases: { x: left, y: 70, width: plot.width, height: 18 },
    x: (time) => plot.x + ((time - view.t0) / (view.t1 - view.t0)) * plot.width,
    time: (x) => view.t0 + ((x - plot.x) / plot.width) * (view.t1 - view.t0),
    y: (number) => plot.y + (number * 2 ** fold - view.r0) * pixels, // top of a line
    lineAt: (y) => Math.floor((view.r0 + (y - plot.y) / pixels) / 2 ** fold),
  };
}

/** Lines from top to bottom that are seen: [first, end). */
function linesSeen(scene, layout) {
  const size = 2 ** layout.fold;
  return [Math.max(0, Math.floor(scene.view.r0 / size)), Math.min(layout.lines, Math.ceil(scene.view.r1 / size))];
}

/** The ranks of a line as its label; of a group in another order than theirs, how many they are. */
function lineLabel(scene, line, fold) {
  const { meta } = scene;
  const first = line * 2 ** fold;
  const last = Math.min(first + 2 ** fold, meta.rows) - 1;
  const name = (row) => `${meta.rankOf(row)}${meta.threads?.[row] ? `.${meta.threads[row]}` : ''}`;
  if (first === last) return name(scene.rowAt(first));
  return scene.orderName === 'rank' ? `${meta.rankOf(first)}–${meta.rankOf(last)}` : `${last - first + 1} ranks`;
}

/** Steps of 1, 2 or 5 so that about `most` fit. */
function stepOf(span, most) {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

/** A time on the axis, in the unit of the largest time seen, with as many digits as the step needs. */
function tickText(time, step, most) {
  const units = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];
  const [unit, scale] = units.find(([, value]) => most >= value) || units[3];
  const decimals = clamp(Math.ceil(-Math.log10(step / scale) - 1e-9), 0, 9);
  return `${(time / scale).toFixed(decimals)}${NBSP}${unit}`;
}

/** Kinds of pictures of a tile: pixels of a cell one above the other, and how they are painted. 'states' is what takes
 *  most, 'shares' what takes how much, 'messages' how many there are. */
const PICTURES = {
  states: { rows: 1, paint: paintStates },
  shares: { rows: 8, paint: paintShares },
  messages: { rows: 1, paint: paintMessages },
  strip: { rows: 8, paint: paintMessages },
};

function tilePicture(tile, kind, scene) {
  const key = `${kind}/${scene.colourVersion}`;
  if (tile.pictures.get(kind)?.key === key) return tile.pictures.get(kind).canvas;
  const { rows, paint } = PICTURES[kind];
  const canvas = document.createElement('canvas');
  canvas.width = tile.bins;
  canvas.height = Math.max(1, tile.lines) * rows;
  const pen = canvas.getContext('2d');
  const image = pen.createImageData(canvas.width, canvas.height);
  if (tile.lines > 0) paint(tile, new Uint32Array(image.data.buffer), scene, rows);
  pen.putImageData(image, 0, 0);
  tile.pictures.set(kind, { key, canvas });
  if (rows > 1) scene.tiles.paintedLarge(tile, kind);
  return canvas;
}

const word = (r, g, b, a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Colours of the slots from afar; those that are not shown look like computing. */
function slotColours({ pens, hidden }) {
  return Array.from({ length: 256 }, (_, slot) => (hidden.has(slot) ? pens.ink.compute : pens.slotMean(slot)));
}

/** The colour of what takes most of a cell's time, the paler the less that is; waiting is light. */
function paintStates(tile, words, scene) {
  const { back } = scene.pens.ink;
  const colours = slotColours(scene);
  for (let i = 0; i < words.length; i++) {
    const [slot, share, waiting] = [tile.cells[i * CELL], tile.cells[i * CELL + 1], tile.cells[i * CELL + 2]];
    const colour = colours[slot];
    const light = (slot === SLOT_ABSENT ? 0 : 0.6 * (1 - share / 255)) + (scene.show.waits ? (0.3 * waiting) / 255 : 0);
    words[i] = word(...[0, 1, 2].map((k) => colour[k] + (back[k] - colour[k]) * light));
  }
}

/** Each part of a cell as high as its share, always in the same order: functions above, then others, computing below. */
function paintShares(tile, words, scene, rows) {
  const { cells, bins, lines } = tile;
  const colours = Uint32Array.from(slotColours(scene), (colour) => word(...colour));
  const [slots, shares] = [[0, 0, 0, SLOT_OTHERS], [0, 0, 0, 0]];
  for (let cell = 0, at = 0; cell < bins * lines; cell++, at += CELL) {
    const top = Math.floor(cell / bins) * rows * bins + (cell % bins);
    [slots[0], shares[0], slots[1], shares[1], slots[2], shares[2]] = [cells[at], cells[at + 1], cells[at + 4], cells[at + 5], cells[at + 6], cells[at + 7]];
    shares[3] = Math.max(0, 255 - shares[0] - shares[1] - shares[2]);
    let [row, sum] = [0, 0];
    for (let done = -1; row < rows; ) {
      let slot = 256;
      let share = 0;
      for (let i = 0; i < 4; i++)
        if (shares[i] > 0 && slots[i] > done) {
          if (slots[i] < slot) [slot, share] = [slots[i], shares[i]];
          else if (slots[i] === slot) share += shares[i];
        }
      if (slot === 256) break;
      done = slot;
      sum += share;
      for (const end = Math.round((sum * rows) / 255); row < end && row < rows; row++) words[top + row * bins] = colours[slot];
    }
    for (; row < rows; row++) words[top + row * bins] = row > 0 ? words[top + (row - 1) * bins] : colours[slots[0]];
  }
}

/** How dark so many messages are, from 0 to 1; their number as in a tile. */
function messageStrength(byte) {
  return byte ? Math.min(255, 50 + byte) / 255 : 0;
}

/** Over the whole cell, or as a strip in its lower half, above the gap between lines. */
function paintMessages({ cells, bins }, words, scene, rows) {
  const [r, g, b] = scene.pens.ink.text;
  for (let i = 0; i < words.length / rows; i++)
    for (let row = rows >> 1; row <= (rows * 5) >> 3; row++)
      words[(Math.floor(i / bins) * rows + row) * bins + (i % bins)] = word(r, g, b, 255 * messageStrength(cells[i * CELL + 3]));
}

/** The tile for an address, or the part of a coarser one that is there: [tile, first bin, bins]. */
function tileFor(scene, { shift, index, fold, block }) {
  for (let up = 0; up <= 40 && shift + up <= scene.meta.shifts + 1; up++) {
    const tile = scene.tiles.get({ shift: shift + up, index: Math.floor(index / 2 ** up), fold, block, order: scene.orderName });
    if (!tile) continue;
    const bins = tile.bins / 2 ** up;
    return [tile, (index % 2 ** up) * bins, bins];
  }
  return null;
}

/** Bins of 2 ** shift ns are at most a pixel wide, or the shortest there are. */
function shiftOf(scene, layout) {
  const pixel = (scene.view.t1 - scene.view.t0) / layout.plot.width;
  return clamp(Math.floor(Math.log2(Math.max(1, pixel))), 0, scene.meta.shifts);
}

/** The addresses of all tiles that a view shows, and of those that show the whole run. */
function tilesSeen(scene, layout) {
  const [first, end] = linesSeen(scene, layout);
  const addresses = [];
  const add = (shift, from, to) => {
    const span = TILE_BINS * 2 ** shift;
    const last = Math.floor(Math.min(to, scene.meta.duration) / span);
    for (let index = Math.max(0, Math.floor(from / span)); index <= last; index++)
      for (let block = Math.floor(first / TILE_LINES); block * TILE_LINES < end; block++)
        addresses.push({ shift, index, fold: layout.fold, block, order: scene.orderName });
  };
  add(shiftOf(scene, layout), scene.view.t0, scene.view.t1);
  add(scene.meta.shifts, 0, scene.meta.duration);
  return addresses;
}

function drawTiles(pen, scene, layout, kind, place) {
  const shift = shiftOf(scene, layout);
  const span = TILE_BINS * 2 ** shift;
  const [first, end] = linesSeen(scene, layout);
  const last = Math.floor(Math.min(scene.view.t1, scene.meta.duration) / span);
  pen.imageSmoothingEnabled = false;
  for (let index = Math.max(0, Math.floor(scene.view.t0 / span)); index <= last; index++) {
    const [x, right] = [layout.x(index * span), layout.x((index + 1) * span)];
    for (let line = first; line < end; ) {
      const block = Math.floor(line / TILE_LINES);
      const count = layout.gap > 0 && !layout.many ? 1 : Math.min(end, (block + 1) * TILE_LINES) - line;
      const found = tileFor(scene, { shift, index, fold: layout.fold, block });
      const [y, room] = place(line, count);
      if (found) {
        const [tile, bin, bins] = found;
        const height = Math.min(count, tile.lines - (line % TILE_LINES));
        const { rows } = PICTURES[kind];
        if (height > 0) pen.drawImage(tilePicture(tile, kind, scene), bin, (line % TILE_LINES) * rows, bins, height * rows, x, y, right - x, (room * height) / count);
      } else if (kind === 'states' || kind === 'shares') {
        pen.fillStyle = scene.pens.css('grid', 0.5);
        pen.fillRect(x, y, right - x, room);
      }
      line += count;
    }
  }
}

function drawShares(pen, scene, layout) {
  const whole = (line, count) => [layout.y(line), layout.line * count];
  const body = layout.many ? whole : (line, count) => [layout.y(line), layout.line * count - layout.gap];
  drawTiles(pen, scene, layout, layout.line - layout.gap >= SHARES_LEAST ? 'shares' : 'states', body);
  if (scene.show.messages) {
    pen.save();
    pen.globalAlpha = layout.line >= 8 ? 0.8 : 0.25;
    const strip = (line) => [layout.y(line) + layout.line - layout.gap - 3, 3];
    if (layout.line >= 8) drawTiles(pen, scene, layout, layout.many ? 'strip' : 'messages', layout.many ? whole : strip);
    else drawTiles(pen, scene, layout, 'messages', body);
    pen.restore();
  }
  if (!layout.many) return;
  // All lines were drawn at once: what lies between them is covered.
  pen.fillStyle = scene.pens.css('back');
  for (let [line, end] = linesSeen(scene, layout); line < end; ) pen.fillRect(layout.plot.x, layout.y(++line) - layout.gap, layout.plot.width, layout.gap);
}

/** Top and height of a state's box: what lies inside another is lower. */
function boxOf(layout, line, depth) {
  const height = layout.line - layout.gap;
  const inset = Math.min(depth * 3, height * 0.3);
  return [layout.y(line) + inset, height - 2 * inset];
}

/** Calls visit(state's index, line) for the exact states that are seen. */
function eachStateSeen(scene, layout, visit) {
  const { exact, view } = scene;
  const { from, to } = exact.states;
  const [firstLine, endLine] = linesSeen(scene, layout);
  for (let line = firstLine; line < endLine; line++) {
    const [first, end] = exact.rangeOf(scene.rowAt(line));
    for (let i = first; i < end && from[i] <= view.t1; i++) if (to[i] >= view.t0) visit(i, line);
  }
}

/** Solo events that are seen, one a pixel, as [index, x, top of the line]; none where there are too many to tell apart. */
function marksSeen(scene, layout) {
  const { exact, view, meta } = scene;
  if (!scene.isExact || !scene.show.marks) return [];
  const [first, end] = linesSeen(scene, layout);
  const m = exact.marks;
  const found = new Map();
  let count = 0;
  for (let i = 0; i < m.row.length; i++) {
    const line = scene.lineOf(m.row[i]);
    if (line < first || line >= end || m.time[i] < view.t0 || m.time[i] > view.t1 || !meta.marks[m.mark[i]]) continue;
    count++;
    const key = line * scene.width + Math.round(layout.x(m.time[i]));
    if (!found.has(key)) found.set(key, [i, layout.x(m.time[i]), layout.y(line)]);
  }
  return count > ((end - first) * layout.plot.width) / MARK_ROOM ? [] : [...found.values()];
}

/** Solo events: a small wedge on the upper edge of the row. */
function drawMarks(pen, scene, layout) {
  const height = Math.min(MARK_HEIGHT, (layout.line - layout.gap) / 2);
  for (const [i, x, y] of scene.marksDrawn) {
    pen.fillStyle = scene.pens.css(scene.hover?.mark === i ? 'accent' : 'text');
    pen.beginPath();
    pen.moveTo(x - height / 2, y);
    pen.lineTo(x + height / 2, y);
    pen.lineTo(x, y + height);
    pen.closePath();
    pen.fill();
  }
}

function drawStates(pen, scene, layout) {
  const { exact, meta, view, pens } = scene;
  const s = exact.states;
  const [firstLine, endLine] = linesSeen(scene, layout);
  pen.fillStyle = pens.css('compute');
  for (let line = firstLine; line < endLine; line++) {
    const life = meta.lives[scene.rowAt(line)];
    if (!life) continue;
    const [begin, end] = life;
    const [x, right] = [Math.max(layout.x(begin), layout.plot.x), Math.min(layout.x(end), layout.plot.x + layout.plot.width)];
    pen.fillRect(x, layout.y(line), right - x, layout.line - layout.gap);
  }
  const bySlot = new Map();
  eachStateSeen(scene, layout, (i, line) => {
    if (scene.hidden.has(s.state[i])) return;
    const key = s.depth[i] * 256 + s.state[i];
    if (!bySlot.has(key)) bySlot.set(key, []);
    bySlot.get(key).push(i, line);
  });
  const labels = [];
  for (const key of [...bySlot.keys()].sort((a, b) => a - b)) {
    const list = bySlot.get(key);
    pen.fillStyle = pens.fillOf(pen, key % 256);
    for (let k = 0; k < list.length; k += 2) {
      const i = list[k];
      const x = layout.x(Math.max(s.from[i], view.t0));
      const width = layout.x(Math.min(s.to[i], view.t1)) - x;
      const [y, height] = boxOf(layout, list[k + 1], s.depth[i]);
      pen.fillRect(x, y, Math.max(width, 0.25), height);
      if (width > 26 && height >= 13) labels.push([i, x, y, width, height]);
    }
  }
  if (scene.show.waits) drawWaits(pen, scene, layout);
  drawNames(pen, scene, labels);
}

function drawNames(pen, scene, labels) {
  pen.font = `11px ${FONT}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  for (const [i, x, y, width, height] of labels) {
    const slot = scene.exact.states.state[i];
    const name = scene.meta.states[slot].name;
    const text = [name, name.replace(/^MPI_/, '')].find((t) => scene.textWidth(pen, t) + 8 <= width);
    if (!text) continue;
    if (scene.pens.slots[slot].hatched || scene.show.waits) {
      pen.fillStyle = scene.pens.css('back', 0.75);
      if (scene.pens.slots[slot].hatched) pen.fillRect(x + 2, y + height / 2 - 7, scene.textWidth(pen, text) + 4, 14);
    }
    pen.fillStyle = scene.pens.textOn(slot);
    pen.fillText(text, x + 4, y + height / 2 + 0.5);
  }
}

/** The waiting part of a state: light lines over it. */
function drawWaits(pen, scene, layout) {
  const { exact, view, pens } = scene;
  const w = exact.waits;
  pen.save();
  pen.fillStyle = pens.css('back', 0.5);
  for (let i = 0; i < w.row.length; i++) {
    const line = scene.lineOf(w.row[i]);
    if (line < 0 || w.to[i] < view.t0 || w.from[i] > view.t1) continue;
    const x = layout.x(Math.max(w.from[i], view.t0));
    const [y, height] = boxOf(layout, line, 0);
    pen.fillRect(x, y + height * 0.62, layout.x(Math.min(w.to[i], view.t1)) - x, height * 0.38);
  }
  pen.restore();
}

/** Messages of which an end is seen, as [index, x1, y1, x2, y2]; null: more than can be drawn. */
function arrowsSeen(scene, layout) {
  const { exact, view } = scene;
  if (!exact || !scene.isExact) return null;
  const m = exact.messages;
  const [first, end] = linesSeen(scene, layout);
  const arrows = [];
  const middle = (line) => layout.y(line) + (layout.line - layout.gap) / 2;
  for (let i = 0; i < m.row.length; i++) {
    if (m.row[i] < 0 || m.to[i] < 0 || Math.max(m.sent[i], m.received[i]) < view.t0 || Math.min(m.sent[i], m.received[i]) > view.t1) continue;
    const [a, b] = [scene.lineOf(m.row[i]), scene.lineOf(m.to[i])];
    if (a < 0 || b < 0 || (Math.max(a, b) < first && Math.min(a, b) >= end)) continue;
    if (arrows.length >= ARROWS_MOST) return null;
    arrows.push([i, layout.x(m.sent[i]), middle(a), layout.x(m.received[i]), middle(b)]);
  }
  return arrows;
}

/** Where messages are too many for arrows: how many of their ends each pixel of a line has, as tiles show it. */
function drawDensity(pen, scene, layout) {
  const { exact, view, pens } = scene;
  const [first, end] = linesSeen(scene, layout);
  const [top, height, strength] = layout.line >= 8 ? [layout.line - layout.gap - 3, 3, 0.8] : [0, layout.line - layout.gap, 0.25];
  const counts = new Map();
  const add = (row, time) => {
    const line = scene.lineOf(row);
    if (line < first || line >= end || time < view.t0 || time > view.t1) return;
    const key = line * scene.width + Math.floor(layout.x(time));
    counts.set(key, (counts.get(key) || 0) + 1);
  };
  const m = exact.messages;
  for (let i = 0; i < m.row.length; i++) {
    add(m.row[i], m.sent[i]);
    add(m.to[i], m.received[i]);
  }
  for (const [key, count] of counts) {
    pen.fillStyle = pens.css('text', strength * messageStrength(16 * Math.log2(1 + count)));
    pen.fillRect(key % scene.width, layout.y(Math.floor(key / scene.width)) + top, 1, height);
  }
}

function arrowHead(pen, x1, y1, x2, y2, size) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  pen.beginPath();
  pen.moveTo(x2, y2);
  for (const turn of [0.42, -0.42]) pen.lineTo(x2 - size * Math.cos(angle + turn), y2 - size * Math.sin(angle + turn));
  pen.closePath();
  pen.fill();
}

function drawArrows(pen, scene, layout) {
  const arrows = scene.arrows;
  if (!arrows || !scene.show.messages) return;
  const strength = clamp(1.1 - Math.log10(arrows.length + 1) * 0.25, 0.25, 0.85);
  pen.strokeStyle = pen.fillStyle = scene.pens.css('text', strength);
  pen.lineWidth = arrows.length > 300 ? 0.7 : 1.1;
  pen.beginPath();
  for (const [, x1, y1, x2, y2] of arrows) {
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
  }
  pen.stroke();
  if (arrows.length <= 400) for (const [, x1, y1, x2, y2] of arrows) arrowHead(pen, x1, y1, x2, y2, 6);
}

function drawArrow(pen, scene, layout, message, css) {
  const m = scene.exact.messages;
  const [a, b] = [scene.lineOf(m.row[message]), scene.lineOf(m.to[message])];
  if (a < 0 || b < 0) return;
  const middle = (line) => layout.y(line) + (layout.line - layout.gap) / 2;
  const ends = [layout.x(m.sent[message]), middle(a), layout.x(m.received[message]), middle(b)];
  pen.strokeStyle = pen.fillStyle = css;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(ends[0], ends[1]);
  pen.lineTo(ends[2], ends[3]);
  pen.stroke();
  arrowHead(pen, ...ends, 9);
}

/** The critical path: pieces {row, from, to}, each beginning where the one before it ends. */
function drawPath(pen, scene, layout) {
  const pieces = scene.path;
  if (!pieces || !scene.show.path || layout.fold > 0) return;
  pen.strokeStyle = scene.pens.css('accent');
  pen.lineWidth = 2.5;
  pen.beginPath();
  let before = -1;
  for (let i = 0; i < pieces.row.length; i++) {
    const line = scene.lineOf(pieces.row[i]);
    if (pieces.to[i] < scene.view.t0 || pieces.from[i] > scene.view.t1 || line < 0) {
      before = -1;
      continue;
    }
    const y = layout.y(line) + (layout.line - layout.gap) / 2;
    if (before === i - 1 && i > 0) pen.lineTo(layout.x(pieces.from[i]), y);
    else pen.moveTo(layout.x(pieces.from[i]), y);
    pen.lineTo(layout.x(pieces.to[i]), y);
    before = i;
  }
  pen.stroke();
}

/** An outline around an exact state. */
function drawOutline(pen, scene, layout, index, css) {
  const s = scene.exact.states;
  const line = scene.lineOf(s.row[index]);
  if (line < 0) return;
  const [y, height] = boxOf(layout, line, s.depth[index]);
  const x = layout.x(s.from[index]);
  pen.strokeStyle = css;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, y - 1, Math.max(2, layout.x(s.to[index]) - x) + 2, height + 2);
}

/** What belongs to a state: its messages, and of a wait who was waited for and when it came. */
function drawRelations(pen, scene, layout, index) {
  const { exact, pens } = scene;
  for (const message of exact.messagesOf(index).slice(0, 200)) drawArrow(pen, scene, layout, message, pens.css('accent'));
  const wait = exact.waitOf(index);
  if (wait < 0) return;
  const w = exact.waits;
  const [own, cause] = [scene.lineOf(w.row[wait]), scene.lineOf(w.cause[wait])];
  if (cause < 0) return;
  const x = layout.x(w.to[wait]);
  const y = layout.y(cause) + (layout.line - layout.gap) / 2;
  pen.strokeStyle = pens.css('accent');
  pen.lineWidth = 1.5;
  pen.setLineDash([4, 3]);
  pen.beginPath();
  pen.moveTo(x, layout.y(own) + (layout.line - layout.gap) / 2);
  pen.lineTo(x, y);
  pen.stroke();
  pen.setLineDash([]);
  const state = exact.stateAt(w.cause[wait], w.to[wait]);
  if (state >= 0) drawOutline(pen, scene, layout, state, pens.css('accent'));
}

function drawFocus(pen, scene, layout) {
  const { plot } = layout;
  const { range, finding, pens } = scene;
  if (finding) {
    pen.fillStyle = pens.css('back', 0.55);
    const [x, right] = [clamp(layout.x(finding.from), plot.x, plot.x + plot.width), clamp(layout.x(finding.to), plot.x, plot.x + plot.width)];
    pen.fillRect(plot.x, plot.y, x - plot.x, plot.height);
    pen.fillRect(right, plot.y, plot.x + plot.width - right, plot.height);
  }
  if (range) {
    const x = layout.x(range[0]);
    pen.fillStyle = pens.css('mpi', 0.14);
    pen.fillRect(x, layout.axis.y, layout.x(range[1]) - x, plot.y + plot.height - layout.axis.y);
  }
  if (scene.box) {
    pen.fillStyle = pens.css('accent', 0.12);
    pen.strokeStyle = pens.css('accent');
    pen.lineWidth = 1;
    pen.fillRect(...scene.box);
    pen.strokeRect(...scene.box);
  }
}

function drawLabels(pen, scene, layout) {
  const { plot } = layout;
  const { finding, pens, meta } = scene;
  const [first, end] = linesSeen(scene, layout);
  const step = layout.line >= 13 ? 1 : stepOf(end - first, plot.height / 14);
  const [victims, causes] = [new Set(finding?.victims), new Set(finding?.causes)];
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  for (let line = Math.ceil(first / step) * step; line < end; line += step) {
    const y = layout.y(line) + (layout.line - layout.gap) / 2;
    if (y < plot.y + 4 || y > plot.y + plot.height - 3) continue;
    const rank = layout.fold === 0 ? meta.rankOf(scene.rowAt(line)) : -1;
    const [cause, victim] = [causes.has(rank), victims.has(rank)];
    pen.font = `${cause || victim ? 'bold ' : ''}12px ${FONT}`;
    pen.fillStyle = pens.css(cause ? 'accent' : victim ? 'text' : 'muted');
    pen.fillText(lineLabel(scene, line, layout.fold), plot.x - 8, y);
  }
}

function drawAxis(pen, scene, layout) {
  const { axis, plot } = layout;
  const { view, pens } = scene;
  pen.font = `12px ${FONT}`;
  const rough = stepOf(view.t1 - view.t0, axis.width / 80);
  const room = scene.textWidth(pen, tickText(view.t1, rough, view.t1)) + 24;
  const step = Math.max(1, stepOf(view.t1 - view.t0, axis.width / room));
  pen.textBaseline = 'middle';
  pen.textAlign = 'center';
  let free = axis.x - 30;
  for (let time = Math.ceil(view.t0 / step) * step; time <= view.t1; time += step) {
    const x = layout.x(time);
    const text = tickText(time, step, view.t1);
    const half = scene.textWidth(pen, text) / 2;
    pen.fillStyle = pens.css('grid');
    pen.fillRect(x - 0.5, axis.y + 18, 1, plot.y + plot.height - axis.y - 18);
    if (x - half < free || x + half > scene.width) continue;
    pen.fillStyle = pens.css('muted');
    pen.fillText(text, x, axis.y + 9);
    free = x + half + 8;
  }
  pen.textAlign = 'left';
  pen.font = `11px ${FONT}`;
  pen.fillStyle = pens.css('muted');
  pen.fillText(layout.fold > 0 ? 'ranks' : 'rank', 6, axis.y + 9);
}

/** Phases as a band with names, iterations of the main loop as one below it. */
function drawPhases(pen, scene, layout) {
  const { phases } = layout;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  pen.font = `11px ${FONT}`;
  const band = (parts, y, height) =>
    parts.forEach((part, i) => {
      const x = Math.max(layout.x(part.from), phases.x);
      const width = Math.min(layout.x(part.to), phases.x + phases.width) - x;
      if (width <= 0.3) return;
      pen.fillStyle = scene.pens.css(i % 2 ? 'plain' : 'mpi', 0.3);
      pen.fillRect(x, y, Math.max(0.3, width - 1), height);
      pen.fillStyle = scene.pens.css('text');
      if (height >= 12 && scene.textWidth(pen, part.name) + 8 < width) pen.fillText(part.name, x + 4, y + height / 2);
    });
  const both = scene.phases.length > 0 && scene.iterations.length > 0;
  band(scene.phases, phases.y, both ? 13 : phases.height);
  band(scene.iterations, both ? phases.y + 14 : phases.y, both ? 4 : phases.height);
}

/** How many rows are folded to a line of the overview. */
function mapFold(meta) {
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, meta.rows) / MAP_LINES)));
}

function mapTiles(meta) {
  const count = meta.rows === 0 ? 0 : Math.max(1, Math.ceil((meta.duration + 1) / (TILE_BINS * 2 ** meta.shifts)));
  return Array.from({ length: count }, (_, index) => ({ shift: meta.shifts, index, fold: mapFold(meta), block: 0, order: 'rank' }));
}

/** The whole run in small, findings as marks, the view as a frame. */
function drawOverview(pen, scene, layout) {
  const { overview } = layout;
  const { meta, view, pens } = scene;
  const x = (time) => overview.x + (time / Math.max(1, meta.duration)) * overview.width;
  pen.fillStyle = pens.css('grid', 0.6);
  pen.fillRect(overview.x, overview.y, overview.width, overview.height);
  pen.imageSmoothingEnabled = false;
  for (const address of mapTiles(meta)) {
    const tile = scene.tiles.get(address);
    if (!tile || tile.lines === 0) continue;
    const span = TILE_BINS * 2 ** address.shift;
    const bins = Math.min(TILE_BINS, (meta.duration - address.index * span) / 2 ** address.shift);
    if (bins <= 0) continue;
    const left = x(address.index * span);
    const right = x(Math.min(meta.duration, (address.index + 1) * span));
    pen.drawImage(tilePicture(tile, 'states', scene), 0, 0, bins, tile.lines, left, overview.y, right - left, overview.height);
  }
  scene.findings.forEach((finding, i) => {
    pen.fillStyle = pens.css('accent', scene.finding && scene.finding !== finding ? 0.4 : 1);
    pen.fillRect(x(finding.from), overview.y + (i % 4) * 3, Math.max(2, x(finding.to) - x(finding.from)), 2);
  });
  const [a, b] = [x(view.t0), x(view.t1)];
  pen.fillStyle = pens.css('back', 0.6);
  pen.fillRect(overview.x, overview.y, a - overview.x, overview.height);
  pen.fillRect(b, overview.y, overview.x + overview.width - b, overview.height);
  pen.strokeStyle = pens.css('text');
  pen.lineWidth = 1;
  pen.strokeRect(a + 0.5, overview.y + 0.5, Math.max(2, b - a - 1), overview.height - 1);
  pen.font = `11px ${FONT}`;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = pens.css('muted');
  pen.fillText('whole', 6, overview.y + overview.height / 2 - 6);
  pen.fillText('run', 6, overview.y + overview.height / 2 + 7);
}

function drawPointer(pen, scene, layout) {
  const { pointer, hover, pens } = scene;
  if (!pointer || pointer.y < layout.axis.y) return;
  pen.fillStyle = pens.css('text', 0.35);
  if (pointer.x >= layout.plot.x) pen.fillRect(Math.round(pointer.x), layout.axis.y + 18, 1, layout.plot.y + layout.plot.height - layout.axis.y - 18);
  if (hover?.line >= 0) {
    pen.fillStyle = pens.css('text', 0.05);
    pen.fillRect(layout.plot.x, layout.y(hover.line), layout.plot.width, layout.line - layout.gap);
  }
}

/** Everything. `pen` is a canvas' context or an SvgContext. */
function drawScene(pen, scene) {
  const layout = layoutOf(scene);
  const { plot } = layout;
  const { pens } = scene;
  pen.fillStyle = pens.css('back');
  pen.fillRect(0, 0, scene.width, scene.height);
  drawOverview(pen, scene, layout);
  drawAxis(pen, scene, layout);
  pen.save();
  pen.beginPath();
  pen.rect(plot.x, layout.axis.y + 18, plot.width, plot.y + plot.height - layout.axis.y - 18);
  pen.clip();
  drawPhases(pen, scene, layout);
  pen.beginPath();
  pen.rect(plot.x, plot.y, plot.width, plot.height);
  pen.clip();
  scene.isExact = Boolean(scene.exact) && layout.fold === 0 && scene.exactFits(layout);
  scene.arrows = arrowsSeen(scene, layout);
  if (scene.isExact) drawStates(pen, scene, layout);
  else drawShares(pen, scene, layout);
  if (scene.isExact && scene.show.messages && !scene.arrows) drawDensity(pen, scene, layout);
  drawArrows(pen, scene, layout);
  scene.marksDrawn = marksSeen(scene, layout);
  drawMarks(pen, scene, layout);
  drawPath(pen, scene, layout);
  drawFocus(pen, scene, layout);
  drawPointer(pen, scene, layout);
  if (scene.isExact) {
    if (scene.selected >= 0) {
      drawRelations(pen, scene, layout, scene.selected);
      drawOutline(pen, scene, layout, scene.selected, pens.css('text'));
    }
    if (scene.hover?.state >= 0 && scene.hover.state !== scene.selected) {
      drawRelations(pen, scene, layout, scene.hover.state);
      drawOutline(pen, scene, layout, scene.hover.state, pens.css('text', 0.7));
    }
    if (scene.hover?.message >= 0) drawArrow(pen, scene, layout, scene.hover.message, pens.css('accent'));
  }
  pen.restore();
  drawLabels(pen, scene, layout);
}
