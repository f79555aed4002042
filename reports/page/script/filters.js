// Filters: by status, property and text; all of them are in the link.
function prepareFilters() {
  const form = at('filters');
  if (!form) return;
  form.hidden = false;
  // What is scrolled to is below the filters, which stay at the top.
  new ResizeObserver(() => { document.documentElement.style.scrollPaddingTop = (getComputedStyle(form).position === 'sticky' ? form.offsetHeight : 0) + 16 + 'px'; }).observe(form);
  form.addEventListener('submit', e => e.preventDefault());
  form.addEventListener('input', () => { applyFilters(); writeLink(); });
  form.addEventListener('reset', () => setTimeout(() => { for (const b of form.querySelectorAll('[data-status]')) b.setAttribute('aria-pressed', 'false'); applyFilters(); writeLink(); }));
  for (const b of form.querySelectorAll('[data-status]')) b.addEventListener('click', () => { b.setAttribute('aria-pressed', b.getAttribute('aria-pressed') === 'true' ? 'false' : 'true'); applyFilters(); writeLink(); });
}

const fields = () => ['version', 'system', 'requirement', 'text'].map(name => at('filters')?.elements[name]).filter(Boolean);
const pressed = () => [...(at('filters')?.querySelectorAll('[aria-pressed="true"]') || [])].map(b => b.dataset.status);

function filterQuery() {
  const query = new URLSearchParams();
  if (pressed().length) query.set('status', pressed().join(','));
  for (const field of fields()) if (field.value) query.set(field.name, field.value);
  return query.toString();
}

function takeFilters(query) {
  if (!at('filters')) return;
  const statuses = (query.get('status') || '').split(',');
  for (const b of at('filters').querySelectorAll('[data-status]')) b.setAttribute('aria-pressed', String(statuses.includes(b.dataset.status)));
  for (const field of fields()) field.value = query.get(field.name) || '';
  applyFilters();
}

function matches(s, statuses, values) {
  if (statuses.length && !statuses.includes(s.status)) return false;
  if (values.version && !(s.versions || []).includes(values.version)) return false;
  if (values.system && s.system !== values.system) return false;
  if (values.requirement && !(s.covers || []).includes(values.requirement)) return false;
  if (!values.text) return true;
  s.index ??= [s.name, s.text, s.remark, s.file, ...(s.covers || []), ...s.steps.map(p => `${p.n} ${p.m || ''}`), ...(s.objects || []).map(o => `${o.k} ${o.n}`)].join('\n').toLowerCase();
  return values.text.toLowerCase().split(/\s+/).every(word => s.index.includes(word));
}

function applyFilters() {
  const statuses = pressed(), values = Object.fromEntries(fields().map(f => [f.name, f.value.trim()]));
  const all = !statuses.length && !Object.values(values).some(Boolean);
  chosen.shown = all ? null : new Set(data.scenarios.map((s, i) => matches(s, statuses, values) ? i : -1).filter(i => i >= 0));
  const ids = all ? null : new Set([...chosen.shown].map(i => data.scenarios[i].id));
  for (const row of document.querySelectorAll('tr[data-n]')) row.hidden = !all && !chosen.shown.has(Number(row.dataset.n));
  for (const part of document.querySelectorAll('[data-scenario]')) {
    const id = part.dataset.scenario.replace(/\/\d+$/, '');
    part.hidden = !all && id !== '' && !ids.has(id);
  }
  for (const group of document.querySelectorAll('.group')) group.hidden = ![...group.querySelectorAll('.failure')].some(f => !f.hidden);
  at('hides').hidden = all;
  at('hides').textContent = all ? '' : `Filters hide ${data.scenarios.length - chosen.shown.size} of ${data.scenarios.length} scenarios: ` + [statuses.length ? 'status ' + statuses.map(s => words[s] || s).join(', ') : '', ...Object.entries(values).filter(v => v[1]).map(([name, value]) => name + ' ' + value)].filter(Boolean).join('; ');
  at('shown').textContent = all ? '' : `${chosen.shown.size} of ${data.scenarios.length} shown`;
  drawSoon(true);
}
