// The timeline: keeps the view, gets the data that it needs, and turns what the pointer and the keys do into views.

const EXACT_MOST = 30000; // states that are drawn one by one
const CACHED_TILES = 600;
const PICTURED_TILES = 160; // with a picture of half a megabyte
const LOADS = 6; // requests at once

/** Whether the states of a pinned row are among those drawn one by one. */
function pinIsExact(scene, place) {
  const { exact, view, meta } = scene;
  const line = scene.lineOf(scene.pins[place]);
  return Boolean(exact) && !meta.leastFold && exact.covers(max(0, view.t0), min(meta.duration, view.t1), { order: scene.orderName, first: line, count: 1 }) && exact.states.row.length <= EXACT_MOST;
}

/** Tiles that are there, and those that are on their way; the newest wishes first. */
class TileStore {
  constructor(source, changed) {
    Object.assign(this, { source, changed, tiles: new Map(), wanted: [], loading: new Set(), stale: new Set(), pictured: [] });
  }

  static key({ shift, index, fold, block, order }) {
    return `${order}/${shift}/${index}/${fold}/${block}`;
  }

  get(address) {
    return this.tiles.get(TileStore.key(address));
  }

  want(addresses) {
    const missing = (key) => (!this.tiles.has(key) || this.stale.has(key)) && !this.loading.has(key);
    this.wanted = addresses.filter((address) => missing(TileStore.key(address)));
    this.load();
  }

  /** More is known now: all tiles are asked for again, and shown as they are until then. */
  refresh() {
    this.stale = new Set([...this.tiles.keys(), ...this.loading]);
  }

  load() {
    while (this.wanted.length > 0 && this.loading.size < LOADS) {
      const address = this.wanted.shift();
      const key = TileStore.key(address);
      this.loading.add(key);
      const asked = this.stale;
      this.source
        .tile(address)
        .then((tile) => this.keep(key, tile, asked))
        .catch((error) => this.changed(error))
        .finally(() => {
          this.loading.delete(key);
          this.load();
        });
    }
  }

  /** Of the largest pictures only those drawn last are kept. */
  paintedLarge(tile, kind) {
    this.pictured.push([tile, kind]);
    if (this.pictured.length <= PICTURED_TILES) return;
    const [oldest, what] = this.pictured.shift();
    oldest.pictures.delete(what);
  }

  keep(key, tile, asked) {
    this.tiles.set(key, tile);
    if (asked === this.stale) this.stale.delete(key);
    if (this.tiles.size > CACHED_TILES) this.tiles.delete(this.tiles.keys().next().value);
    this.changed();
  }
}

