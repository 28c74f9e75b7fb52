// The timeline from afar: pictures of tiles, made once for each way to look at them.

const SHARES_LEAST = 4; // pixels of a line that shows what takes how much
const MAP_LINES = 24; // of the overview

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
  const canvas = h('canvas', { width: tile.bins, height: max(1, tile.lines) * rows });
  const pen = canvas.getContext('2d');
  const image = pen.createImageData(canvas.width, canvas.height);
  if (tile.lines > 0) paint(tile, new Uint32Array(image.data.buffer), scene, rows);
  pen.putImageData(image, 0, 0);
  tile.pictures.set(kind, { key, canvas });
  if (rows > 1) scene.tiles.paintedLarge(tile, kind);
  return canvas;
}

const word = (r, g, b, a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Colours of the slots, or the ground of waiting in them; those that are not shown look like computing. */
function slotColours({ pens, hidden }, waiting) {
  const plain = (slot) => hidden.has(slot) || slot >= SLOT_COMPUTING;
  return Array.from({ length: 256 }, (_, slot) => (hidden.has(slot) ? pens.ink.compute : waiting && !plain(slot) ? pens.waitMean(slot) : pens.slotRgb(slot)));
}

/** Whether a tile shows waiting: only where it is known which process waits. */
function showsWaits(tile, scene) {
  return scene.show.waits && tile.waits;
}

/** The colour of what takes most of a cell's time, the paler the less that is; waiting is light. */
function paintStates(tile, words, scene) {
  const { back } = scene.pens.ink;
  const waits = showsWaits(tile, scene) ? 0.5 : 0;
  const colours = slotColours(scene);
  for (let i = 0; i < words.length; i++) {
    const [slot, share, waiting] = [tile.cells[i * CELL], tile.cells[i * CELL + 1], tile.cells[i * CELL + 2]];
    const colour = colours[slot];
    const light = slot === SLOT_ABSENT ? 0 : 1 - (1 - 0.6 * (1 - share / 255)) * (1 - (waits * waiting) / 255);
    words[i] = word(...[0, 1, 2].map((k) => colour[k] + (back[k] - colour[k]) * light));
  }
}

/** Each part of a cell as high as its share, always in the same order: functions above, then others, computing below.
 *  As much as is waiting is hatched, from above. */
function paintShares(tile, words, scene, rows) {
  const { cells, bins, lines } = tile;
  const words32 = (waiting) => Uint32Array.from(slotColours(scene, waiting), (colour) => word(...colour));
  const [colours, lighter] = [words32(false), words32(showsWaits(tile, scene))];
  const [slots, shares] = [[0, 0, 0, SLOT_OTHERS], [0, 0, 0, 0]];
  for (let cell = 0, at = 0; cell < bins * lines; cell++, at += CELL) {
    const top = floor(cell / bins) * rows * bins + (cell % bins);
    [slots[0], shares[0], slots[1], shares[1], slots[2], shares[2]] = [cells[at], cells[at + 1], cells[at + 4], cells[at + 5], cells[at + 6], cells[at + 7]];
    shares[3] = max(0, 255 - shares[0] - shares[1] - shares[2]);
    const waiting = round((cells[at + 2] * rows) / 255);
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
      for (const end = round((sum * rows) / 255); row < end && row < rows; row++) words[top + row * bins] = (row < waiting && (cell + row) & 3 ? lighter : colours)[slot];
    }
    for (; row < rows; row++) words[top + row * bins] = row > 0 ? words[top + (row - 1) * bins] : colours[slots[0]];
  }
}

/** How dark so many messages are, from 0 to 1; their number as in a tile. */
function messageStrength(byte) {
  return byte ? min(255, 50 + byte) / 255 : 0;
}

/** Over the whole cell, or as a strip in its lower half, above the gap between lines. */
function paintMessages({ cells, bins }, words, scene, rows) {
  const [r, g, b] = scene.pens.ink.text;
  for (let i = 0; i < words.length / rows; i++)
    for (let row = rows >> 1; row <= (rows * 5) >> 3; row++)
      words[(floor(i / bins) * rows + row) * bins + (i % bins)] = word(r, g, b, 255 * messageStrength(cells[i * CELL + 3]));
}

