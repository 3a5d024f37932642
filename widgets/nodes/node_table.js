// The nodes of a graph as a table: sorted by a click on a head, filtered by a field, chosen by click, arrow keys and Enter.

const COLUMNS = [
  ["order", "#"], ["name", "node"], ["op", "op"], ["type", "type"], ["least", "least"], ["largest", "largest"],
  ["bad", "NaN, Inf"], ["zeros", "zeros"], ["size", "MB"],
];
const NUMBERS = new Set(["order", "least", "largest", "bad", "zeros", "size"]);

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-nodes", el), "region", "Nodes");
    ownKeys(box);
    const bar = make("div", "workbench-flow-bar", box);
    const field = makeField("Filter: name, op:Conv", 22, bar, "filter");
    const count = aria(make("span", "workbench-flow-dim", bar), "status");
    const error = aria(make("div", "workbench-flow-error", box), "alert");
    const wide = make("div", "workbench-flow-wide workbench-nodes-rows", box);
    const table = aria(make("table", "workbench-flow-table", wide), "grid", "Nodes of the graph");
    const head = make("tr", "", make("thead", "", table));
    const heads = new Map();
    for (const [key, name] of COLUMNS) {
      const cell = make("th", NUMBERS.has(key) ? "workbench-flow-number" : "", head);
      cell.setAttribute("scope", "col");
      makeButton(name, `Sort by ${name}; press again to reverse the order`, cell, () => tell(model, { kind: "sort", by: key }));
      heads.set(key, cell);
    }
    const body = make("tbody", "", table);
    const more = make("div", "workbench-flow-dim", box);
    const choose = (line) => tell(model, { kind: "choose", number: Number(line.dataset.number) });

    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => tell(model, { kind: "filter", text: field.value }), 200);
    });
    body.addEventListener("click", (event) => {
      const line = event.target.closest("tr");
      if (line) choose(line);
    });
    body.addEventListener("keydown", (event) => {
      const line = event.target.closest("tr");
      const lines = [...body.children];
      const at = lines.indexOf(line);
      const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 };
      if (event.key in steps) lines[Math.max(0, Math.min(lines.length - 1, steps[event.key]))]?.focus();
      else if (event.key === "Enter" || event.key === " ") choose(line);
      else return;
      taken(event);
    });

    let drawn = "";
    let seen = -1;
    const draw = (rows) => {
      const focused = focusAround(body)?.dataset.number;
      body.replaceChildren();
      for (const row of rows) {
        const line = make("tr", "", body);
        line.dataset.number = row.number;
        line.dataset.wrong = String(row.wrong);
        line.title = row.type ? `${row.full}: ${row.type}` : row.full;
        line.dataset.node = row.full;
        line.tabIndex = -1;
        for (const [key] of COLUMNS) make("td", NUMBERS.has(key) ? "workbench-flow-number" : "", line, row[key]);
      }
      if (focused !== undefined) body.querySelector(`tr[data-number="${focused}"]`)?.focus();
    };
    const show = (status) => {
      const { rows, selected } = status;
      const written = JSON.stringify(rows);
      if (written !== drawn) draw(rows);
      drawn = written;
      for (const line of body.children) line.setAttribute("aria-selected", String(Number(line.dataset.number) === selected));
      const here = body.querySelector('tr[aria-selected="true"]');
      (here ?? body.firstElementChild)?.setAttribute("tabindex", "0");
      if (selected !== seen) here?.scrollIntoView({ block: "nearest", inline: "nearest" });
      seen = selected;
      for (const [key, cell] of heads) {
        cell.setAttribute("aria-sort", key !== status.by ? "none" : status.down ? "descending" : "ascending");
      }
      if (focusAround(field) !== field && field.value !== status.query) field.value = status.query;
      count.textContent = `${status.found} of ${status.total} nodes${status.reading ? ", reading values \u2026" : ""}`;
      error.textContent = status.error;
      error.hidden = !status.error;
      more.textContent = status.more ? `${status.more} more: filter or sort to see them` : "";
    };
    return follow(model, el, show, () => clearTimeout(waiting));
  },
};
