// The task table: sorting by its heads, choosing by its rows.

function sortValue(row, column) {
  const text = row.cells[column].dataset.v;
  const number = Number(text);
  return text === "" || Number.isNaN(number) ? text.toLowerCase() : number;
}

function sortBy(table, column, head) {
  const descending = head.ariaSort ? head.ariaSort === "ascending" : head.classList.contains("num") || column === 11;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row, i) => [sortValue(row, column), i, row]);
  rows.sort(([a, i], [b, j]) => {
    const order = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
    return (descending ? -order : order) || i - j;
  });
  table.tBodies[0].append(...rows.map(([, , row]) => row));
}

class TaskTable {
  constructor(pick) {
    this.table = document.getElementById("task-table");
    [...this.table.tHead.rows[0].cells].forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => sortBy(this.table, column, head));
    });
    this.table.tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a")) pick(Number(row.dataset.task));
    });
  }

  show(tasks) {
    const shown = new Set(tasks.map((task) => task.id));
    for (const row of this.table.tBodies[0].rows) row.hidden = !shown.has(Number(row.dataset.task));
  }

  choose(id) {
    for (const row of this.table.tBodies[0].rows) row.classList.toggle("chosen", Number(row.dataset.task) === id);
  }
}
