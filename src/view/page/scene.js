// Draws the timeline: what is seen follows from the scene alone, on a canvas or as SVG.

const FONT = "system-ui, 'Liberation Sans', Arial, 'DejaVu Sans', sans-serif";

/** How the next texts look. */
function setText(pen, align = 'left', size = 11, weight = '') {
  pen.font = `${weight}${size}px ${FONT}`;
  pen.textAlign = align;
  pen.textBaseline = 'middle';
}

function fillBox(pen, css, x, y, width, height) {
  pen.fillStyle = css;
  pen.fillRect(x, y, width, height);
}

/** Draws only within the rectangle, until pen.restore(). */
function clipTo(pen, x, y, width, height) {
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
}

/** Everything outside of a time fades; [left, right] of the time. */
function fadeAround(pen, scene, { plot, pins, x, end }, from, to) {
  const [left, right] = [from, to].map((time) => clamp(x(time), plot.x, plot.x + plot.width));
  const height = end - pins.y;
  fillBox(pen, scene.pens.css('back', 0.6), plot.x, pins.y, left - plot.x, height);
  pen.fillRect(right, pins.y, plot.x + plot.width - right, height);
  return [left, right];
}

/** The length of the selected time: [text, its middle, half its width]. */
function rangeLabel(pen, { range, textWidth }, { plot, x }) {
  setText(pen, 'center', 12, 'bold ');
  const text = duration(range[1] - range[0]);
  const half = textWidth(pen, text) / 2 + 6;
  return [text, clamp(x((range[0] + range[1]) / 2), plot.x + half, plot.x + plot.width - half), half];
}

/** The selected time between two strong lines, on pictures of any density, and its length on the axis. */
function drawRange(pen, scene, layout) {
  const { range, pens } = scene;
  if (!range) return;
  const { axis, plot } = layout;
  const [left, right] = fadeAround(pen, scene, layout, ...range);
  const [y, height] = [axis.y + 1, layout.end - axis.y - 1];
  for (const x of [left, right]) fillBox(pen, pens.css('text'), x - 0.75, y, 1.5, height);
  fillBox(pen, pens.css('text'), left, axis.y + 18, right - left, 2);
  const [text, middle, half] = rangeLabel(pen, scene, layout);
  fillBox(pen, pens.css('text'), middle - half, axis.y, 2 * half, 18);
  pen.fillStyle = pens.css('back');
  pen.fillText(text, middle, axis.y + 9.5);
}

function drawFocus(pen, scene, layout) {
  const { finding, pens } = scene;
  if (finding) fadeAround(pen, scene, layout, finding.from, finding.to);
  if (scene.box) {
    pen.fillStyle = pens.css('accent', 0.12);
    pen.strokeStyle = pens.css('accent');
    pen.lineWidth = 1;
    pen.fillRect(...scene.box);
    pen.strokeRect(...scene.box);
  }
}

/** Every so many lines have a label. */
function labelStep(scene, layout) {
  const [first, end] = linesSeen(scene, layout);
  return layout.line >= 13 ? 1 : stepOf(end - first, layout.plot.height / 14);
}

function drawLabels(pen, scene, layout) {
  const { plot } = layout;
  const { finding, pens, meta } = scene;
  const [first, end] = linesSeen(scene, layout);
  const step = labelStep(scene, layout);
  const [victims, causes] = [new Set(finding?.victims), new Set(finding?.causes)];
  for (let line = ceil(first / step) * step; line < end; line += step) {
    const y = layout.middle(line);
    if (y < plot.y || y > plot.y + plot.height) continue;
    const rank = layout.fold === 0 ? meta.rankOf(scene.rowAt(line)) : -1;
    const [cause, victim] = [causes.has(rank), victims.has(rank)];
    setText(pen, 'right', 12, cause || victim ? 'bold ' : '');
    pen.fillStyle = pens.css(cause ? 'accent' : victim ? 'text' : 'muted');
    pen.fillText(lineLabel(scene, line, layout.fold), plot.x - 8, y);
  }
}

/** Which or how many processes of the places [first, end) ended so, as endings_text. */
function endingsText({ meta, rowAt }, ended, first, end) {
  const { length } = ended;
  const { word } = ended.every((one) => one.word === ended[0].word) ? ended[0] : { word: 'ended early' };
  if (length < 3) return `${ended.map(({ row }) => thousands(meta.rankOf(row))).join(' and ')} ${word}`;
  let all = 0;
  // Lines of hosts have places without a process.
  for (; first < end; first++) all += rowAt(first) >= 0;
  return `${length < all ? `${thousands(length)} of` : 'all'} ${thousands(all)} ${word}`;
}

