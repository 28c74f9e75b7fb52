// Numbers and elements for people. Numbers read as in all of sight's outputs: sight help numbers.

const { abs, ceil, floor, log2, max, min, round } = Math;
const NBSP = '\u00a0';

/** Decimals as C prints them: what is exactly in the middle becomes even, where toFixed rounds it up. */
function fixed(value, decimals) {
  const text = value.toFixed(decimals);
  const middle = abs(value * 2 ** (decimals + 1)) % 2 === 1;
  return middle && Number(text.slice(-1)) % 2 === 1 ? (value - Math.sign(value) * 0.25 * 10 ** -decimals).toFixed(decimals) : text;
}

/** Three significant digits of [0, 1000), no exponent: 1.23, 45.6, 789. */
function digits3(value) {
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

const HOUR = 3.6e12;
const DAY = 24 * HOUR;
/** From these times on, in ns, hours and days are used. */
const HOURS_FROM = 9999.5e9;
const DAYS_FROM = 47.95 * HOUR;

/** A time in ns as "1.23 s", "45.6 ms", "789 µs", "12 ns", "0 s", "2.78 h". */
function duration(ns) {
  const size = Number(fixed(abs(ns), 0));
  const sign = ns < 0 && size > 0 ? '-' : '';
  if (size === 0) return `0${NBSP}s`;
  if (size < 999.5) return `${sign}${size}${NBSP}ns`;
  if (size < 999500) return `${sign}${digits3(size / 1e3)}${NBSP}µs`;
  if (size < 999500000) return `${sign}${digits3(size / 1e6)}${NBSP}ms`;
  if (size < 999.5e9) return `${sign}${digits3(size / 1e9)}${NBSP}s`;
  if (size < HOURS_FROM) return `${sign}${thousands(round(size / 1e9))}${NBSP}s`;
  if (size < DAYS_FROM) return `${sign}${digits3(size / HOUR)}${NBSP}h`;
  return `${sign}${size < 999.5 * DAY ? digits3(size / DAY) : thousands(round(size / DAY))}${NBSP}d`;
}

/** A point in time to the nanosecond, in seconds: "0.123 456 789 s". */
function instant(ns) {
  const whole = Math.trunc(ns / 1e9);
  const rest = String(abs(round(ns - whole * 1e9))).padStart(9, '0');
  return `${ns < 0 && whole === 0 ? '-' : ''}${whole}.${rest.replace(/(\d{3})(?=\d)/g, '$1\u2009')}${NBSP}s`;
}

/** A sentence whose numbers are not parted from their units at the end of a line. */
function unparted(sentence) {
  return sentence.replace(/(\d) (?=(?:%|[mµn]?s|[hd]|[kMGT]?B|[KMG]iB)(?!\w))/g, `$1${NBSP}`);
}

/** A sentence with a capital letter, where it begins with one of ASCII. */
function capital(sentence) {
  return sentence.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

function byteSize(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let unit = 0;
  let value = round(abs(bytes));
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit++;
  }
  return `${bytes < 0 ? '-' : ''}${fixed(value, unit > 0 && value < 9.95 ? 1 : 0)}${NBSP}${units[unit]}`;
}

/** A share as whole per cent from 10 %, with one decimal below. */
function percent(share) {
  const value = share * 100;
  if (!(value > 0)) return `0${NBSP}%`;
  if (value < 0.05) return `<${NBSP}0.1${NBSP}%`;
  return `${fixed(value, value < 9.95 || (value >= 99.5 && value < 99.95) ? 1 : 0)}${NBSP}%`;
}

/** "3 ms", "2us", "0.5 s", "12 ns" as ns; NaN for what is none. */
function parseDuration(text) {
  const match = /^\s*([0-9]*\.?[0-9]+)\s*(ns|us|µs|ms|s)\s*$/i.exec(text);
  const scale = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
  return match ? Number(match[1]) * scale[match[2].toLowerCase()] : NaN;
}

/** An element: h('button', {class: 'x', onclick: f}, 'text', child, ...). */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

function clamp(value, least, most) {
  return min(max(value, least), most);
}

/** The first index whose value (given by `at`) is above x, of `count` ascending values. */
function upperBound(count, at, x) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
