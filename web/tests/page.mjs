// Runs the page in a real browser: every case of tests/cases that needs no snapshot, the page's own
// behaviour, hostile input, and its accessibility. scripts/x browser calls it:
//
//   node page.mjs PAGE.html LINKED.html CASES.json [PICTURES]
//
// The cases go through the functions of the page, its worker and the WebAssembly module.
// LINKED.html is the page with a link to the project. With PICTURES, a folder, it also takes
// pictures.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const require = createRequire(path.join(process.env.WEB_MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [page_file, linked_file, cases_file, pictures] = process.argv.slice(2);
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
async function opened(options = {}, url = address, script = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  await page.addInitScript(script);
  page.requests = [];
  page.errors = [];
  page.on("request", request => page.requests.push(request.url()));
  page.on("console", message => { if (message.type() === "error") page.errors.push(message.text()); });
  page.on("pageerror", error => page.errors.push(String(error)));
  await page.goto(url);
  await finished(page);
  return page;
}

/** Waits until the answers to the present inputs are shown. */
async function finished(page) {
  await page.waitForFunction(() => run && run.isDone && !isWaiting(), null, { timeout: 60_000 });
}

async function closed(page, name) {
  const files = [address, pathToFileURL(linked_file).href];
  const outside = page.requests.filter(url => !files.includes(url.split("#")[0]) && !url.startsWith("blob:"));
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
  check("a verdict in words", await text("[aria-pressed=true]"), "Googlebot ✓ Allowed no rule matches");
  const parsers = await page.evaluate(() => recorded.parsers.length);
  check("rows of parsers", await page.locator("#others tbody tr").count(), 2 + parsers);
  // CCBot on /private/press: the rules of `*`, of which the first decides for some parsers.
  await page.locator("#verdicts button").nth(5).click();
  check("the line of CCBot", (await text(".line.decides")).includes("Allow: /private/press"), true);
  check("a differing parser", (await page.locator("#others tr", { hasText: "urllib" }).innerText()).includes("decides otherwise"), true);
  check("the count of differing parsers", /^(None|\d+) of the \d+ other parsers decides? otherwise\./.test(await text("#others")), true);
  // A line number leads to its line.
  await page.locator("#why [data-line]").first().press("Enter");
  check("focus on a line", await page.evaluate(() => document.activeElement.id), "line-2");
  await checkWords(page);
  // Choices of the form.
  await fill(page, { robots: "User-agent: *\nDisallow: /robots.txt\nDisallow: /%41", agents: "FooBot", urls: "/robots.txt\n/A" });
  const verdicts = async () => page.locator("#verdicts .word").allInnerTexts();
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
  const members = await page.locator("#verdicts .name").allInnerTexts();
  check("a set", members.length > 10 && members.includes("CCBot") && members.includes("GPTBot"), true);
  check("the verdict on a member", await page.locator("#verdicts button.disallowed").count(), 1);
  check("no warnings", await page.locator("#warnings li").count(), 0);
  await fill(page, { agents: "GTPBot, @no-set", urls: "/" });
  check("a misspelled agent", (await text("#warnings")).includes("did you mean GPTBot?"), true);
  check("an unknown set", (await text("#verdicts .error")).includes("@ai-train"), true);
  await fill(page, { agents: "MyBot", urls: "cart\nnot a url\nmailto:a@b\n/cart" });
  check("not URLs", await page.locator("#verdicts .error").count(), 3);
  check("the verdicts on URLs", await verdicts(), ["✓ Allowed"]);
  check("their count", (await text("#status")).startsWith("1 allowed, 0 disallowed, 3 are not URLs"), true);
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
  await checkWords(page);
  // A file keeps its bytes: lone carriage returns end lines, and are findings.
  await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain",
    buffer: Buffer.from("User-agent: *\rDisallow: /\xff", "latin1") });
  await page.waitForFunction(() => fileBytes && run.body === fileBytes);
  await finished(page);
  check("bytes of a file", (await text("#findings")).includes("carriage-return"), true);
  await fill(page, { robots: "", agents: "", urls: "" });
  check("no input", (await text("#status")).startsWith("Enter a crawler and a URL"), true);
  await closed(page, "page");
}

