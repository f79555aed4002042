// The timeline: a canvas of the visible rows only, so that thousands of rows cost nothing.
const rowHeight = 22, axisHeight = 26;
const lanes = { rows: [], view: [0, 1], colors: {}, pending: false, versions: [], pointer: null, drag: null, width: 0, height: 0, label: 220 };

function prepareTimeline() {
  at('timeline').hidden = false;
  lanes.view = [0, data.end];
  const seen = new Set();
  for (const t of data.tracks) for (const b of t.bands) seen.add(b.name.split(' ')[0]);
  lanes.versions = [...seen].filter(v => /^\d/.test(v)).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const box = at('lanes'), canvas = at('canvas');
  new ResizeObserver(() => drawSoon()).observe(box);
  box.addEventListener('scroll', () => drawSoon());
  canvas.addEventListener('wheel', onWheel, { passive: false });
  canvas.addEventListener('pointerdown', onDown);
  canvas.addEventListener('pointermove', onMove);
  canvas.addEventListener('pointerup', onUp);
  canvas.addEventListener('pointercancel', () => { lanes.drag = null; drawSoon(); });
  canvas.addEventListener('pointerleave', () => { if (lanes.pointer) at('readout').textContent = ''; lanes.pointer = null; drawSoon(); });
  canvas.addEventListener('keydown', onKey);
  at('in').addEventListener('click', () => zoom(0.5));
  at('out').addEventListener('click', () => zoom(2));
  at('all').addEventListener('click', () => setView(0, data.end));
  at('components').addEventListener('change', () => drawSoon(true));
  recolor();
}

function recolor() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ground', 'raised', 'line', 'text', 'soft', 'focus', 'cursor', 'v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'c-passed', 'c-failed', 'c-error', 'c-known', 'c-notRun', 'c-move', 'c-ready', 'on-ready', 'c-starting', 'passed', 'failed', 'error', 'known', 'notRun', 'skipped']) {
    lanes.colors[name] = style.getPropertyValue('--' + name).trim();
  }
  drawSoon();
}

// layout lists the rows from top to bottom.
function layout() {
  const rows = [], components = at('components').checked;
  data.tracks.forEach((track, t) => {
    const scenarios = [];
    data.scenarios.forEach((s, i) => { if (s.track === t && (!chosen.shown || chosen.shown.has(i))) scenarios.push(i); });
    if (!scenarios.length && data.scenarios.some(s => s.track === t)) return;
    const first = rows.length;
    rows.push({ kind: 'state', track, label: track.name });
    if (components && track.processes) {
      rows.push({ kind: 'answers', track, label: 'API server answers', spans: answers(track) });
      const by = new Map();
      for (const p of track.processes) by.set(p.c, [...(by.get(p.c) || []), p]);
      for (const [name, lives] of by) rows.push({ kind: 'process', track, label: name, lives });
    }
    for (const i of scenarios) {
      const s = data.scenarios[i];
      rows.push({ kind: 'scenario', track, n: i, s, label: s.name });
      if (chosen.open.has(i)) (s.objects || []).forEach((o, n) => rows.push({ kind: 'object', track, n: i, object: n, o, label: o.k + ' ' + o.n }));
    }
    for (let i = first; i < rows.length; i++) rows[i].first = i === first;
  });
  lanes.rows = rows;
}

// answers are the times in which kube-apiserver was ready and etcd ran.
function answers(track) {
  const stores = track.processes.filter(p => p.c === 'etcd');
  const spans = [];
  for (const p of track.processes.filter(p => p.c.startsWith('kube-apiserver') && p.r)) {
    for (const e of stores.length ? stores : [{ a: 0, b: 0 }]) {
      const from = Math.max(p.r, e.a), to = Math.min(p.b || data.end, e.b || data.end);
      if (to > from) spans.push([from, to]);
    }
  }
  return spans;
}

let relayout = true;
function drawSoon(again) {
  if (again) relayout = true;
  if (lanes.pending || !data) return;
  lanes.pending = true;
  requestAnimationFrame(() => { lanes.pending = false; draw(); });
}

const x = t => lanes.label + (t - lanes.view[0]) / (lanes.view[1] - lanes.view[0]) * (lanes.width - lanes.label);
const timeAt = px => lanes.view[0] + (px - lanes.label) / (lanes.width - lanes.label) * (lanes.view[1] - lanes.view[0]);