/** The tile for an address, or the part of a coarser one that is there: [tile, first bin, bins]. */
function tileFor(scene, { shift, index, fold, block }) {
  for (let up = 0; up <= 40 && shift + up <= scene.meta.shifts + 1; up++) {
    const tile = scene.tiles.get({ shift: shift + up, index: floor(index / 2 ** up), fold, block, order: scene.orderName });
    if (!tile) continue;
    const bins = tile.bins / 2 ** up;
    return [tile, (index % 2 ** up) * bins, bins];
  }
  return null;
}

/** Bins of 2 ** shift ns are at most a pixel wide, or the shortest there are. */
function shiftOf(scene, layout) {
  const pixel = (scene.view.t1 - scene.view.t0) / layout.plot.width;
  return clamp(floor(log2(max(1, pixel))), 0, scene.meta.shifts);
}

/** The addresses of all tiles that a view shows, and of those that show the whole run. */
function tilesSeen(scene, layout) {
  const [first, end] = linesSeen(scene, layout);
  const addresses = [];
  const add = (shift, from, to) => {
    const span = TILE_BINS * 2 ** shift;
    const last = floor(min(to, scene.meta.duration) / span);
    for (let index = max(0, floor(from / span)); index <= last; index++)
      for (let block = floor(first / TILE_LINES); block * TILE_LINES < end; block++)
        addresses.push({ shift, index, fold: layout.fold, block, order: scene.orderName });
  };
  add(shiftOf(scene, layout), scene.view.t0, scene.view.t1);
  add(scene.meta.shifts, 0, scene.meta.duration);
  return addresses;
}

/** How many rows are folded to a line of the overview. */
function mapFold(meta) {
  return max(0, ceil(log2(max(1, meta.rows) / MAP_LINES)));
}

function mapTiles(meta) {
  const count = meta.rows === 0 ? 0 : max(1, ceil((meta.duration + 1) / (TILE_BINS * 2 ** meta.shifts)));
  return Array.from({ length: count }, (_, index) => ({ shift: meta.shifts, index, fold: mapFold(meta), block: 0, order: 'rank' }));
}

function drawTiles(pen, scene, layout, kind, place) {
  const shift = shiftOf(scene, layout);
  const span = TILE_BINS * 2 ** shift;
  const [first, end] = linesSeen(scene, layout);
  const last = floor(min(scene.view.t1, scene.meta.duration) / span);
  pen.imageSmoothingEnabled = false;
  for (let index = max(0, floor(scene.view.t0 / span)); index <= last; index++) {
    const [x, right] = [layout.x(index * span), layout.x((index + 1) * span)];
    for (let line = first; line < end; ) {
      const block = floor(line / TILE_LINES);
      const count = layout.gap > 0 && !layout.many ? 1 : min(end, (block + 1) * TILE_LINES) - line;
      const found = tileFor(scene, { shift, index, fold: layout.fold, block });
      const [y, room] = place(line, count);
      if (found) {
        const [tile, bin, bins] = found;
        const height = min(count, tile.lines - (line % TILE_LINES));
        const { rows } = PICTURES[kind];
        if (height > 0) pen.drawImage(tilePicture(tile, kind, scene), bin, (line % TILE_LINES) * rows, bins, height * rows, x, y, right - x, (room * height) / count);
      } else if (kind === 'states' || kind === 'shares') {
        fillBox(pen, scene.pens.css('grid', 0.5), x, y, right - x, room);
      }
      line += count;
    }
  }
}

function drawShares(pen, scene, layout) {
  const whole = (line, count) => [layout.y(line), layout.line * count];
  const body = layout.many ? whole : (line, count) => [layout.y(line), layout.line * count - layout.gap];
  drawTiles(pen, scene, layout, layout.height >= SHARES_LEAST ? 'shares' : 'states', body);
  if (scene.show.messages) {
    pen.save();
    pen.globalAlpha = layout.line >= 8 ? 0.8 : 0.25;
    const strip = (line) => [layout.y(line) + layout.height - 3, 3];
    if (layout.line >= 8) drawTiles(pen, scene, layout, layout.many ? 'strip' : 'messages', layout.many ? whole : strip);
    else drawTiles(pen, scene, layout, 'messages', body);
    pen.restore();
  }
  if (!layout.many) return;
  // All lines were drawn at once: what lies between them is covered.
  pen.fillStyle = scene.pens.css('back');
  for (let [line, end] = linesSeen(scene, layout); line < end; ) pen.fillRect(layout.plot.x, layout.y(++line) - layout.gap, layout.plot.width, layout.gap);
}
