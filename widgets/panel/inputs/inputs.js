// The inputs of the run as fields. "Run as a second run" sends all texts; the kernel reads those that were changed.

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-inputs", el), "region", "Inputs of this run");
    ownKeys(box);
    const wide = make("div", "workbench-flow-wide", box);
    const table = make("table", "workbench-flow-table", wide);
    const head = make("tr", "", make("thead", "", table));
    for (const name of ["input", "type", "value", ""]) make("th", "", head, name).setAttribute("scope", "col");
    const body = make("tbody", "", table);
    const bar = make("div", "workbench-flow-bar", box);
    const texts = () =>
      Object.fromEntries([...body.querySelectorAll("input")].map((field) => [field.dataset.name, field.value]));
    const run = makeButton("Run as a second run", "Run with these values; the earlier run is kept under a name", bar, () =>
      tell(model, { kind: "run", texts: texts() }),
    );
    const compare = makeButton("Compare", "Compare this run with the earlier one", bar, () => tell(model, { kind: "compare" }));
    const said = aria(make("div", "workbench-flow-said", box), "status");
    body.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || run.disabled) return;
      taken(event);
      tell(model, { kind: "run", texts: texts() });
    });

    let shown = "";
    return follow(model, el, (now) => {
      const rows = now.rows ?? [];
      const key = JSON.stringify(rows);
      if (key !== shown) {
        shown = key;
        body.replaceChildren();
        for (const row of rows) {
          const line = make("tr", "", body);
          make("code", "", make("td", "", line), row.shown).title = row.name;
          make("td", "", line, row.type);
          const cell = make("td", "", line);
          if (row.editable) {
            const field = makeField("", Math.max(8, Math.min(40, row.value.length + 2)), cell);
            field.value = row.value;
            field.title = row.tip;
            field.dataset.name = row.name;
            field.setAttribute("aria-label", `Value of ${row.name}`);
          } else {
            const text = make("span", "workbench-flow-dim", cell, row.value || row.tip);
            text.title = row.tip;
          }
          make("td", "workbench-flow-error", line);
        }
        if (!rows.length) make("td", "workbench-flow-dim", make("tr", "", body), "This graph has no inputs.").colSpan = 4;
      }
      rows.forEach((row, k) => {
        const problem = now.errors?.[row.name] ?? "";
        body.rows[k].lastChild.textContent = problem;
        body.rows[k].querySelector("input")?.setAttribute("aria-invalid", String(Boolean(problem)));
      });
      run.disabled = !now.open || !rows.some((row) => row.editable);
      compare.style.display = now.before ? "" : "none";
      compare.textContent = `Compare with ${now.before}`;
      compare.disabled = Boolean(now.running);
      said.textContent = now.running ? "Running \u2026" : (now.said ?? "");
    });
  },
};
