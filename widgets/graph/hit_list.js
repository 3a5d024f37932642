// The hits of a search as a list between the search and the picture: some rows around the selected one, and a button that folds
// them. Beside curves the graph is narrow, and they are folded at first.

function hitList(parent, send) {
  const box = make("div", "workbench-hits", parent);
  const head = make("div", "workbench-hits-head", box);
  const fold = makeButton("", "Show or hide the list of hits", head, () => {
    open = !open;
    show(last);
  });
  const table = make("table", "", box);
  let open;
  let last = { rows: [] };
  function show(hits) {
    last = hits;
    if (hits.rows.length) open ??= parent.closest(".workbench-debugger")?.dataset.loop === "false";
    box.style.display = hits.rows.length ? "" : "none";
    fold.textContent = `${open ? "\u25be" : "\u25b8"} Hits ${hits.words}`;
    fold.ariaExpanded = String(open);
    redraw(table, () => {
      if (!open || !hits.rows.length) return;
      const line = make("tr", "", make("thead", "", table));
      for (const words of ["node", "op", "where", "type"]) make("th", "", line, words).setAttribute("scope", "col");
      const body = make("tbody", "", table);
      for (const hit of hits.rows) {
        const row = make("tr", "", body);
        if (hit.here) row.setAttribute("aria-current", "true");
        const cell = make("td", "", row);
        makeButton(hit.name, `Go to ${hit.full}`, cell, () => send("hit", { value: hit.number }));
        for (const words of [hit.op, hit.where, hit.type]) make("td", "", row, words).title = words;
      }
    });
  }
  return show;
}