function draw() {
  const box = at('lanes'), canvas = at('canvas'), c = lanes.colors;
  if (relayout) { layout(); relayout = false; }
  const total = axisHeight + lanes.rows.length * rowHeight + 4;
  if (lanes.total !== total) { lanes.total = total; at('height').style.height = total + 'px'; } // else the whole page is laid out again with each frame
  lanes.width = box.clientWidth;
  lanes.height = Math.min(total, 540);
  lanes.label = lanes.width < 600 ? 104 : 220;
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(lanes.width * ratio) || canvas.height !== Math.round(lanes.height * ratio)) {
    canvas.width = Math.round(lanes.width * ratio);
    canvas.height = Math.round(lanes.height * ratio);
    canvas.style.height = lanes.height + 'px';
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = c.ground;
  g.fillRect(0, 0, lanes.width, lanes.height);
  g.textBaseline = 'middle';
  const scroll = box.scrollTop, first = Math.max(0, Math.floor((scroll - axisHeight) / rowHeight));
  const last = Math.min(lanes.rows.length, first + Math.ceil(lanes.height / rowHeight) + 2);
  const top = i => axisHeight + i * rowHeight - scroll;
  g.save();
  g.beginPath();
  g.rect(lanes.label, 0, lanes.width - lanes.label, lanes.height);
  g.clip();
  ticks(g);
  crossings(g, first, last, top);
  for (let i = first; i < last; i++) drawRow(g, lanes.rows[i], top(i));
  if (lanes.pointer && lanes.pointer[0] > lanes.label) {
    g.strokeStyle = c.cursor;
    g.beginPath(); g.moveTo(lanes.pointer[0] + .5, 0); g.lineTo(lanes.pointer[0] + .5, lanes.height); g.stroke();
  }
  if (lanes.drag?.axis) {
    g.globalAlpha = .25; g.fillStyle = c.cursor;
    g.fillRect(Math.min(lanes.drag.from, lanes.drag.to), 0, Math.abs(lanes.drag.to - lanes.drag.from), lanes.height);
    g.globalAlpha = 1;
  }
  g.restore();
  labels(g, first, last, top);
  axis(g);
}

function ticks(g) {
  g.strokeStyle = lanes.colors.line;
  g.globalAlpha = .5;
  for (const t of tickTimes()) { g.beginPath(); g.moveTo(Math.round(x(t)) + .5, axisHeight); g.lineTo(Math.round(x(t)) + .5, lanes.height); g.stroke(); }
  g.globalAlpha = 1;
}

function tickStep() {
  const span = lanes.view[1] - lanes.view[0], most = Math.max(2, (lanes.width - lanes.label) / 90);
  return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5].find(s => span / s <= most) || 144e5;
}

function tickTimes() {
  const step = tickStep(), times = [];
  for (let t = Math.ceil(lanes.view[0] / step) * step; t <= lanes.view[1]; t += step) times.push(t);
  return times;
}

function axis(g) {
  const c = lanes.colors;
  g.fillStyle = c.raised;
  g.fillRect(0, 0, lanes.width, axisHeight);
  g.strokeStyle = c.line;
  g.beginPath(); g.moveTo(0, axisHeight - .5); g.lineTo(lanes.width, axisHeight - .5); g.stroke();
  g.fillStyle = c.soft;
  g.font = '11px system-ui, sans-serif';
  for (const t of tickTimes()) if (x(t) >= lanes.label - 1 && x(t) < lanes.width - 30) g.fillText('+' + (t === 0 ? '0' : inWords(t, tickStep()).replace(/\.0+s$/, 's')), x(t) + 3, axisHeight / 2);
  if (lanes.pointer && lanes.pointer[0] > lanes.label) {
    const text = '+' + inWords(timeAt(lanes.pointer[0]), perPixel()), w = g.measureText(text).width + 8;
    const left = Math.min(lanes.pointer[0], lanes.width - w);
    g.fillStyle = c.cursor; g.fillRect(left, 3, w, axisHeight - 7);
    g.fillStyle = c.ground; g.fillText(text, left + 4, axisHeight / 2);
  }
}

