// Counters below the timeline: a graph of each over the time and of the processes that are seen; in a report always of
// all processes.

const COUNTER_LINE = 66; // pixels of a counter: its name, its graph, and room below
const COUNTER_TITLE = 18;
const COUNTER_GRAPH = 38;
const COUNTERS_MOST = 8;
const COUNTERS_FIRST = 3; // shown at first, of those of the program

/** Three significant digits of a number below 0.1. */
function smallNumber(number) {
  const [digits, exponent] = number.toExponential(2).split('e').map(Number);
  if (exponent >= -4) return fixed(number, 2 - exponent).replace(/0+$/, '');
  return `${digits}e-${String(-exponent).padStart(2, '0')}`;
}

/** A number with three digits and a prefix of its unit: "2.41 G", "950 kHz", "12". */
function shortNumber(value, unit = '') {
  const prefixes = [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]];
  const [prefix, scale] = prefixes.find(([, size]) => abs(value) >= 0.9995 * size) || ['', 1];
  const number = value / scale;
  const size = abs(number);
  const sign = number < 0 ? '-' : '';
  const digits = size > 0 && size < 0.1 ? smallNumber(size) : digits3(size).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1');
  return `${sign}${digits}${(prefix || unit) && NBSP}${prefix}${unit}`;
}

const PREFIXED = { kHz: [1e3, 'Hz'], MHz: [1e6, 'Hz'], GHz: [1e9, 'Hz'], uJ: [1e-6, 'J'] };

/** What is drawn of a counter: of a sum how fast it grows, of times the share of the time. */
function counterText({ sum, unit }, value) {
  if (sum && unit === 'ns') return percent(value / 1e9);
  if (unit === 'B') return byteSize(value) + (sum ? '/s' : '');
  if (unit === 'ns') return duration(value);
  const [scale, plain] = PREFIXED[unit] || [1, unit];
  return sum && plain === 'J' ? shortNumber(value * scale, 'W') : `${shortNumber(value * scale, plain)}${sum ? '/s' : ''}`;
}

function counterTitle({ name, sum, unit }) {
  if (!sum) return name;
  return unit === 'ns' ? `${name}, share of the time` : `${name} per second`;
}

/** [bottom, top] of a graph, as round numbers: from 0, unless values hardly change. */
function counterScale(counter, data) {
  const known = (list, best) => list.reduce((found, value) => (value === null ? found : best(found, value)), NaN);
  const pick = (compare) => (a, b) => (isNaN(a) ? b : compare(a, b));
  const [least, most] = [known(data.least, pick(min)), known(data.most, pick(max))];
  if (isNaN(least)) return [0, 1];
  if (counter.sum && counter.unit === 'ns' && most > 0.9e9 && most <= 1.05e9) return [0, 1e9];
  const from = counter.sum || least < 0.7 * most || most <= 0 ? min(0, least) : least;
  const step = stepOf(max(most - from, abs(most) * 1e-6, 1e-9), 8);
  return [floor(from / step) * step, max(ceil(most / step) * step, floor(from / step) * step + step)];
}

/** The counters that have room: half of the picture at most. */
function countersOf(scene, room) {
  const chosen = scene.counters.map((mark) => scene.meta.counters.find((counter) => counter.mark === mark));
  return chosen.slice(0, max(room >= COUNTER_LINE * 2 ? 1 : 0, floor(room / 2 / COUNTER_LINE)));
}

/** Which counter is at a height: {counter, data, top}; null: none. */
function counterAt(scene, layout, y) {
  const place = floor((y - layout.counters.y) / COUNTER_LINE);
  const counter = y >= layout.counters.y ? layout.counters.list[place] : undefined;
  return counter ? { counter, data: scene.curves.get(counter.mark), top: layout.counters.y + place * COUNTER_LINE } : null;
}

/** The part of a curve at a time: its place, -1 where nothing is known. */
function curveBin(data, time) {
  const bin = floor(((time - data.from) / (data.to - data.from)) * data.mean.length);
  return data.mean[bin] == null ? -1 : bin;
}

