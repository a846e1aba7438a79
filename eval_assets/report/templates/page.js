// Sorts and filters the flat tables. Without it the page reads the same, in the order given.
"use strict";
const text = (row, place) => row.cells[place].innerText.trim();
const number = (shown) => {
  const found = shown.replaceAll(",", "").match(/^[-+]?\d+(\.\d+)?/);
  return found ? Number(found[0]) : NaN;
};
const collator = new Intl.Collator(undefined, {numeric: true});
function compare(a, b) {
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return collator.compare(a, b);
}
function sortBy(table, place) {
  const heads = [...table.tHead.rows[0].cells];
  const down = heads[place].getAttribute("aria-sort") === "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[place].setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  const key = new Map(rows.map((row) => [row, text(row, place)]));
  rows.sort((a, b) => {
    const total = b.classList.contains("total") - a.classList.contains("total");
    return total || (down ? -1 : 1) * compare(key.get(a), key.get(b));
  });
  table.tBodies[0].append(...rows);
}
function addSorting(table) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, place));
    head.append(button);
  });
}
function addFilter(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  label.className = "filter";
  input.type = "search";
  label.append("Filter ", input, count);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const [row, content] of rows) {
      row.hidden = !content.includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = wanted ? ` ${shown} of ${rows.length} rows` : "";
  });
  table.closest(".scroll").before(label);
}
for (const table of document.querySelectorAll("table.flat")) {
  const n = table.tBodies[0].rows.length;
  if (n > 2) addSorting(table);
  if (n > 15) addFilter(table);
}
// A link to a row or card in a fold opens the fold.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", openTarget);
if (location.hash) openTarget();
