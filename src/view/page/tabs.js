// The other tabs of `sight view`: charts, the matrix of messages, efficiency, the search for causes.

class Tabs {
  constructor(app, tabs, panels) {
    Object.assign(this, { app, tabs, panels, filled: new Set(['timeline']) });
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.show(tab.dataset.tab));
      tab.addEventListener('keydown', (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(i + step + tabs.length) % tabs.length];
        next.focus();
        this.show(next.dataset.tab);
      });
    });
    app.showTab = (name) => this.show(name);
  }

  show(name) {
    if (!this.panels[name]) return;
    this.app.tab = name;
    for (const tab of this.tabs) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const [key, panel] of Object.entries(this.panels)) panel.hidden = key !== name;
    if (!this.filled.has(name)) {
      this.filled.add(name);
      this.fill(name).catch((error) => this.app.say(error.message));
    }
    this.app.keepHash();
  }

  async fill(name) {
    await this.app.ready;
    if (name === 'search') this.panels.search.append(...this.searchTree());
    if (name === 'matrix') this.panels.matrix.append(...(await this.matrix()));
    for (const chart of this.app.judgement.charts) if (chart.tab === name) this.panels[name].append(await this.chart(chart));
    if (!this.panels[name].hasChildNodes()) this.panels[name].append(h('p', { class: 'muted' }, 'There is nothing to show for this trace.'));
  }

  /** The hypotheses that were tested, one narrowed by the next; what is true stands out. */
  searchTree() {
    const line = ({ depth, title, state, value, note }) => {
      const item = h('li', { class: state }, h('span', {}, title), ` ${value} `, h('span', { class: 'badge' }, state), note ? h('p', { class: 'muted' }, note) : null);
      item.style.marginInlineStart = `${depth * 26}px`;
      return item;
    };
    const { search } = this.app.judgement;
    return search.length > 0 ? [h('p', { class: 'muted' }, 'Why, where and when time is lost: hypotheses tested on the whole run and, where they are true, on its parts.'), h('ul', { class: 'tree' }, search.map(line))] : [];
  }

  async chart({ name, title }) {
    // Its font is the page's: the policy permits no style attributes.
    const text = (await this.app.source.chart(name)).replace(/ style="[^"]*"/, '');
    const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    return h('figure', { 'aria-label': title }, document.importNode(svg, true));
  }

  /** How much each process sends to each: a cell for each pair of processes, or of groups of them. */
  async matrix() {
    const { groups, size, pairs, messages, bytes } = await this.app.source.json('matrix');
    const { meta } = this.app.source;
    const label = (group) => {
      const [first, last] = [group * size, min((group + 1) * size, meta.processes) - 1];
      return first === last ? thousands(first) : `${thousands(first)}–${thousands(last)}`;
    };
    if (pairs.length === 0) return [h('p', { class: 'muted' }, 'No messages.')];
    const note = h('p', { class: 'muted', 'aria-live': 'polite' }, `${thousands(messages)} messages, ${byteSize(bytes)}. Rows send, columns receive; stronger colour means more bytes. Click a cell to see its processes in the timeline.`);
    const grid = h('div', { class: 'matrix', role: 'img', 'aria-label': `Matrix of ${thousands(messages)} messages between ${groups} ${size > 1 ? 'groups of processes' : 'processes'}` });
    const most = max(...pairs.map((pair) => pair[3] || pair[2]));
    const cells = new Map(pairs.map((pair) => [pair[0] * groups + pair[1], pair]));
    for (let from = 0; from < groups; from++)
      for (let to = 0; to < groups; to++) {
        const pair = cells.get(from * groups + to);
        const cell = h('span', {});
        if (pair) cell.style.background = `var(--c${meta.inks.level + round(15 * Math.sqrt((pair[3] || pair[2]) / most))})`;
        const text = `${label(from)} → ${label(to)}: ${pair ? `${thousands(pair[2])} messages, ${byteSize(pair[3])}` : 'nothing'}`;
        cell.addEventListener('pointerenter', () => (note.textContent = text));
        cell.addEventListener('click', () => pair && this.showPair(from, to, size));
        grid.append(cell);
      }
    const axis = (name, step, text) => h('div', { class: name, 'aria-hidden': 'true' }, Array.from({ length: groups }, (_, i) => h('span', {}, i % step === 0 ? text(i) : '')));
    const across = axis('across', stepOf(groups, 8), (group) => thousands(group * size));
    const square = h('div', { class: 'square' }, h('span', {}), across, axis('down', stepOf(groups, 16), label), grid);
    square.style.setProperty('--groups', groups);
    return [note, h('div', { class: 'matrices' }, square, this.pairTable(pairs, label))];
  }

  showPair(from, to, size) {
    const { timeline } = this.app;
    const { meta } = this.app.source;
    const rows = [timeline.lineOf(meta.rowOf(from * size)), timeline.lineOf(meta.rowOf(to * size))].sort((a, b) => a - b);
    this.show('timeline');
    timeline.flyTo({ r0: rows[0], r1: rows[1] + size });
  }

  /** The same for those who cannot see the cells. */
  pairTable(pairs, label) {
    const top = [...pairs].sort((a, b) => b[3] - a[3] || b[2] - a[2]).slice(0, 20);
    const head = ['from', 'to', 'messages', 'bytes'].map((text) => h('th', { scope: 'col' }, text));
    const rows = top.map(([from, to, count, size]) => h('tr', {}, h('td', {}, label(from)), h('td', {}, label(to)), h('td', {}, thousands(count)), h('td', {}, byteSize(size))));
    return h('table', { class: 'pairs' }, h('caption', {}, `The pairs with the most bytes${pairs.length > top.length ? `, of ${thousands(pairs.length)}` : ''}`), h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows));
  }
}

/** In a report: the timeline takes the place of its picture. */
function startReport(holder) {
  const data = JSON.parse(document.getElementById('timeline-data').textContent);
  document.getElementById('timeline-picture').hidden = true;
  holder.hidden = false;
  const app = new App(holder, new EmbeddedSource(data), { inPage: true });
  return app;
}

/** In `sight view`. */
async function startView() {
  const note = document.getElementById('loading');
  try {
    const source = await ServerSource.open();
    const { meta } = source;
    document.title = `${meta.title} — SIGHT`;
    document.getElementById('title').textContent = meta.title;
    document.getElementById('facts').textContent = meta.facts;
    const clocks = document.getElementById('clocks');
    clocks.textContent = meta.clocks;
    clocks.hidden = !meta.clocks;
    const damage = document.getElementById('damage');
    damage.textContent = meta.damage;
    damage.hidden = !meta.damage;
    const panels = Object.fromEntries([...document.querySelectorAll('[role=tabpanel]')].map((panel) => [panel.id.replace('panel-', ''), panel]));
    note.remove();
    const app = new App(panels.timeline, source);
    const tabs = new Tabs(app, [...document.querySelectorAll('[role=tab]')], panels);
    app.ready.then(() => (document.getElementById('verdict').textContent = app.judgement.sentence));
    return Object.assign(app, { tabs });
  } catch (error) {
    note.textContent = `This page cannot be shown: ${error.message}`;
    return null;
  }
}

const inReport = document.getElementById('timeline-live');
Promise.resolve(inReport ? startReport(inReport) : startView()).then((app) => {
  window.sight = app; // for scripts and tests
  document.documentElement.dataset.ready = String(Boolean(app));
});
