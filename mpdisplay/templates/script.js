'use strict';

// Sorting and searching of tables, and the flame graphs. Names only ever become text, never markup.

const by = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const grouped = number => number.toLocaleString('en-US', { maximumFractionDigits: 0 });

// Tables: a click on a title sorts, falling first for numbers; typing leaves the rows that contain all words.

function numberOf(cell) {
  const number = parseFloat(cell.textContent.replace(/,/g, ''));
  return Number.isNaN(number) ? -1 : number;
}

function sort(table, title, column) {
  const numeric = title.classList.contains('n');
  const first = numeric ? 'descending' : 'ascending';
  const order = title.getAttribute('aria-sort') === first ? (numeric ? 'ascending' : 'descending') : first;
  by('th', table).forEach(other => other.removeAttribute('aria-sort'));
  title.setAttribute('aria-sort', order);
  const sign = order === 'ascending' ? 1 : -1;
  const key = row => numeric ? numberOf(row.cells[column]) : row.cells[column].textContent;
  const compare = numeric ? (a, b) => a - b : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const body = table.tBodies[0];
  const rows = [...body.rows].map(row => [key(row), row]);
  rows.sort((a, b) => sign * compare(a[0], b[0]));
  body.append(...rows.map(row => row[1]));
}

function search(tools, items) {
  const input = make('input', { type: 'search', placeholder: 'Search', ariaLabel: 'Search the table' });
  const count = make('span');
  let texts = null; // of large pages it takes a moment, which opening them need not wait for
  input.addEventListener('input', () => {
    texts ??= items.map(item => item.textContent.toLowerCase());
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    items.forEach((item, index) => {
      item.hidden = !words.every(word => texts[index].includes(word));
      shown += !item.hidden;
    });
    count.textContent = words.length ? `${grouped(shown)} of ${grouped(items.length)}` : '';
  });
  tools.prepend(input, count);
  return input;
}

for (const sheet of by('.sheet')) {
  const table = sheet.querySelector('table');
  by('thead th', table).forEach((title, column) => {
    const button = make('button', { type: 'button' }, ...title.childNodes);
    button.addEventListener('click', () => sort(table, title, column));
    title.append(button);
  });
  const tools = make('div', { className: 'tools' });
  sheet.before(tools);
  search(tools, [...table.tBodies[0].rows]);
}

// The call graph: its entries are sorted by what their own line says.

const graph = document.querySelector('.entries');
if (graph) {
  const entries = by('.e', graph);
  const tools = make('div', { className: 'tools' });
  graph.before(tools);
  const value = (index, column) => numberOf(entries[index].querySelector('.self').cells[column]);
  const orders = {
    'self + descendents': null,
    'bytes kept': index => -value(index, 3),
    'objects': index => -value(index, 4),
    'name': index => entries[index].querySelector('.self .name').textContent,
  };
  if (graph.classList.contains('unkept')) delete orders['bytes kept'];
  const order = make('select', { ariaLabel: 'Order of the entries' }, ...Object.keys(orders).map(name => make('option', {}, name)));
  order.addEventListener('change', () => {
    const key = orders[order.value];
    const keyed = entries.map((entry, index) => [key ? key(index) : index, index]);
    keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]));
    graph.append(...keyed.map(([, index]) => entries[index]));
  });
  const input = search(tools, entries);
  tools.append(make('label', {}, 'ordered by ', order));
  // A link to an entry that the search hides shows it.
  addEventListener('hashchange', () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.hidden) {
      input.value = '';
      input.dispatchEvent(new Event('input'));
      target.scrollIntoView();
    }
  });
}

// Flame graphs. Functions are in preorder; where the functions below one end follows from the depths.

const data = JSON.parse(document.getElementById('stacks').textContent);
const size = data.depth.length;
const parent = new Int32Array(size).fill(-1);
const end = new Int32Array(size).fill(size);
{
  const chain = [];
  for (let index = 0; index < size; index++) {
    while (chain.length > data.depth[index]) end[chain.pop()] = index;
    if (chain.length) parent[index] = chain[chain.length - 1];
    chain.push(index);
  }
}

const LEVEL = 19;
const NARROW = 1.5;
const LEGIBLE = 28;

