// The other tabs of `sight view`: charts, the matrix of messages, efficiency, the search for causes, the source.

class Tabs {
  constructor(app, tabs, panels) {
    Object.assign(this, { app, tabs, panels, filled: new Map([['timeline', null]]) });
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
    app.showChart = (name) => this.show(app.judgement.charts.find((chart) => chart.name === name)?.tab);
  }

  /** A promise of what the tab shows. */
  show(name) {
    if (!this.panels[name]) return null;
    this.app.tab = name;
    for (const tab of this.tabs) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const [key, panel] of Object.entries(this.panels)) panel.hidden = key !== name;
    if (!this.filled.has(name)) {
      this.filled.set(name, this.fill(name).catch((error) => this.app.say(error.message)));
    }
    this.app.keepHash();
    return this.filled.get(name);
  }

  async fill(name) {
    await this.app.ready;
    if (name === 'search') this.panels.search.append(...this.searchTree());
    if (name === 'matrix') this.panels.matrix.append(...(await this.matrix()));
    if (name === 'source') this.panels.source.append(...(await this.hottest()));
    if (name === 'efficiency') this.panels.efficiency.append(...this.resources());
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

  /** A sentence about each resource. */
  resources() {
    const { resources } = this.app.judgement;
    return resources.length > 0 ? [h('dl', {}, resources.flatMap(({ resource, text }) => [h('dt', {}, resource), h('dd', {}, text)]))] : [];
  }

  /** The lines that the program computes longest in, with those around them. */
  async hottest() {
    const { source } = await this.app.source.json('source');
    const heat = (share) => (share >= 0.2 ? 'poor' : share >= 0.05 ? 'fair' : share > 0 ? '' : 'muted');
    const row = ({ line, share, text }) => h('tr', { class: heat(share) }, h('td', {}, share > 0 ? percent(share) : ''), h('td', {}, String(line)), h('td', { class: 'left' }, h('code', {}, text)));
    return source.flatMap(({ file, share, found, lines }) => [h('h3', {}, file), h('p', { class: 'muted' }, `${percent(share)} of the computing${found ? '.' : '; the file was not found.'}`), h('table', { class: 'source' }, h('tbody', {}, lines.map(row)))]);
  }

  async chart({ name, title }) {
    // Its font is the page's: the policy permits no style attributes.
    const text = (await this.app.source.chart(name)).replace(/ style="[^"]*"/, '');
    const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    return h('figure', { id: `chart-${name}`, 'aria-label': title }, document.importNode(svg, true));
  }

  /** How much each process sends to each: a cell for each pair of processes, or of groups of them. */
  async matrix() {
    const data = await this.app.source.json('matrix');
    const { groups, size, pairs, waits } = data;
    const { meta } = this.app.source;
    const label = (group) => {
      const [first, last] = [group * size, min((group + 1) * size, meta.processes) - 1];
      return first === last ? thousands(first) : `${thousands(first)}–${thousands(last)}`;
    };
    if (pairs.length === 0 && !waits?.length) return [h('p', { class: 'muted' }, 'No messages.')];
    const choices = matrixChoices(data).filter((choice) => choice.cells.length > 0);
    const note = h('p', { class: 'muted', 'aria-live': 'polite' });
    const grid = h('div', { class: 'matrix', role: 'img' });
    const cells = Array.from({ length: groups * groups }, () => h('span', {}));
    const scale = h('div', { class: 'scale', 'aria-hidden': 'true' });
    const table = h('div', {});
    let now;
    let values;
    const choose = (choice) => {
      now = choice;
      values = new Map(choice.cells.map(([from, to, value]) => [from * groups + to, value]));
      const most = max(...values.values());
      const ink = (value) => `var(--c${meta.inks.level + round((LEVELS - 1) * Math.sqrt(value / most))})`;
      cells.forEach((cell, i) => (cell.style.background = values.has(i) ? ink(values.get(i)) : ''));
      note.textContent = `${choice.sum}. ${choice.axes}. Click a cell to see its processes in the timeline.`;
      grid.setAttribute('aria-label', `${choice.sum} between ${groups} ${size > 1 ? 'groups of processes' : 'processes'}`);
      scale.replaceChildren(...scaleOf(most, ink, choice.text));
      table.replaceChildren(this.pairTable(choice, label));
      for (const button of buttons.children) button.setAttribute('aria-pressed', String(button.textContent === choice.name));
    };
    const buttons = h('div', { class: 'choice', role: 'group', 'aria-label': 'What the colours show' }, choices.map((choice) => h('button', { type: 'button', onclick: () => choose(choice) }, choice.name)));
    cells.forEach((cell, i) => {
      const [from, to] = [floor(i / groups), i % groups];
      cell.addEventListener('pointerenter', () => (note.textContent = `${label(from)} → ${label(to)}: ${values.has(i) ? now.text(values.get(i)) : 'nothing'}`));
      cell.addEventListener('click', () => values.has(i) && this.showPair(from, to, size));
    });
    grid.append(...cells);
    choose(choices[0]);
    const axis = (name, step, text) => h('div', { class: name, 'aria-hidden': 'true' }, Array.from({ length: groups }, (_, i) => h('span', {}, i % step === 0 ? text(i) : '')));
    const across = axis('across', stepOf(groups, 8), (group) => thousands(group * size));
    const square = h('div', { class: 'square' }, h('span', {}), across, axis('down', stepOf(groups, 16), label), grid);
    square.style.setProperty('--groups', groups);
    return [h('div', { class: 'tools' }, buttons, scale), note, h('div', { class: 'matrices' }, square, table)];
  }

  showPair(from, to, size) {
    const { timeline } = this.app;
    const { meta } = this.app.source;
    const rows = [timeline.lineOf(meta.rowOf(from * size)), timeline.lineOf(meta.rowOf(to * size))].sort((a, b) => a - b);
    this.show('timeline');
    timeline.flyTo({ r0: rows[0], r1: rows[1] + size });
  }

  /** The same for those who cannot see the cells. */
  pairTable({ name, cells, ends, text }, label) {
    const top = [...cells].sort((a, b) => b[2] - a[2]).slice(0, 20);
    const head = [...ends, name].map((title) => h('th', { scope: 'col' }, title));
    const rows = top.map(([from, to, value]) => h('tr', {}, h('td', {}, label(from)), h('td', {}, label(to)), h('td', {}, text(value))));
    const of = cells.length > top.length ? `, of ${thousands(cells.length)}` : '';
    return h('table', { class: 'pairs' }, h('caption', {}, `The pairs with the most ${name}${of}`), h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows));
  }
}

