// Drives pages in Chromium: node browser.js MODULES FOLDER. Prints what it measured; ends with 1 and says what is wrong.
const path = require('path');
const fs = require('fs');
const [,, modules, folder] = process.argv;
const { chromium } = require(path.join(modules, 'playwright-core'));
const axe = fs.readFileSync(path.join(modules, 'axe-core', 'axe.min.js'), 'utf8');
const problems = [];
const check = (ok, what) => { if (!ok) problems.push(what); };
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

async function open(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: options.width || 1600, height: 1000 }, colorScheme: options.theme || 'light', javaScriptEnabled: options.script !== false });
  const page = await context.newPage();
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') problems.push(`${name}: the console has: ${m.text()}`); });
  page.on('pageerror', e => problems.push(`${name}: ${e.message}`));
  page.on('request', r => { if (!r.url().startsWith('file:') && !r.url().startsWith('data:')) problems.push(`${name}: it fetches ${r.url()}`); });
  await page.goto('file://' + path.join(folder, name) + (options.hash || ''));
  if (options.script !== false) await page.waitForSelector('html[data-ready]', { state: 'attached', timeout: 60000 });
  return page;
}

async function looks(browser, name) {
  for (const theme of ['light', 'dark']) {
    for (const width of [400, 1600]) {
      const page = await open(browser, name, { theme, width, hash: '#broken/2' });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name} at ${width}: it is ${wide} pixels too wide`);
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ['violations'] })).violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')}`));
      for (const violation of found) problems.push(`${name}, ${theme}, ${width}: axe: ${violation}`);
      await page.context().close();
    }
  }
}

