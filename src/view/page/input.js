// Pointer, wheel and keys of the timeline, and what the tip beside the pointer says.

Object.assign(Timeline.prototype, {
  listen() {
    const { frame } = this;
    const actions = {
      wheel: (event) => this.onWheel(event),
      pointerdown: (event) => this.onDown(event),
      pointermove: (event) => this.onMove(event),
      pointerup: (event) => this.onUp(event),
      pointercancel: () => this.endDrag(),
      pointerleave: () => this.setHover(null, null),
      dblclick: (event) => this.onDouble(event),
      keydown: (event) => this.onKey(event),
    };
    for (const [name, act] of Object.entries(actions)) frame.addEventListener(name, act, { passive: false });
  },

  where(event) {
    const box = this.frame.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  },

  onWheel(event) {
    // In a report the page scrolls with the wheel; there the timeline takes it once it has the focus.
    if (this.options.inPage && document.activeElement !== this.frame && !event.ctrlKey) return;
    event.preventDefault();
    const { x, y } = this.where(event);
    const pixels = (delta) => delta * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    const [dx, dy] = [pixels(event.deltaX), pixels(event.deltaY)];
    const { plot } = layoutOf(this.scene);
    if (event.shiftKey) this.pan((dy || dx) / plot.width, 0);
    else if (abs(dx) > abs(dy)) this.pan(dx / plot.width, 0);
    else if (event.altKey || x < plot.x) this.zoomRows(1.0018 ** dy, y);
    else this.zoom(1.0018 ** dy, x);
    this.onMove(event);
  },

  onDown(event) {
    if (event.button !== 0) return;
    const { x, y } = this.where(event);
    const layout = layoutOf(this.scene);
    const { overview, axis, plot } = layout;
    let kind = 'pan';
    if (y <= overview.y + overview.height + 4) kind = 'overview';
    else if (y < axis.y + axis.height) kind = 'range';
    else if (event.shiftKey) kind = 'box';
    else if (event.ctrlKey || event.metaKey) kind = 'range';
    this.drag = { kind, x, y, view: { ...this.scene.view }, layout, moved: false, plot };
    this.frame.setPointerCapture(event.pointerId);
    if (kind === 'overview') this.dragOverview(x, false);
  },

  dragOverview(x, moved) {
    const { overview } = this.drag.layout;
    const time = (at) => ((at - overview.x) / overview.width) * this.scene.meta.duration;
    const span = this.scene.view.t1 - this.scene.view.t0;
    const whole = span >= this.scene.meta.duration * 0.999 || this.drag.brush;
    if (moved && whole) {
      this.drag.brush = true;
      const [a, b] = [time(this.drag.x), time(x)].sort((p, q) => p - q);
      this.setView({ ...this.scene.view, t0: a, t1: b });
    } else if (!whole) {
      const begin = clamp(time(x) - span / 2, 0, this.scene.meta.duration - span);
      this.setView({ ...this.scene.view, t0: begin, t1: begin + span });
    }
  },

  onMove(event) {
    const { x, y } = this.where(event);
    const { drag, scene } = this;
    if (!drag) {
      this.setHover({ x, y }, this.at(x, y));
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.moved = true;
    this.setHover(null, null);
    if (drag.kind === 'overview') {
      this.dragOverview(x, true);
    } else if (drag.kind === 'range') {
      const times = [drag.layout.time(drag.x), drag.layout.time(x)].sort((a, b) => a - b);
      this.setRange(times.map((time) => clamp(time, 0, scene.meta.duration)));
    } else if (drag.kind === 'box') {
      scene.box = [min(x, drag.x), min(y, drag.y), abs(x - drag.x), abs(y - drag.y)];
      this.redraw();
    } else {
      const { t0, t1, r0, r1 } = drag.view;
      scene.view = drag.view;
      this.pan(((drag.x - x) / drag.plot.width) * 1, ((drag.y - y) / drag.plot.height) * 1);
      if (t1 - t0 !== scene.view.t1 - scene.view.t0 || r1 - r0 !== scene.view.r1 - scene.view.r0) this.redraw();
    }
  },

  onUp(event) {
    const { drag } = this;
    if (!drag) return;
    const { x, y } = this.where(event);
    if (drag.moved && drag.kind === 'box') this.zoomToBox(drag, x, y);
    else if (!drag.moved && drag.kind === 'range') this.setRange(null);
    else if (!drag.moved && drag.kind === 'pan' && drag.x < drag.plot.x) this.onLabel(drag.y, drag.x);
    else if (!drag.moved && drag.kind === 'pan') this.onClick(this.at(drag.x, drag.y));
    this.endDrag();
  },

  endDrag() {
    this.drag = null;
    this.scene.box = null;
    this.redraw();
  },

  zoomToBox({ layout, x: x1, y: y1 }, x2, y2) {
    const rows = (y) => this.scene.view.r0 + ((y - layout.plot.y) / layout.plot.height) * (this.scene.view.r1 - this.scene.view.r0);
    const [t0, t1] = [layout.time(min(x1, x2)), layout.time(max(x1, x2))];
    this.flyTo({ t0, t1, r0: floor(rows(min(y1, y2))), r1: ceil(rows(max(y1, y2))) });
  },

  /** The label of a process pins it, that of a group or of a folded host shows its processes; that of a host beside its
   *  processes folds all hosts. */
  onLabel(y, x = Infinity) {
    const { scene } = this;
    const layout = layoutOf(scene);
    const place = this.pinAt(y);
    const line = layout.lineAt(y);
    const [first, end] = linesSeen(scene, layout);
    if (place >= 0) this.togglePin(scene.pins[place]);
    else if (y < layout.plot.y || line < first || line >= end) return;
    else if (scene.orderName === 'host' && x < scene.hostWidth && scene.meta.hosts.fold !== null) this.setHosts(true);
    else if (layout.fold > (scene.meta.leastFold || 0)) this.unfold(line, layout.fold);
    else this.togglePin(this.rowAt(line * 2 ** layout.fold));
  },

  onClick(hit) {
    if (hit?.message >= 0) this.goToOtherEnd(hit.message, hit.row);
    else this.select(hit ? hit.state : -1);
  },

  /** The end of a message that is farther from where one is now. */
  goToOtherEnd(message, row) {
    const m = this.scene.exact.messages;
    const atSender = m.row[message] === row;
    const [other, time] = atSender ? [m.to[message], m.received[message]] : [m.row[message], m.sent[message]];
    const state = this.scene.exact.stateAt(other, time);
    if (state >= 0) this.select(state);
    const span = this.scene.view.t1 - this.scene.view.t0;
    this.show(time - span * 0.42, time + span * 0.42, [other]);
  },

  onDouble(event) {
    const { x, y } = this.where(event);
    const hit = this.at(x, y);
    if (hit?.state >= 0) this.zoomToState(hit.state);
    else if (hit) this.zoom(0.25, x);
  },

  zoomToState(state) {
    const s = this.scene.exact.states;
    this.show(s.from[state], s.to[state], [s.row[state]]);
  },

  /** The next or previous state of the selected row, or the first of the view. */
  step(direction) {
    const { exact, selected, view } = this.scene;
    if (!exact || !this.scene.isExact) {
      this.spoken.textContent = 'Zoom in to move from state to state.';
      return;
    }
    const row = selected >= 0 ? exact.states.row[selected] : this.rowAt(floor(view.r0));
    const [first, end] = exact.rangeOf(row);
    const { from } = exact.states;
    const start = selected >= 0 ? selected + direction : first + upperBound(end - first, (i) => from[first + i], view.t0 - 1);
    if (start < first || start >= end) return;
    this.select(start);
    this.bringIntoView(start);
  },

  bringIntoView(state) {
    const { view, exact } = this.scene;
    const [from, to] = [exact.states.from[state], exact.states.to[state]];
    if (from >= view.t0 && to <= view.t1) return;
    const middle = (from + to) / 2;
    const span = view.t1 - view.t0;
    this.flyTo({ t0: middle - span / 2, t1: middle + span / 2 });
  },

  /** The state at the same time on the line above or below. */
  stepLine(direction) {
    const { exact, selected } = this.scene;
    if (selected < 0) return;
    const s = exact.states;
    const line = this.lineOf(s.row[selected]) + direction;
    if (line < 0 || line >= this.scene.count) return;
    const found = exact.stateAt(this.rowAt(line), (s.from[selected] + s.to[selected]) / 2);
    if (found >= 0) this.select(found);
  },

  onKey(event) {
    if (event.ctrlKey || event.metaKey) return;
    const middle = layoutOf(this.scene).plot;
    const [x, y] = [middle.x + middle.width / 2, middle.y + middle.height / 2];
    const { shiftKey } = event;
    const actions = {
      arrowleft: () => this.pan(-0.15, 0),
      arrowright: () => this.pan(0.15, 0),
      arrowup: () => (shiftKey ? this.stepLine(-1) : this.pan(0, -0.15)),
      arrowdown: () => (shiftKey ? this.stepLine(1) : this.pan(0, 0.15)),
      a: () => this.pan(-0.15, 0),
      d: () => this.pan(0.15, 0),
      w: () => this.zoom(0.7, this.scene.pointer?.x ?? x),
      s: () => this.zoom(1 / 0.7, this.scene.pointer?.x ?? x),
      '+': () => this.zoom(0.7, x),
      '=': () => this.zoom(0.7, x),
      '-': () => this.zoom(1 / 0.7, x),
      pageup: () => this.zoomRows(0.5, y),
      pagedown: () => this.zoomRows(2, y),
      '0': () => this.flyTo(this.whole()),
      home: () => this.flyTo(this.whole()),
      ',': () => this.step(-1),
      '.': () => this.step(1),
      enter: () => this.scene.selected >= 0 && this.zoomToState(this.scene.selected),
      o: () => this.goToCause(),
      r: () => this.setRange([max(0, this.scene.view.t0), min(this.scene.meta.duration, this.scene.view.t1)]),
      g: () => this.setGroup(this.scene.group + (shiftKey ? -1 : 1)),
      i: () => this.togglePin(this.scene.selected >= 0 ? this.scene.exact.states.row[this.scene.selected] : (this.scene.hover?.row ?? -1)),
      h: () => this.nextHosts(),
      escape: () => this.clear(),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  },

  clear() {
    this.scene.box = null;
    this.select(-1);
    this.setRange(null);
    this.setFinding(null);
  },

  /** From the selected state to the other end of its message, or to what it waits for. */
  goToCause() {
    const { exact, selected } = this.scene;
    if (selected < 0) return;
    const wait = exact.waitOf(selected);
    const [message] = exact.messagesOf(selected);
    if (wait >= 0 && exact.waits.cause[wait] >= 0) {
      const cause = exact.stateAt(exact.waits.cause[wait], exact.waits.to[wait]);
      if (cause >= 0) {
        this.select(cause);
        this.bringIntoView(cause);
      }
    } else if (message !== undefined) this.goToOtherEnd(message, exact.states.row[selected]);
  },

  // What is said

  setHover(pointer, hit) {
    this.scene.pointer = pointer;
    this.scene.hover = hit;
    this.tip.hidden = !hit;
    const { axis, counters } = layoutOf(this.scene);
    const onLabel = pointer && !hit && pointer.y > axis.y + 22 && pointer.y < counters.y;
    this.frame.style.cursor = onLabel || hit?.message >= 0 || hit?.state >= 0 ? 'pointer' : '';
    if (hit) {
      this.tip.replaceChildren(...this.tipLines(hit).map((line, i) => h(i === 0 ? 'b' : 'div', {}, line)));
      this.placeTip(pointer);
    }
    this.redraw();
  },

  placeTip({ x, y }) {
    const [width, height] = [this.tip.offsetWidth, this.tip.offsetHeight];
    const { offsetLeft, offsetTop } = this.frame;
    const right = x + 16 + width > this.scene.width ? x - width - 16 : x + 16;
    const below = y + 20 + height > this.scene.height ? y - height - 12 : y + 20;
    this.tip.style.transform = `translate(${max(0, offsetLeft + right)}px, ${max(0, offsetTop + below)}px)`;
  },

  tipLines(hit) {
    if (hit.counter) return this.counterLines(hit);
    if (hit.mark >= 0) return this.markLines(hit.mark);
    if (hit.message >= 0) return this.messageLines(hit.message);
    if (hit.state >= 0) return this.stateLines(hit.state);
    return (hit.pinned ? pinIsExact(this.scene, this.scene.pins.indexOf(hit.row)) : this.scene.isExact) ? this.idleLines(hit) : this.shareLines(hit);
  },

  processName(row) {
    const { hosts, rankOf } = this.scene.meta;
    return row < 0 ? 'an unknown process' : `process ${thousands(rankOf(row))}${hosts ? ` on ${hosts.names[hosts.of[row]]}` : ''}`;
  },

  /** The lines about a state: what, how long, where, with whom, why it waits. */
  stateLines(index) {
    const { exact, meta } = this.scene;
    const s = exact.states;
    const [from, to] = [s.from[index], s.to[index]];
    const lines = [`${meta.states[s.state[index]].name}  ${duration(to - from)}`];
    lines.push(`${this.processName(s.row[index])}, from ${instant(from)}${s.open[index] ? ', never left' : ''}`);
    const detail = this.detailOf(index);
    if (detail?.site) lines.push(`called at ${detail.site}`);
    if (detail?.text) lines.push(detail.text);
    const messages = exact.messagesOf(index);
    for (const message of messages.slice(0, 4)) lines.push(this.messageText(message, s.row[index]));
    if (messages.length > 4) lines.push(`… ${thousands(messages.length - 4)} more messages`);
    const wait = exact.waitOf(index);
    if (wait >= 0) lines.push(this.waitText(wait));
    return lines;
  },

  /** The call site and the text of a state, once they are there; asks for them when first wanted. */
  detailOf(index) {
    const { exact } = this.scene;
    exact.details ||= new Map();
    if (exact.details.has(index)) return exact.details.get(index);
    exact.details.set(index, null);
    const s = exact.states;
    this.source
      .detail(s.row[index], s.from[index], s.depth[index])
      .then((detail) => {
        exact.details.set(index, detail);
        if (!detail || this.scene.exact !== exact) return;
        if (this.scene.hover?.state === index) this.setHover(this.scene.pointer, this.scene.hover);
        if (this.scene.selected === index) this.say('selected');
      })
      .catch((error) => this.fail(error));
    return null;
  },

  stateText(index) {
    return this.stateLines(index).join('. ');
  },

  messageText(message, row) {
    const m = this.scene.exact.messages;
    const outgoing = m.row[message] === row;
    return `${this.sizeText(message)} ${outgoing ? 'to' : 'from'} process ${thousands(outgoing ? m.receiver[message] : m.sender[message])}${this.tagText(message)}`;
  },

  sizeText(message) {
    const size = this.scene.exact.messages.bytes[message];
    return size >= 0 ? byteSize(size) : 'a message';
  },

  tagText(message) {
    const tag = this.scene.exact.messages.tag[message];
    return tag === null ? '' : `, tag ${tag}`;
  },

  messageLines(message) {
    const m = this.scene.exact.messages;
    return [
      `message from ${m.sender[message]} to ${m.receiver[message]}`,
      `${this.sizeText(message)}${this.tagText(message)}`,
      `sent at ${instant(m.sent[message])}`,
      `received ${duration(m.received[message] - m.sent[message])} later`,
      'click: go to its other end',
    ];
  },

  markLines(mark) {
    const { exact, meta } = this.scene;
    const m = exact.marks;
    const text = exact.markTexts[mark];
    return [meta.marks[m.mark[mark]], ...(text ? [text] : []), `${this.processName(m.row[mark])} at ${instant(m.time[mark])}`];
  },

  waitText(wait) {
    const w = this.scene.exact.waits;
    const kind = this.scene.meta.waitKinds[w.kind[wait]].replaceAll('-', ' ');
    const cause = w.cause[wait] >= 0 ? ` for ${this.processName(w.cause[wait])}` : '';
    return `waits ${duration(w.to[wait] - w.from[wait])}${cause} (${kind})`;
  },

  idleLines(hit) {
    const { exact } = this.scene;
    const { lives, endings } = this.scene.meta;
    const life = lives[hit.row];
    if (!life) return ['no events', `${this.processName(hit.row)}`];
    const [begin, end] = life;
    const ended = hit.time > end && endings.find(({ row }) => row === hit.row);
    if (hit.time < begin || hit.time > end) return [ended?.text || 'not there', `${this.processName(hit.row)} at ${instant(hit.time)}`];
    const [first, last] = exact.rangeOf(hit.row);
    const { from, to } = exact.states;
    const next = first + upperBound(last - first, (i) => from[first + i], hit.time);
    let before = begin;
    for (let i = first; i < next; i++) before = max(before, to[i]);
    return [`computing  ${duration((next < last ? from[next] : end) - before)}`, `${this.processName(hit.row)}, from ${instant(before)}`];
  },

  /** What takes a bin's time, the most first, where states are too many to be drawn one by one. */
  shareLines(hit) {
    const { scene } = this;
    const { meta } = scene;
    const shift = shiftOf(scene, layoutOf(scene));
    const place = hit.time / (TILE_BINS * 2 ** shift);
    const found = tileFor(scene, { shift, index: floor(place), fold: hit.fold, block: floor(hit.line / TILE_LINES) });
    const label = lineLabel(hit.pinned ? { ...scene, orderName: 'rank', rowAt: (row) => row } : scene, hit.line, hit.fold);
    const name = scene.orderName === 'hosts' && !hit.pinned ? label : hit.fold > 0 ? `processes ${label}` : this.processName(hit.row);
    if (!found) return [name, `at ${instant(hit.time)}`];
    const [tile, first, bins] = found;
    const cell = tile.cell(hit.line % TILE_LINES, floor(first + (place % 1) * bins));
    const special = { [SLOT_OTHERS]: 'other states', [SLOT_COMPUTING]: 'computing', [SLOT_ABSENT]: 'not there' };
    const lines = cell.parts.map(({ slot, share }) => `${meta.states[slot]?.name || special[slot]}${slot === SLOT_ABSENT ? '' : `  ${percent(share)}`}`);
    lines.push(`${name}, ${duration(2 ** shift * (TILE_BINS / bins))} at ${instant(hit.time)}`);
    if (cell.waiting > 0) lines.push(`${percent(cell.waiting)} ${tile.waits ? 'waiting' : 'in functions that wait'}`);
    if (cell.messages > 0) lines.push(`about ${thousands(cell.messages)} messages`);
    return lines;
  },
});
