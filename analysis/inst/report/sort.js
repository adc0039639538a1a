// Tables sort by the heading that is selected; a second time turns the order round. Without this script they are plain tables.
document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = Array.from(table.tHead.rows[0].cells), body = table.tBodies[0];
  function key(row, column) {
    var cell = row.cells[column];
    return cell.dataset.key !== undefined ? cell.dataset.key : cell.textContent.trim();
  }
  // Numbers as numbers only where every key of the column is one: a mixture of two orders would be none.
  function comparison(column) {
    var keys = Array.from(body.rows, function (row) { return key(row, column); });
    if (keys.every(function (k) { return !isNaN(Number(k)); })) { return function (a, b) { return a - b; }; }
    return function (a, b) { return a.localeCompare(b, "en", { numeric: true }); };
  }
  function sortBy(column) {
    var down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach(function (head) { head.setAttribute("aria-sort", "none"); });
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    var compare = comparison(column);
    Array.from(body.rows).sort(function (first, second) {
      var a = key(first, column), b = key(second, column);
      // What is missing comes last, whichever way the order runs.
      if (a === "" || b === "") { return (a === "") - (b === ""); }
      return down ? compare(b, a) : compare(a, b);
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