async function interactions(browser, name) {
  const page = await open(browser, name, { hash: '#broken/2' });
  const text = id => page.locator('#_' + id).innerText();
  // The page's own word: the driver hears of a new link later.
  const place = () => page.evaluate(() => location.href);
  check((await text('step')).includes('step 2 of 3'), 'the link to a step does not show the step');
  check((await text('step')).includes('readyReplicas'), 'the step does not show what differs');
  await page.reload();
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  check((await text('step')).includes('step 2 of 3'), 'the link does not survive a reload');
  await page.getByRole('button', { name: 'Previous step' }).click();
  check(await page.evaluate(() => document.activeElement.id) === '_step', 'a button that is used up leaves the focus nowhere');
  await page.getByRole('button', { name: 'Next step' }).click();
  await page.keyboard.press('Enter');
  check((await place()).endsWith('#broken/3'), 'the next step is not in the link, or its button loses the focus: ' + await place());

  const sent = await open(browser, name, { hash: '#unknown/1' });
  check((await sent.locator('#_step').innerText()).includes('The request: its body\nkind: Deployment'), 'the step does not show its request: ' + await sent.locator('#_step').innerText());
  await sent.context().close();

  // The keyboard: up and down, left and right, plus, minus, zero, o.
  const canvas = page.locator('#_canvas');
  await page.mouse.move(2, 2); // away from the timeline
  await canvas.focus();
  await page.keyboard.press('ArrowLeft');
  check((await place()).endsWith('#broken/2'), 'left does not choose the step before');
  check((await text('readout')).includes('broken, step 2 of 3: it is ready: failed'), 'left says nothing: ' + await text('readout'));
  await page.keyboard.press('ArrowUp');
  check((await place()).endsWith('#good'), 'up does not choose the scenario before: ' + await place());
  check((await text('readout')).includes('good: passed'), 'up says nothing: ' + await text('readout'));
  const image = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.getElementById('_canvas').toDataURL())))));
  const whole = await image();
  await page.keyboard.press('+');
  const nearer = await image();
  check(whole !== nearer, 'plus does not zoom');
  check((await text('readout')).startsWith('shown: +'), 'plus says nothing: ' + await text('readout'));
  await page.keyboard.press('0');
  check(await image() === whole, 'zero does not show all again');
  await page.keyboard.press('ArrowDown');
  const closed = await image();
  await page.keyboard.press('o');
  check(await image() !== closed, 'o does not show the objects');

  await page.keyboard.press('+');
  const part = await image();
  await page.keyboard.press('t');
  check(await image() !== part, 't does not show the time of the cluster');
  await page.keyboard.press('0');

  // The pointer: what is under it, a wheel, a drag, a click.
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  check(/^\+/.test(await text('readout')), 'the cursor has no time: ' + await text('readout'));
  // The pointer and the panel have the same time for a transition.
  const lane = await page.locator('#_lanes').evaluate(e => e.scrollTop);
  await page.mouse.move(box.x + 220 + (box.width - 220) * 3.5 / 9, box.y + 26 + 22 * 5.5 - lane);
  check((await text('readout')).endsWith('broken, step 1: upgrade: passed, 0ms, transition 3.00s'), 'the pointer says: ' + await text('readout'));
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  const before = await image();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page.waitForTimeout(100);
  check(await image() !== before, 'Ctrl and the wheel do not zoom');
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.locator('#_components').uncheck();
  await page.mouse.click(box.x + 60, box.y + 26 + 22 + 11);
  check(await page.locator('#_step').isVisible(), 'a click on a scenario does not show it');

  // The life of an object.
  await page.goto('about:blank');
  await page.goto('file://' + path.join(folder, name) + '#broken/2');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  await page.locator('#_step .objects button').last().click();
  const object = await text('object');
  check(object.includes('change 3 of 3') && object.includes('replicas'), 'the object is not shown: ' + object);
  check(object.includes('when the scenario ended') && object.includes('late'), 'where the managers come from is not said: ' + object);
  for (const n of [2, 1]) {
    await page.locator('#_object').getByRole('button', { name: 'Change before' }).click();
    check((await text('object')).includes(`change ${n} of`), 'the change before is not shown');
  }
  await page.locator('#_scrub').focus();
  await page.keyboard.press('ArrowRight');
  check((await text('object')).includes('change 2 of') && (await text('object')).includes('What changed'), 'the slider does not move: ' + await text('object'));

  const managed = await page.locator('#_object .differences tbody tr').evaluateAll(rows => rows.map(r => r.firstChild.textContent + ': ' + r.lastChild.textContent));
  for (const field of ['status.readyReplicas', 'status.conditions.0.status']) check(managed.includes(field + ': kube-controller-manager (status)'), `nobody manages ${field}: ${managed.join('; ')}`);
  check(!(await text('object')).includes('when the scenario ended'), 'managers of that time are said to be those of the end');

  // The step that failed has its changes, field by field, with who managed them just then.
  const changes = await page.locator('#_step .changes tbody tr').evaluateAll(rows => rows.map(r => [...r.children].map(c => c.textContent).join(' | ')));
  for (const want of ['status.readyReplicas |  | 2 | kube-controller-manager (status)', 'spec.replicas | 3 | 4 | late', '+6.00s Deployment web modified | ']) check(changes.includes(want), `the step lacks the change ${want}: ${changes.join('; ')}`);

  // Filters, in the link too.
  await page.locator('#_filters [data-status="failed"]').click();
  check((await place()).includes('status=failed'), 'the filter is not in the link');
  check((await text('shown')).startsWith('1 of'), 'the filter shows ' + await text('shown'));
  await page.locator('#_filters input[name=text]').fill('nothing has this');
  check((await text('shown')).startsWith('0 of'), 'the text does not filter');
  await page.goto('about:blank');
  await page.goto('file://' + path.join(folder, name) + '#?status=passed');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  check(await page.locator('#_filters [data-status="passed"]').getAttribute('aria-pressed') === 'true', 'the link does not set the filter');
  check(await page.locator('tr[data-n]:visible').count() === 1, 'the list is not filtered');
  await page.locator('#_filters button[type=reset]').click();
  await page.waitForTimeout(50);
  check(await page.locator('tr[data-n]:visible').count() === 3, 'the filters are not cleared');

  // Copying, the theme.
  await page.evaluate(() => { Object.defineProperty(navigator, 'clipboard', { value: { writeText: async t => { window.copied = t; } } }); });
  await page.locator('.failure').first().getByRole('button', { name: 'Copy as Markdown' }).click();
  const copied = await page.evaluate(() => window.copied || '');
  check(copied.includes('| `web status.readyReplicas` | `3` | `2` |') && copied.includes("Run it alone: `rehearse run a.yaml --focus='^broken$'`"), 'the Markdown is: ' + copied);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.locator('#_theme').click();
  await page.locator('#_theme').click();
  check(await ground() !== light, 'the theme does not change');
  await page.context().close();

  const plain = await open(browser, name, { script: false });
  const all = await plain.locator('body').innerText();
  for (const want of ['status.readyReplicas', 'What moved by itself', 'R-1', 'Without script']) check(all.includes(want), `without script the page lacks ${want}`);
  check(!all.includes('Copy as Markdown'), 'without script there are buttons');
  await plain.context().close();
}

