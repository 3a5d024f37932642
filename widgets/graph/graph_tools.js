// The bar above the picture of a graph. What is pressed is sent to the kernel and nothing else; the kernel answers through
// the synced status. Keys work while anything inside the view of the graph has the focus, and only then.

export default {
  render({ model, el }) {
    const send = (kind, more) => tell(model, { kind, ...more });
    const root = make("div", "workbench-graphtools", el);

    // -- search and buttons -----------------------------------------------------------------------------------------
    const line = make("div", "workbench-graphtools", el);
    el.prepend(line);
    ownKeys(line);
    const bar = aria(make("div", "workbench-graphbar", line), "toolbar", "Graph");
    const search = make("input", "", bar);
    search.type = "search";
    search.maxLength = 500;
    search.placeholder = "Search";
    search.title = "A name or pattern, op:MatMul, dtype:float32, shape:3,3, frame:while, line:12";
    search.setAttribute("aria-label", "Search for nodes by name, op:, dtype:, shape:, frame: or line:");
    const count = aria(make("span", "workbench-count", bar), "status");
    const command = (place, label, tooltip, kind, more) => {
      const made = makeButton(label, tooltip, place, () => send(kind, more));
      made.dataset.command = kind + (more?.value ? `-${more.value}` : "");
      return made;
    };
    const previous = command(bar, "\u2039", "Previous match (Shift+Enter)", "previous");
    const next = command(bar, "\u203a", "Next match (Enter)", "next");
    const fit = makeButton("Fit", "Show the whole graph (F)", bar, () => picture.fit());
    fit.dataset.command = "fit";
    // in a narrow area these are behind a button
    const { rest } = makeFold("View \u25be", "Size, direction and boxes of the picture", bar, "workbench-graphfold", "workbench-graphrest");
    const button = (label, tooltip, kind, more) => command(rest, label, tooltip, kind, more);
    button("\u2212", "Smaller (-)", "zoom", { value: "out" });
    const size = button("100 %", "Full size (0)", "zoom", { value: "one" });
    button("+", "Larger (+)", "zoom", { value: "in" });
    const there = button("\u25ce", "Zoom to the selected node", "zoom", { value: "selection" });
    const direction = button("", "", "direction");
    button("Open all", "Open all boxes that fit", "all", { value: "open" });
    button("Close all", "Draw loops, scopes and blocks as one box each", "all", { value: "close" });
    const ops = button("Dataflow ops", "Show Enter, Merge, Switch, Exit, NextIteration and LoopCond as nodes", "ops");
    const boxes = make("span", "workbench-boxes", rest);

    let typed;
    let asked = "";
    const ask = () => {
      clearTimeout(typed);
      if (search.value === asked) return;
      asked = search.value;
      send("search", { text: asked });
    };
    search.addEventListener("input", () => {
      clearTimeout(typed);
      typed = setTimeout(ask, 250);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        ask();
        send(event.shiftKey ? "previous" : "next");
      } else if (event.key === "Escape") {
        search.value = "";
        ask();
        picture.home();
      } else return;
      taken(event);
    });

    const picture = hand(model, el, line, search, send);
    // a panel that is presented, or no more, has another room
    const refit = (event) => picture.fit(event.detail);
    let area = null;
    const waiting = setTimeout(() => {
      area = el.closest(".workbench-area");
      area?.addEventListener("workbench-picture", refit);
    }, 0);
    const leave = () => {
      clearTimeout(waiting);
      area?.removeEventListener("workbench-picture", refit);
    };
    const paint = overview(model, root, send);

    const listHits = hitList(root, send);

    // -- where we are, and what is selected -------------------------------------------------------------------------
    const crumbs = aria(make("nav", "workbench-crumbs", root), "", "Enclosing boxes");
    const details = make("div", "workbench-details", root);
    details.setAttribute("aria-live", "polite");
    const facts = make("div", "workbench-facts", details);
    const edges = make("div", "workbench-edges", details);
    const trouble = aria(make("div", "workbench-trouble", root), "alert");

    const links = (label, nodes, kind) => {
      if (!nodes?.length) return;
      const line = make("span", "workbench-links", edges);
      make("b", "", line, label);
      for (const node of nodes) {
        const link = makeButton(node.label, node.tooltip, line, () => send("go", { text: node.name }));
        link.dataset.edge = kind;
      }
    };

    let shown = "";
    const show = () => {
      const now = model.get("status");
      count.textContent = now.count ?? "";
      listHits(now.hits ?? { rows: [] });
      for (const turn of [previous, next]) turn.hidden = turn.disabled = !now.found;
      there.disabled = !now.title;
      size.textContent = now.zoom ?? "100 %";
      direction.textContent = now.direction === "right" ? "\u2192" : "\u2193";
      const other = now.direction === "right" ? "Data flows to the right; press to turn it downwards" : "Data flows downwards; press to turn it to the right";
      direction.title = other;
      direction.setAttribute("aria-label", other);
      ops.ariaPressed = String(Boolean(now.ops));
      boxes.textContent = now.boxes ?? "";
      complain(trouble, now.error);
      trouble.style.display = now.error ? "" : "none";
      paint();
      // buttons that are pressed must not be exchanged while nothing of them has changed
      const key = JSON.stringify([now.flat, now.crumbs, now.title, now.producers, now.consumers, now.breakpoint, now.opens]);
      facts.replaceChildren();
      make("b", "", facts, now.title ?? "");
      for (const fact of now.facts ?? []) make("span", fact.bad ? "workbench-bad" : "", facts, fact.text);
      if (!now.title) make("span", "workbench-hint", facts, HELP).title = KEY_HELP;
      if (key === shown) return;
      shown = key;
      crumbs.dataset.flat = String(Boolean(now.flat));
      crumbs.replaceChildren();
      (now.crumbs ?? []).forEach((crumb, k) => {
        if (k) make("span", "", crumbs, "\u203a");
        makeButton(crumb.text, crumb.tooltip, crumbs, () => send("crumb", { text: crumb.id }));
      });
      edges.replaceChildren();
      if (!now.title) return;
      const line = make("span", "workbench-links", edges);
      if (now.breakpoint !== null && now.breakpoint !== undefined) {
        const label = now.breakpoint ? "Remove the breakpoint" : "Set a breakpoint here";
        const mark = makeButton("", `${label} (B)`, line, () => send("breakpoint"));
        make("span", "workbench-dot", mark, now.breakpoint ? "\u25cb" : "\u25cf");
        make("span", "", mark, label);
        mark.dataset.command = "breakpoint";
        mark.setAttribute("aria-pressed", now.breakpoint ? "true" : "false");
      }
      if (now.opens) makeButton(now.opens, `${now.opens} (Enter)`, line, () => send("key", { text: "Enter" })).dataset.command = "open";
      if (!line.childElementCount) line.remove();
      links("from", now.producers, "producer");
      links("to", now.consumers, "consumer");
    };
    const update = () => {
      show();
      picture.look();
    };
    show();
    const ends = [listen(model, "change:status", update), onTheme(paint), joinHead(el, line)];
    return () => {
      clearTimeout(typed);
      for (const end of ends) end();
      leave();
      picture.leave();
      el.replaceChildren();
    };
  },
};
