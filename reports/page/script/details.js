// What there is to say of a scenario and of a step.
function showStep() {
  const panel = at('step'), s = data.scenarios[chosen.scenario], held = focused(panel);
  panel.replaceChildren();
  panel.hidden = !s;
  if (!s) return;
  const step = s.steps[chosen.step];
  if (step) oneStep(panel, s, step); else oneScenario(panel, s);
  refocus(panel, held);
}

// focused is the label of the element of a panel that has the focus; null if none has it.
const focused = panel => panel.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') || '' : null;

// refocus gives the focus to the button with that label, or to the panel, after its elements were recreated.
function refocus(panel, label) {
  if (label === null) return;
  const same = [...panel.querySelectorAll('button, input')].find(b => b.getAttribute('aria-label') === label && !b.disabled);
  (same || panel).focus({ preventScroll: true });
}

const badge = status => el('span', { class: 'badge s-' + status }, (signs[status] || '-') + ' ' + (words[status] || status));
const fact = (name, ...value) => value.some(v => v !== '' && v !== undefined) ? el('div', {}, el('dt', {}, name), el('dd', {}, ...value)) : '';

function buttons(...more) {
  return el('span', { class: 'buttons' }, ...more,
    el('button', { type: 'button', onclick: e => copy(location.href.split('#')[0] + link(), e.target) }, 'Copy link'),
    el('button', { type: 'button', 'aria-label': 'Close', onclick: () => { choose(-1, -1); at('canvas').focus(); } }, '×'));
}

function oneScenario(panel, s) {
  panel.append(el('h2', { id: '_step-title' }, badge(s.status), s.name, buttons()),
    s.text ? el('p', {}, s.text) : '', s.remark ? el('p', { class: 'headline' }, s.remark) : '',
    el('dl', { class: 'lines' }, fact('File', el('code', {}, s.file + ':' + s.line)), fact('Requirements', (s.covers || []).join(', ')), fact('Namespace', s.ns || ''), fact('Began', began(s, s)), filesFact(s)), aloneLine(s));
  const list = el('ol', { class: 'steps' });
  s.steps.forEach((step, n) => list.append(el('li', {}, el('a', { href: '#' + encodeURI(s.id) + '/' + (n + 1), onclick: e => { e.preventDefault(); choose(chosen.scenario, n); } }, step.n), ' ', badge(step.s), ' ', step.a ? inWords(tookOf(step)) : '')));
  panel.append(el('h3', {}, 'Steps'), list, objectList(s));
}

function oneStep(panel, s, step) {
  const n = chosen.step;
  const go = to => el('button', { type: 'button', disabled: to < 0 || to >= s.steps.length, 'aria-label': to < n ? 'Previous step' : 'Next step', onclick: () => choose(chosen.scenario, to) }, to < n ? '←' : '→');
  panel.append(el('h2', { id: '_step-title' }, badge(step.s), el('span', {}, el('a', { href: '#' + encodeURI(s.id), onclick: e => { e.preventDefault(); choose(chosen.scenario, -1); } }, s.name), ` › step ${n + 1} of ${s.steps.length}: ${step.n}`),
    buttons(go(n - 1), go(n + 1), el('button', { type: 'button', onclick: e => copy(stepMarkdown(s, step, n), e.target) }, 'Copy as Markdown'))));
  panel.append(el('dl', { class: 'lines' }, fact('Verb', step.v || step.n), fact('Place', step.p ? el('code', {}, step.p) : ''), fact('Cluster', step.st || ''),
    fact('Began', began(s, step) || 'it did not run'), fact('Took', step.a ? inWords(tookOf(step)) : ''),
    fact('Waited for other scenarios', step.w ? inWords(step.w) : ''), fact('Transition', step.x ? inWords(step.x) : ''), fact('Decides', (step.c || []).join(', ')), step.s === 'passed' ? '' : filesFact(s)), step.s === 'passed' ? '' : aloneLine(s));
  if (step.d) panel.append(differenceTable(step.d));
  if (step.m) panel.append(el('h3', {}, step.s === 'passed' ? 'What it says' : 'Why'), el('pre', { class: 'account', tabindex: 0 }, step.m));
  if (step.o) panel.append(el('p', { class: 'note' }, 'Note: ' + step.o));
  const wanted = excerpt(step.p);
  panel.append(el('div', { class: 'pair' },
    el('figure', {}, el('figcaption', {}, wanted ? `Wanted: the step, ${step.p}` : 'The file is not in run.json'), wanted ? marked(wanted, step.d) : ''),
    el('figure', {}, el('figcaption', {}, 'Seen'), el('pre', { tabindex: 0 }, step.e || '(nothing more than the message)'))));
  if (step.q) panel.append(el('details', { open: step.q.length < 1500 }, el('summary', {}, 'The request: its body'), el('pre', { tabindex: 0 }, step.q)));
  if (step.t) panel.append(el('h3', {}, 'Attempts'), el('pre', { tabindex: 0 }, step.t.join('\n')));
  if (step.g || step.l) panel.append(el('h3', {}, 'Logs and events of this time'));
  if (step.g) panel.append(el('pre', { class: 'logs', tabindex: 0 }, step.g.map(l => l.f.padEnd(10) + ' ' + l.t).join('\n')));
  if (step.l) panel.append(el('p', { class: 'hint' }, step.l));
  panel.append(changesIn(s, n + 1), objectList(s));
}

