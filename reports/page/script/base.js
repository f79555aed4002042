// What all parts share: the data, what is chosen, links, and making elements.
const at = id => document.getElementById('_' + id);
let data = null;
const chosen = { scenario: -1, step: -1, object: -1, change: -1, open: new Set(), shown: null };
const signs = { passed: '✓', failed: '✗', error: '!', known: '~', skipped: '○', notRun: '-' };
const words = { passed: 'passed', failed: 'failed', error: 'error', known: 'known issue', skipped: 'skipped', notRun: 'not run' };

// el makes an element: el('p', {class: 'x', onclick: f}, 'text', child).
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat().filter(c => c !== undefined && c !== null && c !== ''));
  return e;
}

async function unpack(text) {
  const decoded = atob(text.trim()), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < decoded.length; i++) bytes[i] = decoded.charCodeAt(i); // Uint8Array.from takes thirty times as long
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// inWords writes milliseconds for a person. From a minute on it rounds to seconds, and from an hour on to minutes, unless
// step is smaller: times that are step apart look different.
function inWords(ms, step = Infinity) {
  if (ms < 1000) return Math.round(ms) + 'ms';
  if (ms < 60000) return (ms / 1000).toFixed(step < 10 ? 3 : step < 100 || ms < 10000 ? 2 : 1) + 's';
  const places = step < 10 ? 3 : step < 100 ? 2 : step < 1000 ? 1 : 0;
  const s = Math.round(ms / 1000 * 10 ** places) / 10 ** places, two = n => String(n).padStart(2, '0');
  const seconds = (s % 60).toFixed(places).padStart(places ? places + 3 : 2, '0') + 's', minutes = Math.floor(s / 60);
  if (s < 3600) return minutes + 'm' + seconds;
  return Math.floor(minutes / 60) + 'h' + two(minutes % 60) + 'm' + (step < 60000 ? seconds : '');
}

// zero is the time from which the times of a track count. clock is a time of day in it; several runs may be of several days.
const zero = track => track.start || data.start;
function clock(track, ms) {
  const text = new Date(zero(track) + ms).toISOString();
  return (data.tracks.some(t => t.start) ? text.slice(0, 10) + ' ' : '') + text.slice(11, 19) + ' UTC';
}

// tookOf is the own time of a step: without the transition, and without waiting for other scenarios.
const tookOf = step => (step.b || data.end) - step.a - (step.w || 0) - (step.x || 0);

// The link: #scenario/step?status=failed&text=x
function readLink() {
  const [raw, query] = location.hash.slice(1).split('?');
  let place = raw;
  try { place = decodeURIComponent(raw); } catch { /* it was typed, and leads nowhere */ }
  const cut = place.lastIndexOf('/');
  const step = cut > 0 ? Number(place.slice(cut + 1)) : 0;
  const id = step > 0 ? place.slice(0, cut) : place;
  return { scenario: data.scenarios.findIndex(s => s.id === id), step: step > 0 ? step - 1 : -1, filters: query === undefined ? null : new URLSearchParams(query) };
}

function link() {
  let text = '';
  if (chosen.scenario >= 0) text = data.scenarios[chosen.scenario].id + (chosen.step >= 0 ? '/' + (chosen.step + 1) : '');
  const query = filterQuery();
  return '#' + encodeURI(text) + (query ? '?' + query : '');
}

function writeLink() {
  const next = link();
  if (next === (location.hash || '#')) return;
  try { history.replaceState(null, '', next === '#' ? location.pathname + location.search : next); } catch { location.replace(next); }
}

async function copy(text, button) {
  let done = false;
  try { await navigator.clipboard.writeText(text); done = true; } catch { /* not everywhere */ }
  if (!done) {
    const area = el('textarea', { 'aria-hidden': 'true', style: 'position:fixed;left:-99rem' });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
    button.focus();
  }
  const before = button.dataset.label || button.textContent;
  button.dataset.label = before;
  button.textContent = done ? 'Copied' : 'Could not copy';
  setTimeout(() => { button.textContent = before; }, 1500);
}

function themes() {
  const button = at('theme'), order = ['system', 'light', 'dark'];
  let now = 'system';
  try { now = localStorage.getItem('rehearse-theme') || now; } catch { /* an iframe may have none */ }
  const apply = () => {
    if (now === 'system') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = now;
    button.textContent = 'Theme: ' + now;
    if (data) recolor();
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    try { localStorage.setItem('rehearse-theme', now); } catch { /* as above */ }
    apply();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  apply();
}

// repaint draws the timeline in another theme: paper is light. The theme of the screen comes back with null.
let screenTheme;
function repaint(theme) {
  if (!data) return;
  const root = document.documentElement.dataset;
  if (theme) { screenTheme = root.theme; root.theme = theme; } else if (screenTheme) root.theme = screenTheme; else delete root.theme;
  recolor();
  draw();
}

// choose a scenario, a step of it, or nothing, and show it.
function choose(scenario, step, options = {}) {
  const other = scenario !== chosen.scenario;
  chosen.scenario = scenario;
  chosen.step = step;
  if (other) { chosen.object = -1; at('object').hidden = true; }
  for (const row of document.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
  if (scenario >= 0) document.querySelector(`tr[data-n="${scenario}"]`)?.classList.add('chosen');
  showStep();
  drawSoon(true);
  if (!options.fromLink) writeLink();
  if (options.scroll && scenario >= 0) {
    draw(); // the timeline above it has its height then
    at('step').scrollIntoView({ block: 'start' });
  }
}

async function start() {
  document.body.classList.add('scripted');
  themes();
  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button && 'copy' in button.dataset) copy((document.getElementById(button.dataset.copy) || button.previousElementSibling).textContent, button);
    if (button?.classList.contains('copy-failure')) copy(markdownOf(button.closest('article')), button);
  });
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details')) d.open = true; repaint('light'); });
  addEventListener('afterprint', () => repaint(null));
  const packed = at('data');
  if (!packed) { document.documentElement.dataset.ready = 'yes'; return; } // there is nothing to draw
  try {
    data = await unpack(packed.textContent);
  } catch (error) {
    at('findings').before(el('p', { class: 'note', role: 'alert' }, 'The timeline cannot be shown, since this browser does not unpack its data: ' + error));
    return;
  }
  prepareTimeline();
  prepareFilters();
  // A link without filters, as those in the page are, keeps them. The link in the address then has them, too.
  const follow = event => {
    const wanted = readLink();
    if (wanted.filters || !event) takeFilters(wanted.filters || new URLSearchParams());
    if (data.scenarios[wanted.scenario]?.objects?.length <= 12) chosen.open.add(wanted.scenario);
    choose(wanted.scenario, wanted.step, { fromLink: !event || wanted.scenario < 0, scroll: true });
    if (wanted.scenario < 0) return;
    reveal(wanted.scenario);
    if (event) at('step').focus({ preventScroll: true });
  };
  addEventListener('hashchange', follow);
  // While the page loads, the browser scrolls to the row that the link names.
  if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done, { once: true }));
  follow();
  document.documentElement.dataset.ready = 'yes';
}
