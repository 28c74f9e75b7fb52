// Puts the page together: the timeline with its panels, in `sight view` and in a report; tabs, address, theme.

/** The view as the part of the address behind #, and back. */
function writeHash(timeline, tab) {
  const { view, finding, findings, orderName, meta, hidden, group, pins, count, counters } = timeline.scene;
  const parts = new URLSearchParams();
  if (tab && tab !== 'timeline') parts.set('tab', tab);
  if (view.t0 > 0 || view.t1 < meta.duration) parts.set('t', `${floor(view.t0)}-${ceil(view.t1)}`);
  if (view.r0 > 0 || view.r1 < count) parts.set('p', `${view.r0.toFixed(2)}-${view.r1.toFixed(2)}`);
  if (orderName && orderName !== 'rank') parts.set('order', orderName);
  if (group > 0) parts.set('group', group);
  if (pins.length > 0) parts.set('pin', pins.join('.'));
  if (finding) parts.set('finding', findings.indexOf(finding) + 1);
  if (counters.join('.') !== timeline.firstCounters().join('.')) parts.set('counters', counters.join('.'));
  if (hidden.size > 0) parts.set('hidden', [...hidden].join('.'));
  return parts.toString();
}

const STEP_LEAST = 1000; // ms between two steps of the browser's history