/** Words that only the authors of robosieve understand. */
async function checkWords(page) {
  for (const index of [0, 3, 5]) {
    await page.locator("#verdicts button").nth(index).click();
    const shown = await page.evaluate(() => document.body.innerText);
    check("words of insiders", shown.match(/[≠]|\blength\b|\bprofiles?\b|\bloses\b|\btokens?\b|\bmodule\b/gi), null);
  }
}

/** The icon, what a preview of a link shows, and the link to the project. */
async function checkHead() {
  const page = await opened();
  const head = await page.evaluate(async () => {
    const content = name => document.querySelector(`meta[name="${name}"], meta[property="${name}"]`)?.content ?? "";
    // The icon has to load under the policy of the page.
    const icon = new Image();
    icon.src = document.querySelector("link[rel=icon]").href;
    await icon.decode();
    return {
      names: ["description", "og:title", "og:description", "og:type", "twitter:card"].filter(name => !content(name)),
      icon: icon.naturalWidth > 0 && icon.src.startsWith("data:image/svg+xml,"),
      addresses: [...document.querySelectorAll("meta, link, a")].map(node => node.content ?? node.getAttribute("href"))
        .filter(text => /https?:/.test(text) && !text.startsWith("data:")),
    };
  });
  check("the head", head, { names: [], icon: true, addresses: [] });
  await closed(page, "head");
  const linked = await opened({}, pathToFileURL(linked_file).href);
  check("the link to the project", await linked.getAttribute("footer a", "href"), "https://project.example/robosieve?a=1&b=\"");
  await closed(linked, "linked page");
}

// --- findings and fixes ---

/** Opens a file with these bytes. */
async function openFile(page, bytes) {
  const buffer = Buffer.from(bytes, "latin1");
  await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain", buffer });
  const code = buffer.toString("base64");
  await page.waitForFunction(code => base64(run.body) === code, code);
  await finished(page);
}

/** The bytes that the page judges, as Latin-1. */
const judgedBytes = async page => Buffer.from(await page.evaluate(() => base64(run.body)), "base64").toString("latin1");