class Flame {
  constructor(root) {
    this.root = root;
    this.measures = root.dataset.measures.split(' ').map(Number).filter(measure => measure < data.all.length);
    this.down = 'down' in root.dataset;
    this.measure = this.measures.includes(data.measure) ? data.measure : this.measures[0];
    this.focus = -1;
    this.pinned = -1;
    this.words = '';
    this.build();
    new ResizeObserver(() => this.width !== this.frames.clientWidth && this.draw()).observe(this.frames);
  }

  get all() { return data.all[this.measure]; }
  total(index) { return index < 0 ? this.all : data.total[this.measure][index]; }
  name(index) { return index < 0 ? 'all' : data.labels[data.label[index]][0]; }

  build() {
    const choices = make('span', { className: 'group' });
    this.choices = this.measures.map(measure => {
      const button = make('button', { type: 'button' }, data.measures[measure].title);
      button.addEventListener('click', () => { this.measure = measure; this.draw(); });
      choices.append(button);
      return button;
    });
    const input = make('input', { type: 'search', placeholder: 'Highlight functions', ariaLabel: 'Highlight functions' });
    input.addEventListener('input', () => { this.words = input.value.toLowerCase(); this.draw(); });
    this.reset = make('button', { type: 'button' }, 'Show all');
    this.reset.addEventListener('click', () => this.zoom(-1));
    const turn = make('button', { type: 'button' }, 'Upside down');
    turn.addEventListener('click', () => { this.down = !this.down; this.draw(true); });
    this.matched = make('span');
    this.status = make('div', { className: 'status' });
    this.stage = make('div', { className: 'stage' });
    this.frames = make('div', { className: 'frames' }, this.stage);
    this.root.append(
      make('div', { className: 'tools' }, choices, input, this.matched, turn, this.reset),
      make('div', { className: 'tools' }, this.status), this.frames);
    if ('legend' in this.root.dataset) this.root.append(this.legend());
    this.root.hidden = false;
    const frame = event => event.target.closest('.f');
    this.stage.addEventListener('mouseover', event => frame(event) && this.tell(Number(frame(event).dataset.i)));
    this.stage.addEventListener('focusin', event => frame(event) && this.tell(Number(frame(event).dataset.i)));
    this.stage.addEventListener('mouseleave', () => this.tell(this.pinned));
    this.stage.addEventListener('click', event => frame(event) && this.zoom(Number(frame(event).dataset.i)));
    this.stage.addEventListener('keydown', event => this.key(event));
    this.draw(true);
  }

  legend() {
    const spans = data.modules.map((name, index) => {
      const span = make('span', {}, name);
      span.style.setProperty('--c', `var(--c${index})`);
      return span;
    });
    return make('div', { className: 'legend' }, ...spans);
  }

  // The functions wide enough to be seen, each with its place; callers of the one in focus are as wide as it.
  visible() {
    const shown = [];
    const chain = [];
    for (let index = this.focus; index >= 0; index = parent[index]) chain.unshift(index);
    const outer = [-1, ...chain];
    for (const index of outer) {
      shown.push({ index, left: 0, width: this.width, level: index < 0 ? 0 : data.depth[index] + 1, outer: index !== this.focus });
    }
    const scale = this.width / (this.total(this.focus) || 1);
    const from = this.focus + 1;
    const to = this.focus < 0 ? size : end[this.focus];
    const base = this.focus < 0 ? 0 : data.depth[this.focus] + 1;
    const lefts = [0];
    for (let index = from; index < to;) {
      const level = data.depth[index] - base;
      const width = this.total(index) * scale;
      const left = lefts[level];
      lefts[level] = left + width;
      if (width < NARROW) {
        index = end[index];
        continue;
      }
      lefts[level + 1] = left;
      shown.push({ index, left, width, level: data.depth[index] + 1, outer: false });
      index++;
    }
    return shown;
  }

  draw(jump) {
    this.width = this.frames.clientWidth;
    const inner = this.width - 10;
    const outerWidth = this.width;
    this.width = Math.max(inner, 50);
    const shown = this.visible();
    const levels = 1 + shown.reduce((most, frame) => Math.max(most, frame.level), 0);
    this.stage.style.height = `${levels * LEVEL}px`;
    this.boxes = new Map();
    const matches = this.words && this.all > 0 ? this.match() : null;
    const fragment = document.createDocumentFragment();
    for (const frame of shown) fragment.append(this.box(frame, levels, matches));
    this.stage.replaceChildren(fragment);
    this.width = outerWidth;
    this.choices.forEach((button, place) => button.setAttribute('aria-pressed', this.measures[place] === this.measure));
    this.reset.hidden = this.focus < 0;
    this.matched.textContent = matches ? `matched ${(100 * matches.sum / this.all).toFixed(1)} %` : '';
    if (jump) this.frames.scrollTop = this.down ? 0 : this.frames.scrollHeight;
    this.tell(this.pinned);
  }

