// Searches titles and texts of all pages in the browser: titles count more, and where no page has all words, those that
// have most of them are listed. An abbreviation of the glossary also finds its long forms, and these find it.
const input = document.getElementById("search"), found = document.getElementById("found");
const article = document.querySelector("article"), root = input.dataset.root;

// The texts are loaded when the search is used first. A script also loads from disk, where fetch does not.
let loading;
const load = () => (loading ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = root + "pages.js";
  script.onload = done;
  script.onerror = failed;
  document.head.append(script);
}));

// Turns what is typed into expressions, one per word, abbreviation or long form.
const literal = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const terms = (typed) => {
  const found = [];
  for (const [short, longs] of abbreviations) {
    const any = `(?<![a-z0-9])${short}s?(?![a-z0-9])|${longs.split("|").map(literal).join("|").replaceAll(" ", "[\\s-]+")}`;
    const rest = typed.replace(new RegExp(`^(.*? )??(${any})s?(?= |$)`), "$1");
    if (rest !== typed) found.push(new RegExp(any, "g"));
    typed = rest;
  }
  return found.concat(typed.split(/\s+/).filter(Boolean).map((w) => new RegExp(literal(w), "g")));
};

const score = (page, words, all) => {
  const title = page[1].toLowerCase(), text = page[3].toLowerCase();
  let sum = 0;
  for (const w of words) {
    const n = (text.match(w) ?? []).length;
    if (title.match(w)) sum += 100;
    else if (!n) {
      if (all) return 0;
      continue;
    } else if (!all) sum += 100;
    sum += Math.min(n, 20) / (1 + text.length / 4000);
  }
  return sum;
};

const element = (name, text, attributes = {}) => Object.assign(document.createElement(name), { textContent: text, ...attributes });

const show = async () => {
  const typed = input.value.toLowerCase().trim();
  found.hidden = !typed;
  article.hidden = !!typed;
  if (!typed) return;
  await load();
  const ranked = (words, all) => pages.map((p) => [score(p, words, all), p]).filter(([n]) => n > 0)
    .sort((a, b) => b[0] - a[0]).slice(0, 30);
  const words = terms(typed);
  let best = ranked(words, true);
  if (!best.length) best = ranked(terms(typed.replaceAll("-", " ")), false);
  const list = element("ol", "");
  for (const [, [path, title, section, text]] of best) {
    const item = element("li", ""), at = text.toLowerCase().search(words[0]);
    item.append(element("a", title, { href: root + path }), ` – ${section}`);
    if (at >= 0) item.append(element("p", "… " + text.slice(Math.max(at - 60, 0), at + 120) + " …"));
    list.append(item);
  }
  found.replaceChildren(element("h1", best.length ? `“${input.value}”` : `Nothing contains “${input.value}”`), list);
};

input.addEventListener("input", show);
input.form.addEventListener("submit", (e) => {
  e.preventDefault();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || /INPUT|TEXTAREA/.test(document.activeElement.tagName)) return;
  e.preventDefault();
  input.focus();
});
