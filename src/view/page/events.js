// The timeline from near: every state, message and solo event that is seen.

const ARROWS_MOST = 3000;
const MARK_HEIGHT = 8; // pixels of a solo event,
const MARK_ROOM = 4; // and how many it has of a line on average at least

/** Top and height of a state's box: what lies inside another is lower. */
function boxOf(layout, line, depth) {
  const height = layout.height;
  const inset = min(depth * 3, height * 0.3);
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
    const key = line * scene.width + round(layout.x(m.time[i]));
    if (!found.has(key)) found.set(key, [i, layout.x(m.time[i]), layout.y(line)]);
  }
  return count > ((end - first) * layout.plot.width) / MARK_ROOM ? [] : [...found.values()];
}

/** Solo events: a small wedge on the upper edge of the row. */
function drawMarks(pen, scene, layout) {
  const height = min(MARK_HEIGHT, layout.height / 2);
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

/** A call that never returned ends in a toothed edge of another colour, where the record of its process ends. */
function drawOpenEdge(pen, right, y, width, height, css) {
  const [size, teeth] = [min(6, width), max(1, min(4, floor(height / 6)))];
  pen.fillStyle = css;
  for (let i = 0; i < teeth; i++) {
    pen.beginPath();
    pen.moveTo(right, y + (height * i) / teeth);
    pen.lineTo(right - size, y + (height * (i + 0.5)) / teeth);
    pen.lineTo(right, y + (height * (i + 1)) / teeth);
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
    const [x, right] = [max(layout.x(begin), layout.plot.x), min(layout.x(end), layout.plot.x + layout.plot.width)];
    pen.fillRect(x, layout.y(line), right - x, layout.height);
  }
  const bySlot = new Map();
  eachStateSeen(scene, layout, (i, line) => {
    if (scene.hidden.has(s.state[i])) return;
    const key = s.depth[i] * 256 + s.state[i];
    if (!bySlot.has(key)) bySlot.set(key, []);
    bySlot.get(key).push(i, line);
  });
  const [labels, open] = [[], []];
  for (const key of [...bySlot.keys()].sort((a, b) => a - b)) {
    const list = bySlot.get(key);
    pen.fillStyle = pens.fillOf(key % 256);
    for (let k = 0; k < list.length; k += 2) {
      const i = list[k];
      const x = layout.x(max(s.from[i], view.t0));
      const width = layout.x(min(s.to[i], view.t1)) - x;
      const [y, height] = boxOf(layout, list[k + 1], s.depth[i]);
      pen.fillRect(x, y, max(width, 0.25), height);
      if (s.open[i] && s.to[i] <= view.t1 && width >= 3) open.push([x + width, y, width, height]);
      if (width > 26 && height >= 13) labels.push([i, x, y, width, height]);
    }
  }
  if (scene.show.waits) drawWaits(pen, scene, layout);
  for (const [right, y, width, height] of open) drawOpenEdge(pen, right, y, width, height, pens.css('accent'));
  drawNames(pen, scene, labels);
}

function drawNames(pen, scene, labels) {
  setText(pen);
  for (const [i, x, y, width, height] of labels) {
    const slot = scene.exact.states.state[i];
    const name = scene.meta.states[slot].name;
    const text = [name, name.replace(/^MPI_/, '')].find((t) => scene.textWidth(pen, t) + 8 <= width);
    if (!text) continue;
    const waits = scene.show.waits && scene.exact.waitOf(i) >= 0;
    if (waits) fillBox(pen, scene.pens.css('back', 0.8), x + 2, y + height / 2 - 7, scene.textWidth(pen, text) + 4, 14);
    pen.fillStyle = waits ? scene.pens.css('text') : scene.pens.textOn(slot);
    pen.fillText(text, x + 4, y + height / 2 + 0.5);
  }
}

/** The waiting part of a state: hatched in its colour. */
function drawWaits(pen, scene, layout) {
  const { exact, view, pens } = scene;
  const w = exact.waits;
  const s = exact.states;
  const [first, end] = linesSeen(scene, layout);
  const bySlot = new Map();
  for (let i = 0; i < w.row.length; i++) {
    const line = scene.lineOf(w.row[i]);
    if (line < first || line >= end || w.to[i] < view.t0 || w.from[i] > view.t1) continue;
    const state = exact.stateOfWait(i);
    if (state < 0 || scene.hidden.has(s.state[state])) continue;
    const x = layout.x(max(w.from[i], view.t0));
    const slot = s.state[state];
    if (!bySlot.has(slot)) bySlot.set(slot, []);
    bySlot.get(slot).push([x, boxOf(layout, line, s.depth[state]), layout.x(min(w.to[i], view.t1)) - x]);
  }
  for (const [slot, boxes] of bySlot) {
    pen.fillStyle = pens.hatch(pen, pens.slotRgb(slot));
    for (const [x, [y, height], width] of boxes) pen.fillRect(x, y, width, height);
  }
}

/** Messages of which an end is seen, as [index, x1, y1, x2, y2]; null: more than can be drawn. */
function arrowsSeen(scene, layout) {
  const { exact, view } = scene;
  if (!exact || !scene.isExact) return null;
  const m = exact.messages;
  const [first, end] = linesSeen(scene, layout);
  const arrows = [];
  for (let i = 0; i < m.row.length; i++) {
    if (m.row[i] < 0 || m.to[i] < 0 || max(m.sent[i], m.received[i]) < view.t0 || min(m.sent[i], m.received[i]) > view.t1) continue;
    const [a, b] = [scene.lineOf(m.row[i]), scene.lineOf(m.to[i])];
    if (a < 0 || b < 0 || (max(a, b) < first && min(a, b) >= end)) continue;
    if (arrows.length >= ARROWS_MOST) return null;
    arrows.push([i, layout.x(m.sent[i]), layout.middle(a), layout.x(m.received[i]), layout.middle(b)]);
  }
  return arrows;
}

/** Where messages are too many for arrows: how many of their ends each pixel of a line has, as tiles show it. */
function drawDensity(pen, scene, layout) {
  const { exact, view, pens } = scene;
  const [first, end] = linesSeen(scene, layout);
  const [top, height, strength] = layout.line >= 8 ? [layout.height - 3, 3, 0.8] : [0, layout.height, 0.25];
  const counts = new Map();
  const add = (row, time) => {
    const line = scene.lineOf(row);
    if (line < first || line >= end || time < view.t0 || time > view.t1) return;
    const key = line * scene.width + floor(layout.x(time));
    counts.set(key, (counts.get(key) || 0) + 1);
  };
  const m = exact.messages;
  for (let i = 0; i < m.row.length; i++) {
    add(m.row[i], m.sent[i]);
    add(m.to[i], m.received[i]);
  }
  for (const [key, count] of counts) {
    fillBox(pen, pens.css('text', strength * messageStrength(16 * log2(1 + count))), key % scene.width, layout.y(floor(key / scene.width)) + top, 1, height);
  }
}

/** From one point to another. */
function strokeLine(pen, css, width, x1, y1, x2, y2) {
  pen.strokeStyle = css;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
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
  const ends = [layout.x(m.sent[message]), layout.middle(a), layout.x(m.received[message]), layout.middle(b)];
  pen.fillStyle = css;
  strokeLine(pen, css, 2, ...ends);
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
    const y = layout.middle(line);
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
  pen.strokeRect(x - 1, y - 1, max(2, layout.x(s.to[index]) - x) + 2, height + 2);
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
  pen.setLineDash([4, 3]);
  strokeLine(pen, pens.css('accent'), 1.5, x, layout.middle(own), x, layout.middle(cause));
  pen.setLineDash([]);
  const state = exact.stateAt(w.cause[wait], w.to[wait]);
  if (state >= 0) drawOutline(pen, scene, layout, state, pens.css('accent'));
}