// links follows the links in the page as a reader does: with clicks.
async function links(browser, name) {
  const page = await open(browser, name, { hash: '#?status=failed' });
  await page.setViewportSize({ width: 1600, height: 400 });
  const text = id => page.locator('#_' + id).innerText();
  const place = () => page.evaluate(() => location.hash);
  const inView = () => page.locator('#_step').evaluate(e => { const top = e.getBoundingClientRect().top; return top > 0 && top < innerHeight / 2; });
  // settled waits until the page has stopped scrolling.
  const settled = () => page.evaluate(async () => { for (let last = -1; last !== scrollY;) { last = scrollY; await new Promise(done => setTimeout(done, 100)); } });
  const follow = async (where, want) => {
    await page.locator(where).first().click();
    await page.locator('#_step:not([hidden])').waitFor({ timeout: 5000 }).catch(() => problems.push(`${name}: a click on ${where} opens no panel`));
    await settled();
    check((await text('step')).includes(want), `a click on ${where} shows: ` + await text('step'));
    check(await inView(), `a click on ${where} opens the panel out of view`);
    await page.getByRole('button', { name: 'Close' }).first().click();
  };
  await follow('.failure h4 a', 'step 2 of 3: it is ready');
  await follow('#_moved caption a', 'step 1 of 3: upgrade');
  await page.locator('.failure h4 a').first().click();
  await settled();
  check(await place() === '#broken/2?status=failed', 'a click loses the filters: ' + await place());
  check((await text('shown')).startsWith('1 of'), 'a click clears the filters: ' + await text('shown'));
  check((await text('step')).includes('Began\n+5.00s (00:00:05 UTC)'), 'the step has no time of day: ' + await text('step'));
  await page.getByRole('button', { name: 'Close' }).first().click();
  await follow('#_scenarios tr:not([hidden]) a', 'Steps');
  await page.goto('about:blank');
  await page.goto('file://' + path.join(folder, name) + '#a%');
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  check(!await page.locator('#_step').isVisible(), 'a link that leads nowhere opens a panel');
  await page.context().close();

  // Without script a link leads to the line of the scenario.
  const plain = await open(browser, name, { script: false });
  await plain.locator('.failure h4 a').first().click();
  check(await plain.locator('#_scenarios tr:has(:target)').count() === 1, 'without script the link of a failure leads nowhere');
  await plain.context().close();
}

// several looks at a page of two runs with the same scenarios, a day apart.
async function several(browser, name) {
  const page = await open(browser, name);
  await page.locator('.failure h4 a').first().click();
  await page.locator('#_step:not([hidden])').waitFor({ timeout: 5000 }).catch(() => problems.push(`${name}: a click on a failure opens no panel`));
  const step = await page.locator('#_step').innerText();
  check(step.includes('failed') && step.includes('(2026-01-02 00:00:05 UTC)'), 'the link of a failed scenario shows that of another run: ' + step);

  // No two labels of the axis are alike, however near the timeline is.
  await page.locator('#_canvas').focus();
  for (const key of ['0', '+', '+', ...Array(10).fill('Shift+ArrowRight'), '+', '+', '+', '+', '+']) await page.keyboard.press(key);
  const labels = await page.evaluate(() => new Promise(done => {
    const kept = CanvasRenderingContext2D.prototype.fillText, seen = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { seen.push(text); kept.call(this, text, ...at); };
    dispatchEvent(new Event('afterprint'));
    requestAnimationFrame(() => { CanvasRenderingContext2D.prototype.fillText = kept; done(seen); });
  }));
  const axis = [...new Set(labels.filter(l => l.startsWith('+')))], count = labels.filter(l => l.startsWith('+')).length;
  check(axis.length >= 5 && axis.every(l => /^\+1m\d\d(\.\d+)?s$/.test(l)), 'the axis has the labels ' + axis.join(' '));
  check(count % axis.length === 0 && count <= 2 * axis.length, 'labels of the axis repeat: ' + labels.filter(l => l.startsWith('+')).join(' '));
  await page.context().close();
}