// crossings draws each transition across all rows of its track.
function crossings(g, first, last, top) {
  for (const track of data.tracks) {
    let from = -1, to = -1;
    for (let i = first; i < last; i++) if (lanes.rows[i].track === track) { if (from < 0) from = i; to = i; }
    if (from < 0) continue;
    for (const b of track.bands) {
      if (!b.verb) continue;
      const a = x(b.a), w = Math.max(x(b.b) - a, 1);
      if (a + w < lanes.label || a > lanes.width) continue;
      g.strokeStyle = b.status === 'passed' ? lanes.colors['c-move'] : lanes.colors['c-failed'];
      for (const edge of b.verb === 'transition' ? [a, a + w] : []) { g.beginPath(); g.moveTo(Math.round(edge) + .5, top(from)); g.lineTo(Math.round(edge) + .5, top(to + 1)); g.stroke(); }
      hatch(g, a, top(from), w, (to - from + 1) * rowHeight, b.status === 'passed' ? lanes.colors['c-move'] : lanes.colors['c-failed'], b.verb === 'transition' ? .28 : .12);
    }
  }
}

function hatch(g, left, top, w, h, color, alpha) {
  g.save();
  g.beginPath(); g.rect(left, top, w, h); g.clip();
  g.globalAlpha = alpha; g.strokeStyle = color; g.lineWidth = 1.5;
  const from = Math.max(left, lanes.label) - h - 8, to = Math.min(left + w, lanes.width);
  g.beginPath();
  for (let p = Math.floor(from / 8) * 8; p < to; p += 8) { g.moveTo(p, top + h); g.lineTo(p + h, top); }
  g.stroke();
  g.restore();
}

function bar(g, from, to, top, height, color, least) {
  const a = x(from), w = Math.max(x(to) - a, least || 1);
  if (a + w < lanes.label || a > lanes.width) return false;
  g.fillStyle = color;
  const left = Math.max(a, lanes.label - 4);
  g.beginPath(); g.roundRect(left, top, Math.min(a + w, lanes.width + 4) - left, height, Math.min(2, w / 2)); g.fill();
  return true;
}

function inside(g, text, from, to, top, color) {
  const left = Math.max(x(from), lanes.label) + 5, room = Math.min(x(to), lanes.width) - left - 4;
  if (room < 24) return;
  g.fillStyle = color || lanes.colors.text;
  g.font = '11px system-ui, sans-serif';
  g.fillText(fitted(g, text, room), left, top + rowHeight / 2);
}

function fitted(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let n = Math.max(1, Math.floor(text.length * room / g.measureText(text).width) - 1);
  while (n > 1 && g.measureText(text.slice(0, n) + '…').width > room) n--;
  return text.slice(0, n) + '…';
}

function drawRow(g, row, top) {
  const c = lanes.colors;
  switch (row.kind) {
    case 'state':
      for (const b of row.track.bands) {
        if (b.verb) { inside(g, b.change || b.verb, b.a, b.b, top); continue; }
        const version = lanes.versions.indexOf(b.name.split(' ')[0]);
        if (bar(g, b.a, b.b, top + 2, rowHeight - 4, c['v' + (version < 0 ? 5 : version % 6)])) inside(g, b.name, b.a, b.b, top);
      }
      break;
    case 'answers':
      for (const [a, b] of row.spans) bar(g, a, b, top + 8, rowHeight - 16, c['c-passed']);
      break;
    case 'process':
      for (const p of row.lives) {
        const end = p.b || data.end, ready = p.r || (p.v ? end : p.a);
        bar(g, p.a, ready, top + 8, rowHeight - 16, c['c-starting']);
        if (end > ready) { bar(g, ready, end, top + 5, rowHeight - 10, c['c-ready']); inside(g, p.v || '', ready, end, top, c['on-ready']); }
        if (p.u) { g.fillStyle = c['c-failed']; g.font = 'bold 13px system-ui'; g.fillText('✗', x(end) - 3, top + rowHeight / 2); }
      }
      break;
    case 'scenario':
      row.s.steps.forEach((step, n) => {
        if (step.s === 'notRun' && !step.a) return;
        const from = step.a, to = step.b || data.end, own = to - (step.x || 0);
        const color = c['c-' + step.s] || c['c-notRun'];
        if (step.w || step.x) { g.globalAlpha = .3; const seen = bar(g, from, to, top + 4, rowHeight - 8, color); g.globalAlpha = 1; if (seen) { g.strokeStyle = color; g.stroke(); } if (!step.x) bar(g, own, to, top + 4, rowHeight - 8, color); } else bar(g, from, to, top + 4, rowHeight - 8, color, 2);
        if (['failed', 'error', 'known'].includes(step.s)) { bar(g, from, to, top + 3, rowHeight - 6, color, 4); mark(g, signs[step.s], from, to, top, c[step.s]); }
        if (chosen.scenario === row.n && chosen.step === n) { g.strokeStyle = c.text; g.lineWidth = 2; g.strokeRect(x(from) - 1, top + 2, Math.max(x(to) - x(from), 4) + 2, rowHeight - 4); g.lineWidth = 1; }
      });
      break;
    case 'object': drawLife(g, row, top);
  }
}

