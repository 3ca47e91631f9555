"use strict";
// Keys, the opened output, sizes and (in files) the filters. Without it the server's pages work all the same.
const one = (what, where = document) => where.querySelector(what);
const all = (what, where = document) => [...where.querySelectorAll(what)];
const grid = one("#grid"), look = one("#look"), looked = one("#looked"), form = one("#view");
const fixed = document.body.dataset.fixed === "1";
const state = () => new URLSearchParams(fixed ? location.hash.slice(1) : location.search);
const shown = () => all("a.card", grid || document).filter((card) => !card.closest("li").hidden);
let current = null;

function keep(changes) {  // the state stands in the address, so that it can be sent to somebody
  const now = state();
  for (const [name, value] of Object.entries(changes)) value ? now.set(name, value) : now.delete(name);
  const text = now.toString();
  history.replaceState(null, "", fixed ? "#" + text : location.pathname + (text && "?" + text));
}

async function open(card) {
  current = card;
  const stored = fixed && document.getElementById("o-" + card.dataset.key);
  if (fixed && !stored) return;
  if (stored) {
    looked.replaceChildren(...[...stored.childNodes].map((node) => node.cloneNode(true)));
  } else {
    const answer = await fetch(card.href, { headers: { "X-Part": "1" } }).catch(() => null);
    const text = answer ? await answer.text() : "<p role=\"alert\">The server does not answer. Was it stopped?</p>";
    if (current !== card) return;  // another was opened meanwhile
    looked.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  }
  show();
  keep({ open: card.dataset.key });
}

function show() {
  if (!look.open) look.showModal();
  if (one("#correction")) one("#correction").hidden = true;
  told("");
  look.scrollTop = 0;
  if (fixed) all(".across a", look).forEach((link) => { link.hidden = !document.getElementById("o-" + link.dataset.key); });
  all("img", look).forEach(watch);
}

function turn(step) {
  const cards = shown();
  const next = cards[cards.findIndex((card) => card.dataset.key === opened()) + step];
  if (next) open(next);
}
function across(step) {  // to the same prompt with the cue changed, in the order of the levels
  const links = all(".across a:not([hidden])", looked);
  const to = links[step > 0 ? 0 : links.length - 1];
  if (to) open(to);
}
const opened = () => one("article", looked)?.dataset.key;

function closed() {
  const card = all("a.card").find((other) => other.dataset.key === opened());
  current = null;
  looked.replaceChildren();
  keep({ open: "" });
  card?.focus();
}

function move(key) {  // to the nearest card in a direction
  const cards = shown(), from = cards.includes(document.activeElement) ? document.activeElement : null;
  if (!from) { cards[0]?.focus(); return; }
  const here = from.getBoundingClientRect(), side = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  for (const card of cards) {
    const there = card.getBoundingClientRect();
    const x = (there.left + there.right - here.left - here.right) / 2, y = (there.top - here.top);
    const along = x * side[0] + y * side[1], across = Math.abs(x * side[1]) + Math.abs(y * side[0]);
    if (card === from || along <= 4 || along < across / 3) continue;
    if (along + 3 * across < least) { least = along + 3 * across; best = card; }
  }
  (best || cards[cards.indexOf(from) + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0)])?.focus();
}

function sizes() {
  grid.className = `${grid.dataset.kind} per-${form.elements.per.value} high-${form.elements.high.value}`;
  keep({ per: form.elements.per.value === "auto" ? "" : form.elements.per.value,
         high: form.elements.high.value === "128" ? "" : form.elements.high.value });
}

function narrow() {  // files: what the filters leave of this page
  const value = (name) => form.elements[name]?.type === "checkbox" ? (form.elements[name].checked ? "1" : "") : form.elements[name]?.value || "";
  const text = value("text").trim().toLowerCase();
  let count = 0;
  for (const list of all(".cards", grid)) {
    const items = [...list.children];
    items.forEach((item, place) => { item.dataset.place ??= place; });
    for (const item of items) {
      const card = item.firstElementChild, data = card.dataset;
      const words = () => (card.textContent + (document.getElementById("o-" + data.key)?.textContent || "")).toLowerCase();
      item.hidden = !((!value("value") || data.value.split("\n").includes(value("value"))) && (!value("outcome") || data.outcome === value("outcome"))
        && (!value("split") || card.classList.contains("split")) && (!text || words().includes(text)));
      count += !item.hidden;
    }
    const order = { surprise: (a, b) => b.firstElementChild.dataset.surprise - a.firstElementChild.dataset.surprise,
                    label: (a, b) => a.firstElementChild.dataset.value.localeCompare(b.firstElementChild.dataset.value) }[value("sort")];
    items.sort((a, b) => (order ? order(a, b) : 0) || a.dataset.place - b.dataset.place);
    list.append(...items);
  }
  for (const row of all("tr[data-changed]", grid))
    row.hidden = (value("changed") && row.dataset.changed === "0") || !one(".cards li:not([hidden])", row);
  one("#summary b").textContent = count;
  keep(Object.fromEntries(["text", "value", "split", "outcome", "changed"].map((name) => [name, value(name)]).concat([["sort", value("sort") === "sample" ? "" : value("sort")]])));
}

function watch(image) {
  const say = () => {
    const note = document.createElement("span");
    note.className = "damaged";
    note.textContent = "The picture is missing or damaged.";
    image.replaceWith(note);
  };
  if (image.complete && !image.naturalWidth && image.getAttribute("loading") !== "lazy") say();
  else image.addEventListener("error", say, { once: true });
}