// began is when a scenario or a step began: since the start of the run, and the time of day.
const began = (s, part) => part.a ? `+${inWords(part.a)} (${clock(data.tracks[s.track], part.a)})` : '';
const filesFact = s => s.files ? fact('Files', ...s.files.flatMap((f, i) => [i ? ', ' : '', f.l ? el('a', { href: f.l }, f.n) : f.n])) : '';
const aloneLine = s => s.alone ? el('p', { class: 'command' }, 'Run it alone: ', el('code', { class: 'alone' }, s.alone), ' ', el('button', { type: 'button', 'data-copy': '' }, 'Copy')) : '';

function differenceTable(list) {
  return el('div', { class: 'scroll' }, el('table', { class: 'differences' },
    el('thead', {}, el('tr', {}, ...['field', 'wanted', 'seen'].map(t => el('th', { scope: 'col' }, t)))),
    el('tbody', {}, ...list.map(d => el('tr', {}, el('th', { scope: 'row' }, d.o ? [el('span', { class: 'object' }, d.o), ' '] : '', el('code', {}, d.f)), el('td', { class: 'wanted' }, el('code', {}, d.w)), el('td', { class: 'seen' }, el('code', {}, d.s)))))));
}

// excerpt is the step as the file has it, with the numbers of its lines.
function excerpt(position) {
  const parts = /^(.*):(\d+):(\d+)$/.exec(position || ''), source = parts && data.sources?.[parts[1]];
  if (!source) return null;
  const lines = source.split('\n'), first = Number(parts[2]) - 1, margin = /^ */.exec(lines[first] || '')[0].length;
  let end = first + 1;
  while (end < lines.length && (!lines[end].trim() || /^ */.exec(lines[end])[0].length > margin)) end++;
  while (end > first + 1 && !lines[end - 1].trim()) end--;
  return { first, lines: lines.slice(first, end).map(l => l.slice(Math.min(margin, /^ */.exec(l)[0].length))) };
}

// marked shows the step's lines, and which of them name a field that was not as wanted.
function marked(part, differences) {
  const names = (differences || []).map(d => d.f.split(/[.[\]]/).filter(Boolean).pop());
  const pre = el('pre', { class: 'wanted-lines', tabindex: 0 });
  part.lines.forEach((line, i) => {
    const text = String(part.first + i + 1).padStart(4) + '  ' + line;
    pre.append(el('span', { class: names.some(n => line.includes(n + ':')) ? 'hit' : '' }, text), '\n');
  });
  return pre;
}

// changesIn lists the changes of a step. Of a step that did not pass it shows the fields, too; and where nothing changed
// in it, what changed last before it.
function changesIn(s, number) {
  const all = [], within = [];
  (s.objects || []).forEach((o, object) => o.c.forEach(([t, type, step], n) => {
    if (type === 'p' || step > number) return;
    const change = { t, type, object, n, o };
    all.push(change);
    if (step === number) within.push(change);
  }));
  if (!all.length) return '';
  const inOrder = list => list.sort((a, b) => a.t - b.t), passed = s.steps[number - 1].s === 'passed';
  const list = inOrder(within.length || passed ? within : all);
  if (!list.length) return '';
  const title = within.length ? 'Changes in this step' : 'No object changed in this step. The last changes before it';
  if (passed) {
    return el('div', {}, el('h3', {}, title), el('ul', { class: 'objects' }, ...list.slice(0, 100).map(c => el('li', {}, changeButton(c)))), list.length > 100 ? el('p', {}, `and ${list.length - 100} more`) : '');
  }
  const shown = list.slice(within.length ? -20 : -10), most = 6;
  let end = false, known = false;
  const rows = shown.map(c => ({ c, fields: fieldsChanged(c.o, c.n).filter(f => f.before || f.after !== 'null'), managers: managersAt(c.o, c.n) }));
  for (const r of rows) { known ||= r.managers !== null; end ||= r.managers?.end && r.fields.length > 0; }
  return el('div', {}, el('h3', {}, title), list.length > shown.length ? el('p', { class: 'hint' }, `The last ${shown.length} of ${list.length}; the objects below have all.`) : '',
    el('div', { class: 'scroll' }, el('table', { class: 'differences changes' }, changeHead('object and field', known),
      el('tbody', {}, ...rows.flatMap(({ c, fields, managers }) => [
        el('tr', {}, el('th', { scope: 'row', colspan: 3 }, changeButton(c)), known ? el('td', { class: 'managed' }, fields.length || !managers ? '' : [...new Set(managers.list.map(m => m[0]))].join(', ')) : ''),
        ...fields.slice(0, most).map(f => changeRow(f, known ? managers || { list: [] } : null)),
        fields.length > most ? el('tr', {}, el('td', { class: 'more', colspan: known ? 4 : 3 }, `and ${fields.length - most} more fields`)) : '',
      ])))), managersNote(end));
}