// mark puts a sign into a bar, or beside one that is too narrow: not everybody sees its colour.
function mark(g, sign, from, to, top, color) {
  const a = x(from), w = Math.max(x(to) - a, 4), left = Math.max(a, lanes.label), y = top + rowHeight / 2;
  if (a + w < lanes.label || a > lanes.width) return;
  g.font = 'bold 12px system-ui, sans-serif';
  if (a + w - left >= g.measureText(sign).width + 4) { g.fillStyle = lanes.colors.ground; g.fillText(sign, left + 2, y); return; }
  g.strokeStyle = lanes.colors.ground; g.lineWidth = 3; g.strokeText(sign, a + w + 2, y); g.lineWidth = 1;
  g.fillStyle = color; g.fillText(sign, a + w + 2, y);
}

function drawLife(g, row, top) {
  const c = lanes.colors, middle = top + rowHeight / 2;
  let alive = -1, lastPixel = -9;
  const line = (from, to) => { g.strokeStyle = c.soft; g.beginPath(); g.moveTo(x(from), middle); g.lineTo(x(to), middle); g.stroke(); };
  for (const [t, type] of row.o.c) {
    if (type === 'd') { if (alive >= 0) line(alive, t); alive = -1; } else if (alive < 0) alive = t;
  }
  if (alive >= 0) line(alive, data.scenarios[row.n].b || data.end);
  row.o.c.forEach(([t, type], n) => {
    const px = x(t), picked = chosen.scenario === row.n && chosen.object === row.object && chosen.change === n;
    if (px < lanes.label || px > lanes.width || (px - lastPixel < 1.5 && type === 'm' && !picked)) return;
    lastPixel = px;
    g.fillStyle = type === 'd' ? c['c-failed'] : type === 'm' ? c['c-ready'] : c['c-passed'];
    g.beginPath(); g.arc(px, middle, picked ? 6 : type === 'm' ? 3 : 4.5, 0, 7); g.fill();
    if (picked) { g.strokeStyle = c.text; g.stroke(); }
  });
}

function labels(g, first, last, top) {
  const c = lanes.colors;
  g.fillStyle = c.ground;
  g.fillRect(0, axisHeight, lanes.label, lanes.height);
  for (let i = first; i < last; i++) {
    const row = lanes.rows[i], y = top(i);
    if (row.first) { g.fillStyle = c.raised; g.fillRect(0, y, lanes.label, rowHeight); g.strokeStyle = c.line; g.beginPath(); g.moveTo(0, y + .5); g.lineTo(lanes.width, y + .5); g.stroke(); }
    if (row.kind === 'scenario' && row.n === chosen.scenario) { g.fillStyle = c.raised; g.fillRect(0, y, lanes.label, rowHeight); }
    let left = row.kind === 'state' ? 6 : row.kind === 'object' ? 30 : 14;
    g.font = (row.kind === 'state' ? '600 ' : '') + '12px system-ui, sans-serif';
    if (row.kind === 'scenario') {
      const has = row.s.objects?.length;
      g.fillStyle = c.soft;
      if (has) g.fillText(chosen.open.has(row.n) ? '▾' : '▸', 3, y + rowHeight / 2);
      g.fillStyle = c[row.s.status] || c.soft;
      g.fillText(signs[row.s.status] || '-', left + 2, y + rowHeight / 2);
      left += 16;
    }
    g.fillStyle = row.kind === 'scenario' || row.kind === 'state' ? c.text : c.soft;
    g.fillText(fitted(g, row.label, lanes.label - left - 6), left, y + rowHeight / 2);
  }
  g.strokeStyle = c.line;
  g.beginPath(); g.moveTo(lanes.label - .5, 0); g.lineTo(lanes.label - .5, lanes.height); g.stroke();
}