/** Stretches of bins that are known: [first, end). */
function knownParts({ mean }) {
  const parts = [];
  mean.forEach((value, i) => {
    if (value === null) return;
    if (parts.length > 0 && parts[parts.length - 1][1] === i) parts[parts.length - 1][1]++;
    else parts.push([i, i + 1]);
  });
  return parts;
}

/** From the least to the most of any process as a light band, the mean as a line in it. */
function drawCurve(pen, { pens }, data, x, y) {
  const edge = (i) => x(data.from + ((data.to - data.from) * i) / data.mean.length);
  for (const [first, end] of knownParts(data)) {
    const middle = (i) => (edge(i) + edge(i + 1)) / 2;
    pen.fillStyle = pens.css('mpi', 0.22);
    pen.beginPath();
    pen.moveTo(edge(first), y(data.most[first]));
    for (let i = first; i < end; i++) pen.lineTo(middle(i), y(data.most[i]));
    pen.lineTo(edge(end), y(data.most[end - 1]));
    pen.lineTo(edge(end), y(data.least[end - 1]));
    for (let i = end - 1; i >= first; i--) pen.lineTo(middle(i), y(data.least[i]));
    pen.lineTo(edge(first), y(data.least[first]));
    pen.closePath();
    pen.fill();
    pen.strokeStyle = pens.css('mpi');
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(edge(first), y(data.mean[first]));
    for (let i = first; i < end; i++) pen.lineTo(middle(i), y(data.mean[i]));
    pen.lineTo(edge(end), y(data.mean[end - 1]));
    pen.stroke();
  }
}

/** What a graph is of, and the mean of what is seen. */
function drawCounterTitle(pen, scene, layout, counter, data, y) {
  const { plot, x } = layout;
  const { pens, view } = scene;
  setText(pen, 'left', 12);
  pen.fillStyle = pens.css('text');
  const title = counterTitle(counter);
  pen.fillText(title, plot.x, y);
  if (!data) return;
  const seen = data.mean.filter((value, i) => {
    const edge = (at) => data.from + ((data.to - data.from) * at) / data.mean.length;
    return value !== null && edge(i + 1) > view.t0 && edge(i) < view.t1;
  });
  const mean = seen.length > 0 ? `mean ${counterText(counter, seen.reduce((a, b) => a + b, 0) / seen.length)}` : 'not known here';
  if (scene.textWidth(pen, title) + scene.textWidth(pen, mean) + 24 > plot.width) return;
  setText(pen, 'right', 12);
  pen.fillStyle = pens.css('muted');
  pen.fillText(mean, x(view.t1), y);
}

function drawCounter(pen, scene, layout, counter, top) {
  const { plot } = layout;
  const { pens } = scene;
  const data = scene.curves.get(counter.mark);
  const [from, to] = [top + COUNTER_TITLE, top + COUNTER_TITLE + COUNTER_GRAPH];
  drawCounterTitle(pen, scene, layout, counter, data, top + COUNTER_TITLE / 2);
  fillBox(pen, pens.css('grid'), plot.x, from - 0.5, plot.width, 1);
  fillBox(pen, pens.css('muted'), plot.x, to - 0.5, plot.width, 1);
  if (!data) return;
  const [least, most] = counterScale(counter, data);
  const y = (value) => to - (clamp((value - least) / (most - least), 0, 1) * COUNTER_GRAPH);
  setText(pen, 'right', 11);
  pen.fillStyle = pens.css('muted');
  pen.fillText(counterText(counter, most), plot.x - 8, from + 3);
  pen.fillText(counterText(counter, least), plot.x - 8, to - 4);
  pen.save();
  clipTo(pen, plot.x, from - 1, plot.width, COUNTER_GRAPH + 2);
  drawCurve(pen, scene, data, layout.x, y);
  pen.restore();
  const bin = scene.hover?.counter === counter ? curveBin(data, scene.hover.time) : -1;
  if (bin < 0) return;
  pen.fillStyle = pens.css('accent');
  pen.beginPath();
  pen.arc(layout.x(scene.hover.time), y(data.mean[bin]), 3, 0, 2 * Math.PI);
  pen.fill();
}

