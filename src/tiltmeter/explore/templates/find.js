"use strict";
// Files: the outputs that have some words, or that a number was counted from; each leads to its place in the explorer.
const data = JSON.parse(document.getElementById("data").textContent), MOST = 400;
const form = document.getElementById("find"), list = document.getElementById("found"), banner = document.querySelector(".banner");
const made = (kind, text, options = {}) => Object.assign(document.createElement(kind), options, { textContent: text });

function card([key, file, picture, text, label]) {
  const link = made("a", "", { className: "card " + (picture ? "picture" : "text"), href: `${file}#open=${key}` });
  link.dataset.key = key;
  if (picture) link.append(Object.assign(new Image(), { src: `small/${key.split("-")[0]}/${picture.replace(/\.\w+$/, ".jpg")}`, alt: "Picture: " + label, loading: "lazy" }));
  else link.append(made("span", text || "(no text)", { className: "words", dir: "auto" }));
  link.append(made("span", label, { className: "tag" }));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

function show() {
  const now = new URLSearchParams(location.hash.slice(1)), query = now.get("query"), words = (now.get("text") || "").trim().toLowerCase();
  form.elements.text.value = now.get("text") || "";
  const set = query && data.sets[data.queries[query]];
  let found = set ? set.map((place) => data.outputs[place]) : query || !words ? [] : data.outputs;
  banner.hidden = !query;
  banner.firstElementChild.textContent = !query ? "" : set ? `${set.length} outputs were counted for ${now.get("number") || "this number"}.` : "These files do not have the outputs of this number; the server has: tiltmeter explore RUN --query …";
  if (words) found = found.filter(([, , , text, label]) => (text + " " + label).toLowerCase().includes(words));
  document.getElementById("summary").textContent = `${found.length} of ${data.outputs.length} outputs` + (found.length > MOST ? `; the first ${MOST} are shown` : "");
  list.replaceChildren(...found.slice(0, MOST).map(card));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const now = new URLSearchParams(location.hash.slice(1));
  now.set("text", form.elements.text.value);
  location.hash = now.toString();
});
addEventListener("hashchange", show);
show();