let correctable = [];
const told = (text) => { if (one("#corrected")) one("#corrected").textContent = text; };
const option = (value, text, chosen) => new Option(text, value, chosen, chosen);
const answered = async (reply) => reply.ok ? reply.json() : Promise.reject((reply.headers.get("content-type") || "").includes("json") ? (await reply.json()).error : "The server refused it.");
const key = () => { const [run, ...id] = opened().split("-"); return [Number(run), id.join("-")]; };

async function relabel() {  // the labels of the opened output that can be corrected, and their values
  const box = one("#correction"), [run, id] = key();
  try {
    correctable = await fetch(`/correctable/${run}/${encodeURIComponent(id)}`).then(answered);
  } catch (why) { told(typeof why === "string" ? why : "The server does not answer. Was it stopped?"); return; }
  if (!correctable.length) { told("There is no label to correct."); return; }
  const attribute = form.elements.attribute?.value;
  box.elements.attribute.replaceChildren(...correctable.map(({ name }) => option(name, name, name === attribute)));
  told("");
  box.hidden = false;
  offered();
  box.elements.value.focus();
}

function offered() {
  const box = one("#correction"), about = correctable.find(({ name }) => name === box.elements.attribute.value);
  box.elements.value.replaceChildren(option("", about.mine ? "(as it was)" : "", !about.mine), ...about.values.map(([value]) => option(value, value, value === about.mine)));
  one("#meaning").textContent = about.question;
}

function explained() {
  const box = one("#correction"), about = correctable.find(({ name }) => name === box.elements.attribute.value);
  one("#meaning").textContent = (about.values.find(([value]) => value === box.elements.value.value) || ["", ""])[1] || about.question;
}

async function corrected(event) {
  event.preventDefault();
  const box = one("#correction"), [run, output] = key(), attribute = box.elements.attribute.value, value = box.elements.value.value;
  const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ run, output, attribute, value }) };
  try {
    await fetch("/correct", sent).then(answered);
  } catch (why) { told("NOT saved. " + (typeof why === "string" ? why : "The server does not answer. Was it stopped?")); return; }
  await open({ dataset: { key: opened() }, href: `/output/${run}/${encodeURIComponent(output)}` });
  told(value ? `Saved: ${attribute} should be ${value}.` : `Withdrawn: your correction of ${attribute}.`);
  look.focus();
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.closest("input, select, textarea, [contenteditable]");
  if (look.open && event.key === "r" && one("#relabel") && !writing) {
    relabel();
    event.preventDefault();
  } else if (look.open) {
    if (writing) return;
    if (event.target.closest("pre, .scroll") || !event.key.startsWith("Arrow")) return;
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp", side = event.key.endsWith("Left") || event.key.endsWith("Right");
    if (!side && !one(".across", looked)) return;
    side ? turn(back ? -1 : 1) : across(back ? -1 : 1);
    event.preventDefault();
  } else if (event.key === "/" && !writing) {
    form.elements.text.focus();
    event.preventDefault();
  } else if (event.key === "Escape" && writing) {
    writing.blur();
  } else if (event.key.startsWith("Arrow") && !writing && (grid.contains(event.target) || event.target === document.body)) {
    move(event.key);
    event.preventDefault();
  }
}

async function live() {  // a run that is going on: says what came since
  const note = one(".live");
  const answer = await fetch("/state" + location.search).catch(() => null);
  const total = answer?.ok ? (await answer.json()).outputs : 0;
  if (total > Number(note.dataset.outputs ??= total)) {
    note.hidden = false;
    one("span", note).textContent = `${total - note.dataset.outputs} more outputs are there by now.`;
  }
}

if (grid) {
  grid.addEventListener("click", (event) => {
    const card = event.target.closest("a.card");
    if (!card || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(card);
  });
  document.addEventListener("keydown", keys);
  look.addEventListener("close", closed);
  one("#before").addEventListener("click", () => turn(-1));
  one("#after").addEventListener("click", () => turn(1));
  one("#close").addEventListener("click", () => look.close());
  one("#relabel")?.addEventListener("click", relabel);
  one("#correction")?.addEventListener("submit", corrected);
  one("#correction")?.addEventListener("change", ({ target }) => target.name === "attribute" ? offered() : explained());
  all("img", grid).forEach(watch);
  looked.addEventListener("click", (event) => {
    const link = event.target.closest(".across a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });
  one("[name=order]")?.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("change", ({ target }) => {
    if (target.name === "per" || target.name === "high") sizes();
    else if (fixed) narrow();
    else form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    if (fixed) { event.preventDefault(); narrow(); return; }
    all("[name]", form).forEach((field) => { field.disabled = !field.value || field.value === field.dataset.default; });
  });
  if (fixed) {
    form.addEventListener("input", ({ target }) => { if (target.name === "text") narrow(); });
    form.addEventListener("reset", () => setTimeout(() => { narrow(); sizes(); }));
    const now = state();
    for (const [name, value] of now) {
      const field = form.elements[name];
      if (field?.type === "checkbox") field.checked = true;
      else if (field) field.value = value;
    }
    narrow();
    sizes();
    const card = all("a.card").find((other) => other.dataset.key === now.get("open"));
    if (card) open(card);
  } else {
    if (one("article", looked)) show();
    addEventListener("pageshow", () => all("[name]", form).forEach((field) => { field.disabled = false; }));
    setInterval(live, 10000);
    live();
  }
}