// perPixel is the time of one pixel.
const perPixel = () => (lanes.view[1] - lanes.view[0]) / (lanes.width - lanes.label);

function setView(from, to) {
  const span = Math.min(Math.max(to - from, 5), data.end);
  from = Math.min(Math.max(from, 0), data.end - span);
  lanes.view = [from, from + span];
  drawSoon();
}

function zoom(factor, around) {
  const [a, b] = lanes.view, middle = around ?? (a + b) / 2;
  setView(middle - (middle - a) * factor, middle + (b - middle) * factor);
}

function onWheel(event) {
  const span = lanes.view[1] - lanes.view[0];
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 100), timeAt(event.offsetX));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    const by = (event.deltaX || event.deltaY) / (lanes.width - lanes.label) * span;
    setView(lanes.view[0] + by, lanes.view[1] + by);
  }
}

function rowAt(y) { return y < axisHeight ? null : lanes.rows[Math.floor((y + at('lanes').scrollTop - axisHeight) / rowHeight)]; }

// hit is the step, or the change, at a point; each is at least a few pixels wide.
function hit(row, px) {
  if (row?.kind === 'scenario') {
    let best = -1, least = 6;
    row.s.steps.forEach((step, n) => {
      if (!step.a && step.s === 'notRun') return;
      const a = x(step.a), b = Math.max(x(step.b || data.end), a + 2), away = px < a ? a - px : px > b ? px - b : 0;
      if (away < least || away === 0) { best = n; least = away; }
    });
    return best;
  }
  if (row?.kind === 'object') {
    let best = -1, least = 8;
    row.o.c.forEach(([t], n) => { const away = Math.abs(x(t) - px); if (away < least) { best = n; least = away; } });
    return best;
  }
  return -1;
}

function onDown(event) {
  if (event.button) return;
  at('canvas').setPointerCapture(event.pointerId);
  lanes.drag = { x: event.offsetX, y: event.offsetY, view: lanes.view, moved: false, axis: event.offsetY < axisHeight && event.offsetX > lanes.label, from: event.offsetX, to: event.offsetX };
}

function onMove(event) {
  lanes.pointer = [event.offsetX, event.offsetY];
  const d = lanes.drag;
  if (d) {
    if (Math.abs(event.offsetX - d.x) > 4) d.moved = true;
    if (d.axis) d.to = event.offsetX;
    else if (d.moved) { const by = (d.x - event.offsetX) / (lanes.width - lanes.label) * (d.view[1] - d.view[0]); setView(d.view[0] + by, d.view[1] + by); }
  }
  at('readout').textContent = describeAt(event.offsetX, event.offsetY);
  drawSoon();
}

function onUp(event) {
  const d = lanes.drag;
  lanes.drag = null;
  if (!d) return;
  if (d.axis && d.moved) return setView(...[timeAt(d.from), timeAt(d.to)].sort((a, b) => a - b));
  if (d.moved) return;
  const row = rowAt(event.offsetY);
  if (row?.kind === 'scenario') {
    if (event.offsetX < lanes.label) toggleObjects(row.n);
    choose(row.n, event.offsetX < lanes.label ? (chosen.scenario === row.n ? chosen.step : -1) : hit(row, event.offsetX));
  } else if (row?.kind === 'state' && event.offsetX < lanes.label) {
    zoomTo(row.track);
  } else if (row?.kind === 'object') {
    const n = hit(row, event.offsetX);
    if (chosen.scenario !== row.n) choose(row.n, -1);
    showObject(row.n, row.object, n < 0 ? 0 : n);
  }
  drawSoon();
}

