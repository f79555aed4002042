// The life of an object: what it was at any moment.
// sep is between the names of a path: no name has it.
const sep = '\u001f';
const kinds = { a: 'added', m: 'modified', d: 'deleted', p: 'was there' };

// merged applies a JSON merge patch (RFC 7386).
function merged(base, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const out = base && typeof base === 'object' && !Array.isArray(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch)) if (value === null) delete out[key]; else out[key] = merged(out[key], value);
  return out;
}

// stateAt is the object after its n-th change; undefined where the page does not have it.
function stateAt(o, n) {
  let state;
  for (let i = 0; i <= n; i++) {
    const body = o.c[i][3];
    if (body === undefined) state = o.c[i][1] === 'd' ? state : undefined;
    else if ('patch' in body) state = state === undefined ? undefined : merged(state, body.patch);
    else state = body;
  }
  return state;
}

function yamlScalar(v) {
  if (typeof v !== 'string') return JSON.stringify(v);
  return /^[A-Za-z_./][\w ./@-]*$/.test(v) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(v) && !v.endsWith(' ') ? v : JSON.stringify(v);
}

// yaml lists the lines of a value, each with the path that it shows.
function yaml(value, indent = '', path = '') {
  const lines = [];
  const entries = Array.isArray(value) ? value.map((v, i) => [i, v]) : Object.keys(value).sort().map(k => [k, value[k]]);
  for (const [key, v] of entries) {
    const here = path + sep + key, head = Array.isArray(value) ? '-' : (/^[\w./-]+$/.test(key) ? key : JSON.stringify(key)) + ':';
    const empty = v && typeof v === 'object' && !Object.keys(v).length;
    if (v && typeof v === 'object' && !empty) {
      const inner = yaml(v, indent + '  ', here);
      if (Array.isArray(value)) { inner[0].text = indent + '- ' + inner[0].text.slice(indent.length + 2); lines.push(...inner); }
      else lines.push({ text: indent + head, path: here }, ...(Array.isArray(v) ? yaml(v, indent, here) : inner));
    } else lines.push({ text: `${indent}${head} ${empty ? (Array.isArray(v) ? '[]' : '{}') : yamlScalar(v)}`, path: here });
  }
  return lines;
}

// flat is every leaf of a value by its path.
function flat(value, path = '', into = {}) {
  if (value && typeof value === 'object' && Object.keys(value).length) for (const [k, v] of Object.entries(value)) flat(v, path + sep + k, into);
  else into[path] = value;
  return into;
}

// managersAt are the managers of an object's fields just after its n-th change, or, where those are not known, when the
// scenario ended; null where neither is known. Those of an object that was deleted are not those of another one that has
// its name now.
function managersAt(o, n) {
  const set = o.m?.[n];
  if (set !== undefined) return { list: o.s[set], end: false };
  return o.g && !o.c.slice(n).some(c => c[1] === 'd') ? { list: o.g, end: true } : null;
}

// ownersOf a field by its path and the object that has it; fieldsV1 names the elements of lists by their keys (k:), their
// values (v:) or their numbers (i:).
function ownersOf(managers, object, path) {
  const owners = [];
  for (const [name, subresource, fields] of managers) {
    let node = fields, value = object, owned = true;
    for (const part of path.slice(1).split(sep)) {
      const inner = value?.[part];
      if (!Object.keys(node).length) break; // all that is in it
      const key = Array.isArray(value) ? Object.keys(node).find(k => isElement(k, inner, part)) : 'f:' + part;
      if (key === undefined || !(key in node)) { owned = false; break; }
      node = node[key];
      value = inner;
    }
    if (owned) owners.push(subresource ? `${name} (${subresource})` : name);
  }
  return owners.join(', ');
}

function isElement(key, element, number) {
  if (key === 'i:' + number) return true;
  if (key.startsWith('v:')) return key.slice(2) === JSON.stringify(element);
  if (!key.startsWith('k:') || !element || typeof element !== 'object') return false;
  return Object.entries(JSON.parse(key.slice(2))).every(([k, v]) => element[k] === v);
}

