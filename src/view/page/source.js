// Where data come from. Two sources with the same functions: the server of `sight view`, and what is embedded in a
// report. Times are ns since the trace's begin; a row is a process's place by rank, a slot a state's place in
// meta.states.

const FOLLOW_MS = 1000;
const TILE_BINS = 256;
const TILE_LINES = 64;
const CELL = 8;
const [SLOT_OTHERS, SLOT_COMPUTING, SLOT_ABSENT] = [253, 254, 255];

/** A tile: TILE_BINS bins of time by up to TILE_LINES lines. Each cell has eight bytes: the slot that takes most of the
 *  time, its share and that of waiting (255 is all), how many messages (16 log2(1 + m)), and the slots and shares of the
 *  two that take most after it. `waits`: waiting is that of the analysis, not the time in functions that wait. See
 *  src/view/view.h. */
class Tile {
  constructor(bins, lines, cells, waits) {
    Object.assign(this, { bins, lines, cells, waits, pictures: new Map() });
  }

  static decode(buffer, waits) {
    const head = new DataView(buffer);
    const [bins, lines] = [head.getUint16(0, true), head.getUint16(2, true)];
    if (buffer.byteLength !== 4 + bins * lines * CELL) throw new Error('a tile of the wrong size');
    return new Tile(bins, lines, new Uint8Array(buffer, 4), waits);
  }

  static messages(byte) {
    return round(2 ** (byte / 16) - 1);
  }

  /** What a cell says: {parts: [{slot, share}], waiting, messages}, the largest part first. */
  cell(line, bin) {
    const at = (line * this.bins + bin) * CELL;
    const [slot, share, waiting, messages, second, secondShare, third, thirdShare] = this.cells.subarray(at, at + CELL);
    const next = [{ slot: second, share: secondShare / 255 }, { slot: third, share: thirdShare / 255 }];
    const parts = [{ slot, share: share / 255 }, ...next.filter((part) => part.slot !== SLOT_ABSENT)];
    return { parts, waiting: waiting / 255, messages: Tile.messages(messages) };
  }
}

/** Exact states, messages, marks and waits of some lines in some time; columns of equal length, the states of a row
 *  together, by begin. */
class Exact {
  constructor(data) {
    Object.assign(this, data);
    this.rangesOfRows = new Map();
    const { row } = this.states;
    for (let i = 0, first = 0; i < row.length; i++) {
      if (row[i] !== row[first]) first = i;
      this.rangesOfRows.set(row[i], [first, i + 1]);
    }
  }

  /** [first, end) of a row's states. */
  rangeOf(row) {
    return this.rangesOfRows.get(row) || [0, 0];
  }

  covers(from, to, { order, first, count }) {
    if (!this.complete || this.from > from || this.to < to) return false;
    return this.whole || (this.order === order && this.first <= first && this.last >= first + count - 1);
  }

  /** The innermost state of a row at a time; -1: none. */
  stateAt(row, time) {
    const [first, end] = this.rangeOf(row);
    const { from, to, depth } = this.states;
    let best = -1;
    for (let i = first + upperBound(end - first, (k) => from[first + k], time) - 1; i >= first; i--) {
      if (to[i] >= time && (best < 0 || depth[i] > depth[best])) best = i;
      if (depth[i] === 0 && (best >= 0 || to[i] < time)) break;
    }
    return best;
  }

  /** Of each row the indices of its ends of messages and its waits, by time: made when first needed. */
  lists() {
    if (this.listsOfRows) return this.listsOfRows;
    const lists = new Map();
    const add = (row, kind, time, index) => {
      if (!lists.has(row)) lists.set(row, { messages: [], waits: [] });
      lists.get(row)[kind].push([time, index]);
    };
    const m = this.messages;
    for (let i = 0; i < m.row.length; i++) {
      if (m.row[i] >= 0) add(m.row[i], 'messages', m.sent[i], i);
      if (m.to[i] >= 0) add(m.to[i], 'messages', m.received[i], i);
    }
    this.waits.row.forEach((row, i) => add(row, 'waits', this.waits.from[i], i));
    for (const list of lists.values()) for (const kind of Object.values(list)) kind.sort((a, b) => a[0] - b[0]);
    return (this.listsOfRows = lists);
  }

  /** The state that a wait is in: it begins with it; -1: it is not known. */
  stateOfWait(wait) {
    this.statesOfWaits ||= this.waits.row.map((row, i) => this.stateAt(row, this.waits.from[i]));
    return this.statesOfWaits[wait];
  }

