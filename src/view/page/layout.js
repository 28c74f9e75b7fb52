// Where everything of the timeline is: lines, times, and what is written beside them.

const ROW_LEAST = 3; // pixels of a process that has a line of its own
const LINE_MOST = 110; // pixels of a line of few

const PIN_LINE = 24; // pixels of a pinned line,
const PIN_GAP = 8; // and below the last of them
const PINS_MOST = 8;

/** Where everything is, for a scene's size and view. */
function layoutOf(scene) {
  const { width, height, view, meta } = scene;
  const left = scene.labelWidth;
  const pins = { y: 48 + 22 + (scene.phases.length + scene.iterations.length > 0 ? 22 : 0), height: scene.pins.length * PIN_LINE };
  const top = pins.y + (pins.height > 0 ? pins.height + PIN_GAP : 0);
  const room = max(20, height - top - 8);
  const plot = { x: left, y: top, width: max(20, width - left - 10), height: min(room, (view.r1 - view.r0) * LINE_MOST) };
  const pixels = plot.height / (view.r1 - view.r0);
  const fold = max(meta.leastFold || 0, scene.group, pixels >= ROW_LEAST ? 0 : clamp(ceil(log2((ROW_LEAST + 2) / pixels)), 0, meta.folds));
  const line = pixels * 2 ** fold;
  const gap = line >= 14 ? 3 : line >= 8 ? 2 : line >= 5 ? 1 : 0;
  const y = (number) => plot.y + (number * 2 ** fold - view.r0) * pixels; // top of a line
  return {
    plot,
    pins,
    fold,
    line, // pixels of a line: of one process, or of a group
    many: line < 14, // tiles are drawn line by line only where these are few
    gap,
    height: line - gap,
    lines: ceil(meta.rows / 2 ** fold),
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

/** A pinned row as a scene and a layout of its own: one line, which is always seen. */
function pinOf(scene, layout, place) {
  const fold = scene.meta.leastFold || 0;
  const line = floor(scene.lineOf(scene.pins[place]) / 2 ** fold);
  const plot = { ...layout.plot, y: layout.pins.y + place * PIN_LINE, height: PIN_LINE };
  const y = (number) => plot.y + (number - line) * PIN_LINE;
  const view = { ...scene.view, r0: line * 2 ** fold, r1: (line + 1) * 2 ** fold };
  const own = { ...layout, plot, fold, line: PIN_LINE, many: false, gap: 3, height: PIN_LINE - 3, lines: ceil(scene.meta.rows / 2 ** fold), y, middle: (number) => y(number) + PIN_LINE / 2 };
  return [{ ...scene, view }, own, line];
}

/** Lines from top to bottom that are seen: [first, end). */
function linesSeen(scene, layout) {
  const size = 2 ** layout.fold;
  return [max(0, floor(scene.view.r0 / size)), min(layout.lines, ceil(scene.view.r1 / size))];
}

/** The ranks of a line as its label; of a group in another order than theirs, how many they are. */
function lineLabel(scene, line, fold) {
  const { meta } = scene;
  const first = line * 2 ** fold;
  const last = min(first + 2 ** fold, meta.rows) - 1;
  const name = (row) => `${thousands(meta.rankOf(row))}${meta.threads?.[row] ? `.${meta.threads[row]}` : ''}`;
  if (first === last) return name(scene.rowAt(first));
  return scene.orderName === 'rank' ? `${thousands(meta.rankOf(first))}–${thousands(meta.rankOf(last))}` : `${last - first + 1} ranks`;
}

/** Steps of 1, 2 or 5 so that about `most` fit. */
function stepOf(span, most) {
  const rough = span / max(1, most);
  const power = 10 ** floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

/** A time on the axis, in the unit of the largest time seen, with as many digits as the step needs. */
function tickText(time, step, most) {
  const units = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];
  const [unit, scale] = units.find(([, value]) => most >= value) || units[3];
  const decimals = clamp(ceil(-Math.log10(step / scale) - 1e-9), 0, 9);
  return `${decimals > 0 ? (time / scale).toFixed(decimals) : thousands(round(time / scale))}${NBSP}${unit}`;
}