  box({ index, left, width, level, outer }, levels, matches) {
    const box = make('button', { type: 'button', className: 'f', tabIndex: index === this.focus ? 0 : -1, ariaLabel: this.name(index) });
    if (width > LEGIBLE) box.textContent = this.name(index);
    box.dataset.i = index;
    const top = this.down ? level : levels - 1 - level;
    box.style.cssText = `left:${left.toFixed(2)}px;top:${top * LEVEL}px;width:${width.toFixed(2)}px`;
    const label = index < 0 ? null : data.labels[data.label[index]];
    box.style.setProperty('--c', label ? `var(--c${label[2]})` : 'var(--c8)');
    if (label) box.style.setProperty('--v', `${(data.label[index] * 7) % 4 * 7}%`);
    box.classList.toggle('thin', width < 12);
    box.classList.toggle('outer', outer);
    box.classList.toggle('match', Boolean(matches && index >= 0 && matches.labels[data.label[index]]));
    this.boxes.set(index, box);
    return box;
  }

  // Labels that contain what is looked for, and what was allocated under them, counted once.
  match() {
    const labels = data.labels.map(label => label[0].toLowerCase().includes(this.words));
    let sum = 0;
    for (let index = 0; index < size;) {
      if (labels[data.label[index]]) {
        sum += this.total(index);
        index = end[index];
      } else {
        index++;
      }
    }
    return { labels, sum };
  }

  zoom(index) {
    this.focus = this.pinned = index;
    this.draw();
    const box = this.boxes.get(index);
    if (box) {
      box.focus({ preventScroll: true });
      const level = box.offsetTop - this.frames.clientHeight / 2;
      if (box.offsetTop < this.frames.scrollTop || box.offsetTop > this.frames.scrollTop + this.frames.clientHeight - LEVEL) this.frames.scrollTop = level;
    }
  }

  tell(index) {
    const unit = data.measures[this.measure].unit;
    const total = this.total(index);
    const share = this.all > 0 ? ` (${(100 * total / this.all).toFixed(1)} %)` : '';
    const own = index < 0 ? 0 : data.own[this.measure][index];
    const parts = [make('b', {}, this.name(index)), `  ${grouped(total)} ${unit}${share}`];
    if (index >= 0) parts.push(`, ${grouped(own)} by itself`);
    const entry = index < 0 ? -1 : data.labels[data.label[index]][1];
    if (entry >= 0) parts.push('  ', make('a', { href: `#g${entry}` }, `call graph [${entry}]`));
    this.status.replaceChildren(...parts);
  }

  // Arrows go from box to box.
  key(event) {
    const at = event.target.closest('.f');
    if (!at) return;
    const index = Number(at.dataset.i);
    const away = this.down ? 'ArrowDown' : 'ArrowUp';
    const back = this.down ? 'ArrowUp' : 'ArrowDown';
    let to = null;
    if (event.key === back && index >= 0) to = parent[index];
    else if (event.key === away) to = this.find(index + 1, index < 0 ? size : end[index], 1, index < 0 ? 0 : data.depth[index] + 1);
    else if (event.key === 'ArrowRight' && index >= 0) to = this.find(end[index], parent[index] < 0 ? size : end[parent[index]], 1, data.depth[index]);
    else if (event.key === 'ArrowLeft' && index >= 0) to = this.find(index - 1, parent[index], -1, data.depth[index]);
    else if (event.key === 'Escape') { this.zoom(-1); return; } else return;
    event.preventDefault();
    const box = to === null ? null : this.boxes.get(to);
    if (box) box.focus();
  }

  find(from, to, step, depth) {
    for (let index = from; index !== to && index >= 0 && index < size; index += step) {
      if (data.depth[index] === depth && this.boxes.has(index)) return index;
    }
    return null;
  }
}

for (const root of by('.flame')) {
  const some = root.dataset.measures.split(' ').some(measure => data.all[measure] > 0);
  if (some) root.graph = new Flame(root);
}
