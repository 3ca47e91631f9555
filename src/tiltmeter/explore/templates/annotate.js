"use strict";
// One item at a time. Every answer is sent at once, with the state that was seen, and the page goes on when it is stored.
const one = (what, where = document) => where.querySelector(what);
const all = (what, where = document) => [...where.querySelectorAll(what)];
const TRIES = 4, GONE = "The server does not answer. Was it stopped?", WHOSE = { p: "primary", o: "another", m: "several" };
const told = one("#status"), alerted = one("#alert"), note = one("#note"), skipping = one("#skipping");
const kept = new Map();  // items that were fetched
let items = [], at = -1, busy = true, failed = null, offered = "", queue = Promise.resolve();
let past = JSON.parse(sessionStorage.getItem(document.body.dataset.task) || "[]");  // [item, before, after] of this window, for undo

const done = (state) => Boolean(state.value || state.skipped);
const same = (a, b) => ["value", "skipped", "note", "marks", "opened"].every((name) => a[name] === b[name]);
const plain = (text) => text.replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
  (sign) => "⟨U+" + sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
const named = (state) => state.value ? plain(state.value) : state.skipped ? "skipped: " + plain(state.skipped) : "no answer";

function made(kind, text, options = {}) {
  const node = Object.assign(document.createElement(kind), options);
  node.textContent = text;
  return node;
}

function warn(text, again = null) {
  alerted.textContent = text;
  alerted.hidden = !text;
  failed = again;
  one("#again").hidden = !again;
}

async function ask(path, body) {  // an answer with {code, data}; code 0 where the server does not answer
  for (let tries = 1; ; tries++) {
    const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(path, sent).catch(() => null);
    if (answer && answer.status !== 503) return { code: answer.status, data: await answer.json().catch(() => ({})) };
    if (tries === TRIES || !answer) return { code: answer ? 503 : 0, data: answer ? await answer.json().catch(() => ({})) : {} };
    told.textContent = "Another process is writing to the run; trying again.";
    await new Promise((wake) => setTimeout(wake, 300 * 2 ** tries));
  }
}

// what is shown

function progress() {
  const labelled = items.filter((item) => item.state.value).length, skipped = items.filter((item) => item.state.skipped).length;
  one("#place").textContent = `Item ${at + 1} of ${items.length}`;
  one("#done").textContent = `· ${labelled} answered${skipped ? `, ${skipped} skipped` : ""}, ${items.length - labelled - skipped} to go`;
  one("#bar").max = items.length || 1;
  one("#bar").value = labelled + skipped;
  strip();
}

function strip() {  // a mark an item: done, skipped, open; a click goes there
  const box = one("#strip");
  if (box.children.length !== items.length) {
    box.replaceChildren(...items.map((_, place) => {
      const button = made("button", "", { type: "button", tabIndex: -1 });
      button.addEventListener("click", () => { if (!busy || failed) show(place); });
      return button;
    }));
  }
  items.forEach(({ state }, place) => {
    const button = box.children[place], kind = state.value ? "done" : state.skipped ? "skipped" : "open";
    button.className = kind;
    button.setAttribute("aria-label", `Item ${place + 1}, ${kind}`);
    if (place === at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
}

const tell = (text) => { one("#saved").textContent = text && "· " + text; };

function marked() {
  const { state } = items[at];
  all(".choice").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.value === state.value)));
  one("#state").textContent = done(state) ? `Stored: ${named(state)}` : "Not answered yet.";
  if (document.activeElement !== note) note.value = state.note;
  for (const button of all(".pronoun")) {
    const whose = marks(state)[button.dataset.begin];
    if (whose) button.dataset.whose = whose;
    else delete button.dataset.whose;
    button.setAttribute("aria-label", `${button.textContent}: ${whose || "not marked"}`);
  }
  around();
  one("#undo").disabled = !past.length;
  one("#withdraw").disabled = !done(state);
  progress();
}

