// Tables sort by the heading that is selected; a second time turns the order round. Without this script they are plain tables.
document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = Array.from(table.tHead.rows[0].cells), body = table.tBodies[0];
  function key(row, column) {
    var cell = row.cells[column];
    return cell.dataset.key !== undefined ? cell.dataset.key : cell.textContent.trim();
  }
  function compare(a, b) {
    if (a === "" || b === "") { return a === b ? 0 : a === "" ? 1 : -1; }
    var x = Number(a), y = Number(b);
    return isNaN(x) || isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  }
  function sortBy(column) {
    var down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach(function (head) { head.setAttribute("aria-sort", "none"); });
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.from(body.rows).sort(function (first, second) {
      var a = key(first, column), b = key(second, column);
      // What is missing comes last, whichever way the order runs.
      return a === "" || b === "" || !down ? compare(a, b) : compare(b, a);
    }).forEach(function (row) { body.appendChild(row); });
  }
  heads.forEach(function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) { button.appendChild(head.firstChild); }
    head.appendChild(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", function () { sortBy(column); });
  });
});
// A link into something folded opens it.
function unfold() {
  var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (var at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") { at.open = true; } }
  if (target) { target.scrollIntoView(); }
}
window.addEventListener("hashchange", unfold);
unfold();