  inside(state, kind) {
    const { row, from, to } = this.states;
    const list = this.lists().get(row[state])?.[kind] || [];
    const first = upperBound(list.length, (i) => list[i][0], from[state] - 0.5);
    const end = upperBound(list.length, (i) => list[i][0], to[state]);
    return list.slice(first, end).map((entry) => entry[1]);
  }

  /** Indices of the messages whose own record lies in a state. */
  messagesOf(state) {
    return [...new Set(this.inside(state, 'messages'))];
  }

  /** The longest wait inside a state; -1: none. */
  waitOf(state) {
    const { from, to } = this.waits;
    return this.inside(state, 'waits').reduce((best, i) => (best < 0 || to[i] - from[i] > to[best] - from[best] ? i : best), -1);
  }

  /** Calls visit(slot, from, to, sign) for the time that each state adds to its own, and takes from the one around it. */
  eachShare(row, visit) {
    const [first, end] = this.rangeOf(row);
    const { state, from, to, depth } = this.states;
    const around = [];
    for (let i = first; i < end; i++) {
      visit(state[i], from[i], to[i], 1);
      if (depth[i] > 0 && around[depth[i] - 1] !== undefined) visit(around[depth[i] - 1], from[i], to[i], -1);
      around[depth[i]] = state[i];
    }
  }
}

/** Counts and times of states in a window, from exact data: what /statistics answers. */
function statisticsOfExact(exact, from, to, rows) {
  const byState = new Map();
  const of = (slot) => {
    if (!byState.has(slot)) byState.set(slot, { state: slot, count: 0, time: 0, exclusive: 0, durations: new Array(64).fill(0) });
    return byState.get(slot);
  };
  const clip = (a, b) => max(0, min(b, to) - max(a, from));
  for (const row of rows) {
    const [first, end] = exact.rangeOf(row);
    const s = exact.states;
    for (let i = first; i < end; i++) {
      const time = clip(s.from[i], s.to[i]);
      if (s.from[i] >= from && s.from[i] < to) {
        const entry = of(s.state[i]);
        entry.count++;
        const length = s.to[i] - s.from[i];
        entry.durations[length > 0 ? 1 + floor(log2(length)) : 0]++;
      }
      if (time > 0) of(s.state[i]).time += time;
    }
    exact.eachShare(row, (slot, a, b, sign) => clip(a, b) > 0 && (of(slot).exclusive += sign * clip(a, b)));
  }
  const wanted = new Set(rows);
  const m = exact.messages;
  let [messages, bytes] = [0, 0];
  for (let i = 0; i < m.row.length; i++)
    if (wanted.has(m.row[i]) && m.sent[i] >= from && m.sent[i] < to) {
      messages++;
      bytes += max(0, m.bytes[i]);
    }
  return { states: [...byState.values()].sort((a, b) => b.exclusive - a.exclusive), exact: true, messages, bytes };
}

/** "MPI_Recv process 3 tag 5 >10 ms" as what to look for; NaN and '' where nothing is said of it. */
function parseQuery(text) {
  const query = { name: '', process: NaN, tag: NaN, least: 0, most: Infinity, text };
  let rest = ` ${text} `;
  const take = (pattern, use) => {
    rest = rest.replace(pattern, (all, value) => {
      use(value);
      return ' ';
    });
  };
  take(/\s(?:process|rank|p)\s*[:=]?\s*(\d+)(?=\s)/i, (value) => (query.process = Number(value)));
  take(/\stag\s*[:=]?\s*(-?\d+)(?=\s)/i, (value) => (query.tag = Number(value)));
  take(/\s>=?\s*([0-9.]+\s*(?:ns|us|µs|ms|s))(?=\s)/i, (value) => (query.least = parseDuration(value)));
  take(/\s<=?\s*([0-9.]+\s*(?:ns|us|µs|ms|s))(?=\s)/i, (value) => (query.most = parseDuration(value)));
  query.name = rest.trim();
  return query;
}

const SEARCH_MOST = 200;

/** States (or, with a tag, messages) that a query means, from exact data: what /search answers. */
function searchExact(exact, meta, query) {
  const found = [];
  const s = exact.states;
  const needle = query.name.toLowerCase();
  const named = meta.states.map((state) => state.name.toLowerCase().includes(needle));
  const isProcess = (row) => isNaN(query.process) || meta.rankOf(row) === query.process;
  const fits = (time) => time >= query.least && time <= query.most;
  const tagged = (i) => isNaN(query.tag) || exact.messagesOf(i).some((m) => exact.messages.tag[m] === query.tag);
  for (let i = 0; i < s.row.length && found.length <= SEARCH_MOST; i++)
    if (named[s.state[i]] && isProcess(s.row[i]) && fits(s.to[i] - s.from[i]) && tagged(i))
      found.push({ row: s.row[i], state: s.state[i], from: s.from[i], to: s.to[i] });
  found.sort((a, b) => a.from - b.from);
  return { found: found.slice(0, SEARCH_MOST), more: found.length > SEARCH_MOST };
}