const fetched = (id) => {
  if (!kept.has(id)) kept.set(id, ask("/item/" + encodeURIComponent(id)));
  return kept.get(id);
};

async function show(place) {
  busy = true;
  at = place;
  const item = items[at], box = one("#item");
  box.setAttribute("aria-busy", "true");
  const { code, data } = await fetched(item.id);
  if (code !== 200) kept.delete(item.id);
  if (at !== place) return;
  const blocks = code === 200 ? data.blocks : [{ title: "", text: data.error || GONE, kind: "prompt" }];
  box.replaceChildren();
  one("#end").hidden = true;
  box.hidden = false;
  for (const block of blocks) {
    const folded = block.kind.endsWith("folded");
    const text = made("pre", block.pieces ? "" : block.text, { className: block.kind, dir: "auto", tabIndex: 0 });
    if (block.pieces) text.append(...block.pieces.map((piece) => piece.begin === undefined ? piece.text : pronoun(piece)));
    if (block.language) text.lang = block.language;
    const home = folded ? unfolding(block.title, text, item) : box;
    if (folded) box.append(home);
    else box.append(made("h2", block.title), text);
    for (const address of block.pictures || []) await pictured(home, address, "A picture that was shown with the prompt");
  }
  if (data.table) box.append(tabled(data));
  if (data.damage) box.append(made("p", data.damage + " It can be skipped.", { className: "warning" }));
  if (data.picture) await pictured(box, data.picture, "The picture to be judged");
  heard(data.voices || []);
  if (data.choices) asked(data);
  marked();
  read();
  box.setAttribute("aria-busy", "false");
  history.replaceState(null, "", "#" + (at + 1));
  busy = code !== 200;  // what was not seen is not labelled
  const next = open(at);
  if (next >= 0 && next !== at) fetched(items[next].id).then(({ data }) => { if (data.picture) new Image().src = data.picture; });
}

function unfolding(title, text, item) {  // opening a prompt that would tell what to expect is recorded
  const details = document.createElement("details");
  details.append(made("summary", title + " (folded: it has the cue in it)"), text);
  details.addEventListener("toggle", () => {
    if (details.open && !item.state.opened) commit(item, (state) => ({ ...state, opened: "1" }), false);
  });
  return details;
}

function tabled({ table, samples }) {  // a taxonomy: the values of one attribute, their marks, and pictures that have them
  const states = new Map(items.map((item) => [item.id, item.state])), box = document.createElement("table");
  box.className = "values";
  box.append(made("caption", "The values of this attribute", { className: "hidden" }));
  const head = box.createTHead().insertRow();
  for (const name of ["value", "your mark", "pictures that a judge gave it"]) head.append(Object.assign(made("th", name), { scope: "col" }));
  const body = box.createTBody();
  for (const { id, value } of table) {
    const row = body.insertRow(), state = states.get(id), link = made("a", value, { href: "#" + (items.findIndex((item) => item.id === id) + 1) });
    link.addEventListener("click", (event) => { event.preventDefault(); show(items.findIndex((item) => item.id === id)); });
    const name = made("th", "", { scope: "row" });
    name.append(link);
    row.append(name, made("td", state && done(state) ? named(state) : "–"));
    if (id === items[at].id) row.setAttribute("aria-current", "true");
    const seen = row.insertCell();
    for (const sample of samples.filter((one) => one.value === value)) seen.append(Object.assign(new Image(), { src: sample.picture, alt: `A picture labelled ${value}`, loading: "lazy" }));
    if (!seen.children.length) seen.textContent = "none";
  }
  return box;
}

async function pictured(box, address, alt) {
  const image = Object.assign(new Image(), { src: address, alt });
  const figure = document.createElement("figure");
  figure.append(image);
  box.append(figure);
  await image.decode().catch(() => figure.replaceWith(made("p", "The picture cannot be shown. It can be skipped.", { className: "warning" })));
}

