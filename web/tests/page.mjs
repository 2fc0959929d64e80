// Runs the page in a real browser: every case of tests/cases that needs no snapshot, the page's own
// behaviour, hostile input, and its accessibility. scripts/x browser calls it:
//
//   node page.mjs PAGE.html CASES.json [PICTURES]
//
// The cases go through the functions of the page, its worker and the WebAssembly module. With
// PICTURES, a folder, it also takes pictures of the page.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.env.WEB_MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [page_file, cases_file, pictures] = process.argv.slice(2);
const cases = JSON.parse(fs.readFileSync(cases_file, "utf8"));
const address = pathToFileURL(page_file).href;

let checked = 0;
const failures = [];
function check(what, found, expected) {
  checked++;
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    failures.push(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
  }
}

const browser = await chromium.launch({
  executablePath: process.env.WEB_BROWSER,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

/** A new page, whose requests, messages and errors are recorded. */
async function opened(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.requests = [];
  page.errors = [];
  page.on("request", request => page.requests.push(request.url()));
  page.on("console", message => { if (message.type() === "error") page.errors.push(message.text()); });
  page.on("pageerror", error => page.errors.push(String(error)));
  await page.goto(address);
  await finished(page);
  return page;
}

/** Waits until the answers to the present inputs are shown. */
async function finished(page) {
  await page.waitForFunction(() => run && run.isDone && !isWaiting(), null, { timeout: 60_000 });
}

async function closed(page, name) {
  const outside = page.requests.filter(url => url !== address && !url.startsWith("blob:"));
  check(`${name}: requests`, outside, []);
  check(`${name}: errors`, page.errors, []);
  await page.context().close();
}

const fill = async (page, texts) => {
  for (const [id, text] of Object.entries(texts)) await page.fill(`#${id}`, text);
  await finished(page);
};

// --- the cases ---

/** The answers of the page's module about one body. */
async function answers(page, body, questions) {
  return page.evaluate(async ([body, questions]) => {
    await setRobots(Uint8Array.from(atob(body), character => character.charCodeAt(0)));
    const answers = [];
    for (const question of questions) answers.push(await ask(question));
    return answers;
  }, [body, questions]);
}

async function checkCases() {
  const page = await opened();
  for (const { name, body, profiles, agent, agent_match, urls } of cases.rules) {
    const questions = profiles.map(profile => (
      { ask: "judge", profile, agent_match, agents: [agent], urls: urls.map(({ url }) => url) }));
    const found = await answers(page, body, questions);
    for (const [index, profile] of profiles.entries()) {
      for (const [row, { url, allowed, line, usage, signals }] of urls.entries()) {
        const what = `${name} ${profile} ${url}`;
        const answer = found[index].answers?.[row];
        if (!answer || answer.error) {
          check(what, found[index], "an answer");
          continue;
        }
        if (allowed !== undefined) check(what, answer.verdict, allowed ? "allowed" : "disallowed");
        if (line !== undefined) check(`${what}, line`, answer.rule?.line ?? 0, line);
        if (usage !== undefined) {
          const letter = value => value === "y" || value === "n" ? value : "-";
          const { preferences } = answer;
          check(`${what}, usage`, letter(preferences["train-ai"]) + letter(preferences.search), usage);
          const pairs = Object.entries(preferences["content-signal"]).map(pair => pair.join("=")).sort();
          check(`${what}, signals`, pairs, signals);
        }
      }
    }
  }
  for (const { name, body, findings, count } of cases.lint) {
    const [answer] = await answers(page, body, [{ ask: "lint" }]);
    const found = answer.findings.map(finding => `${finding.line}:${finding.code}`);
    if (findings) check(name, found, findings);
    else check(`${name}, count`, found.length, count);
  }
  await closed(page, "cases");
}

// --- the page ---

async function checkPage() {
  const page = await opened();
  const text = selector => page.textContent(selector);
  check("verdicts of the example", await page.locator("#verdicts button").count(), 12);
  check("the deciding line", (await text(".line.decides")).includes("Disallow: /"), true);
  check("the first agent", (await text("#why")).includes("GPTBot"), true);
  // Googlebot on /private/press: its own group does not disallow it.
  await page.locator("#verdicts button").nth(4).focus();
  await page.keyboard.press("Enter");
  check("the chosen agent", (await text("#why")).includes("Googlebot"), true);
  check("the chosen verdict", await page.locator("[aria-pressed=true]").count(), 1);
  check("a verdict in words", (await text("[aria-pressed=true]")).startsWith("✓ Allowed"), true);
  const parsers = await page.evaluate(() => recorded.parsers.length);
  check("rows of parsers", await page.locator("#others tbody tr").count(), 2 + parsers);
  // CCBot on /private/press: the rules of `*`, of which the first decides for some parsers.
  await page.locator("#verdicts button").nth(5).click();
  check("the line of CCBot", (await text(".line.decides")).includes("Allow: /private/press"), true);
  check("a differing parser", (await page.locator("#others tr", { hasText: "urllib" }).innerText()).includes("differs"), true);
  // A line number leads to its line.
  await page.locator("#why [data-line]").first().press("Enter");
  check("focus on a line", await page.evaluate(() => document.activeElement.id), "line-2");
  // Choices of the form.
  await fill(page, { robots: "User-agent: *\nDisallow: /robots.txt\nDisallow: /%41", agents: "FooBot", urls: "/robots.txt\n/A" });
  const verdicts = async () => (await page.locator("#verdicts button").allInnerTexts()).map(found => found.split("\n")[0]);
  check("Google's parser", await verdicts(), ["✕ Disallowed", "✓ Allowed"]);
  check("profiles only", await page.locator("#others tbody tr").count(), 2);
  await page.check("[name=profile][value=rfc9309]");
  await finished(page);
  check("RFC 9309", await verdicts(), ["✓ Allowed", "✕ Disallowed"]);
  await fill(page, { robots: "User-agent: MJ12bot\nDisallow: /", agents: "MJ12bot", urls: "/" });
  check("extended names", await verdicts(), ["✕ Disallowed"]);
  await page.check("[name=match][value=google]");
  await finished(page);
  check("Google's names", await verdicts(), ["✓ Allowed"]);
  await page.selectOption("#known", "CCBot");
  await finished(page);
  check("an added agent", await page.inputValue("#agents"), "MJ12bot, CCBot");
  // A set of agents, a misspelled one, and texts that are not URLs.
  await page.check("[name=match][value=extended]");
  await fill(page, { robots: "User-agent: CCBot\nDisallow: /", agents: "@ai-train", urls: "/" });
  const members = await page.locator("#verdicts thead th").allInnerTexts();
  check("a set", members.length > 10 && members.includes("CCBot") && members.includes("GPTBot"), true);
  check("the verdict on a member", await page.locator("#verdicts button.disallowed").count(), 1);
  check("no warnings", await page.locator("#warnings li").count(), 0);
  await fill(page, { agents: "GTPBot, @no-set", urls: "/" });
  check("a misspelled agent", (await text("#warnings")).includes("did you mean GPTBot?"), true);
  check("an unknown set", (await text("#verdicts .error")).includes("@ai-train"), true);
  await fill(page, { agents: "MyBot", urls: "cart\nnot a url\nmailto:a@b\n/cart" });
  check("not URLs", await page.locator("#verdicts .error").count(), 3);
  check("the verdicts on URLs", await verdicts(), ["✓ Allowed"]);
  check("their count", (await text("#status")).startsWith("1 allowed, 0 disallowed, 3 not a URL"), true);
  await page.selectOption("#known", "@search");
  await finished(page);
  check("an added set", await page.inputValue("#agents"), "MyBot, @search");
  // An error of one agent, findings, and preferences.
  await fill(page, { urls: "/", agents: "GPTBot, a:b:", robots: "User-agent: *\nDissallow: /\nContent-Usage: train-ai=n" });
  check("a wrong agent", await page.locator("#verdicts .error").count(), 1);
  check("findings", (await text("#findings")).includes("misspelt-field"), true);
  check("preferences", (await text("#why")).includes("line 3"), true);
  await page.selectOption("#example", "Mistakes");
  await finished(page);
  check("the second example", (await page.locator("#findings li").count()) > 5, true);
  // A file keeps its bytes: lone carriage returns end lines, and are findings.
  await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain",
    buffer: Buffer.from("User-agent: *\rDisallow: /\xff", "latin1") });
  await page.waitForFunction(() => fileBytes && run.body === fileBytes);
  await finished(page);
  check("bytes of a file", (await text("#findings")).includes("carriage-return"), true);
  await fill(page, { robots: "", agents: "", urls: "" });
  check("no input", (await text("#status")).startsWith("Enter an agent and a URL"), true);
  await closed(page, "page");
}

