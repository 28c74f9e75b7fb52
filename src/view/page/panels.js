// What stands beside the timeline: findings, the selected state, states with counts and times, search, help.

class FindingsPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.list = h('ol', { class: 'findings' });
    this.note = h('p', { class: 'muted' }, 'Analysing …');
    this.clocks = h('p', { class: 'muted small', hidden: true });
    this.root = h('section', { 'aria-label': 'Findings' }, h('h2', {}, 'Findings'), this.note, this.list, this.clocks);
    timeline.on('finding', () => this.mark());
  }

  fill(judgement) {
    const { findings } = judgement;
    this.timeline.scene.findings = findings;
    this.note.textContent = judgement.note || (findings.length === 0 ? 'No findings.' : '');
    this.note.hidden = !this.note.textContent;
    // The names of options are not broken at their hyphens.
    this.clocks.replaceChildren(...judgement.clocks.split(/(--[a-z-]+)/).map((part) => h('span', { class: part.startsWith('--') && 'whole' }, part)));
    this.clocks.hidden = !judgement.clocks;
    this.buttons = findings.map((finding, i) =>
      h(
        'button',
        { type: 'button', class: 'finding', 'aria-pressed': 'false', onclick: () => this.choose(finding) },
        h('b', {}, `${i + 1}. ${capital(unparted(finding.title))}`),
        h('span', { class: 'saving' }, finding.saving),
        h('span', { class: 'more' }, unparted(finding.text)),
        h('span', { class: 'more advice' }, `→ ${unparted(finding.advice)}`),
      ),
    );
    const title = (name) => judgement.charts.find((chart) => chart.name === name)?.title;
    const links = ({ charts }) => charts.filter(title).map((name) => h('button', { type: 'button', onclick: () => this.timeline.say('chart', name) }, title(name)));
    this.list.replaceChildren(...this.buttons.map((button, i) => h('li', {}, button, h('p', { class: 'links' }, links(findings[i])))));
    this.timeline.redraw();
  }

  choose(finding) {
    this.timeline.setFinding(this.timeline.scene.finding === finding ? null : finding);
  }

  step(direction) {
    const { findings, finding } = this.timeline.scene;
    if (findings.length === 0) return;
    const at = findings.indexOf(finding) + direction;
    this.timeline.setFinding(findings[(at + findings.length) % findings.length] || findings[0]);
  }

  mark() {
    const { findings, finding } = this.timeline.scene;
    this.buttons?.forEach((button, i) => button.setAttribute('aria-pressed', String(findings[i] === finding)));
  }
}

class SelectionPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.lines = h('div', {});
    this.links = h('p', { class: 'links' });
    this.root = h('section', { hidden: true, 'aria-label': 'Selected state' }, h('h2', {}, 'Selected'), this.lines, this.links);
    timeline.on('selected', () => this.fill());
    timeline.on('rows', () => this.fill());
  }

  fill() {
    const { timeline } = this;
    const { selected, exact } = timeline.scene;
    this.root.hidden = selected < 0;
    if (selected < 0) return;
    this.lines.replaceChildren(...timeline.stateLines(selected).map((line, i) => h(i === 0 ? 'b' : 'div', {}, line)));
    const link = (text, action) => h('button', { type: 'button', onclick: action }, text);
    const row = exact.states.row[selected];
    const links = [link('zoom to it', () => timeline.zoomToState(selected)), link(timeline.scene.pins.includes(row) ? 'unpin its process' : 'pin its process', () => timeline.togglePin(row))];
    const wait = exact.waitOf(selected);
    if (wait >= 0 && exact.waits.cause[wait] >= 0) links.push(link('what it waits for', () => timeline.goToCause()));
    for (const message of exact.messagesOf(selected).slice(0, 3)) {
      const own = exact.states.row[selected];
      const other = exact.messages.row[message] === own ? exact.messages.to[message] : exact.messages.row[message];
      if (other >= 0) links.push(link(`message at ${thousands(timeline.scene.meta.rankOf(other))}`, () => timeline.goToOtherEnd(message, own)));
    }
    this.links.replaceChildren(...links);
  }
}