function asked({ question, choices, beside }) {  // where every attribute of an output is asked in turn
  one("#question").textContent = question;
  one("#choices").replaceChildren(...choices.map(({ value, meaning, key }) => {
    const button = made("button", "", { type: "button", className: "choice" });
    Object.assign(button.dataset, { value, key });
    button.setAttribute("aria-pressed", "false");
    if (key) button.setAttribute("aria-keyshortcuts", key);
    button.append(...(key ? [made("kbd", key), " "] : []), made("span", plain(value), { className: "value" }), ...(meaning ? [" ", made("span", meaning, { className: "soft" })] : []));
    return button;
  }));
  one("#beside").replaceChildren(...beside.map((id) => Object.assign(document.createElement("li"), { id })));
}

function around() {  // what was said of the other attributes of this output
  const states = new Map(items.map((item) => [item.id, item.state]));
  for (const line of all("#beside li")) {
    const state = states.get(line.id);
    line.textContent = `${line.id.split(" ")[1]}: ${state && done(state) ? named(state) : "–"}`;
    if (line.id === items[at].id) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  }
}

function heard(voices) {
  const box = one("#voices");
  if (!box) return;
  box.hidden = !voices.length;
  one("ul", box).replaceChildren(...voices.map(({ who, value, note }) => made("li", `${who}: ${value}${note ? ` (${note})` : ""}`)));
}

function open(from) {  // the next item without an answer, from the beginning again at the end; -1 where there is none
  const order = items.map((_, n) => (from + 1 + n) % items.length);
  const found = order.find((n) => !done(items[n].state));
  return found ?? -1;
}

// pronouns of a rewrite

const marks = (state) => Object.fromEntries(state.marks.split(" ").filter(Boolean).map((mark) => mark.split(":")));

function pronoun({ text, begin }) {
  const button = made("button", text, { type: "button", className: "pronoun" });
  button.dataset.begin = begin;
  button.addEventListener("click", () => mark(button, Object.values(WHOSE)[(Object.values(WHOSE).indexOf(button.dataset.whose) + 1) % 3]));
  return button;
}

async function mark(button, whose) {
  if (busy) return;
  const set = { ...marks(items[at].state), [button.dataset.begin]: whose };
  const text = Object.entries(set).map(([begin, who]) => `${begin}:${who}`).join(" ");
  if (await commit(items[at], (state) => ({ ...state, marks: text }))) read();
}

async function read() {  // what the protocol makes of the marks: offered, not stored
  const box = one("#reading"), item = items[at];
  offered = "";
  if (!box) return;
  const { code, data } = await ask(`/reading/${encodeURIComponent(item.id)}?marks=${encodeURIComponent(item.state.marks)}`);
  if (items[at] !== item) return;
  offered = code === 200 ? data.value : "";
  box.textContent = offered ? `By your marks: ${offered}.` : all(".pronoun:not([data-whose])").length ? "Not every pronoun is marked." : "";
}

function walk(step) {
  const buttons = all(".pronoun"), place = buttons.indexOf(document.activeElement);
  buttons[place < 0 ? (step > 0 ? 0 : buttons.length - 1) : place + step]?.focus();
}

// what is said

function commit(item, change, record = true) {  // true where it was stored
  queue = queue.then(() => _commit(item, change, record));
  return queue;
}