function drawCounters(pen, scene, layout) {
  layout.counters.list.forEach((counter, place) => drawCounter(pen, scene, layout, counter, layout.counters.y + place * COUNTER_LINE));
}

// What the timeline does about counters

Object.assign(Timeline.prototype, {
  /** Those shown at first: the program's own or the processor's. */
  firstCounters() {
    return this.source.meta.counters.filter((counter) => !counter.resource).map((counter) => counter.mark).slice(0, COUNTERS_FIRST);
  },

  setCounters(marks) {
    const known = (mark) => this.scene.meta.counters.some((counter) => counter.mark === mark);
    this.scene.counters = marks.filter(known).slice(-COUNTERS_MOST);
    this.update();
    this.say('counters');
  },

  toggleCounter(mark) {
    const { counters } = this.scene;
    this.setCounters(counters.includes(mark) ? counters.filter((other) => other !== mark) : [...counters, mark]);
  },

  /** Gets the curves of the counters that are shown, for the time and the processes that are seen. */
  wantCounters() {
    const { scene } = this;
    const layout = layoutOf(scene);
    const area = this.area(layout);
    const [from, to] = [max(0, floor(scene.view.t0)), min(scene.meta.duration, ceil(scene.view.t1))];
    const bins = clamp(round(layout.plot.width), 1, 4096);
    for (const { mark } of layout.counters.list) {
      const key = [from, to, area.order, area.first, area.count, bins].join('/');
      if (scene.curves.get(mark)?.key === key || this.awaitedCurves.get(mark) === key) continue;
      this.awaitedCurves.set(mark, key);
      this.source
        .counter(mark, from, to, area, bins)
        .then((data) => {
          if (this.awaitedCurves.get(mark) !== key) return;
          scene.curves.set(mark, { from, to, ...data, key });
          this.redraw();
        })
        .catch((error) => this.fail(error))
        .finally(() => this.awaitedCurves.get(mark) === key && this.awaitedCurves.delete(mark));
    }
  },

  atCounter(x, y) {
    const layout = layoutOf(this.scene);
    const found = counterAt(this.scene, layout, y);
    if (!found || x < layout.plot.x || x > layout.plot.x + layout.plot.width) return null;
    return { line: -1, row: -1, fold: layout.fold, time: layout.time(x), state: -1, message: -1, mark: -1, counter: found.counter, data: found.data };
  },

  /** What a counter is at a time, of the processes that are seen. */
  counterLines({ counter, data, time }) {
    const bin = data ? curveBin(data, time) : -1;
    const lines = [counterTitle(counter)];
    if (bin < 0) return [...lines, `not known at ${instant(time)}`];
    const [mean, least, most] = [data.mean[bin], data.least[bin], data.most[bin]].map((value) => counterText(counter, value));
    lines.push(least === most ? mean : `mean ${mean}, from ${least} to ${most}`);
    const processes = data.rows ?? this.area(layoutOf(this.scene)).rows.length;
    lines.push(`${thousands(processes)} ${processes === 1 ? 'process' : 'processes'}, ${duration((data.to - data.from) / data.mean.length)} at ${instant(time)}`);
    return lines;
  },
});

/** Which counters there are; those chosen have a graph below the timeline. */
class CountersPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.list = h('div', { class: 'counters' });
    this.root = h('section', { 'aria-label': 'Counters', hidden: timeline.source.meta.counters.length === 0 }, h('h2', {}, 'Counters'), this.list);
    timeline.on('counters', () => this.fill());
    this.fill();
  }

  fill() {
    const { timeline } = this;
    const { counters, meta } = timeline.scene;
    const box = ({ mark, name, unit }) => h('label', {}, h('input', { type: 'checkbox', 'data-mark': mark, checked: counters.includes(mark), onchange: () => timeline.toggleCounter(mark) }), ` ${name}`, unit ? h('span', { class: 'muted' }, ` in ${unit}`) : null);
    this.list.replaceChildren(...meta.counters.map(box));
  }
}