/** States with their colours: what is shown, how often, how long; of the run, the view or the selected time. */
class StatesPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.scope = 'run';
    this.sort = 'exclusive';
    this.chosen = -1;
    const scope = (name, text) =>
      h('button', { type: 'button', 'aria-pressed': String(name === 'run'), 'data-scope': name, onclick: () => this.setScope(name) }, text);
    this.scopes = h('div', { class: 'choice', role: 'group', 'aria-label': 'Time that is counted' }, scope('run', 'run'), scope('view', 'view'), scope('range', 'selection'));
    this.sum = h('p', { class: 'muted small' });
    const column = (name, text, title) =>
      h('th', { scope: 'col', 'data-column': name }, h('button', { type: 'button', title, onclick: () => this.setSort(name) }, text));
    this.head = h('tr', {}, column('name', 'state'), column('count', 'calls', 'calls that begin in this time'), column('time', 'incl.', 'time inside it, including the calls it makes, summed over the processes'), column('exclusive', 'excl.', 'time inside it and nothing further in'), column('share', 'share', 'share of the exclusive time in the time of all processes'));
    this.body = h('tbody', {});
    this.table = h('table', { class: 'states' }, h('thead', {}, this.head), this.body);
    this.hatched = h('p', { class: 'muted small', hidden: true });
    this.histogram = h('div', { class: 'histogram' });
    this.root = h(
      'section',
      { 'aria-label': 'States', class: 'key' },
      h('div', { class: 'head' }, h('h2', {}, 'States'), this.scopes),
      this.sum,
      this.table,
      this.hatched,
      this.histogram,
    );
    timeline.on('rest', () => this.scope === 'view' && this.refresh());
    timeline.on('range', () => this.setScope(timeline.scene.range ? 'range' : this.scope === 'range' ? 'run' : this.scope));
    this.fill();
  }

  setScope(scope) {
    this.scope = scope;
    for (const button of this.scopes.children) button.setAttribute('aria-pressed', String(button.dataset.scope === scope));
    this.refresh();
  }

  setSort(column) {
    this.sort = column;
    this.fill();
  }

  /** [from, to] that are counted now. */
  times() {
    const { view, range } = this.timeline.scene;
    const [from, to] = this.scope === 'range' ? range : [view.t0, view.t1];
    return [floor(from), ceil(to)];
  }

  /** The whole run is counted with the judgement; the rest when it is asked for. */
  refresh() {
    const { timeline } = this;
    const { meta, range } = timeline.scene;
    if (this.scope === 'range' && !range) {
      this.setScope('run');
      return;
    }
    const request = (this.request = {});
    const [from, to] = this.scope === 'run' ? [0, meta.duration] : this.times();
    const lines = timeline.area(layoutOf(timeline.scene));
    const answer = this.scope === 'run' ? Promise.resolve(this.ofRun) : timeline.source.statistics(from, to, lines);
    answer
      .then((statistics) => {
        if (this.request !== request) return;
        // A run that hung is counted until then.
        this.span = this.scope === 'run' ? this.ofRun.duration : to - from;
        this.rows = this.scope === 'run' ? meta.rows : lines.rows.length;
        this.total = max(1, this.span * this.rows);
        this.statistics = statistics;
        this.fill();
      })
      .catch((error) => timeline.fail(error));
  }

  /** The counts of the whole run. */
  setRun(statistics) {
    this.ofRun = { ...statistics, exact: true };
    if (this.scope === 'run') this.refresh();
  }

  fill() {
    const { meta } = this.timeline.scene;
    const { statistics } = this;
    if (!statistics) {
      this.sum.textContent = this.ofRun ? 'This report has no single states: the counts are for the whole run.' : 'Counting …';
      if (!this.ofRun) return;
    } else {
      const processes = `${duration(this.span)} of ${thousands(this.rows)} ${this.rows === 1 ? 'process' : 'processes'}`;
      const traffic = statistics.messages === null ? 'times to the pixel; zoom in for counts' : `${thousands(statistics.messages)} messages, ${byteSize(statistics.bytes)}`;
      this.sum.textContent = `${processes}: ${traffic}`;
    }
    const rows = [...(statistics || this.ofRun).states];
    const name = (row) => meta.states[row.state]?.name || 'others';
    const sort = this.sort === 'share' ? 'exclusive' : this.sort;
    rows.sort((a, b) => (sort === 'name' ? name(a).localeCompare(name(b)) : (b[sort] ?? 0) - (a[sort] ?? 0)));
    for (const th of this.head.children) {
      const direction = this.sort === 'name' ? 'ascending' : 'descending';
      if (th.dataset.column === this.sort) th.setAttribute('aria-sort', direction);
      else th.removeAttribute('aria-sort');
    }
    this.body.replaceChildren(...rows.slice(0, 200).map((row) => this.row(row)));
    // Where no state is inside another, both times are the same: the names have the room.
    this.table.classList.toggle('flat', rows.every((row) => row.time === row.exclusive));
    this.waitKey();
    this.drawHistogram();
  }

  row(row) {
    const { scene } = this.timeline;
    const state = scene.meta.states[row.state] || { name: 'others' };
    const shown = h('input', { type: 'checkbox', checked: !scene.hidden.has(row.state), 'aria-label': `show ${state.name}`, onchange: (event) => this.toggle(row.state, event.target.checked) });
    const swatch = h('span', { class: 'swatch' });
    swatch.style.background = this.swatch(row.state);
    const title = h('button', { type: 'button', 'aria-pressed': String(this.chosen === row.state), title: `${state.name}: histogram of durations`, onclick: () => this.choose(row.state) }, state.name);
    const known = (value, text) => (value === null ? '' : text(value));
    const cell = (text, tip) => h('td', { title: tip }, text);
    const time = (value) => cell(known(value, duration), known(value, instant));
    return h('tr', {}, h('th', { scope: 'row' }, h('label', {}, shown, swatch), title), cell(known(row.count, thousands)), time(row.time), time(row.exclusive), cell(known(row.exclusive, (value) => percent(value / this.total))));
  }

  swatch(slot) {
    const { pens } = this.timeline.scene;
    return pens.fillOf(slot);
  }

  /** What hatching means, once waits are known. */
  waitKey() {
    const { pens } = this.timeline.scene;
    const [css, light] = [pens.ink.muted, mixed(pens.ink.muted, pens.ink.back, WAIT_LIGHT)].map((rgb) => cssOf(rgb));
    const swatch = h('span', { class: 'swatch' });
    swatch.style.background = `repeating-linear-gradient(135deg, ${css} 0 1.5px, ${light} 1.5px 4px)`;
    this.hatched.replaceChildren(swatch, ' hatched: waiting for other processes');
    this.hatched.hidden = !this.ofRun?.waits;
  }

  toggle(slot, shown) {
    const { scene } = this.timeline;
    if (shown) scene.hidden.delete(slot);
    else scene.hidden.add(slot);
    scene.colourVersion++;
    this.timeline.update();
  }

  choose(slot) {
    this.chosen = this.chosen === slot ? -1 : slot;
    this.fill();
  }

  /** How often calls of the chosen state last how long; a bar for each doubling. */
  drawHistogram() {
    const row = (this.statistics || this.ofRun).states.find((entry) => entry.state === this.chosen);
    this.histogram.replaceChildren();
    if (!row || row.count === 0) return;
    if (!row.durations) {
      this.histogram.append(h('p', { class: 'muted small' }, 'Durations are shown for a view or a selection.'));
      return;
    }
    const counts = row.durations;
    const first = counts.findIndex((count) => count > 0);
    const last = counts.length - 1 - [...counts].reverse().findIndex((count) => count > 0);
    const most = max(...counts);
    const edge = (bin) => (bin > 0 ? 2 ** (bin - 1) : 0);
    const bars = counts.slice(first, last + 1).map((count, i) => {
      const bar = h('span', { title: `${duration(edge(first + i))} to ${duration(edge(first + i + 1))}: ${thousands(count)} calls` });
      bar.style.height = `${count > 0 ? max(2, (100 * count) / most) : 0}%`;
      return bar;
    });
    const name = this.timeline.scene.meta.states[row.state].name;
    const label = `${name}: durations of ${thousands(row.count)} calls, from ${duration(edge(first))} to ${duration(edge(last + 1))}`;
    this.histogram.append(h('div', { class: 'bars', role: 'img', 'aria-label': label }, ...bars), h('div', { class: 'ends' }, h('span', {}, duration(edge(first))), h('span', {}, `${thousands(most)} at most`), h('span', {}, duration(edge(last + 1)))));
  }
}