async function _commit(item, change, record) {
  const seen = item.state, now = change(seen);
  if (same(seen, now)) return true;
  tell("saving…");
  const { code, data } = await ask("/save", { item: item.id, seen, now });
  if (code === 200) {
    item.state = data.state;  // as it is kept: what is ambiguous is a skip
    if (record) past = [...past, [item.id, seen, data.state]].slice(-500);
    sessionStorage.setItem(document.body.dataset.task, JSON.stringify(past));
    warn("");
    told.textContent = `Saved: ${named(now)}.`;
    tell("saved " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }));
  } else if (code === 409) {
    tell("not saved: answered elsewhere");
    item.state = data.state;
    if (items[at] !== item) await show(items.indexOf(item));
    marked();
    if (now.note !== seen.note) note.value = now.note;  // what was written is not lost
    warn(`In another window this was answered meanwhile: ${named(data.state)}. Yours (${named(now)}) was not stored; answer again to put it in its place.`);
    return false;
  } else {
    tell("NOT saved");
    const why = code === 403 ? "Open the address that tiltmeter printed." : code ? data.error || "The server refused it." : GONE;
    warn(`Not saved: ${named(now)}. ${why} Your answer is kept here.`,
      () => commit(item, change, record).then((stored) => stored && items[at] === item && done(now) && onward()));
  }
  if (items[at] === item) marked();
  return code === 200;
}

async function say(change) {  // an answer: stored, then on to the next
  if (busy) return;
  busy = true;
  const item = items[at], text = note.value, began = performance.now();
  note.blur();
  const stored = await commit(item, (state) => ({ ...change(state), note: text }));
  busy = false;
  if (stored) paced(began);
  if (stored && items[at] === item) await onward();
}

async function onward() {
  const next = open(at);
  if (next >= 0) { await show(next); return; }
  told.textContent = "All items are done. Close the page, or go back with ←.";
  await finish();
}

async function finish() {  // how far people and judges agree, what a correction needs, what to type: told at the end alone
  const { code, data } = await ask("/end");
  if (code !== 200) return;
  const list = (name, texts, none) => one(name).replaceChildren(...(texts.length ? texts : [none]).map((text) => made("li", plain(text))));
  one("#counted").textContent = one("#done").textContent.replace("· ", "") + (data.opened ? `; the prompt was opened for ${data.opened}` : "");
  list("#agreed", data.agreement, "Nobody else, and no judge, has labelled these outputs.");
  list("#needs", data.needs, "Nothing.");
  one("#needing").hidden = !data.needs.length;
  one("#next").textContent = data.next;
  one("#item").hidden = true;
  one("#end").hidden = false;
  one("#end").focus();
}

const FAST_MS = 300, IN_A_ROW = 10;
let last = 0, row = 0;
function paced(now) {  // a word where answers come faster than anybody can look
  row = now - last < FAST_MS ? row + 1 : 0;
  last = now;
  if (row >= IN_A_ROW - 1) {
    warn(`${IN_A_ROW} answers in a row came faster than 0.3 s each. Is a key stuck, or is it time for a break? u takes the last one back.`);
    row = 0;
  }
}

const choose = (value) => say((state) => ({ ...state, value, skipped: "" }));
const skip = (reason) => { skipping.close(); if (reason) say((state) => ({ ...state, value: "", skipped: reason })); };

async function undo() {
  if (busy) return;
  if (!past.length) { told.textContent = "Nothing to undo in this window. Go back with ← and answer again."; return; }
  const [id, before, after] = past[past.length - 1], place = items.findIndex((item) => item.id === id);
  if (place >= 0 && place !== at) await show(place);
  past = past.slice(0, -1);
  sessionStorage.setItem(document.body.dataset.task, JSON.stringify(past));
  if (place < 0) return;
  if (!same(items[place].state, after)) { warn(`This was changed in another window: ${named(items[place].state)}. Nothing was undone.`); marked(); return; }
  note.value = before.note;
  if (await commit(items[place], () => before, false)) read();
  if (same(items[place].state, before)) told.textContent = `Undone: ${named(after)}. Now: ${named(before)}.`;
}

async function withdraw() {
  if (busy || !done(items[at].state)) return;
  await commit(items[at], (state) => ({ ...state, value: "", skipped: "" }));
}

