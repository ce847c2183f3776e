// A person at the page, played: logs in by the link on standard input, looks at every view in light, dark and on a
// phone, edits one draft, approves them all by keys and buttons and waits until each was sent.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , packages, shots] = process.argv;
const require = createRequire(join(packages, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const link = readFileSync(0, "utf8").trim();
const origin = new URL(link).origin;

const seen = { errors: [], outside: [], violations: [], wide: [], views: 0, draftsListed: 0, presses: [], sent: 0, replay: 0 };
const browser = await chromium.launch({
  executablePath: process.env.WORKAGENT_LAB_CHROMIUM ?? "/usr/bin/chromium",
  // Root may not use the browser's own sandbox, and the ring is run by root.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
page.setDefaultTimeout(20_000);
let leaving = false;
// Whoever logged out is answered 401, which a console calls an error.
page.on("console", (line) => line.type() === "error" && !(leaving && line.text().includes(" 401 ")) && seen.errors.push(line.text()));
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("request", (request) => {
  const to = request.url();
  if (new URL(to).origin !== origin && !to.startsWith("data:")) seen.outside.push(to);
});

const looks = [
  { name: "light", width: 1200, height: 800, scheme: "light" },
  { name: "dark", width: 1200, height: 800, scheme: "dark" },
  { name: "phone", width: 390, height: 844, scheme: "light" },
];

/** What is shown now, in every look: a screenshot, what axe-core says, and whether it is wider than the window. */
async function look(view) {
  for (const { name, width, height, scheme } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.screenshot({ path: join(shots, `${view}-${name}.png`), fullPage: true });
    const here = `${view} ${name}`;
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) seen.wide.push(here);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
    for (const { id, help, nodes } of found) {
      seen.violations.push(`${here}: ${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
    }
    seen.views += 1;
  }
  await page.setViewportSize({ width: 1200, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
}

const settled = () => page.waitForFunction(() => performance.now() - shown > UNSEEN_MS);

await page.goto(link);
await page.waitForURL(`${origin}/`);
const stranger = await browser.newContext();
seen.replay = (await (await stranger.newPage()).goto(link)).status();
await stranger.close();

seen.draftsListed = await page.locator("#main a.row-title[href^='/review/']").count();
await look("today");
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForSelector("#decide");
await look("review");
await page.click("#more summary");
await look("review-more");
await page.keyboard.press("?");
await page.waitForSelector("dialog[open]");
await look("keys");
await page.keyboard.press("Escape");
for (const view of ["outbox", "case", "units"]) {
  await page.click(`#nav a[href="/${view}"]`);
  await page.waitForSelector(`main[data-view="${view}"]`);
  await look(view);
}

await page.keyboard.press("v");
await page.waitForSelector("#decide");
let edited = false;
for (let nth = 0; nth < seen.draftsListed; nth += 1) {
  const at = new URL(page.url()).pathname;
  await settled();
  let presses = 0;
  const press = async (key) => { presses += 1; await page.keyboard.press(key); };
  if (!edited && (await page.inputValue("#body")).includes("Question")) {
    edited = true;
    await press("e");
    await page.fill("#body", "Written in a browser.");
    await press("Control+Enter");
  } else if (nth % 2) {
    presses += 1;
    await page.click("#approve");
  } else {
    await press("a");
  }
  // A decision that is refused stays at the address of the decision.
  await page.waitForURL((url) => url.pathname !== at && url.pathname !== `${at}/decide`);
  await page.waitForLoadState();
  seen.presses.push(presses);
}
await page.waitForSelector("main[data-view='review'] .empty");
await look("review-empty");

await page.keyboard.press("o");
await page.waitForSelector("main[data-view='outbox']");
// Nobody reloads: the page hears of each send by itself.
await page.waitForFunction((all) => document.querySelectorAll("#main .state.sent").length === all, seen.draftsListed);
await look("outbox-sent");
seen.sent = await page.locator("#main .state.sent").count();
await page.locator("#main .row-title a").first().click();
await page.waitForSelector(".timeline");
await look("case-one");
await page.keyboard.press("t");
await page.waitForSelector("main[data-view='today'] .empty");
await look("today-empty");
leaving = true;
await page.click("text=Log out");
await page.waitForSelector("body.outside");
await look("outside");

await browser.close();
console.log(JSON.stringify(seen));