function numbersOf(text) {
  const match = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(text || '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

/** "3.17" as numbers below a limit. */
function rowsOf(text, limit) {
  return (text || '').split('.').filter((part) => /^\d+$/.test(part) && Number(part) < limit).map(Number);
}

class App {
  constructor(root, source, options = {}) {
    this.source = source;
    this.options = options;
    this.kept = -Infinity; // when the address last changed
    const main = h('div', { class: 'main' });
    this.timeline = new Timeline(main, source, options);
    this.findings = new FindingsPanel(this.timeline);
    this.selection = new SelectionPanel(this.timeline);
    this.states = new StatesPanel(this.timeline);
    this.counters = new CountersPanel(this.timeline);
    this.search = new SearchPanel(this.timeline);
    this.help = helpDialog();
    this.fault = h('p', { class: 'fault', role: 'alert', hidden: true });
    const aside = h('aside', { 'aria-label': 'Findings and states', tabindex: '0' }, this.search.root, this.selection.root, this.findings.root, this.states.root, this.counters.root);
    root.append(this.toolbar(), this.fault, h('div', { class: 'columns' }, main, aside), this.help);
    this.timeline.on('fault', (text) => this.say(text));
    this.timeline.on('drawn', () => this.tellArrows());
    this.timeline.on('rest', () => this.keepHash());
    this.timeline.on('finding', () => this.keepHash());
    this.timeline.on('chart', (name) => this.goToChart(name));
    this.timeline.on('rows', () => this.tellGroup());
    this.listenKeys(options.inPage ? root : document);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.recolour());
    this.ready = source.judgement().then((judgement) => this.judge(judgement));
    this.ready.catch((error) => this.say(error.message));
  }

  judge(judgement) {
    this.judgement = judgement;
    this.findings.fill(judgement);
    this.states.setRun(judgement);
    this.timeline.scene.exact = null; // what was drawn before has no waits
    if (judgement.waits) this.timeline.scene.tiles.refresh();
    const { phases, iterations, path } = judgement;
    Object.assign(this.timeline.scene, { phases, iterations, path });
    this.buttons.path.hidden = !judgement.path;
    this.readHash(this.options.inPage ? { sight: '' } : null);
    window.addEventListener('popstate', (event) => this.readHash(event.state));
    this.timeline.update();
  }

  /** A chart on another tab, or further down in the report. */
  async goToChart(name) {
    await this.showChart?.(name);
    const figure = document.getElementById(`chart-${name}`);
    figure?.scrollIntoView({ behavior: this.timeline.still ? 'auto' : 'smooth' });
  }

  say(text) {
    this.fault.textContent = text;
    this.fault.hidden = false;
  }

  // The bar above the timeline

  toolbar() {
    const { timeline } = this;
    const toggle = (name, text, title) =>
      h('button', { type: 'button', title, 'aria-pressed': String(timeline.scene.show[name]), onclick: () => this.toggle(name) }, text);
    this.buttons = { messages: toggle('messages', 'messages', 'messages (M)'), waits: toggle('waits', 'waits', 'waiting is hatched (V)'), marks: toggle('marks', 'events', 'solo events (K)'), path: toggle('path', 'critical path', 'critical path (C)') };
    this.buttons.path.hidden = true;
    this.buttons.counters = h('button', { type: 'button', title: 'counters below the timeline (U)', onclick: () => this.toggleCounters() }, 'counters');
    this.buttons.counters.hidden = this.source.meta.counters.length === 0;
    timeline.on('counters', () => this.markCounters());
    this.markCounters();
    this.buttons.marks.hidden = !this.source.meta.marks.some(Boolean);
    const orders = [['rank', 'rank'], ['compute', 'computing time'], ['likeness', 'likeness']];
    const { folds, hosts } = this.source.meta;
    if (hosts) orders.push(['host', 'host']);
    const groups = Array.from({ length: folds + 1 }, (_, fold) => [fold, fold === 0 ? 'each process' : fold === folds ? 'all together' : `groups of ${thousands(2 ** fold)}`]);
    if (hosts && hosts.fold !== null) groups.splice(1, 0, ['hosts', 'each host']);
    const options = (list, before = '') => list.map(([value, text]) => h('option', { value }, before + text));
    this.order = h('select', { 'aria-label': 'Order of processes', onchange: () => this.setOrder(this.order.value) }, options(orders, 'by '));
    this.group = h('select', { 'aria-label': 'Processes of a line', title: 'processes of a line (G)', onchange: () => this.setGroup(this.group.value) }, options(groups));
    this.hint = h('span', { class: 'muted small hint' });
    const button = (text, title, action) => h('button', { type: 'button', title, onclick: action }, text);
    const tools = [
      this.search.form,
      h('div', { class: 'choice', role: 'group', 'aria-label': 'What is drawn' }, Object.values(this.buttons)),
      this.order,
      this.group,
      this.clocks(),
      this.hint,
      h('span', { class: 'room' }, [
        button('whole run', 'the whole run (0)', () => timeline.flyTo(timeline.whole())),
        button('SVG', 'save the picture as SVG', () => this.save(timeline.svg(), 'svg')),
        button('PNG', 'save the picture as PNG', () => this.save(timeline.png(), 'png')),
        button('?', 'keys and pointer (?)', () => this.help.showModal()),
      ]),
    ];
    return h('div', { class: 'tools', role: 'toolbar', 'aria-label': 'Timeline' }, tools);
  }

  /** In `sight view`: the same trace with corrected clocks, or as it was recorded. */
  clocks() {
    if (this.options.inPage) return null;
    const { corrected } = this.source.meta;
    const other = /\/clocks\/$/.test(location.pathname) ? '../' : 'clocks/';
    const title = corrected ? 'clocks are corrected: show the times as recorded' : 'correct the clocks, so that no message is received before it is sent';
    return h('button', { type: 'button', title, 'aria-pressed': String(corrected), onclick: () => location.assign(other + location.hash) }, 'corrected clocks');
  }

  toggle(name) {
    const { scene } = this.timeline;
    scene.show[name] = !scene.show[name];
    scene.colourVersion++;
    this.buttons[name].setAttribute('aria-pressed', String(scene.show[name]));
    this.timeline.update();
  }

  /** No counters, or those that were seen before. */
  toggleCounters() {
    const { timeline } = this;
    const { counters } = timeline.scene;
    const all = timeline.source.meta.counters.map((counter) => counter.mark);
    const wanted = [this.countersBefore, timeline.firstCounters(), all.slice(0, COUNTERS_FIRST)].find((marks) => marks?.length > 0);
    if (counters.length > 0) this.countersBefore = counters;
    timeline.setCounters(counters.length > 0 ? [] : wanted || []);
  }

  markCounters() {
    this.buttons.counters.setAttribute('aria-pressed', String(this.timeline.scene.counters.length > 0));
    if (this.judgement) this.keepHash();
  }

  /** Processes to a line, as a power of two, or 'hosts': those of a host. */
  setGroup(group) {
    const { timeline } = this;
    if (group === 'hosts') timeline.setHosts(true);
    else {
      if (timeline.scene.orderName === 'hosts') timeline.setHosts(false);
      timeline.setGroup(Number(group));
    }
  }

  /** By rank; by computing time, the least first; so that processes that spend their time alike stand together; by host. */
  async setOrder(name) {
    if (name.startsWith('host')) {
      this.timeline.setHosts(name === 'hosts');
      return;
    }
    try {
      const rows = name === 'rank' ? null : await this.source.order(name);
      this.timeline.setOrder(rows ? name : 'rank', rows);
    } catch (error) {
      this.say(error.message);
    }
    this.keepHash();
  }

  tellGroup() {
    const { group, orderName } = this.timeline.scene;
    const isFolded = orderName === 'hosts';
    this.order.value = isFolded ? 'host' : orderName;
    this.group.value = isFolded ? orderName : group;
    this.keepHash();
  }

  tellArrows() {
    const { scene } = this.timeline;
    let text = '';
    if (scene.show.messages && scene.arrows === null) text = scene.isExact ? 'zoom in for arrows' : 'zoom in for detail';
    if (this.hint.textContent !== text) this.hint.textContent = text;
  }

  async save(picture, suffix) {
    const url = URL.createObjectURL(await picture);
    const name = this.source.meta.title.replace(/[^\w.-]+/g, '_');
    const link = h('a', { href: url, download: `${name}.${suffix}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // Keys that hold for the whole page

  listenKeys(target) {
    const actions = {
      '?': () => this.help.showModal(),
      '/': () => this.search.input.focus(),
      n: () => this.findings.step(1),
      p: () => this.findings.step(-1),
      m: () => this.toggle('messages'),
      v: () => this.toggle('waits'),
      k: () => this.toggle('marks'),
      c: () => this.judgement?.path && this.toggle('path'),
      u: () => this.toggleCounters(),
      escape: () => this.timeline.clear(),
      t: () => !this.options.inPage && this.switchTheme(),
    };
    target.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox') return;
      const action = actions[event.key.toLowerCase()];
      if (action) {
        event.preventDefault();
        action();
      } else if (!this.options.inPage && event.target === document.body) {
        this.timeline.onKey(event);
      }
    });
  }

  /** Light or dark, whatever the system says. */
  switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    root.style.colorScheme = root.dataset.theme;
    this.recolour();
  }

  recolour() {
    this.timeline.recolour();
    this.states.fill();
  }

  // The address

  /** Every view is a step that the browser's Back undoes; what follows within a second belongs to it. */
  keepHash() {
    const hash = writeHash(this.timeline, this.tab);
    if (!this.judgement || hash === this.hash) return;
    const now = performance.now();
    const isStep = !this.reading && now - this.kept > STEP_LEAST;
    this.kept = this.reading ? -Infinity : now;
    this.keep(hash, isStep ? 'pushState' : 'replaceState');
  }

  keep(hash, how) {
    this.hash = hash;
    history[how]({ sight: hash }, '', this.options.inPage ? undefined : `#${hash}`);
  }

  /** Goes to the view of a step. Steps of a report that are none of the timeline's change nothing. */
  async readHash(state) {
    if (this.options.inPage && !state) return;
    const parts = new URLSearchParams(state ? state.sight : location.hash.slice(1));
    const { timeline } = this;
    const { scene } = timeline;
    this.reading = true;
    const finding = scene.findings[Number(parts.get('finding')) - 1] || null;
    if (finding !== scene.finding) timeline.setFinding(finding);
    scene.hidden = new Set(rowsOf(parts.get('hidden'), scene.meta.states.length));
    scene.colourVersion++;
    const counters = parts.get('counters');
    timeline.setCounters(counters === null ? timeline.firstCounters() : rowsOf(counters, Infinity));
    timeline.setPins(rowsOf(parts.get('pin'), scene.meta.rows).slice(0, PINS_MOST));
    const { hosts } = scene.meta;
    const orders = ['compute', 'likeness', hosts && 'host', hosts && hosts.fold !== null && 'hosts'];
    const order = orders.find((name) => name && name === parts.get('order')) || 'rank';
    if (order !== scene.orderName) await this.setOrder(order);
    timeline.setGroup(parseInt(parts.get('group'), 10) || 0);
    const [times, rows] = [numbersOf(parts.get('t')), numbersOf(parts.get('p'))];
    const view = timeline.whole();
    if (times) Object.assign(view, { t0: times[0], t1: times[1] });
    if (rows) Object.assign(view, { r0: rows[0], r1: rows[1] });
    if (times || rows || !finding) timeline.setView(view);
    this.states.fill();
    this.showTab?.(parts.get('tab') || 'timeline');
    this.keep(writeHash(timeline, this.tab), 'replaceState');
    this.reading = false;
  }
}
