// Colours, from the page's style sheet (render/charts/theme.c), and an SVG picture that is drawn on like a canvas.

function rgbOf(text) {
  const hex = text.trim().replace('#', '');
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function mixed(a, b, share) {
  return a.map((value, i) => round(value + (b[i] - value) * share));
}

const cssOf = (rgb, alpha = 1) => `rgb(${rgb.join(' ')} / ${alpha})`;

const WAIT_LIGHT = 0.7; // how far the ground of hatching is from its colour to the background's
const LEVELS = 16; // of the scale from little to much, as in theme.h

/** Inks by name, and those of all slots of a trace, in the theme that the page has now. */
class Pens {
  constructor(meta) {
    const style = getComputedStyle(document.documentElement);
    const ink = (number) => rgbOf(style.getPropertyValue(`--c${number}`) || '#888888');
    this.ink = Object.fromEntries(Object.entries(meta.inks).map(([name, number]) => [name, ink(number)]));
    this.slots = meta.states.map((state) => ink(state.ink));
    this.levels = Array.from({ length: LEVELS }, (_, level) => ink(meta.inks.level + level));
    this.hatches = new Map();
  }

  css(name, alpha) {
    return cssOf(this.ink[name], alpha);
  }

  slotRgb(slot) {
    if (slot === SLOT_ABSENT) return this.ink.back;
    if (slot === SLOT_COMPUTING) return this.ink.compute;
    return this.slots[slot] || this.ink.other;
  }

  /** The light tone of waiting in a slot, between the lines of its hatching. */
  waitMean(slot) {
    return mixed(this.slotRgb(slot), this.ink.back, WAIT_LIGHT);
  }

  /** Waiting: lines of a colour over a light tone of it. Nothing else is hatched. */
  hatch(context, rgb) {
    if (context.hatch) return context.hatch(rgb, mixed(rgb, this.ink.back, WAIT_LIGHT));
    const key = rgb.join();
    if (!this.hatches.has(key)) {
      const tile = h('canvas', { width: 6, height: 6 });
      const pen = tile.getContext('2d');
      pen.fillStyle = cssOf(mixed(rgb, this.ink.back, WAIT_LIGHT));
      pen.fillRect(0, 0, 6, 6);
      pen.strokeStyle = cssOf(rgb);
      pen.lineWidth = 1.4;
      pen.beginPath();
      for (const x of [-6, 0, 6]) {
        pen.moveTo(x - 1, 7);
        pen.lineTo(x + 7, -1);
      }
      pen.stroke();
      this.hatches.set(key, tile);
    }
    return context.createPattern(this.hatches.get(key), 'repeat');
  }

  fillOf(slot) {
    return cssOf(this.slotRgb(slot));
  }

  /** Black or white, whichever is read better on a colour. */
  textOn(slot) {
    const linear = this.slotRgb(slot).map((value) => (value / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.3 ? '#10141a' : '#ffffff';
  }
}

/** What of CanvasRenderingContext2D the scene draws with, as SVG text. */
class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], defs: [], path: '', clips: 0, groups: [], hatches: new Map() });
    Object.assign(this, { fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, font: '12px sans-serif', globalAlpha: 1 });
    Object.assign(this, { textAlign: 'left', textBaseline: 'alphabetic', dash: [] });
    this.measure = h('canvas').getContext('2d');
  }

  static escape(text) {
    const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
    return String(text).replace(/[&<>"]/g, (c) => entities[c]);
  }

  static number(value) {
    return String(round(value * 100) / 100);
  }

  element(name, attributes, content) {
    const text = Object.entries(attributes)
      .filter(([, value]) => value !== '' && value != null)
      .map(([key, value]) => ` ${key}="${SvgContext.escape(typeof value === 'number' ? SvgContext.number(value) : value)}"`)
      .join('');
    this.parts.push(content === undefined ? `<${name}${text}/>` : `<${name}${text}>${content}</${name}>`);
  }

  get opacity() {
    return this.globalAlpha < 1 ? this.globalAlpha : '';
  }

  hatch(rgb, ground) {
    const key = rgb.join('-');
    if (!this.hatches.has(key)) {
      this.hatches.set(key, `h${key}`);
      this.defs.push(
        `<pattern id="h${key}" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h6v6h-6z" fill="${cssOf(ground)}"/>` +
          `<path d="M-1 7L7 -1M-4 4L4 -4M2 10L10 2" stroke="${cssOf(rgb)}" stroke-width="1.4"/></pattern>`,
      );
    }
    return `url(#h${key})`;
  }

  save() {
    this.groups.push({ state: { ...this }, opened: 0 });
  }

  restore() {
    const { state, opened } = this.groups.pop();
    for (let i = 0; i < opened; i++) this.parts.push('</g>');
    for (const name of ['fillStyle', 'strokeStyle', 'lineWidth', 'font', 'globalAlpha', 'textAlign', 'textBaseline', 'dash'])
      this[name] = state[name];
  }

  beginPath() {
    this.path = '';
  }

  moveTo(x, y) {
    this.path += `M${SvgContext.number(x)} ${SvgContext.number(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${SvgContext.number(x)} ${SvgContext.number(y)}`;
  }

  closePath() {
    this.path += 'Z';
  }

  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.path += `h${SvgContext.number(width)}v${SvgContext.number(height)}h${SvgContext.number(-width)}Z`;
  }

  clip() {
    this.defs.push(`<clipPath id="c${++this.clips}"><path d="${this.path}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#c${this.clips})">`);
    if (this.groups.length) this.groups[this.groups.length - 1].opened++;
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  stroke() {
    const dash = this.dash.length ? this.dash.join(' ') : '';
    this.element('path', { d: this.path, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth, 'stroke-dasharray': dash, opacity: this.opacity });
  }

  fill() {
    this.element('path', { d: this.path, fill: this.fillStyle, opacity: this.opacity });
  }

  fillRect(x, y, width, height) {
    if (width > 0 && height > 0) this.element('rect', { x, y, width, height, fill: this.fillStyle, opacity: this.opacity });
  }

  strokeRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.stroke();
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(bold )?([\d.]+)px (.*)$/.exec(this.font);
    const anchor = { left: '', center: 'middle', right: 'end' }[this.textAlign];
    const middle = this.textBaseline === 'middle' ? Number(size) * 0.35 : 0;
    const style = { 'font-size': size, 'font-family': family, 'font-weight': weight ? 'bold' : '', 'text-anchor': anchor };
    this.element('text', { x, y: y + middle, fill: this.fillStyle, opacity: this.opacity, ...style }, SvgContext.escape(text));
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  drawImage(image, sx, sy, sw, sh, x, y, width, height) {
    const part = h('canvas', { width: max(1, round(sw)), height: max(1, round(sh)) });
    part.getContext('2d').drawImage(image, sx, sy, sw, sh, 0, 0, part.width, part.height);
    const href = part.toDataURL('image/png');
    this.element('image', { x, y, width, height, href, preserveAspectRatio: 'none', 'image-rendering': 'pixelated' });
  }

  toString() {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">` +
      `<defs>${this.defs.join('')}</defs>${this.parts.join('\n')}</svg>\n`
    );
  }
}
