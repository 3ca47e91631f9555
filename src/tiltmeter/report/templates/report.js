// Sorting and filtering of the table of findings, and figures as files. The page needs none of it: without scripts the table stands in the order of
// the protocol. Names of functions say what they do; nothing is loaded and nothing is kept.
"use strict";
for (const box of document.querySelectorAll(".findings")) {
  const table = box.querySelector("table"), heads = [...table.tHead.rows[0].cells];
  const groups = [...table.tBodies].map(body => [body, body.querySelector("tr.measure"), [...body.querySelectorAll("tr[id]")]]);
  const every = groups.flatMap(group => group[2]);
  const said = document.createElement("p");
  said.className = "hidden";
  said.setAttribute("role", "status");
  box.before(said);

  const number = text => {
    const found = text.replace("−", "-").match(/-?\d*\.?\d+/);
    return found ? Number(found[0]) : null;
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null && x !== y) return x - y;
    return (x === null) - (y === null) || a.localeCompare(b);
  };
  const sort = (place, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const cell = row => row.cells[place].textContent.trim();
    for (const [body, , rows] of groups)
      body.append(...rows.sort((a, b) => (down ? -1 : 1) * compare(cell(a), cell(b))));
    said.textContent = `Sorted by ${head.textContent.trim()}, ${down ? "descending" : "ascending"}, within each measure.`;
  };
  if (every.length > 2)
    heads.forEach((head, place) => {
      if (head.className === "drawn" || place === heads.length - 1) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(place, head));
    });

  const chosen = {}, controls = document.createElement("div"), whole = document.createElement("button");
  let only = null;  // the rows of which a badge speaks
  controls.className = "controls";
  const filter = () => {
    let shown = 0;
    whole.hidden = !only;
    for (const [body, , rows] of groups) {
      for (const row of rows) row.hidden = only ? !only.has(row.id) : Object.entries(chosen).some(([name, value]) => value && row.dataset[name] !== value);
      const own = rows.filter(row => !row.hidden).length;
      body.hidden = !own;
      shown += own;
    }
    said.textContent = `${shown} of ${every.length} rows are shown.`;
  };
  for (const name of ["verdict", "model", "language"]) {
    const values = [...new Set(every.map(row => row.dataset[name]).filter(Boolean))];
    if (every.length < 5 || values.length < 2) continue;
    const label = document.createElement("label"), select = document.createElement("select");
    select.add(new Option("all", ""));
    for (const value of values) select.add(new Option(value, value));
    select.addEventListener("change", () => { chosen[name] = select.value; only = null; filter(); });
    label.append(`${name} `, select);
    controls.append(label);
  }
  Object.assign(whole, { type: "button", textContent: "Show all rows", hidden: true });
  whole.addEventListener("click", () => { only = null; filter(); box.focus(); });
  controls.append(whole);
  box.before(controls);
  for (const badge of document.querySelectorAll("a[data-rows]"))
    badge.addEventListener("click", event => {
      event.preventDefault();
      only = new Set(badge.dataset.rows.split(" ").map(place => "finding-" + place));
      filter();
      location.hash = "findings";
      box.focus({ preventScroll: true });
    });
}

// A figure as SVG and PNG, its table as CSV.
const offer = (name, blob) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const alone = svg => {
  const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" ");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = document.querySelector("style").textContent + "svg { background: var(--card); }";
  copy.prepend(style);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return [new XMLSerializer().serializeToString(copy), Number(width), Number(height)];
};
const draw = (svg, name) => {
  const [text, width, height] = alone(svg), picture = new Image(), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  picture.onload = () => {
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => offer(name, blob), "image/png");
  };
  picture.src = "data:image/svg+xml," + encodeURIComponent(text);
};
const quoted = cell => `"${cell.textContent.trim().replace(/^(?=[=+@])/, "'").replaceAll('"', '""')}"`;
const rows = table => [...table.rows].map(row => [...row.cells].map(quoted).join(",")).join("\r\n");
for (const svg of document.querySelectorAll("svg.forest.wide")) {
  const place = svg.closest("details.figure, .seen"), there = place?.querySelector("a[data-table]")?.hash.slice(1);
  const table = (there ? document.getElementById(there) : place?.querySelector("details.table"))?.querySelector("table");
  const name = (svg.getAttribute("aria-labelledby") || "figure").replace(/-title$/, "");
  const tools = document.createElement("p");
  tools.className = "tools";
  const button = (words, act) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = words;
    one.setAttribute("aria-label", `${words} of ${svg.querySelector("title").textContent}`);
    one.addEventListener("click", act);
    tools.append(one);
  };
  button("SVG", () => offer(`${name}.svg`, new Blob([alone(svg)[0]], { type: "image/svg+xml" })));
  button("PNG", () => draw(svg, `${name}.png`));
  if (table) button("CSV", () => offer(`${name}.csv`, new Blob([rows(table)], { type: "text/csv" })));
  (place?.querySelector(".notes") || svg).after(tools);
}

document.addEventListener("keydown", event => {  // closes the drawer, and goes back to the number that opened it
  const drawer = event.key === "Escape" && document.querySelector(".drawer:target");
  if (!drawer) return;
  location.replace(drawer.querySelector("a.close").hash);
  const back = left?.hash === "#" + drawer.id ? left : [...document.links].find(link => link.hash === "#" + drawer.id);
  back?.focus({ preventScroll: true });
});
// A mark of a figure leads to its outputs, as its number in the table does for keys; Escape leads back to the link that was followed.
let left = null;
document.addEventListener("click", event => {
  left = event.target.closest("a[href]") ?? left;
  const mark = event.target.closest("[data-b]");
  if (mark) location.hash = mark.dataset.b;
});