class SearchPanel {
  constructor(timeline) {
    this.timeline = timeline;
    this.input = h('input', { type: 'search', placeholder: 'MPI_Recv  p 3  >10 ms', 'aria-label': 'Search: function, process, tag, duration', maxlength: '200', spellcheck: 'false' });
    this.form = h('form', { class: 'search', role: 'search' }, this.input);
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.go();
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
      event.stopPropagation();
    });
    this.note = h('p', { class: 'muted small', 'aria-live': 'polite' });
    this.list = h('ol', { class: 'hits' });
    this.root = h('section', { hidden: true, 'aria-label': 'Search results' }, h('div', { class: 'head' }, h('h2', {}, 'Found'), h('button', { type: 'button', 'aria-label': 'close the search', onclick: () => this.close() }, '×')), this.note, this.list);
  }

  close() {
    this.root.hidden = true;
    this.timeline.frame.focus();
  }

  go() {
    const query = parseQuery(this.input.value);
    if (!this.input.value.trim()) {
      this.close();
      return;
    }
    if (this.last === this.input.value && this.found?.length > 0) {
      this.choose((this.at + 1) % this.found.length);
      return;
    }
    this.last = this.input.value;
    this.timeline.source
      .search(query)
      .then((result) => this.fill(result))
      .catch((error) => this.timeline.fail(error));
  }

  fill(result) {
    const { meta } = this.timeline.scene;
    this.root.hidden = false;
    this.found = result ? result.found : [];
    this.at = -1;
    if (!result) this.note.textContent = 'This report has no single states: use sight view.';
    else if (this.found.length === 0) this.note.textContent = 'Nothing found.';
    else this.note.textContent = `${result.more ? 'The first ' : ''}${thousands(this.found.length)} state${this.found.length === 1 ? '' : 's'}. Enter: next one.`;
    this.buttons = this.found.map((hit, i) =>
      h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.choose(i) }, h('b', {}, meta.states[hit.state].name), ` ${duration(hit.to - hit.from)}`, h('span', { class: 'muted' }, ` process ${thousands(meta.rankOf(hit.row))} at ${duration(hit.from)}`)),
    );
    this.list.replaceChildren(...this.buttons.map((button) => h('li', {}, button)));
    if (this.found.length > 0) this.choose(0);
  }

  choose(index) {
    this.at = index;
    this.buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === index)));
    this.buttons[index].scrollIntoView({ block: 'nearest' });
    const hit = this.found[index];
    this.timeline.goTo(hit.row, hit.from, hit.to, hit.state);
  }
}

