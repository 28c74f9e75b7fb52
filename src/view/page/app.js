// Puts the page together: the timeline with its panels, in `sight view` and in a report; tabs, address, theme.

/** The view as the part of the address behind #, and back. */
function writeHash(timeline, tab) {
  const { view, finding, findings, orderName, meta, hidden } = timeline.scene;
  const parts = new URLSearchParams();
  if (tab && tab !== 'timeline') parts.set('tab', tab);
  if (view.t0 > 0 || view.t1 < meta.duration) parts.set('t', `${floor(view.t0)}-${ceil(view.t1)}`);
  if (view.r0 > 0 || view.r1 < meta.rows) parts.set('p', `${view.r0.toFixed(2)}-${view.r1.toFixed(2)}`);
  if (orderName && orderName !== 'rank') parts.set('order', orderName);
  if (finding) parts.set('finding', findings.indexOf(finding) + 1);
  if (hidden.size > 0) parts.set('hidden', [...hidden].join('.'));
  return parts.toString();
}

function numbersOf(text) {
  const match = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(text || '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

class App {
  constructor(root, source, options = {}) {
    this.source = source;
    this.options = options;
    const main = h('div', { class: 'main' });
    this.timeline = new Timeline(main, source, options);
    this.findings = new FindingsPanel(this.timeline);
    this.selection = new SelectionPanel(this.timeline);
    this.states = new StatesPanel(this.timeline);
    this.search = new SearchPanel(this.timeline);
    this.help = helpDialog();
    this.fault = h('p', { class: 'fault', role: 'alert', hidden: true });
    const aside = h('aside', { 'aria-label': 'Findings and states', tabindex: '0' }, this.search.root, this.selection.root, this.findings.root, this.states.root);
    root.append(this.toolbar(), this.fault, h('div', { class: 'columns' }, main, aside), this.help);
    this.timeline.addEventListener('fault', (event) => this.say(event.detail));
    this.timeline.addEventListener('drawn', () => this.tellArrows());
    this.timeline.addEventListener('rest', () => this.keepHash());
    this.timeline.addEventListener('finding', () => this.keepHash());
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
    const { phases, iterations, path } = judgement;
    Object.assign(this.timeline.scene, { phases, iterations, path });
    this.buttons.path.hidden = !judgement.path;
    this.readHash();
    if (!this.options.inPage) window.addEventListener('hashchange', () => this.readHash());
    this.timeline.update();
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
    this.buttons = { messages: toggle('messages', 'messages', 'messages (M)'), waits: toggle('waits', 'waits', 'waiting is lighter (V)'), marks: toggle('marks', 'events', 'solo events (K)'), path: toggle('path', 'critical path', 'critical path (C)') };
    this.buttons.path.hidden = true;
    this.buttons.marks.hidden = !this.source.meta.marks.some(Boolean);
    const orders = [['rank', 'rank'], ['compute', 'computing time'], ['likeness', 'likeness']];
    this.order = h('select', { 'aria-label': 'Order of processes', onchange: () => this.setOrder(this.order.value) }, orders.map(([value, text]) => h('option', { value }, `by ${text}`)));
    this.hint = h('span', { class: 'muted small hint' });
    const button = (text, title, action) => h('button', { type: 'button', title, onclick: action }, text);
    const tools = [
      this.search.form,
      h('div', { class: 'choice', role: 'group', 'aria-label': 'What is drawn' }, Object.values(this.buttons)),
      this.order,
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

  toggle(name) {
    const { scene } = this.timeline;
    scene.show[name] = !scene.show[name];
    scene.colourVersion++;
    this.buttons[name].setAttribute('aria-pressed', String(scene.show[name]));
    this.timeline.update();
  }

  /** By rank; by computing time, the least first; or so that processes that spend their time alike stand together. */
  async setOrder(name) {
    this.order.value = name;
    try {
      const rows = name === 'rank' ? null : await this.source.order(name);
      this.timeline.setOrder(rows ? name : 'rank', rows);
    } catch (error) {
      this.say(error.message);
    }
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

  keepHash() {
    if (this.options.inPage || !this.judgement) return;
    const hash = writeHash(this.timeline, this.tab);
    if (hash !== location.hash.slice(1)) history.replaceState(null, '', `#${hash}`);
  }

  readHash() {
    if (this.options.inPage) return;
    const parts = new URLSearchParams(location.hash.slice(1));
    const { timeline } = this;
    const { scene } = timeline;
    const finding = scene.findings[Number(parts.get('finding')) - 1];
    if (finding) timeline.setFinding(finding);
    for (const slot of (parts.get('hidden') || '').split('.')) if (slot !== '' && scene.meta.states[slot]) this.states.toggle(Number(slot), false);
    if (['compute', 'likeness'].includes(parts.get('order'))) this.setOrder(parts.get('order'));
    const [times, rows] = [numbersOf(parts.get('t')), numbersOf(parts.get('p'))];
    const view = { ...scene.view };
    if (times) Object.assign(view, { t0: times[0], t1: times[1] });
    if (rows) Object.assign(view, { r0: rows[0], r1: rows[1] });
    if (times || rows) timeline.setView(view);
    this.states.fill();
    this.showTab?.(parts.get('tab') || 'timeline');
  }
}