// zoomTo shows the time of a track, or all where that is shown already.
function zoomTo(track) {
  const from = Math.min(...track.bands.map(b => b.a)), to = Math.max(...track.bands.map(b => b.b)), margin = (to - from) / 50;
  const near = ([a, b], [c, d]) => Math.abs(a - c) + Math.abs(b - d) < 10;
  const before = lanes.view;
  setView(from - margin, to + margin);
  if (near(before, lanes.view)) setView(0, data.end);
}

function toggleObjects(n) {
  if (chosen.open.has(n)) chosen.open.delete(n); else if (data.scenarios[n].objects?.length) chosen.open.add(n);
  drawSoon(true);
}

function describeAt(px, y) {
  const row = rowAt(y), t = timeAt(px);
  if (!row || px < lanes.label) return row ? row.label : '';
  const when = '+' + inWords(Math.max(t, 0), perPixel()) + '  ';
  const band = row.track.bands.find(b => t >= b.a && t <= b.b);
  switch (row.kind) {
    case 'scenario': {
      const n = hit(row, px), step = row.s.steps[n];
      return when + (step ? `${row.s.name}, step ${n + 1}: ${step.n}: ${words[step.s] || step.s}, ${inWords(tookOf(step))}${step.x ? ', transition ' + inWords(step.x) : ''}` : row.s.name);
    }
    case 'object': { const n = hit(row, px); return when + row.label + (n >= 0 ? ': ' + kinds[row.o.c[n][1]] : ''); }
    case 'process': { const p = row.lives.find(p => t >= p.a && t <= (p.b || data.end)); return when + row.label + (p ? ` ${p.v || ''} ${p.r && t < p.r ? 'starting' : 'running'}` : ': away'); }
    case 'answers': return when + (row.spans.some(([a, b]) => t >= a && t <= b) ? 'the API server answers' : 'the API server is away');
  }
  return when + (band ? band.change || band.name : '');
}

function onKey(event) {
  const span = lanes.view[1] - lanes.view[0];
  const visible = lanes.rows.filter(r => r.kind === 'scenario').map(r => r.n);
  const s = data.scenarios[chosen.scenario];
  const move = by => { const i = visible.indexOf(chosen.scenario); const next = visible[Math.min(Math.max(i + by, 0), visible.length - 1)]; if (next !== undefined) { choose(next, -1); reveal(next); } };
  const acts = {
    '+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2), '0': () => setView(0, data.end),
    ArrowDown: () => move(1), ArrowUp: () => move(-1),
    ArrowLeft: () => event.shiftKey ? setView(lanes.view[0] - span / 5, lanes.view[1] - span / 5) : s && choose(chosen.scenario, Math.max(chosen.step - 1, 0)),
    ArrowRight: () => event.shiftKey ? setView(lanes.view[0] + span / 5, lanes.view[1] + span / 5) : s && choose(chosen.scenario, Math.min(chosen.step + 1, s.steps.length - 1)),
    o: () => s && toggleObjects(chosen.scenario), t: () => s && zoomTo(data.tracks[s.track]), Enter: () => s && at('step').focus(),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const before = lanes.view;
  acts[event.key]();
  if (event.key !== 'Enter') at('readout').textContent = lanes.view === before ? describeChosen() : `shown: +${inWords(lanes.view[0], perPixel())} to +${inWords(lanes.view[1], perPixel())}`;
}

// describeChosen says in one line what is chosen, for those who do not see the timeline.
function describeChosen() {
  const s = data.scenarios[chosen.scenario], step = s?.steps[chosen.step];
  if (!s) return '';
  const objects = chosen.open.has(chosen.scenario) && s.objects ? `, objects shown: ${s.objects.length}` : '';
  return (step ? `${s.name}, step ${chosen.step + 1} of ${s.steps.length}: ${step.n}: ${words[step.s] || step.s}` : `${s.name}: ${words[s.status] || s.status}`) + objects;
}

// reveal scrolls the lanes to a scenario.
function reveal(n) {
  if (relayout) { layout(); relayout = false; }
  const i = lanes.rows.findIndex(r => r.kind === 'scenario' && r.n === n), box = at('lanes');
  if (i < 0) return;
  const y = axisHeight + i * rowHeight;
  if (y < box.scrollTop + axisHeight || y + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, y - box.clientHeight / 2);
  drawSoon();
}