/** What the matrix can show: bytes, messages, and how long processes wait for others. */
function matrixChoices({ pairs, messages, bytes, waits, waiting }) {
  const axes = 'Rows send, columns receive';
  const count = (value) => `${thousands(value)} ${value === 1 ? 'message' : 'messages'}`;
  return [
    { name: 'bytes', cells: pairs.map(([from, to, , size]) => [from, to, size]).filter((cell) => cell[2] > 0), sum: `${count(messages)}, ${byteSize(bytes)}`, axes, ends: ['from', 'to'], text: byteSize },
    { name: 'messages', cells: pairs.map(([from, to, number]) => [from, to, number]), sum: `${count(messages)}, ${byteSize(bytes)}`, axes, ends: ['from', 'to'], text: count },
    { name: 'waiting time', cells: waits || [], sum: `${duration(waiting)} of waiting, summed over the processes`, axes: 'The process of the column waits for that of the row', ends: ['for', 'waits'], text: duration },
  ];
}

/** The colours from little to much, with values at the ends and in the middle: they grow with the square root. */
function scaleOf(most, ink, text) {
  const levels = Array.from({ length: LEVELS }, (_, level) => {
    const box = h('span', {});
    box.style.background = ink(most * (level / (LEVELS - 1)) ** 2);
    return box;
  });
  return [h('div', { class: 'levels' }, levels), h('div', { class: 'ends' }, [0, most / 4, most].map((value) => h('span', {}, value > 0 ? text(round(value)) : '0')))];
}

/** In a report: the timeline takes the place of its picture. */
function startReport(holder) {
  const data = JSON.parse(document.getElementById('timeline-data').textContent);
  document.getElementById('timeline-picture').hidden = true;
  holder.hidden = false;
  const app = new App(holder, new EmbeddedSource(data), { inPage: true });
  for (const link of document.querySelectorAll('a[data-finding]')) link.addEventListener('click', () => app.timeline.setFinding(app.judgement.findings[link.dataset.finding]));
  return app;
}

/** What is known about the run: its command, date, hosts. */
function showRun(details, facts) {
  details.hidden = facts.length === 0;
  for (const [title, value, processes] of facts) {
    details.lastElementChild.append(h('dt', {}, title), h('dd', {}, processes ? `${value} (processes ${processes})` : value));
  }
}

/** The buttons of the tabs, and their panels by name. */
function makeTabs() {
  const titles = ['Timeline', 'Charts', 'Matrix', 'Efficiency', 'Search', 'Source'];
  const names = titles.map((title) => title.toLowerCase());
  const button = (name, i) => h('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'data-tab': name, 'aria-controls': `panel-${name}`, 'aria-selected': String(!i), tabindex: i && -1 }, titles[i]);
  const panel = (name, i) => h('section', { role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}`, tabindex: i > 0 && '0', hidden: i > 0 });
  return [names.map(button), Object.fromEntries(names.map((name, i) => [name, panel(name, i)]))];
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
    showRun(document.getElementById('run'), meta.run);
    const clocks = document.getElementById('clocks');
    clocks.textContent = meta.clocks;
    clocks.hidden = !meta.clocks;
    const damage = document.getElementById('damage');
    damage.textContent = meta.damage;
    damage.hidden = !meta.damage;
    note.remove();
    const [buttons, panels] = makeTabs();
    document.querySelector('.tabs').append(...buttons);
    document.querySelector('main').append(...Object.values(panels));
    const app = new App(panels.timeline, source);
    const tabs = new Tabs(app, buttons, panels);
    app.ready.then(() => {
      const { stuck, since, sentence } = app.judgement;
      const hang = document.getElementById('stuck');
      hang.textContent = `${stuck} ${since}`;
      hang.hidden = !stuck;
      document.getElementById('verdict').textContent = stuck ? `Before that: ${sentence}` : sentence;
    });
    source.follow(() => location.reload());
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
