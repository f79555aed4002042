// Takes a picture of a report: node picture.js MODULES REPORT.HTML PICTURE.PNG HEIGHT [SCRIPT]
const [,, modules, report, picture, height, script] = process.argv;
const { chromium } = require(require('path').join(modules, 'playwright-core'));
(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(require('fs').existsSync),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: Number(height) } });
  await page.goto('file://' + require('path').resolve(report.split('#')[0]) + (report.includes('#') ? '#' + report.split('#')[1] : ''));
  await page.waitForSelector('html[data-ready]', { state: 'attached', timeout: 60000 });
  if (script) await page.evaluate(script);
  await page.waitForTimeout(500);
  await page.screenshot({ path: picture });
  await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