// fieldsChanged are the fields that the n-th change of an object changed, with what they were before and after it; none
// where it was added or deleted, or where the page does not have both states.
function fieldsChanged(o, n) {
  if (n < 1 || o.c[n][1] !== 'm') return [];
  const object = stateAt(o, n), was = stateAt(o, n - 1);
  if (object === undefined || was === undefined) return [];
  const fresh = flat(object), old = flat(was), quoted = (all, path) => path in all ? JSON.stringify(all[path]) : '';
  return [...new Set([...Object.keys(fresh), ...Object.keys(old)])].sort()
    .filter(path => path !== sep + 'metadata' + sep + 'resourceVersion')
    .map(path => ({ path, object, before: quoted(old, path), after: quoted(fresh, path) })).filter(c => c.before !== c.after);
}

const changeHead = (first, managers) => el('thead', {}, el('tr', {}, ...[first, 'before', 'after', ...(managers ? ['managed by'] : [])].map(h => el('th', { scope: 'col' }, h))));
const changeRow = (c, managers) => el('tr', {}, el('th', { scope: 'row' }, el('code', {}, c.path.slice(1).replaceAll(sep, '.'))),
  el('td', { class: 'before' }, el('code', {}, c.before)), el('td', { class: 'after' }, el('code', {}, c.after)), managers ? el('td', { class: 'managed' }, ownersOf(managers.list, c.object, c.path) || 'none') : '');
const managersNote = end => end ? el('p', { class: 'note' }, 'Who manages a field was read when the scenario ended.') : '';

function showObject(scenario, object, n) {
  const panel = at('object'), s = data.scenarios[scenario], o = s?.objects?.[object];
  const held = focused(panel), opened = panel.hidden || chosen.object !== object;
  panel.hidden = !o;
  if (!o) return;
  if (opened) requestAnimationFrame(() => panel.scrollIntoView({ block: 'nearest' }));
  chosen.object = object;
  chosen.change = n = Math.min(Math.max(n, 0), o.c.length - 1);
  chosen.open.add(scenario);
  const [t, type, step] = o.c[n];
  const range = el('input', { type: 'range', min: 0, max: o.c.length - 1, value: n, id: '_scrub', 'aria-label': 'Change', 'aria-valuetext': `change ${n + 1} of ${o.c.length}, ${kinds[type]} at +${inWords(t)}`, oninput: e => { showObject(scenario, object, Number(e.target.value)); at('scrub').focus(); } });
  const to = (by, label) => el('button', { type: 'button', 'aria-label': label, disabled: n + by < 0 || n + by >= o.c.length, onclick: () => showObject(scenario, object, n + by) }, by < 0 ? '←' : '→');
  const close = el('button', { type: 'button', 'aria-label': 'Close', onclick: () => { panel.hidden = true; chosen.object = -1; drawSoon(); } }, '×');
  panel.replaceChildren(
    el('h2', { id: '_object-title' }, el('span', {}, `${o.k} ${o.ns ? o.ns + '/' : ''}${o.n}`), el('span', { class: 'buttons' }, close)),
    el('div', { class: 'scrub' }, to(-1, 'Change before'), range, to(1, 'Next change')),
    el('p', {}, el('strong', {}, kinds[type]), ` at +${inWords(t)}, change ${n + 1} of ${o.c.length}` + (step ? `, in step ${step}: ${s.steps[step - 1]?.n || ''}` : ', before the first step')));
  refocus(panel, held);
  const now = stateAt(o, n);
  if (now === undefined) { panel.append(el('p', { class: 'note' }, `The page does not have this state; ${s.history} has it.`)); drawSoon(true); return; }
  const changed = fieldsChanged(o, n);
  if (changed.length) {
    const managers = managersAt(o, n);
    panel.append(el('h3', {}, 'What changed'), el('div', { class: 'scroll' }, el('table', { class: 'differences' }, changeHead('field', managers),
      el('tbody', {}, ...changed.slice(0, 60).map(c => changeRow(c, managers))))),
      changed.length > 60 ? el('p', {}, `and ${changed.length - 60} more fields`) : '', managersNote(managers?.end));
  }
  const paths = new Set(changed.map(c => c.path));
  const pre = el('pre', { class: 'yaml', tabindex: 0 });
  for (const line of yaml(now)) pre.append(el('span', { class: paths.has(line.path) ? 'new' : '' }, line.text), '\n');
  panel.append(el('h3', {}, type === 'd' ? 'As it was when it was deleted' : 'As it was then'), pre);
  drawSoon(true);
}
