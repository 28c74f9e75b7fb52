// Where everything of the timeline is: lines, times, and what is written beside them.

const ROW_LEAST = 3; // pixels of a process that has a line of its own
const LINE_MOST = 110; // pixels of a line of few

const PIN_LINE = 24; // pixels of a pinned line,
const PIN_GAP = 8; // and below the last of them
const PINS_MOST = 8;

/** Where everything is, for a scene's size and view. */
function layoutOf(scene) {
  const { width, height, view } = scene;
  const left = scene.labelWidth;
  const pins = { y: 48 + 22 + (scene.phases.length + scene.iterations.length > 0 ? 22 : 0), height: scene.pins.length * PIN_LINE };
  const top = pins.y + (pins.height > 0 ? pins.height + PIN_GAP : 0);
  const room = max(20, height - top - 8);
  const counters = { list: countersOf(scene, room) };
  const taken = counters.list.length * COUNTER_LINE;
  const plot = { x: left, y: top, width: max(20, width - left - 10), height: min(room - taken, (view.r1 - view.r0) * LINE_MOST) };
  counters.y = plot.y + plot.height + (taken > 0 ? 6 : 0);
  const pixels = plot.height / (view.r1 - view.r0);
  const fold = max(scene.leastFold, scene.group, pixels >= ROW_LEAST ? 0 : clamp(ceil(log2((ROW_LEAST + 2) / pixels)), 0, scene.folds));
  const line = pixels * 2 ** fold;
  const gap = line >= 14 ? 3 : line >= 8 ? 2 : line >= 5 ? 1 : 0;
  const y = (number) => plot.y + (number * 2 ** fold - view.r0) * pixels; // top of a line
  return {
    plot,
    pins,
    counters,
    end: plot.y + plot.height + taken, // of the plot and what is below it
    fold,
    line, // pixels of a line: of one process, or of a group
    many: line < 14, // tiles are drawn line by line only where these are few
    gap,
    height: line - gap,
    lines: ceil(scene.count / 2 ** fold),
    overview: { x: left, y: 4, width: plot.width, height: 36 },
    axis: { x: left, y: 48, width: plot.width, height: 22 },
    phases: { x: left, y: 70, width: plot.width, height: 18 },
    x: (time) => plot.x + ((time - view.t0) / (view.t1 - view.t0)) * plot.width,
    time: (x) => view.t0 + ((x - plot.x) / plot.width) * (view.t1 - view.t0),
    y,
    middle: (number) => y(number) + (line - gap) / 2,
    lineAt: (y) => floor((view.r0 + (y - plot.y) / pixels) / 2 ** fold),
  };
}

/** A pinned row as a scene and a layout of its own: one line, which is always seen, of the order of ranks. */
function pinOf(scene, layout, place) {
  const fold = scene.meta.leastFold || 0;
  const line = floor(scene.pins[place] / 2 ** fold);
  const plot = { ...layout.plot, y: layout.pins.y + place * PIN_LINE, height: PIN_LINE };
  const y = (number) => plot.y + (number - line) * PIN_LINE;
  const view = { ...scene.view, r0: line * 2 ** fold, r1: (line + 1) * 2 ** fold };
  const own = { ...layout, plot, fold, line: PIN_LINE, many: false, gap: 3, height: PIN_LINE - 3, lines: ceil(scene.meta.rows / 2 ** fold), y, middle: (number) => y(number) + PIN_LINE / 2 };
  const same = (number) => number;
  return [{ ...scene, view, orderName: 'rank', rowAt: same, lineOf: same }, own, line];
}

/** Lines from top to bottom that are seen: [first, end). */
function linesSeen(scene, layout) {
  const size = 2 ** layout.fold;
  return [max(0, floor(scene.view.r0 / size)), min(layout.lines, ceil(scene.view.r1 / size))];
}

/** The ranks of a line as its label; of a group in another order than theirs, how many they are; of hosts their name. */
function lineLabel(scene, line, fold) {
  const { meta } = scene;
  const first = line * 2 ** fold;
  const last = min(first + 2 ** fold, scene.count) - 1;
  if (scene.orderName === 'hosts') {
    const hosts = ceil((last + 1 - first) / 2 ** meta.hosts.fold);
    return hosts > 1 ? `${hosts} hosts` : scene.hostNames[first / 2 ** meta.hosts.fold];
  }
  const name = (row) => `${thousands(meta.rankOf(row))}${meta.threads?.[row] ? `.${meta.threads[row]}` : ''}`;
  if (first === last) return name(scene.rowAt(first));
  return scene.orderName === 'rank' ? `${thousands(meta.rankOf(first))}–${thousands(meta.rankOf(last))}` : `${last - first + 1} ranks`;
}

/** Names of hosts as labels: without their domain, and only as much of their ends as has room. */
function hostLabels(names, widthOf, room) {
  const short = names.map((name) => name.split('.')[0]);
  return (new Set(short).size === names.length ? short : names).map((name) => {
    let from = 0;
    while (from < name.length && widthOf(from ? `…${name.slice(from)}` : name) > room) from++;
    return from ? `…${name.slice(from)}` : name;
  });
}

/** The rows of all lines, those of a host together: [rows by line, first line of each host]. With `fold` each host has as
 *  many lines, and those that it does not need have row -1. As view_hosts_lines. */
function hostLines({ hosts, rows: count }, fold) {
  const size = fold ? 2 ** hosts.fold : 0;
  const counts = hosts.names.map(() => 0);
  for (const host of hosts.of) counts[host]++;
  let end = 0;
  const begins = counts.map((own, host) => (size ? host * size : (end += own) - own));
  const rows = new Int32Array(size ? counts.length * size : count).fill(-1);
  const next = [...begins];
  hosts.of.forEach((host, row) => (rows[next[host]++] = row));
  return [rows, begins];
}

/** Steps of 1, 2 or 5 so that about `most` fit. */
function stepOf(span, most) {
  const rough = span / max(1, most);
  const power = 10 ** floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

/** The same of times, round in the unit that they are written in. */
function timeStepOf(span, most) {
  const unit = span >= DAYS_FROM ? DAY : span >= HOURS_FROM ? HOUR : 1;
  return unit * stepOf(span / unit, most);
}

/** Whether it is a step of this unit: those of seconds never are of hours, nor those of days. */
function isStepOf(step, unit) {
  const digit = step / unit / 10 ** floor(Math.log10(step / unit) + 1e-9);
  return [1, 2, 5].some((factor) => abs(digit - factor) < 1e-6);
}

/** A time on the axis, in the unit of the largest time seen, with as many digits as the step needs. */
function tickText(time, step, most) {
  const units = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];
  const long = [['h', HOUR], ['d', DAY]].find(([, value]) => isStepOf(step, value));
  const [unit, scale] = long || units.find(([, value]) => most >= value) || units[3];
  const decimals = clamp(ceil(-Math.log10(step / scale) - 1e-9), 0, 9);
  return `${decimals > 0 ? (time / scale).toFixed(decimals) : thousands(round(time / scale))}${NBSP}${unit}`;
}