function readMeta(meta) {
  meta.rankOf = (row) => (meta.ranks ? meta.ranks[row] : row);
  meta.rowOf = (rank) => (meta.ranks ? meta.ranks.indexOf(rank) : rank < meta.rows ? rank : -1);
  meta.folds = ceil(log2(max(1, meta.rows)));
  meta.shifts = max(0, ceil(log2(max(1, meta.duration) / TILE_BINS)));
  return meta;
}

/** What a report holds: {meta, judgement, exact or null, tiles: {"shift/index/fold/block": base64}}. */
class EmbeddedSource {
  constructor(data) {
    this.data = data;
    this.meta = Object.assign(readMeta(data.meta), { leastFold: data.leastFold });
    this.exact = data.exact ? Object.assign(new Exact(data.exact), { whole: true }) : null;
    // Other orders than that of the ranks are drawn from single states.
    this.meta.hosts = data.meta.hosts && this.exact && Object.assign(data.meta.hosts, { fold: null });
  }

  judgement() {
    return Promise.resolve(this.data.judgement);
  }

  tile(address) {
    if (address.order !== 'rank') return Promise.resolve(null);
    const text = this.data.tiles[`${address.shift}/${address.index}/${address.fold}/${address.block}`];
    return Promise.resolve(text ? Tile.decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer, this.data.judgement.waits) : null);
  }

  window() {
    return Promise.resolve(this.exact);
  }

  /** A report has the whole run of all processes. */
  counter(mark) {
    const data = this.data.counters[mark];
    const nothing = { mean: [null], least: [null], most: [null] };
    return Promise.resolve({ ...(data || nothing), from: 0, to: this.meta.duration, rows: this.meta.rows });
  }

  /** All that is known of a state is in the exact data. */
  detail() {
    return Promise.resolve(null);
  }

  order(name) {
    return Promise.resolve(this.data.orders[name] || null);
  }

  statistics(from, to, lines) {
    return Promise.resolve(this.exact ? statisticsOfExact(this.exact, from, to, lines.rows) : null);
  }

  search(query) {
    return Promise.resolve(this.exact ? searchExact(this.exact, this.meta, query) : null);
  }
}

/** The server of `sight view`: paths beside the page's own. */
class ServerSource {
  static async open() {
    const source = new ServerSource();
    // Asked before the rest: a trace that is newer than this number is noticed.
    source.version = await fetch('version').then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
    source.meta = readMeta(await source.json('meta'));
    return source;
  }

  /** Of a program that runs: calls `renew` once more of it has been read. The zoom is in the address. */
  async follow(renew) {
    const first = this.version;
    while (first?.running) {
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
      const now = await this.json('version').catch(() => null);
      if (!now) return;
      if (now.version !== first.version) {
        renew();
        return;
      }
      first.running = now.running;
    }
  }

  async get(path, parameters) {
    const answer = await fetch(parameters ? `${path}?${new URLSearchParams(parameters)}` : path);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer;
  }

  async json(path, parameters) {
    return (await this.get(path, parameters)).json();
  }

  async tile(address) {
    const { waits } = this;
    return Tile.decode(await (await this.get('tile', { ...address, waits: waits ? 1 : 0 })).arrayBuffer(), waits);
  }

  async window(from, to, { order, first, count }) {
    const exact = new Exact(await this.json('window', { from, to, order, first, count }));
    exact.order = order;
    return exact;
  }

  /** A counter in so many parts of a time, over the lines of an order. */
  counter(mark, from, to, { order, first, count }, bins) {
    return this.json('counter', { mark, from, to, order, first, count, bins });
  }

  detail(row, from, depth) {
    return this.json('detail', { row, from, depth });
  }

  /** Rows by line. */
  order(name) {
    return this.json('order', { order: name });
  }

  statistics(from, to, { order, first, count }) {
    return this.json('statistics', { from, to, order, first, count });
  }

  search(query) {
    const parameters = { name: query.name, least: query.least };
    if (isFinite(query.most)) parameters.most = query.most;
    if (!isNaN(query.process)) parameters.process = query.process;
    if (!isNaN(query.tag)) parameters.tag = query.tag;
    return this.json('search', parameters);
  }

  /** Asks until the diagnosis is there: on a large trace it takes longer than the first picture. */
  async judgement() {
    for (;;) {
      const judgement = await this.json('judgement');
      this.waits = judgement.waits;
      if (judgement.ready) return judgement;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async chart(name) {
    return (await this.get('chart', { name })).text();
  }
}