class Timeline extends EventTarget {
  constructor(root, source, options = {}) {
    super();
    const { meta } = source;
    this.source = source;
    this.options = options;
    this.still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.tip = h('div', { class: 'tip', role: 'tooltip', hidden: true });
    this.spoken = h('div', { class: 'unseen', 'aria-live': 'polite' });
    this.frame = h(
      'div',
      { class: 'plot', role: 'application', tabindex: '0', 'aria-roledescription': 'timeline', 'aria-label': this.describe(meta) },
      this.canvas,
    );
    this.frame.style.setProperty('--most', `${120 + LINE_MOST * max(2, meta.rows)}px`); // where the page scrolls, no more than it fills
    root.append(this.frame, this.tip, this.spoken);
    this.pen = this.canvas.getContext('2d');
    this.widths = new Map();
    this.awaitedCurves = new Map();
    this.scene = {
      meta,
      width: 300,
      height: 300,
      labelWidth: 64,
      view: this.whole(),
      tiles: new TileStore(source, (error) => (error ? this.fail(error) : this.redraw())),
      exact: null,
      hidden: new Set(),
      marksDrawn: [],
      show: { messages: true, waits: true, marks: true, path: false },
      findings: [],
      phases: [],
      iterations: [],
      finding: null,
      selected: -1,
      range: null,
      orderName: 'rank',
      rows: null, // by line; -1: none
      lines: null,
      count: max(0, meta.rows), // of lines
      folds: meta.folds,
      leastFold: meta.leastFold || 0,
      hostBegins: null, // where rows are by host: the first line of each
      group: 0, // processes of a line, as a power of two at least
      pins: [], // rows that are always seen
      counters: [], // marks of those with a graph
      curves: new Map(), // by mark: what is drawn of it
      colourVersion: 0,
      rowAt: (line) => this.rowAt(line),
      lineOf: (row) => this.lineOf(row),
      exactFits: (layout) => this.exactFits(layout),
      textWidth: (pen, text) => this.textWidth(pen, text),
    };
    this.scene.counters = this.firstCounters();
    this.recolour();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.frame);
    this.resize();
    this.update();
  }

  describe(meta) {
    return `Timeline of ${meta.title}: ${meta.facts}. Arrow keys move, plus and minus zoom, comma and full stop go from state to state, question mark lists all keys.`;
  }

  whole() {
    const { meta } = this.source;
    return { t0: 0, t1: max(1, meta.duration), r0: 0, r1: max(1, this.scene?.count ?? meta.rows) };
  }

  /** Lets panels and page know what has changed. */
  say(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  /** Calls act(detail) for what say() says. */
  on(what, act) {
    this.addEventListener(what, (event) => act(event.detail));
  }

  fail(error) {
    this.say('fault', error.message);
  }

  recolour() {
    this.scene.pens = new Pens(this.scene.meta);
    this.scene.colourVersion++;
    this.redraw();
  }

  resize() {
    const box = this.frame.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.scene.width = max(200, round(box.width));
    this.scene.height = max(160, round(box.height));
    this.canvas.width = this.scene.width * ratio;
    this.canvas.height = this.scene.height * ratio;
    this.ratio = ratio;
    this.fitLabels();
    this.update();
  }

  /** What stands left of the plot: ranks, names of hosts, or both. */
  fitLabels() {
    const { scene } = this;
    const { hosts } = scene.meta;
    const ranks = 30 + 7.5 * max(4, this.longestLabel());
    scene.hostWidth = 0;
    if (scene.hostBegins) {
      setText(this.pen, 'left', 12);
      const widthOf = (text) => this.textWidth(this.pen, text);
      scene.hostNames = hostLabels(hosts.names, widthOf, max(40, min(140, scene.width * 0.16)));
      scene.hostWidth = 14 + max(...scene.hostNames.map(widthOf));
    }
    scene.labelWidth = scene.orderName === 'hosts' ? max(ranks, scene.hostWidth + 8) : ranks + scene.hostWidth;
  }

  longestLabel() {
    const { meta } = this.scene;
    const digits = thousands(meta.rankOf(max(0, meta.rows - 1))).length;
    return meta.rows * ROW_LEAST > this.scene.height ? 2 * digits + 1 : digits;
  }

  textWidth(pen, text) {
    const key = pen.font + text;
    if (!this.widths.has(key)) {
      if (this.widths.size > 5000) this.widths.clear();
      this.widths.set(key, pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      drawScene(this.pen, this.scene);
      this.say('drawn');
    });
  }

  /** After any change of the view: draws, and asks for what is missing. */
  update() {
    this.redraw();
    const layout = layoutOf(this.scene);
    const tiles = this.exactFits(layout) ? [] : tilesSeen(this.scene, layout);
    const pinned = this.scene.pins.flatMap((row, place) => (pinIsExact(this.scene, place) ? [] : tilesSeen(...pinOf(this.scene, layout, place))));
    this.scene.tiles.want([...mapTiles(this.scene.meta), ...tiles, ...pinned]);
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.settle(), 120);
    this.say('view');
  }

  /** When the view rests. */
  settle() {
    this.wantExact();
    this.wantCounters();
    this.say('rest');
  }

  // Rows

  /** Shows rows in an order: rows by line, or null for that of the ranks. */
  setOrder(name, rows, hostBegins = null) {
    const { scene } = this;
    const { meta } = scene;
    scene.lines = rows && new Int32Array(meta.rows);
    rows?.forEach((row, line) => row >= 0 && (scene.lines[row] = line));
    const count = rows ? rows.length : meta.rows;
    const hostFold = name === 'hosts' ? meta.hosts.fold : 0;
    const isOther = name !== scene.orderName && (name === 'hosts' || scene.orderName === 'hosts');
    Object.assign(scene, { orderName: name, rows, hostBegins, count, folds: ceil(log2(max(1, count))), leastFold: max(meta.leastFold || 0, hostFold) });
    if (isOther) Object.assign(scene, { group: 0, view: { ...scene.view, r0: 0, r1: max(1, count) } });
    this.fitLabels();
    this.update();
    this.say('rows');
  }

  /** Rows by host, or a line for each host. */
  setHosts(fold) {
    this.setOrder(fold ? 'hosts' : 'host', ...hostLines(this.scene.meta, fold));
  }

  /** By rank, by host, a line for each host, and so on. */
  nextHosts() {
    const { orderName, meta } = this.scene;
    if (!meta.hosts) return;
    if (orderName === 'hosts' || (orderName === 'host' && meta.hosts.fold === null)) this.setOrder('rank', null);
    else this.setHosts(orderName === 'host');
  }

  /** Lines of at least 2 ** group processes each. */
  setGroup(group) {
    this.scene.group = clamp(group, 0, this.scene.folds);
    this.update();
    this.say('rows');
  }

  /** Pins a row above the others, or takes it back. */
  togglePin(row) {
    if (row < 0) return;
    const { pins } = this.scene;
    const isPinned = pins.includes(row);
    this.setPins(isPinned ? pins.filter((pin) => pin !== row) : [...pins, row].slice(-PINS_MOST));
    this.spoken.textContent = `${this.processName(row)} ${isPinned ? 'is no longer pinned' : 'is pinned'}.`;
  }

  setPins(rows) {
    this.scene.pins = rows;
    this.update();
    this.say('rows');
  }

  /** Of a group of processes, its own lines; of a host, its processes. */
  unfold(line, fold) {
    const { meta, orderName, count } = this.scene;
    let [r0, r1] = [line * 2 ** fold, min((line + 1) * 2 ** fold, count)];
    if (orderName === 'hosts' && fold === meta.hosts.fold) {
      this.setHosts(false);
      [r0, r1] = [this.scene.hostBegins[line], this.scene.hostBegins[line + 1] ?? meta.rows];
    }
    this.setGroup(0);
    this.flyTo({ r0, r1 });
  }

  rowAt(line) {
    return this.scene.rows ? this.scene.rows[line] : line;
  }

  /** -1 for a row that is not known. */
  lineOf(row) {
    return row < 0 || !this.scene.lines ? row : this.scene.lines[row];
  }

  /** The single lines that are seen, folded or not: {order, first, count, rows}. */
  area(layout) {
    const [first, end] = linesSeen(this.scene, layout).map((line) => line * 2 ** layout.fold);
    const count = min(end, this.scene.count) - first;
    const rows = Array.from({ length: count }, (_, i) => this.rowAt(first + i)).filter((row) => row >= 0);
    return { order: this.scene.orderName, first, count, rows };
  }

  // Exact data

  exactFits(layout) {
    const { exact, view } = this.scene;
    if (!exact || layout.fold > 0) return false;
    const [from, to] = [max(0, view.t0), min(this.scene.meta.duration, view.t1)];
    if (!exact.covers(from, to, this.area(layout))) return false;
    return exact.states.row.length <= EXACT_MOST || this.countSeen(layout) <= EXACT_MOST;
  }

  countSeen(layout) {
    const { exact, view } = this.scene;
    const { from } = exact.states;
    const [first, end] = linesSeen(this.scene, layout);
    let count = 0;
    for (let line = first; line < end; line++) {
      const [a, b] = exact.rangeOf(this.rowAt(line));
      count += upperBound(b - a, (i) => from[a + i], view.t1) - upperBound(b - a, (i) => from[a + i], view.t0);
    }
    return count;
  }

  /** Gets the exact states of the view and a margin around it, unless it is known to hold too many. */
  wantExact() {
    const { scene } = this;
    const layout = layoutOf(scene);
    if (layout.fold > 0 || (this.exactFits(layout) && this.pinsFit()) || this.fetching) return;
    const lines = this.withPins(this.area(layout));
    const span = scene.view.t1 - scene.view.t0;
    if (this.tooMany && span * lines.count >= this.tooMany) return;
    const margin = this.tooMany && span * lines.count * 2 >= this.tooMany ? 0 : span / 2;
    const from = max(0, floor(scene.view.t0 - margin));
    const to = min(scene.meta.duration, ceil(scene.view.t1 + margin));
    this.fetching = true;
    this.source
      .window(from, to, lines)
      .then((exact) => {
        this.fetching = false;
        if (exact?.complete) this.takeExact(exact);
        else if (exact && lines.pinned) this.tooFar = scene.pins;
        else if (exact) this.tooMany = min(this.tooMany || Infinity, (to - from) * lines.count);
        if (exact && (exact.complete || margin > 0 || lines.pinned)) this.update();
      })
      .catch((error) => {
        this.fetching = false;
        this.fail(error);
      });
  }

  /** Pinned rows with their states, unless too many lie between them and what is seen. */
  pinsFit() {
    const { pins } = this.scene;
    return this.tooFar === pins || pins.every((_, place) => pinIsExact(this.scene, place));
  }

  withPins(area) {
    const { pins, orderName, meta } = this.scene;
    if (pins.length === 0 || this.tooFar === pins || meta.leastFold) return area;
    const lines = pins.map((row) => this.lineOf(row));
    const first = min(area.first, ...lines);
    return { order: orderName, first, count: max(area.first + area.count, ...lines.map((line) => line + 1)) - first, pinned: true };
  }

  takeExact(exact) {
    const { scene } = this;
    const kept = scene.selected >= 0 ? this.keyOf(scene.selected) : this.awaited;
    scene.exact = exact;
    scene.hover = null;
    scene.selected = kept ? this.findState(kept) : -1;
    if (scene.selected >= 0) this.awaited = null;
    this.say('selected');
  }

  keyOf(index) {
    const s = this.scene.exact.states;
    return { row: s.row[index], from: s.from[index], state: s.state[index] };
  }

  findState({ row, from, state }) {
    const { exact } = this.scene;
    const [first, end] = exact.rangeOf(row);
    for (let i = first; i < end; i++) if (exact.states.from[i] === from && (state === undefined || exact.states.state[i] === state)) return i;
    return -1;
  }

  // Views

  setView(view) {
    this.flight = null;
    this.scene.view = this.bounded(view);
    this.update();
  }

  bounded({ t0, t1, r0, r1 }) {
    const rows = this.scene.count;
    const most = max(1, this.scene.meta.duration);
    const span = clamp(t1 - t0, min(most, 20), most);
    const begin = clamp(t0 + (t1 - t0 - span) / 2, 0, most - span);
    const height = clamp(r1 - r0, 1, max(1, rows));
    const top = clamp(r0, 0, max(1, rows) - height);
    return { t0: begin, t1: begin + span, r0: top, r1: top + height };
  }

  flyTo(target) {
    const goal = this.bounded({ ...this.scene.view, ...target });
    if (this.still) {
      this.setView(goal);
      return;
    }
    const origin = { ...this.scene.view };
    const began = performance.now();
    const flight = (this.flight = {});
    const step = (now) => {
      if (this.flight !== flight) return;
      const part = clamp((now - began) / 280, 0, 1);
      const ease = part * part * (3 - 2 * part);
      this.scene.view = Object.fromEntries(Object.keys(goal).map((key) => [key, origin[key] + (goal[key] - origin[key]) * ease]));
      if (part < 1) requestAnimationFrame(step);
      else this.scene.view = goal;
      this.update();
    };
    requestAnimationFrame(step);
  }

  zoom(factor, x) {
    const { t0, t1 } = this.scene.view;
    const { plot } = layoutOf(this.scene);
    const at = t0 + clamp((x - plot.x) / plot.width, 0, 1) * (t1 - t0);
    this.setView({ ...this.scene.view, t0: at - (at - t0) * factor, t1: at + (t1 - at) * factor });
  }

  zoomRows(factor, y) {
    const { r0, r1 } = this.scene.view;
    const { plot } = layoutOf(this.scene);
    const at = r0 + clamp((y - plot.y) / plot.height, 0, 1) * (r1 - r0);
    this.setView({ ...this.scene.view, r0: at - (at - r0) * factor, r1: at + (r1 - at) * factor });
  }

  pan(time, rows) {
    const { t0, t1, r0, r1 } = this.scene.view;
    const span = t1 - t0;
    const begin = clamp(t0 + time * span, 0, max(1, this.scene.meta.duration) - span);
    const height = r1 - r0;
    const top = clamp(r0 + rows * height, 0, max(1, this.scene.count) - height);
    this.setView({ t0: begin, t1: begin + span, r0: top, r1: top + height });
  }

  /** Shows a time span with some room around it, and the rows if they are not all seen. */
  show(from, to, rows = []) {
    const room = max((to - from) * 0.08, 10);
    const target = { t0: from - room, t1: to + room };
    const lines = rows.map((row) => this.lineOf(row)).filter((line) => line >= 0);
    const { r0, r1 } = this.scene.view;
    if (lines.length > 0) {
      const [top, bottom] = [min(...lines), max(...lines) + 1];
      if (top < r0 || bottom > r1) {
        const height = max(bottom - top, min(r1 - r0, 64));
        const middle = (top + bottom) / 2;
        Object.assign(target, { r0: middle - height / 2, r1: middle + height / 2 });
      }
    }
    this.flyTo(target);
  }

  /** Selects the state of a row that begins at a time, now or when its data are there, and shows it. */
  goTo(row, from, to, state) {
    const { view } = this.scene;
    const key = { row, from, state };
    const found = this.scene.exact ? this.findState(key) : -1;
    if (found >= 0) this.select(found);
    else this.awaited = key;
    const span = clamp((to - from) * 5, 40, view.t1 - view.t0);
    const middle = (from + to) / 2;
    this.show(middle - span / 2, middle + span / 2, [row]);
  }

  select(index) {
    this.scene.selected = index;
    if (index >= 0) this.spoken.textContent = this.stateText(index);
    this.say('selected');
    this.redraw();
  }

  setFinding(finding) {
    this.scene.finding = finding;
    this.say('finding');
    if (!finding) {
      this.redraw();
      return;
    }
    const rows = [...finding.victims, ...finding.causes].map((rank) => this.scene.meta.rowOf(rank));
    this.show(finding.from, finding.to, rows);
  }

  setRange(range) {
    this.scene.range = range;
    if (range) this.spoken.textContent = `Selected: ${duration(range[1] - range[0])}, from ${instant(range[0])}.`;
    this.say('range');
    this.redraw();
  }

  // What is under the pointer

  /** The place of the pinned row at a height; -1: none. */
  pinAt(y) {
    const { pins } = layoutOf(this.scene);
    return y >= pins.y && y < pins.y + pins.height ? floor((y - pins.y) / PIN_LINE) : -1;
  }

  atPin(x, place) {
    const layout = layoutOf(this.scene);
    if (x < layout.plot.x || x > layout.plot.x + layout.plot.width) return null;
    const [, own, line] = pinOf(this.scene, layout, place);
    const row = this.scene.pins[place];
    const hit = { line, row, fold: own.fold, time: layout.time(x), state: -1, message: -1, mark: -1, pinned: true };
    if (pinIsExact(this.scene, place)) hit.state = this.scene.exact.stateAt(row, hit.time);
    return hit;
  }

  /** {line, row, time, state, message}: indices of the exact data, -1 where there is none. */
  at(x, y) {
    const place = this.pinAt(y);
    if (place >= 0) return this.atPin(x, place);
    const layout = layoutOf(this.scene);
    const { plot } = layout;
    if (y >= layout.counters.y) return this.atCounter(x, y);
    const [first, end] = linesSeen(this.scene, layout);
    const line = layout.lineAt(y);
    if (x < plot.x || x > plot.x + plot.width || y < plot.y || line < first || line >= end) return null;
    const hit = { line, row: layout.fold === 0 ? this.rowAt(line) : -1, fold: layout.fold, time: layout.time(x), state: -1, message: -1, mark: -1 };
    if (!this.scene.isExact) return hit;
    hit.mark = this.markAt(x, y);
    hit.message = hit.mark < 0 ? this.messageAt(x, y) : -1;
    if (y <= layout.y(line) + layout.height) hit.state = this.scene.exact.stateAt(hit.row, hit.time);
    if (hit.state < 0) hit.state = this.narrowStateAt(layout, hit);
    if (hit.state >= 0 && this.scene.hidden.has(this.scene.exact.states.state[hit.state])) hit.state = -1;
    return hit;
  }

  /** States narrower than a pixel can be hit as well. */
  narrowStateAt(layout, hit) {
    const pixel = 1.5 * (layout.time(1) - layout.time(0));
    for (const time of [hit.time - pixel, hit.time + pixel]) {
      const state = this.scene.exact.stateAt(hit.row, time);
      if (state >= 0) return state;
    }
    const [first, end] = this.scene.exact.rangeOf(hit.row);
    const { from } = this.scene.exact.states;
    const next = first + upperBound(end - first, (i) => from[first + i], hit.time - pixel);
    return next < end && from[next] < hit.time + pixel ? next : -1;
  }

  markAt(x, y) {
    let [best, least] = [-1, 5];
    for (const [mark, left, top] of this.scene.marksDrawn) {
      const distance = abs(x - left);
      if (distance < least && y >= top - 1 && y <= top + MARK_HEIGHT + 1) [best, least] = [mark, distance];
    }
    return best;
  }

  messageAt(x, y) {
    if (!this.scene.arrows || !this.scene.show.messages) return -1;
    let [best, least] = [-1, 4];
    for (const [message, x1, y1, x2, y2] of this.scene.arrows) {
      const [dx, dy] = [x2 - x1, y2 - y1];
      const part = clamp(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0, 1);
      const distance = Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
      if (distance < least) [best, least] = [message, distance];
    }
    return best;
  }

  /** Where everything is now. */
  layout() {
    return layoutOf(this.scene);
  }

  /** Where a time of a row is on the window, in pixels: for scripts and tests. */
  pointOf(row, time) {
    const layout = layoutOf(this.scene);
    const box = this.frame.getBoundingClientRect();
    const line = floor(this.lineOf(row) / 2 ** layout.fold);
    return { x: box.left + layout.x(time), y: box.top + layout.middle(line) };
  }

  // Pictures

  svg() {
    const pen = new SvgContext(this.scene.width, this.scene.height);
    drawScene(pen, { ...this.scene, pointer: null, hover: null });
    return new Blob([pen.toString()], { type: 'image/svg+xml' });
  }

  png() {
    const ratio = 2;
    const canvas = h('canvas', { width: this.scene.width * ratio, height: this.scene.height * ratio });
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    drawScene(pen, { ...this.scene, pointer: null, hover: null });
    return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  }
}