const changeButton = c => el('button', { type: 'button', onclick: () => showObject(chosen.scenario, c.object, c.n) }, `+${inWords(c.t)} ${c.o.k} ${c.o.n} ${kinds[c.type]}`);

function objectList(s) {
  if (!s.objects?.length) return s.history ? el('p', {}, s.problem || 'Its history has no objects.') : '';
  return el('div', {}, el('h3', {}, 'Objects'), el('ul', { class: 'objects' }, ...s.objects.slice(0, 200).map((o, n) =>
    el('li', {}, el('button', { type: 'button', onclick: () => { chosen.open.add(chosen.scenario); showObject(chosen.scenario, n, o.c.length - 1); } }, `${o.k} ${o.n} (${o.c.length})`)))));
}

const fence = text => { let f = '```'; while (text.includes(f)) f += '`'; return f; };

function stepMarkdown(s, step, n) {
  let text = `**${s.name}**, step ${n + 1} of ${s.steps.length}: ${step.n}: **${words[step.s] || step.s}**\n\n`;
  text += [['file', step.p], ['cluster', step.st], ['requirements', (s.covers || []).join(', ')]].filter(f => f[1]).map(f => `- ${f[0]}: ${f[1]}`).join('\n') + '\n';
  if (step.d) text += '\n| field | wanted | seen |\n| --- | --- | --- |\n' + step.d.map(d => `| \`${d.o ? d.o + ' ' : ''}${d.f}\` | \`${d.w.replaceAll('|', '\\|')}\` | \`${d.s.replaceAll('|', '\\|')}\` |`).join('\n') + '\n';
  const body = step.m || step.e || '';
  if (body) text += `\n${fence(body)}text\n${body}\n${fence(body)}\n`;
  return text + commandLine(s.alone);
}

// commandLine is the command that runs a scenario alone, or else the one that repeats the run.
function commandLine(alone) {
  const again = at('command')?.textContent;
  return alone ? `\nRun it alone: \`${alone}\`\n` : again ? `\nRun it again: \`${again}\`\n` : '';
}

// markdownOf a failure as the page shows it.
function markdownOf(article) {
  const clean = e => e ? e.textContent.replace(/\s+/g, ' ').trim() : '';
  const head = article.querySelector('h4').cloneNode(true);
  head.querySelectorAll('button').forEach(b => b.remove());
  let text = `**${clean(head)}**\n\n`;
  const headline = clean(article.querySelector('.headline'));
  if (headline) text += headline + '\n';
  const message = clean(article.querySelector('.message'));
  if (message) text += message + '\n';
  const where = clean(article.querySelector('.where'));
  if (where) text += `\n${where}\n`;
  const rows = [...article.querySelectorAll('.differences tbody tr')];
  if (rows.length) text += '\n| field | wanted | seen |\n| --- | --- | --- |\n' + rows.map(r => '| ' + [...r.children].map(c => '`' + clean(c).replaceAll('|', '\\|') + '`').join(' | ') + ' |').join('\n') + '\n';
  for (const line of article.querySelectorAll('.lines div')) text += `- ${clean(line.querySelector('dt'))}: ${clean(line.querySelector('dd'))}\n`;
  const account = article.querySelector('.account')?.textContent.trim();
  if (account) text += `\n${fence(account)}text\n${account}\n${fence(account)}\n`;
  return text + commandLine(article.querySelector('.alone')?.textContent);
}