async function checkHostile() {
  const page = await opened();
  const markup = "<script>hacked=1</script><img src=x onerror=hacked=1><svg onload=hacked=1>\u202e\u0007";
  await fill(page, {
    robots: `User-agent: ${markup}\nUser-agent: *\nDisallow: /${markup}\nLicense: ${markup}\nSitemap: ${markup}\n${markup}: x\n`,
    agents: `${markup}, a"onclick="hacked=1`,
    urls: `https://e.example/${markup}\njavascript:hacked=1`,
  });
  check("the text is shown", (await page.textContent("#lines")).includes("<script>hacked=1</script>"), true);
  check("no markup", await page.locator("main :is(script, img, svg)").count(), 0);
  check("no script ran", await page.evaluate(() => typeof hacked), "undefined");

  // A file of 500 KB, 1,000 URLs and three agents. The page must answer while it is judged.
  let robots = "User-agent: *\n";
  for (let i = 0; robots.length < 500_000; i++) robots += `Disallow: /*a*${i}/b\n`;
  const urls = Array.from({ length: 1000 }, (_, i) => `https://e.example/a${i}/${i}/b`).join("\n");
  await page.evaluate(() => {
    globalThis.longest = 0;
    const observer = new PerformanceObserver(list => {
      for (const task of list.getEntries()) longest = Math.max(longest, Math.round(task.duration));
    });
    observer.observe({ entryTypes: ["longtask"] });
  });
  /** Sets texts of the form in one step, as a paste does. */
  const paste = texts => page.evaluate(texts => {
    for (const [id, text] of Object.entries(texts)) document.getElementById(id).value = text;
    document.getElementById("urls").dispatchEvent(new Event("input", { bubbles: true }));
  }, texts);
  const start = Date.now();
  await paste({ robots, urls, agents: "GPTBot, Googlebot, CCBot" });
  await page.waitForFunction(() => run.answers.length > 0 && run.answers.length < 3000);
  const first = Date.now() - start;
  const pasting = await page.evaluate(() => {
    const pasting = longest;
    longest = 0;
    return pasting;
  });
  // An edit in the middle of it is answered at once.
  const edited = Date.now();
  await paste({ urls: "/a1/1/b" });
  await page.waitForFunction(() => run.urls.length === 1 && run.answers.length === 3);
  const answered = Date.now() - edited;
  // Some hundred answers show the rate; all would take a minute.
  const again = Date.now();
  await paste({ urls });
  await page.waitForFunction(() => run.urls.length === 1000 && run.answers.length >= 450, null, { timeout: 120_000 });
  const each = Math.round((Date.now() - again) / await page.evaluate(() => run.answers.length));
  await paste({ urls: "/" });
  const last = Date.now();
  await page.waitForFunction(() => run.urls.length === 1 && run.isDone, null, { timeout: 120_000 });
  const lint = Date.now() - last;
  const longest = await page.evaluate(() => longest);
  console.log(`500 KB, 1,000 URLs, 3 agents: first answers after ${first} ms, ${each} ms per answer, an edit after ${answered} ms, ` +
    `findings after ${lint} ms; the page is busy for ${pasting} ms to paste, then never for more than ${longest} ms`);
  check("an edit is answered soon", answered < 3000, true);
  check("the page stays responsive", longest < 1000, true);
  await closed(page, "hostile");
}

