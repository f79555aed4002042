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

// inWords writes milliseconds for a person.
function inWords(ms) {
  if (ms < 1000) return Math.round(ms) + 'ms';
  if (ms < 60000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + 's';
  const s = Math.round(ms / 1000);
  if (s < 3600) return Math.floor(s / 60) + 'm' + String(s % 60).padStart(2, '0') + 's';
  return Math.floor(s / 3600) + 'h' + String(Math.floor(s % 3600 / 60)).padStart(2, '0') + 'm';
}

// The link: #scenario/step?status=failed&text=x
function readLink() {
  const [place, query] = decodeURI(location.hash.slice(1)).split('?');
  const cut = place.lastIndexOf('/');
  const step = cut > 0 ? Number(place.slice(cut + 1)) : 0;
  const id = step > 0 ? place.slice(0, cut) : place;
  return { scenario: data.scenarios.findIndex(s => s.id === id), step: step > 0 ? step - 1 : -1, filters: new URLSearchParams(query || '') };
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
  if (options.scroll && scenario >= 0) at('step').scrollIntoView({ block: 'nearest' });
}

async function start() {
  document.body.classList.add('scripted');
  themes();
  document.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button?.dataset.copy) copy(document.getElementById(button.dataset.copy).textContent, button);
    if (button?.classList.contains('copy-failure')) copy(markdownOf(button.closest('article')), button);
  });
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details')) d.open = true; });
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
  const follow = () => {
    const wanted = readLink();
    takeFilters(wanted.filters);
    choose(wanted.scenario, wanted.step, { fromLink: true, scroll: wanted.step >= 0 });
    if (wanted.scenario >= 0) { if (data.scenarios[wanted.scenario].objects?.length <= 12) chosen.open.add(wanted.scenario); drawSoon(true); reveal(wanted.scenario); }
  };
  addEventListener('hashchange', follow);
  follow();
  document.documentElement.dataset.ready = 'yes';
}