// elsewhere looks at a page on paper, and in an iframe that may run scripts and nothing else, as CI systems show it.
async function elsewhere(browser, name) {
  const page = await open(browser, name, { hash: '#broken/2?status=failed', theme: 'dark' });
  check(!await page.locator('#_hides').isVisible(), 'the note for paper is on the screen');
  const colors = () => page.evaluate(() => [document.body, document.querySelector('.chip.s-failed')].map(e => getComputedStyle(e).backgroundColor + ' ' + getComputedStyle(e).color).join(', '));
  const dark = await colors();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  check(await colors() === 'rgb(255, 255, 255) rgb(0, 0, 0), rgb(255, 235, 233) rgb(164, 14, 38)', 'on paper the colours are ' + await colors());
  check(await colors() !== dark, 'the page was not dark');
  check((await page.locator('#_hides').innerText()) === 'Filters hide 2 of 3 scenarios: status failed', 'on paper nothing says what the filters hide');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  check(!await page.locator('.toolbar').isVisible() && !await page.locator('#_filters').isVisible(), 'buttons are printed');
  check(await page.locator('.account').first().isVisible(), 'the whole account is not printed');
  check((await page.pdf()).length > 10000, 'nothing is printed');
  await page.context().close();

  fs.writeFileSync(path.join(folder, 'frame.html'), `<!doctype html><html lang="en" data-ready><title>CI</title><iframe sandbox="allow-scripts" src="${name}#broken/2" style="width:900px;height:900px"></iframe>`);
  const outer = await open(browser, 'frame.html');
  const frame = outer.frameLocator('iframe');
  await frame.locator('html[data-ready]').waitFor({ state: 'attached', timeout: 60000 });
  check((await frame.locator('#_step').innerText()).includes('step 2 of 3'), 'in an iframe the link does not show the step');
  await frame.locator('#_theme').click();
  await frame.getByRole('button', { name: 'Next step' }).click();
  check((await frame.locator('#_step').innerText()).includes('step 3 of 3'), 'in an iframe the next step is not shown');
  await outer.context().close();
}

async function big(browser, name) {
  const size = fs.statSync(path.join(folder, name)).size;
  check(size < 5e6, `${name} has ${size} bytes`);
  const began = Date.now();
  const page = await open(browser, name);
  const measured = await page.evaluate(async () => {
    const paint = performance.getEntriesByType('paint').find(e => e.name === 'first-contentful-paint')?.startTime;
    const canvas = document.getElementById('_canvas');
    let frames = 0;
    const from = performance.now();
    while (performance.now() - from < 2000) {
      document.getElementById(frames % 2 ? '_out' : '_in').click();
      await new Promise(requestAnimationFrame);
      frames++;
    }
    return { paint, frames: frames / (performance.now() - from) * 1000, rows: canvas.height };
  });
  console.log(`${name}: ${(size / 1e6).toFixed(2)} MB, first paint after ${Math.round(measured.paint)} ms, ready after ${Date.now() - began} ms, zoom at ${Math.round(measured.frames)} frames a second`);
  await page.locator('#_filters input[name=text]').fill('scenario-999');
  check((await page.locator('#_shown').innerText()).startsWith('1 of 1000'), 'the big page does not filter');
  await page.context().close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: flags });
  for (const name of ['broken.html', 'real.html', 'upgrade.html', 'explore.html']) await looks(browser, name);
  await interactions(browser, 'broken.html');
  await links(browser, 'broken.html');
  await several(browser, 'several.html');
  await elsewhere(browser, 'broken.html');
  await big(browser, 'big.html');
  await browser.close();
  for (const problem of problems) console.log('PROBLEM ' + problem);
  process.exit(problems.length ? 1 : 0);
})().catch(error => { console.log('PROBLEM ' + error.stack); process.exit(1); });