const KEYS = [
  ['W S  + −', 'zoom in and out'],
  ['A D  ← →', 'earlier, later'],
  ['↑ ↓', 'other processes; Page Up, Page Down: fewer, more of them'],
  ['0  Home', 'the whole run'],
  [', .', 'previous, next state; Shift ↑ ↓: on the process above, below'],
  ['Enter', 'zoom to the selected state'],
  ['O', 'go to what it waits for, or to the other end of its message'],
  ['R', 'select the time that is seen'],
  ['G  Shift G', 'more, fewer processes to a line'],
  ['H', 'processes by host, a line for each host, by rank'],
  ['I', 'pin the process of the selected state, or under the pointer, above the others'],
  ['N P', 'next, previous finding'],
  ['M  V  K  C', 'show or hide messages, waits, solo events, critical path'],
  ['U', 'show or hide counters below the timeline'],
  ['/', 'search'],
  ['T', 'light, dark'],
  ['Esc', 'clear the selection'],
  ['wheel', 'zoom; with Shift: move; over the ranks: fewer, more processes'],
  ['drag', 'move; with Shift: zoom to a box; with Ctrl, or on the time axis: select a time'],
  ['double click', 'zoom to the state'],
  ['click on a rank', 'pin the process above the others; on a group or a host: show its processes, or fold them'],
];

function helpDialog() {
  const rows = KEYS.map(([keys, what]) => h('tr', {}, h('th', { scope: 'row' }, keys), h('td', {}, what)));
  const dialog = h('dialog', { class: 'help', 'aria-label': 'Keys and pointer' }, h('h2', {}, 'Keys and pointer'), h('table', {}, h('tbody', {}, rows)), h('form', { method: 'dialog' }, h('button', {}, 'close')));
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  return dialog;
}