const SHAPES = {
  light: { viewport: { width: 1280, height: 1500 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 1500 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 780 }, colorScheme: "light", isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  "phone-dark": { viewport: { width: 360, height: 780 }, colorScheme: "dark", isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
};

async function checkShapes() {
  for (const [name, options] of Object.entries(SHAPES)) {
    const page = await opened(options);
    for (const example of ["Where parsers disagree", "No training of AI models", "Mistakes"]) {
      await page.selectOption("#example", example);
      await finished(page);
      await page.locator("#verdicts button").nth(5).click();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${name}, ${example}: width`, width <= options.viewport.width, true);
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await axe.run()).violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 100)).slice(0, 3).join(" | ")}`));
      check(`${name}, ${example}: accessibility`, found, []);
      if (pictures) {
        const file = path.join(pictures, `${name}-${example.split(" ")[0].toLowerCase()}.png`);
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path: file, fullPage: true });
      }
    }
    const long = "x".repeat(600);
    await fill(page, { robots: `User-agent: ${long}\nDisallow: /${long}\nLicense: https://${long}/`, agents: `${long}, a b c`,
      urls: `https://e.example/${long}` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${name}, long texts: width`, wide <= options.viewport.width, true);
    await closed(page, name);
  }
}

await checkCases();
console.log(`${checked} expectations of ${cases.rules.length} cases of verdicts, paths and preferences, ` +
  `and ${cases.lint.length} of lint`);
const ofCases = checked;
await checkPage();
await checkHostile();
await checkShapes();
console.log(`${checked - ofCases} expectations of the page`);
await browser.close();
if (failures.length) {
  console.error(failures.slice(0, 40).join("\n"));
  console.error(`${failures.length} of ${checked} expectations failed`);
  process.exit(1);
}