/** Which processes of a line ended without MPI_Finalize, where the first of them did, over what others did then. */
function drawFoldedEndings(pen, scene, layout) {
  const { plot, fold } = layout;
  const { meta, pens } = scene;
  const step = labelStep(scene, layout) * 2 ** fold;
  const groups = [];
  for (const one of meta.endings) (groups[floor(scene.lineOf(one.row) / step)] ??= []).push(one);
  setText(pen, 'left', 12);
  groups.forEach((ended, group) => {
    const [first, end] = [group * step, min(group * step + step, scene.count)];
    const [top, bottom] = [first, end].map((place) => clamp(layout.y(place / 2 ** fold), plot.y, plot.y + plot.height));
    const x = layout.x(min(...ended.map(({ row }) => meta.lives[row][1])));
    const right = plot.x + plot.width;
    if (bottom - top < 1 || x < plot.x || x > right) return;
    const said = endingsText(scene, ended, first, end);
    const width = scene.textWidth(pen, said) + 8;
    const left = x + width < right ? x + 1 : x - 1 - width;
    const middle = (top + bottom) / 2;
    fillBox(pen, pens.css('accent'), x - 1, top, 2, bottom - top);
    fillBox(pen, pens.css('back'), left, middle - 7, width, 14);
    pen.fillStyle = pens.css('text');
    pen.fillText(said, left + 4, middle);
  });
}

/** How a process ended, behind the end of its row; where that has no room, in a word. */
function drawEndings(pen, scene, layout) {
  const { plot } = layout;
  const { meta, pens } = scene;
  const [first, end] = linesSeen(scene, layout);
  setText(pen, 'left', 12);
  pen.fillStyle = pens.css('muted');
  for (const { row, text, word } of meta.endings) {
    const line = scene.lineOf(row);
    const y = layout.middle(line);
    if (!(line >= first && line < end) || y < plot.y || y > plot.y + plot.height) continue;
    const x = max(layout.x(meta.lives[row][1]), plot.x) + 4;
    const said = [text, word].find((some) => x + scene.textWidth(pen, some) <= plot.x + plot.width);
    if (said) pen.fillText(said, x, y);
  }
}

/** Rows by host: the name of each beside its rows, and a line between it and the next. */
function drawHosts(pen, scene, layout) {
  const { plot, fold, y } = layout;
  const { hostBegins, pens, count, orderName, hostNames } = scene;
  if (orderName !== 'host') return;
  const end = plot.y + plot.height;
  let free = plot.y;
  setText(pen, 'left', 12);
  hostBegins.forEach((first, host) => {
    const [top, bottom] = [first, hostBegins[host + 1] ?? count].map((line) => clamp(y(line / 2 ** fold) - layout.gap / 2, plot.y, end));
    if (bottom <= top) return;
    if (top > plot.y) fillBox(pen, pens.css('muted', bottom - top > 2 ? 0.8 : 0.3), 0, top - 0.5, plot.x + plot.width, 1);
    const middle = (top + bottom) / 2;
    if (middle - 7 < free || middle + 7 > end) return;
    pen.fillStyle = pens.css('text');
    pen.fillText(hostNames[host], 6, middle);
    free = middle + 7;
  });
}

function drawAxis(pen, scene, layout) {
  const { axis, plot } = layout;
  const { view, pens } = scene;
  const [, label, labelHalf] = scene.range ? rangeLabel(pen, scene, layout) : ['', 0, -Infinity];
  setText(pen, 'center', 12);
  const rough = timeStepOf(view.t1 - view.t0, axis.width / 80);
  const room = scene.textWidth(pen, tickText(view.t1, rough, view.t1)) + 24;
  const step = max(1, timeStepOf(view.t1 - view.t0, axis.width / room));
  let free = axis.x - 30;
  for (let time = ceil(view.t0 / step) * step; time <= view.t1; time += step) {
    const x = layout.x(time);
    const text = tickText(time, step, view.t1);
    const half = scene.textWidth(pen, text) / 2;
    fillBox(pen, pens.css('grid'), x - 0.5, axis.y + 18, 1, layout.end - axis.y - 18);
    if (x - half < free || x + half > scene.width || abs(x - label) < half + labelHalf + 4) continue;
    pen.fillStyle = pens.css('muted');
    pen.fillText(text, x, axis.y + 9);
    free = x + half + 8;
  }
  setText(pen);
  pen.fillStyle = pens.css('muted');
  if (scene.hostWidth) pen.fillText('host', 6, axis.y + 9);
  if (scene.orderName !== 'hosts') pen.fillText(layout.fold > 0 ? 'ranks' : 'rank', scene.hostWidth + 6, axis.y + 9);
}

