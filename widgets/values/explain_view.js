// The chain behind a value as a tree: arrows walk and fold, Enter looks at a place, E explains it.

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-explain", el), "region", "Explanation of a value");
    ownKeys(box);

    const form = make("form", "workbench-flow-bar", box);
    const name = makeField("value or node", 22, form);
    const offerNames = suggest(name);
    const iteration = makeField("iteration, e.g. 3", 20, form);
    make("button", "", form, "Explain").type = "submit";
    makeButton("Follow", "Explain the value that is selected in the other views", form, () => tell(model, { kind: "follow" }));
    makeButton("Find NaN", "Find the origin of the first NaN or infinity of the run", form, () => tell(model, { kind: "nan" }));
    const ask = (event) => {
      taken(event);
      tell(model, { kind: "explain", name: name.value, iteration: iteration.value });
    };
    form.addEventListener("submit", ask);
    // not left to the form: a page around it may take the default action of the key away
    for (const input of [name, iteration]) {
      input.addEventListener("keydown", (event) => event.key === "Enter" && ask(event));
    }

    const problem = aria(make("div", "workbench-flow-error", box), "alert");
    const origin = aria(make("div", "workbench-explain-origin", box), "status");
    const head = aria(make("div", "workbench-flow-line", box), "status");
    const edits = aria(make("div", "workbench-diff-first", box), "status"); // they may stand far down in the chain
    edits.dataset.kind = "edited";
    const tree = aria(make("div", "workbench-explain-tree", box), "tree", "Values it was computed from");
    const tail = make("div", "workbench-flow-bar", box);
    const more = make("span", "workbench-flow-dim", tail);
    const further = makeButton("Show more", "Show more of the chain", tail, () => tell(model, { kind: "more" }));

    let rows = [];
    let open = [];

    // A row is seen when all rows above it in the tree are open.
    function fold() {
      const way = [];
      rows.forEach((row, k) => {
        way.length = row.depth;
        const seen = way.every(Boolean);
        const item = tree.children[k];
        item.style.display = seen ? "" : "none";
        if (row.kids) {
          item.setAttribute("aria-expanded", String(open[k]));
          item.firstChild.textContent = open[k] ? "\u25BE" : "\u25B8";
        }
        way[row.depth] = open[k];
      });
    }

    const turn = (k, to) => {
      if (rows[k].kids) open[k] = to ?? !open[k];
      fold();
    };
    const shownItems = () => [...tree.children].filter((item) => item.style.display !== "none");
    const reach = (item) => {
      if (!item) return;
      for (const other of tree.children) other.tabIndex = -1;
      item.tabIndex = 0;
      item.focus();
    };

    tree.addEventListener("keydown", (event) => {
      const item = event.target.closest("[role=treeitem]");
      if (!item || event.ctrlKey || event.altKey || event.metaKey) return;
      const k = [...tree.children].indexOf(item);
      const shown = shownItems();
      const at = shown.indexOf(item);
      if (event.key === "ArrowDown") reach(shown[at + 1]);
      else if (event.key === "ArrowUp") reach(shown[at - 1]);
      else if (event.key === "Home") reach(shown[0]);
      else if (event.key === "End") reach(shown[shown.length - 1]);
      else if (event.key === "ArrowRight") rows[k].kids && !open[k] ? turn(k, true) : reach(shown[at + 1]);
      else if (event.key === "ArrowLeft") {
        if (rows[k].kids && open[k]) turn(k, false);
        else {
          let up = k - 1;
          while (up >= 0 && rows[up].depth >= rows[k].depth) up -= 1;
          reach(tree.children[up]);
        }
      } else if (event.key === "Enter" || event.key === " ") tell(model, { kind: "look", row: k });
      else if (event.key === "e" || event.key === "E") tell(model, { kind: "explain-row", row: k });
      else return;
      taken(event);
    });

    function draw(row, k) {
      const item = aria(make("div", "workbench-explain-row", tree), "treeitem");
      item.setAttribute("aria-level", String(row.depth + 1));
      item.tabIndex = k ? -1 : 0;
      item.style.paddingLeft = `${4 + 16 * Math.min(row.depth, 24)}px`;
      item.title = [row.name, row.line, row.expression].filter(Boolean).join("\n");
      const mark = make("span", "workbench-flow-mark workbench-explain-fold", item, row.kids ? "" : row.root ? "\u25CF" : "\u00B7");
      mark.setAttribute("aria-hidden", "true");
      if (row.edited) item.dataset.kind = "edited";
      if (row.kids) {
        mark.addEventListener("click", (event) => {
          event.stopPropagation();
          turn(k);
        });
      }
      make("code", "", item, row.shown);
      if (row.where) make("span", "workbench-flow-dim", item, ` ${row.where}`);
      make("span", "", item, " = ");
      make("b", row.bad ? "workbench-bad" : "", item, row.value);
      if (row.bad && !row.value.includes(row.bad)) make("span", "workbench-bad", item, ` \u26A0 ${row.bad}`);
      if (row.op) make("span", "workbench-flow-dim", item, `\u2190 ${row.op}`);
      if (row.note) make("span", "workbench-flow-dim workbench-flow-said", item, row.note);
      if (row.line) make("span", "workbench-flow-dim", item, row.line);
      const explain = makeButton("explain", `Explain ${[row.shown, row.where].filter(Boolean).join(" ")}`, item, (event) => {
        event.stopPropagation();
        tell(model, { kind: "explain-row", row: k });
      });
      explain.tabIndex = -1;
      item.addEventListener("click", () => {
        reach(item);
        tell(model, { kind: "look", row: k });
      });
    }

    let drawn = "";
    return follow(model, el, (status) => {
      complain(problem, status.error);
      head.textContent = status.error ? "" : status.headline ?? "";
      const typing = form.contains(focusAround(form));
      if (!typing) {
        name.value = status.name ?? "";
        iteration.value = status.iteration ?? "";
      }
      offerNames(status.names ?? []);
      origin.replaceChildren();
      if (status.origin) {
        status.origin.lines.forEach((line, k) => {
          const row = make("div", k ? "" : "workbench-flow-line", origin);
          if (!k && status.origin.node) make("span", "workbench-bad", row, "\u26A0 ").setAttribute("aria-hidden", "true");
          make("span", "", row, line);
        });
        if (status.origin.node) {
          makeButton("Go there", `Look at ${status.origin.node}`, origin, () => tell(model, { kind: "origin" }));
        }
      }
      more.textContent = status.more ?? "";
      edits.textContent = status.edits?.length ? `Edited in this run: ${status.edits.join(" ")}` : "";
      edits.style.display = edits.textContent ? "" : "none";
      further.style.display = status.more ? "" : "none";
      const text = JSON.stringify(status.rows ?? []);
      if (text === drawn) return;
      drawn = text;
      rows = status.rows ?? [];
      open = rows.map((row) => row.depth < (status.open ?? 3));
      tree.replaceChildren();
      rows.forEach(draw);
      fold();
    });
  },
};