async function checkFindings() {
  const page = await opened();
  await fill(page, { robots: "User-agent: *\nDisallow: cart\n\nAllow: /a\u200b\n", agents: "GPTBot", urls: "/cart" });
  const finding = page.locator("#line-2 details");
  check("a finding in its line", (await finding.innerText()).startsWith("Error: the path cart begins with neither"), true);
  check("its help", (await finding.innerText()).includes("Write /cart"), true);
  check("a line without findings", await page.locator("#line-1 details, #line-3 details").count(), 0);
  check("a hidden character", await page.textContent("#line-4 .sign"), "U+200B");
  // The tree of accessibility has the finding after its line.
  const tree = await page.locator("#lines").ariaSnapshot();
  check("a finding for a screen reader", /Disallow: cart[^]*Error[^]*neither[^]*Allow: \/a/.test(tree), true);
  // By keyboard: from the box to the finding, which closes and opens.
  await page.focus("#lines");
  await page.keyboard.press("Tab");
  check("focus on a finding", await page.evaluate(() => document.activeElement.closest(".line")?.id), "line-2");
  check("what has the focus", await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
  await page.keyboard.press("Enter");
  check("a closed finding", await finding.getAttribute("open"), null);
  // From the list to the line.
  await page.locator("#findings [data-line='2']").press("Enter");
  check("focus on the line of a finding", await page.evaluate(() => document.activeElement.id), "line-2");
  await closed(page, "findings");
}

async function checkFixes() {
  const page = await opened();
  const given = "User-agent: *\r\nDisallow: /cart\r\nDisallow: /cart/1 # old \xff\r\nDisallow: tmp\r\n";
  const mended = "User-agent: *\r\nDisallow: /cart\r\n# old \xff\r\nDisallow: tmp\r\n";
  await fill(page, { agents: "GPTBot, CCBot", urls: "/cart/1\n/tmp\n/" });
  await openFile(page, given);
  const verdicts = () => page.locator("#verdicts .word").allInnerTexts();
  const before = await verdicts();
  const codes = async () => page.locator("#findings li > code").allInnerTexts();
  check("findings before", (await codes()).includes("redundant-rule"), true);
  check("the offer", (await page.textContent("#fixes p")), "1 finding can be fixed without changing what any crawler may fetch. " +
    "After that, 1 finding is left for you to decide.");
  check("no changes yet", await page.locator("#review *").count(), 0);
  await page.locator("#fix").press("Enter");
  check("the removed line", await page.locator(".diff .removed .text").allInnerTexts(), ["Disallow: /cart/1 # old \ufffdU+000D"]);
  check("the added line", await page.locator(".diff .added .text").allInnerTexts(), ["# old \ufffdU+000D"]);
  check("what a change fixes", (await page.locator(".diff .fixes").innerText()).startsWith("Fixes: Disallow: /cart/1 changes nothing"), true);
  check("the text stays until it is applied", await judgedBytes(page), given);
  await page.locator("#apply").press("Enter");
  check("focus after a fix", await page.evaluate(() => document.activeElement.id), "take-back");
  await finished(page);
  check("the fixed text", await judgedBytes(page), mended);
  check("the editor", await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\n# old \ufffd\nDisallow: tmp\n");
  check("the verdicts stay", await verdicts(), before);
  check("the fixed finding is gone", (await codes()).includes("redundant-rule"), false);
  check("the other finding is not", (await codes()).length, 1);
  check("nothing is left to fix", await page.locator("#fix").count(), 0);
  check("what is left", (await page.textContent("#fixes")).endsWith("it needs your decision."), true);
  await page.locator("#take-back").press("Enter");
  await finished(page);
  check("the text after undo", await judgedBytes(page), given);
  check("undo only once", await page.locator("#take-back").count(), 0);
  check("the offer after undo", await page.locator("#fix").count(), 1);
  // An edit takes away the changes of the text before it, and an undo that would lose it.
  await page.click("#fix");
  await page.focus("#robots");
  await page.keyboard.type("#");
  check("no old changes", await page.locator("#apply").count(), 0);
  await finished(page);
  await page.click("#fix");
  await page.click("#apply");
  await finished(page);
  await page.focus("#robots");
  await page.keyboard.type("#");
  check("no old undo", await page.locator("#take-back").count(), 0);
  // Files without findings, and without safe fixes.
  await fill(page, { robots: "User-agent: *\nDisallow: /a\n" });
  check("nothing to fix", await page.textContent("#fixes"), "");
  await fill(page, { robots: "User-agent: *\nDisallow: a\nDisallow: b\n" });
  check("no safe fix", (await page.textContent("#fixes")).endsWith("all 2 need your decision."), true);
  // Every case of lint: the fixed text has the findings that were announced, and no further fix.
  // The changes that are shown lead from one text to the other.
  await page.evaluate(() => {
    /** Whether the differences change one list of lines into the other. */
    globalThis.isPatch = (before, after, changes) => {
      const lines = [];
      let at = 0;
      for (const { from, to, newFrom, newTo } of changes) {
        lines.push(...before.slice(at, from), ...after.slice(newFrom, newTo));
        at = to;
      }
      return lines.concat(before.slice(at)).join("") === after.join("");
    };
  });
  for (const { name, body, count } of cases.lint) {
    if (count) continue;
    const found = await page.evaluate(async body => {
      const before = byteString(atob(body));
      await setRobots(before);
      const fixed = await ask({ ask: "fix" });
      const after = byteString(fixed.robots);
      await setRobots(after);
      const { findings } = await ask({ ask: "lint" });
      const again = await ask({ ask: "fix" });
      const texts = [before, after].map(bytes => linesWithEnds(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
      return { isLeft: findings.length === fixed.left, again: again.count, isChanged: !isSame(before, after) === fixed.count > 0,
        isDiff: isPatch(texts[0], texts[1], differences(texts[0], texts[1])) };
    }, body);
    check(`${name}, fixed`, found, { isLeft: true, again: 0, isChanged: true, isDiff: true });
  }
  // A hostile file has thousands of changes: other lines, fewer lines, and more lines.
  const diffs = await page.evaluate(() => {
    const whole = Array.from({ length: 27_000 }, (_, line) => `Disallow: /${line}\n`);
    const part = whole.filter((_, index) => index % 3);
    const texts = [[whole, whole.map((line, index) => index % 3 ? `${line} ` : line)], [whole, part], [part, whole]];
    return texts.map(([before, after]) => {
      const start = performance.now();
      const changes = differences(before, after);
      const isFast = performance.now() - start < 3000;
      return { lines: changes.reduce((sum, { from, to }) => sum + to - from, 0), isFast, isDiff: isPatch(before, after, changes) };
    });
  });
  check("many changes", diffs, [18_000, 9_000, 0].map(lines => ({ lines, isFast: true, isDiff: true })));
  await closed(page, "fixes");
}

// --- links ---

const fragment = json => `#v1=${deflateRawSync(Buffer.from(json)).toString("base64url")}`;

/** Presses the button, and returns the copied link. */
async function copiedLink(page) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.locator("#copy").press("Enter");
  await page.waitForFunction(() => byId("notice").textContent);
  return page.evaluate(() => navigator.clipboard.readText());
}

/** How many bytes of a link are decompressed until it is refused. */
async function hostileBytes(hash) {
  const page = await opened();
  const given = await page.evaluate(async hash => {
    const pieces = inPieces;
    let bytes = 0;
    const counter = () => new TransformStream({ transform(piece, controller) {
      bytes += piece.length;
      controller.enqueue(piece);
    } });
    globalThis.inPieces = all => pieces(all).pipeThrough(counter());
    const isRefused = await stateOf(hash).then(() => false, () => true);
    return { bytes, isRefused };
  }, hash);
  await closed(page, "bomb");
  return given;
}

const form = page => page.evaluate(() => {
  const { names, urls, profile, agent_match, text } = inputs();
  return { names, urls, profile, agent_match, text };
});

async function checkLinks() {
  const page = await opened();
  await fill(page, { robots: "User-agent: MJ12bot\nDisallow: /é✓\n", agents: "MJ12bot, @search", urls: "/%C3%A9✓\n/a?b#c" });
  await page.check("[name=profile][value=rfc9309]");
  await page.check("[name=match][value=google]");
  await finished(page);
  const link = await copiedLink(page);
  check("a link", link.startsWith(`${address}#v1=`), true);
  check("what is said of it", (await page.textContent("#notice")).startsWith("The link is copied."), true);
  check("what a link of a file is for", (await page.textContent("#notice")).includes("a file on your computer"), true);
  const stored = JSON.parse(inflateRawSync(Buffer.from(link.split("#v1=")[1], "base64url")));
  check("the keys of a link", Object.keys(stored).sort(), ["agent_match", "agents", "profile", "robots", "urls"]);
  const copy = await opened({}, link);
  check("an opened link", await form(copy), await form(page));
  check("its verdicts", await copy.locator("#verdicts").innerText(), await page.locator("#verdicts").innerText());
  check("no example", await copy.inputValue("#example"), "");
  // The link to the results keeps it.
  await copy.focus(".skip");
  await copy.keyboard.press("Enter");
  check("the skip link", await copy.evaluate(() => [document.activeElement.id, location.href]), ["results", link]);
  // Another link in the same page, and a broken one.
  await page.selectOption("#example", "Mistakes");
  await finished(page);
  const second = await copiedLink(page);
  check("first choices are left out", second.includes("profile"), false);
  await copy.evaluate(url => (location.href = url), second);
  await copy.waitForFunction(() => byId("robots").value.includes("Dissallow"));
  await finished(copy);
  check("a second link", await form(copy), await form(page));
  for (const hash of ["#v1=broken", fragment('{"robots":"","agents":"","urls":"","profile":"other"}')]) {
    await copy.evaluate(hash => {
      notify("");
      location.hash = hash;
    }, hash);
    await copy.waitForFunction(() => byId("notice").textContent.includes("cannot be read"));
    check("entries after a broken link", await form(copy), await form(page));
  }
  await closed(copy, "opened link");
  // Bytes that are not UTF-8, a mark of byte order, and carriage returns.
  for (const bytes of ["User-agent: *\rDisallow: /\xff", "\xef\xbb\xbfUser-agent: *\r\nDisallow: /\r\n"]) {
    await openFile(page, bytes);
    const copy = await opened({}, await copiedLink(page));
    check("the bytes of a link", await judgedBytes(copy), bytes);
    check("the findings of a link", await copy.innerText("#findings"), await page.innerText("#findings"));
    const [download] = await Promise.all([copy.waitForEvent("download"), copy.click("#save")]);
    check("the name of a saved file", download.suggestedFilename(), "robots.txt");
    check("the bytes of a saved file", fs.readFileSync(await download.path(), "latin1"), bytes);
    await closed(copy, "link with bytes");
  }
  // A browser that cannot compress, and one that does not let the page copy.
  await page.selectOption("#example", "Mistakes");
  await page.evaluate(() => {
    globalThis.CompressionStream = undefined;
    navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
  });
  await page.click("#copy");
  await page.waitForSelector("#link:not([hidden])");
  const plain = await page.inputValue("#link");
  check("a link without compression", plain.startsWith(`${address}#v1-plain=`), true);
  const opened_plain = await opened({}, plain);
  check("it is opened", await form(opened_plain), await form(page));
  await closed(opened_plain, "plain link");
  await closed(page, "links");

  // Too long.
  const long = await opened();
  await long.evaluate(() => {
    const random = crypto.getRandomValues(new Uint8Array(60_000));
    byId("robots").value = base64(random);
  });
  check("a link that is too long", await copiedLink(long), "");
  check("what to do instead", /would have [\d,]+ characters.*Save the file instead/.test(await long.textContent("#notice")), true);
  await long.evaluate(() => (byId("robots").value = "#".repeat(1 << 20)));
  check("a text that is too long", await copiedLink(long), "");
  check("what to do with it", /have [\d,]+ bytes.*Save the file instead/.test(await long.textContent("#notice")), true);
  await closed(long, "long links");

  // Broken and hostile links show the first example.
  const bomb = `#v1=${deflateRawSync(Buffer.alloc(40 << 20, " ")).toString("base64url")}`;
  check("the length of the bomb", bomb.length < 65_536, true);
  const broken = { nothing: "#v1=", characters: "#v1=%%%\u00e9", code: "#v1=AAAA", cut: link.split("#")[1].slice(0, -9).replace(/^/, "#"),
    plain: "#v1-plain=AAAA", version: "#v9=AAAA", list: fragment("[]"), null: fragment("null"), number: fragment('{"robots":1,"agents":"","urls":""}'),
    object: fragment('{"robots":"","agents":{},"urls":""}'), nobody: fragment('{"agents":"","urls":""}'),
    choice: fragment('{"robots":"","agents":"","urls":"","profile":"x] , ["}'), base64: fragment('{"robots_base64":"!","agents":"","urls":""}'),
    trailing: `${fragment('{"robots":"","agents":"","urls":""}')}AAAA`, bomb, long: `#v1=${"A".repeat(70_000)}` };
  for (const [name, hash] of Object.entries(broken)) {
    const page = await opened({}, address + hash, () => {
      // Counts the bytes that the page decompresses.
      const { read } = ReadableStreamDefaultReader.prototype;
      globalThis.bytesRead = 0;
      ReadableStreamDefaultReader.prototype.read = async function () {
        const result = await read.call(this);
        bytesRead += result.value?.length ?? 0;
        return result;
      };
    });
    const notice = await page.textContent("#notice");
    check(`broken link, ${name}`, notice.startsWith("The link cannot be read: "), true);
    check(`broken link, ${name}: example`, (await page.inputValue("#robots")).startsWith("# Parsers read"), true);
    check(`broken link, ${name}: bytes`, await page.evaluate(() => bytesRead < 3 << 20), true);
    await closed(page, `broken link, ${name}`);
  }
  // Only the first pieces of a bomb go to the decompression.
  const given = await hostileBytes(bomb);
  check("the pieces of a bomb", given.isRefused && given.bytes < 8192, true);
  // Markup is text.
  const markup = "<img src=x onerror=hacked=1><script>hacked=1</script>";
  const hostile = await opened({}, address + fragment(JSON.stringify({ robots: `User-agent: *\nDisallow: /${markup}\n`, agents: markup,
    urls: `/${markup}`, __proto__: 1, more: markup })));
  check("markup of a link", await hostile.inputValue("#agents"), markup);
  check("no markup of a link", await hostile.locator("main :is(script, img)").count(), 0);
  check("no script of a link", await hostile.evaluate(() => typeof hacked), "undefined");
  await closed(hostile, "hostile link");
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

async function checkAccessibility(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run()).violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 100)).slice(0, 3).join(" | ")}`));
  check(`${name}: accessibility`, found, []);
}

async function takePicture(page, name) {
  if (!pictures) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });
}

/** The changes of a fix, the undo, and the field with a link. */
async function checkFixShape(page, name, { viewport }) {
  const long = "/long-path".repeat(30);
  await fill(page, { robots: `User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisallow: ${long}\nDisallow: ${long}/${long} # old\n` });
  await page.click("#fix");
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
  });
  await page.click("#copy");
  await page.waitForSelector("#link:not([hidden])");
  for (const step of ["changes", "undo"]) {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${name}, ${step}: width`, width <= viewport.width, true);
    await checkAccessibility(page, `${name}, ${step}`);
    await takePicture(page, `${name}-${step}`);
    if (step === "changes") await page.click("#apply");
    await finished(page);
  }
}

const EIGHT = ["GPTBot", "Googlebot", "CCBot", "ClaudeBot", "PerplexityBot", "Meta-ExternalAgent", "Google-CloudVertexBot", "Applebot-Extended"];

/** The verdicts of eight agents fit into the width, and so does each name. */
async function checkEightAgents(page, name) {
  await page.selectOption("#example", "Where parsers disagree");
  await fill(page, { agents: EIGHT.join(", "), urls: "https://shop.example/\n/private/press/2026\n/catalogue.pdf\n/private/board\n/drafts/a" });
  const { width, height } = page.viewportSize();
  for (const shown of width > 500 ? [width] : [width, 375]) {
    await page.setViewportSize({ width: shown, height });
    const found = await page.evaluate(() => ({
      body: document.documentElement.scrollWidth <= innerWidth,
      box: byId("verdicts").scrollWidth <= byId("verdicts").clientWidth,
      names: [...document.querySelectorAll("#verdicts .name")].filter(node => {
        const { height, right } = node.getBoundingClientRect();
        const { fontSize } = getComputedStyle(node);
        // Where the window is wide, a name may have two lines.
        const lines = innerWidth > 500 ? 2 : 1;
        return parseFloat(fontSize) < 12 || height > (lines + 0.5) * 1.3 * parseFloat(fontSize) || right > innerWidth || node.scrollWidth > node.clientWidth;
      }).map(node => node.textContent),
      cards: document.querySelectorAll("#verdicts button").length,
    }));
    check(`${name}, eight agents at ${shown}`, found, { body: true, box: true, names: [], cards: 40 });
    await checkAccessibility(page, `${name}, eight agents at ${shown}`);
    await takePicture(page, `${name}-eight-${shown}`);
  }
}

async function checkShapes() {
  for (const [name, options] of Object.entries(SHAPES)) {
    const page = await opened(options);
    for (const example of ["Where parsers disagree", "No training of AI models", "Mistakes"]) {
      await page.selectOption("#example", example);
      await finished(page);
      await page.locator("#verdicts button").nth(5).click();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${name}, ${example}: width`, width <= options.viewport.width, true);
      await checkAccessibility(page, `${name}, ${example}`);
      await takePicture(page, `${name}-${example.split(" ")[0].toLowerCase()}`);
    }
    await checkFixShape(page, name, options);
    const long = "x".repeat(600);
    await fill(page, { robots: `User-agent: ${long}\nDisallow: /${long}\nLicense: https://${long}/`, agents: `${long}, a b c`,
      urls: `https://e.example/${long}` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${name}, long texts: width`, wide <= options.viewport.width, true);
    await checkEightAgents(page, name);
    await closed(page, name);
  }
}

await checkCases();
console.log(`${checked} expectations of ${cases.rules.length} cases of verdicts, paths and preferences, ` +
  `and ${cases.lint.length} of lint`);
const ofCases = checked;
await checkPage();
await checkHead();
await checkFindings();
await checkFixes();
await checkLinks();
await checkHostile();
await checkShapes();
console.log(`${checked - ofCases} expectations of the page`);
await browser.close();
if (failures.length) {
  console.error(failures.slice(0, 40).join("\n"));
  console.error(`${failures.length} of ${checked} expectations failed`);
  process.exit(1);
}