/** Phases as a band with names, iterations of the main loop as one below it. */
function drawPhases(pen, scene, layout) {
  const { phases } = layout;
  setText(pen);
  const band = (parts, y, height) =>
    parts.forEach((part, i) => {
      const x = max(layout.x(part.from), phases.x);
      const width = min(layout.x(part.to), phases.x + phases.width) - x;
      if (width <= 0.3) return;
      fillBox(pen, scene.pens.css(i % 2 ? 'plain' : 'mpi', 0.3), x, y, max(0.3, width - 1), height);
      pen.fillStyle = scene.pens.css('text');
      if (height >= 12 && scene.textWidth(pen, part.name) + 8 < width) pen.fillText(part.name, x + 4, y + height / 2);
    });
  const both = scene.phases.length > 0 && scene.iterations.length > 0;
  band(scene.phases, phases.y, both ? 13 : phases.height);
  band(scene.iterations, both ? phases.y + 14 : phases.y, both ? 4 : phases.height);
}

/** The whole run in small, findings as marks, the view as a frame. */
function drawOverview(pen, scene, layout) {
  const { overview } = layout;
  const { meta, view, pens } = scene;
  const x = (time) => overview.x + (time / max(1, meta.duration)) * overview.width;
  fillBox(pen, pens.css('grid', 0.6), overview.x, overview.y, overview.width, overview.height);
  pen.imageSmoothingEnabled = false;
  for (const address of mapTiles(meta)) {
    const tile = scene.tiles.get(address);
    if (!tile || tile.lines === 0) continue;
    const span = TILE_BINS * 2 ** address.shift;
    const bins = min(TILE_BINS, (meta.duration - address.index * span) / 2 ** address.shift);
    if (bins <= 0) continue;
    const left = x(address.index * span);
    const right = x(min(meta.duration, (address.index + 1) * span));
    pen.drawImage(tilePicture(tile, 'states', scene), 0, 0, bins, tile.lines, left, overview.y, right - left, overview.height);
  }
  scene.findings.forEach((finding, i) => {
    fillBox(pen, pens.css('accent', scene.finding && scene.finding !== finding ? 0.4 : 1), x(finding.from), overview.y + (i % 4) * 3, max(2, x(finding.to) - x(finding.from)), 2);
  });
  const [a, b] = [x(view.t0), x(view.t1)];
  fillBox(pen, pens.css('back', 0.6), overview.x, overview.y, a - overview.x, overview.height);
  pen.fillRect(b, overview.y, overview.x + overview.width - b, overview.height);
  pen.strokeStyle = pens.css('text');
  pen.lineWidth = 1;
  pen.strokeRect(a + 0.5, overview.y + 0.5, max(2, b - a - 1), overview.height - 1);
  setText(pen);
  pen.fillStyle = pens.css('muted');
  pen.fillText('whole', 6, overview.y + overview.height / 2 - 6);
  pen.fillText('run', 6, overview.y + overview.height / 2 + 7);
}

function drawPointer(pen, scene, layout) {
  const { pointer, hover, pens } = scene;
  if (!pointer || pointer.y < layout.axis.y) return;
  pen.fillStyle = pens.css('text', 0.35);
  if (pointer.x >= layout.plot.x) pen.fillRect(round(pointer.x), layout.axis.y + 18, 1, layout.end - layout.axis.y - 18);
  if (hover?.line >= 0 && !hover.pinned) {
    fillBox(pen, pens.css('text', 0.05), layout.plot.x, layout.y(hover.line), layout.plot.width, layout.height);
  }
}

/** Pinned rows stay above all others, whatever these are. */
function drawPins(pen, scene, layout) {
  const { plot, pins } = layout;
  for (let place = 0; place < scene.pins.length; place++) {
    const [own, at, line] = pinOf(scene, layout, place);
    pen.save();
    clipTo(pen, plot.x, at.plot.y, plot.width, PIN_LINE);
    if (pinIsExact(scene, place)) drawStates(pen, own, at);
    else drawShares(pen, own, at);
    pen.restore();
    setText(pen, 'right', 12, 'bold ');
    pen.fillStyle = scene.pens.css('text');
    pen.fillText(lineLabel(own, line, at.fold), plot.x - 8, at.middle(line));
  }
  if (pins.height > 0) fillBox(pen, scene.pens.css('muted'), 0, pins.y + pins.height + PIN_GAP / 2 - 1, plot.x + plot.width, 1);
}

/** Everything. `pen` is a canvas' context or an SvgContext. */
function drawScene(pen, scene) {
  const layout = layoutOf(scene);
  const { plot } = layout;
  const { pens } = scene;
  fillBox(pen, pens.css('back'), 0, 0, scene.width, scene.height);
  drawOverview(pen, scene, layout);
  drawAxis(pen, scene, layout);
  drawCounters(pen, scene, layout);
  pen.save();
  clipTo(pen, plot.x, layout.axis.y + 18, plot.width, plot.y + plot.height - layout.axis.y - 18);
  drawPhases(pen, scene, layout);
  clipTo(pen, plot.x, plot.y, plot.width, plot.height);
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
  drawPins(pen, scene, layout);
  drawRange(pen, scene, layout);
  drawHosts(pen, scene, layout);
  drawLabels(pen, scene, layout);
  (layout.fold > 0 || layout.line < 12 ? drawFoldedEndings : drawEndings)(pen, scene, layout);
}
