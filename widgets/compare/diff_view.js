// The values that differ between two runs, as a table whose rows are chosen by click, arrow keys and Enter.

const HEADS = ["", "value", "op", "where", "a", "b", "max abs", "max rel", "ulp", "at", "differing"];
const CELLS = ["shown", "op", "where", "a", "b", "abs", "rel", "ulp", "at", "count"];
const RIGHT = new Set(["max abs", "max rel", "ulp", "differing"]);
const NUMBERS = new Set(["abs", "rel", "ulp", "count"]);

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-diff", el), "region", "Differences between two runs");
    ownKeys(box);
    const first = aria(make("div", "workbench-diff-first", box), "status");
    const headline = make("b", "", first);
    const cause = make("div", "", first);
    const acts = make("div", "workbench-flow-bar", first);
    const undo = makeButton("Undo this edit", "Go back to the run as it was before this edit", acts, () => tell(model, { kind: "undo" }));
    makeButton("Next difference", "Show the next value that differs", acts, () => tell(model, { kind: "next" }));
    const beside = make("div", "workbench-flow-wide workbench-diff-beside", box);
    const said = aria(make("details", "workbench-diff-said", box), "status");
    const wide = make("div", "workbench-flow-wide workbench-diff-rows", box);
    const table = aria(make("table", "workbench-flow-table", wide), "grid", "Values that differ, the first difference first");
    const head = make("tr", "", make("thead", "", table));
    for (const name of HEADS) {
      make("th", RIGHT.has(name) ? "workbench-flow-number" : "", head, name).setAttribute("scope", "col");
    }
    const body = make("tbody", "", table);
    const more = make("div", "workbench-flow-dim", box);
    const choose = (row) => tell(model, { kind: "choose", row });

    body.addEventListener("keydown", (event) => {
      const line = event.target.closest("tr");
      const lines = [...body.children];
      const at = lines.indexOf(line);
      const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 };
      if (event.key in steps) {
        lines[Math.max(0, Math.min(lines.length - 1, steps[event.key]))]?.focus();
      } else if (event.key === "Enter" || event.key === " ") {
        choose(at);
      } else {
        return;
      }
      taken(event);
    });

    let shown = "";
    function draw(row) {
      const line = make("tr", "", body);
      line.dataset.kind = row.kind;
      line.title = `${row.sentence}${row.source ? " Its inputs agree, so the difference starts here." : ""}${
        row.line ? `\n${row.line}` : ""
      }`;
      line.addEventListener("click", () => choose(row.number));
      const kind = make("td", "", line);
      makeMark(row.mark, kind);
      make("span", "", kind, row.word);
      if (row.source) make("span", "workbench-diff-source", kind, "source");
      for (const key of CELLS) {
        const cell = make("td", NUMBERS.has(key) ? "workbench-flow-number" : "", line, key === "shown" ? undefined : row[key]);
        if (key === "shown") make("code", "", cell, row.shown);
      }
    }

    // both values, iteration by iteration, around the first difference
    function drawBeside(now) {
      beside.replaceChildren();
      beside.style.display = now.table ? "" : "none";
      if (!now.table) return;
      const grid = make("table", "workbench-flow-table", beside);
      make("caption", "", grid, now.table.name);
      const top = make("tr", "", make("thead", "", grid));
      ["iteration", now.a, now.b, "difference"].forEach((name, k) => {
        make("th", k ? "workbench-flow-number" : "", top, name).setAttribute("scope", "col");
      });
      const rows = make("tbody", "", grid);
      for (const row of now.table.table) {
        const line = make("tr", "", rows);
        line.dataset.kind = row.kind;
        ["where", "a", "b", "difference"].forEach((key, k) => make("td", k ? "workbench-flow-number" : "", line, row[key]));
      }
    }

    return follow(model, el, (status) => {
      said.replaceChildren();
      const lines = status.lines ?? [];
      make("summary", "", said, lines[0] ?? "");
      lines.slice(1).forEach((line) => make("div", "", said, line));
      first.style.display = status.first ? "" : "none";
      headline.textContent = status.first?.title ?? "";
      cause.textContent = status.first?.cause ?? "";
      first.dataset.kind = status.first?.edited ? "edited" : "";
      undo.style.display = status.first?.edited && status.undo ? "" : "none";
      drawBeside(status);
      const rows = status.rows ?? [];
      wide.style.display = rows.length ? "" : "none";
      more.textContent = status.more ? `${status.more} more value${status.more === 1 ? " differs" : "s differ"}; diff.rows has them all.` : "";
      const texts = JSON.stringify(rows.map(({ same, ...row }) => row));
      if (texts !== shown) {
        shown = texts;
        body.replaceChildren();
        rows.forEach(draw);
      }
      const active = body.contains(focusAround(body));
      [...body.children].forEach((line, k) => {
        const chosen = k === status.chosen;
        line.setAttribute("aria-selected", String(chosen));
        line.classList.toggle("workbench-diff-same", rows[k].same && !chosen);
        if (!active) line.tabIndex = chosen || (status.chosen === null && k === 0) ? 0 : -1;
      });
    });
  },
};