function turn(step) {
  if (busy && !failed && one("#item").getAttribute("aria-busy") === "true") return;
  const place = at + step;
  if (place >= 0 && place < items.length) { warn(""); told.textContent = ""; show(place); }
}

function ask_why() {
  if (busy) return;
  one("#other").value = items[at].state.skipped;
  skipping.showModal();
  one(".reason").focus();
}

async function fresh() {  // what another window stored since
  const { code, data } = await ask("/items");
  if (code !== 200) return;
  const states = new Map(data.map((item) => [item.id, item.state]));
  for (const item of items) item.state = states.get(item.id) || item.state;
  if (at >= 0) marked();
}

// keys

function pressed(event) {  // the letter of a key also where the keyboard writes another script
  const letter = /^Key([A-Z])$/.exec(event.code);
  return event.key.length === 1 && event.key > "~" && letter ? letter[1].toLowerCase() : event.key;
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const writing = event.target.closest("textarea, input:not([type=checkbox])"), key = pressed(event);
  if (writing) {
    if (key === "Escape" && writing === note) note.blur();
    return;
  }
  if (key.length === 1 && !one("#keys").checked) return;
  const act = skipping.open ? reasoned(key) : doing(key);
  if (act) { event.preventDefault(); act(); }
}

function reasoned(key) {
  const button = one(`.reason[aria-keyshortcuts="${CSS.escape(key)}"]`);
  return button && (() => skip(button.dataset.reason));
}

function doing(key) {
  const on = document.activeElement.closest(".pronoun"), whose = on && key.length === 1 && WHOSE[key.toLowerCase()];
  if (whose) return () => { mark(on, whose).then(() => walk(1)); };
  if (on && key === "Enter" && offered) return () => choose(offered);
  if (all(".pronoun").length && (key === "ArrowDown" || key === "ArrowUp")) return () => walk(key === "ArrowDown" ? 1 : -1);
  const does = { u: undo, s: ask_why, n: () => note.focus(), ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), Backspace: withdraw };
  const button = key.length === 1 && one(`.choice[data-key="${CSS.escape(key.toLowerCase())}"]`);
  return does[key.length === 1 ? key.toLowerCase() : key] || (button && (() => choose(button.dataset.value)));
}

document.addEventListener("keydown", keys);
one("#choices").addEventListener("click", ({ target }) => { const button = target.closest("button"); if (button) queue.then(() => choose(button.dataset.value)); });
one(".reasons").addEventListener("click", ({ target }) => { const button = target.closest("button"); if (button) skip(button.dataset.reason); });
one("form", skipping).addEventListener("submit", (event) => { event.preventDefault(); skip(one("#other").value.trim()); });
one("#stay").addEventListener("click", () => skipping.close());
one("#undo").addEventListener("click", undo);
one("#skip").addEventListener("click", ask_why);
one("#withdraw").addEventListener("click", withdraw);
one("#before").addEventListener("click", () => turn(-1));
one("#after").addEventListener("click", () => turn(1));
one("#again").addEventListener("click", () => failed?.());
note.addEventListener("change", () => { if (at >= 0 && !busy) { const text = note.value; commit(items[at], (state) => ({ ...state, note: text })); } });
one("#keys").checked = localStorage.getItem("keys") !== "off";
one("#keys").addEventListener("change", ({ target }) => localStorage.setItem("keys", target.checked ? "on" : "off"));
addEventListener("focus", () => { queue = queue.then(fresh); });  // in its turn: an older list is not to undo an answer
addEventListener("beforeunload", (event) => { if (failed || (at >= 0 && note.value !== items[at].state.note)) event.preventDefault(); });

(async () => {
  const { code, data } = await ask("/items");
  if (code !== 200) { warn(data.error || GONE); return; }
  items = data;
  const place = Number(location.hash.slice(1)) - 1;
  if (!items.length) warn("There is nothing to annotate.");
  else show(place >= 0 && place < items.length ? place : Math.max(0, open(-1)));
})();
