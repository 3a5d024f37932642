// The bar above the picture of a graph. What is pressed is sent to the kernel and nothing else; the kernel answers through
// the synced status. Keys work while anything inside the view of the graph has the focus, and only then.

const KEYS = new Set([
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Backspace", "b", "B", "n", "N", "+", "-", "0", "f", "Escape",
]);
const HELP = "Arrow keys move along the edges, Enter opens a box, Backspace closes the box around, B sets a breakpoint, " +
  "/ searches, N goes to the next match, + and - zoom, 0 is full size, F fits.";
const LEVELS = 6;

export default {
  render({ model, el }) {
    const send = (kind, more) => model.send({ kind, ...more });
    const root = make("div", "workbench-graphtools", el);

    // -- search and buttons -----------------------------------------------------------------------------------------
    const bar = make("div", "workbench-graphbar", root);
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Graph");
    const search = make("input", "", bar);
    search.type = "search";
    search.maxLength = 500;
    search.placeholder = "Search names, op:add, \u2026";
    search.title = "Names and patterns, op:MatMul, dtype:float32, shape:3,3, frame:while, line:12";
    search.setAttribute("aria-label", "Search for nodes by name, op:, dtype:, shape:, frame: or line:");
    const count = make("span", "workbench-count", bar);
    count.setAttribute("role", "status");
    const button = (label, tooltip, kind, more) => {
      const made = makeButton(label, tooltip, bar, () => send(kind, more));
      made.dataset.command = kind + (more?.value ? `-${more.value}` : "");
      return made;
    };
    const previous = button("\u2039", "Previous match (Shift+Enter)", "previous");
    const next = button("\u203a", "Next match (Enter)", "next");
    make("span", "workbench-gap", bar);
    button("\u2212", "Smaller (-)", "zoom", { value: "out" });
    const size = button("100 %", "Full size (0)", "zoom", { value: "one" });
    button("+", "Larger (+)", "zoom", { value: "in" });
    const fit = makeButton("Fit", "Show the whole picture (F)", bar, () => fitNow());
    fit.dataset.command = "fit";
    const there = button("\u25ce", "Show the selected node, large", "zoom", { value: "selection" });
    make("span", "workbench-gap", bar);
    const direction = button("", "", "direction");
    button("Open all", "Open all boxes, as far as there is room", "all", { value: "open" });
    button("Close all", "Draw loops, scopes and blocks as one box each", "all", { value: "close" });
    const boxes = make("span", "workbench-boxes", bar);

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
        home?.focus();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });

    // -- overview ---------------------------------------------------------------------------------------------------
    const canvas = make("canvas", "workbench-overview", root);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Overview of the whole graph from inputs to outputs; a click looks there");
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      send("overview", { x: (event.clientX - box.x) / box.width, y: (event.clientY - box.y) / box.height });
    });
    const paint = () => {
      const columns = model.get("columns");
      canvas.style.display = columns ? "" : "none";
      if (!columns) return;
      const view = model.get("cells");
      const cells = new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength);
      const rows = cells.length / columns;
      canvas.width = columns;
      canvas.height = rows;
      const context = canvas.getContext("2d");
      const dark = document.body.dataset.jpThemeLight === "false";
      for (let k = 0; k < cells.length; k++) {
        if (!cells[k]) continue;
        const shade = Math.min(cells[k], LEVELS) / LEVELS;
        context.fillStyle = dark ? `rgba(120,190,240,${0.35 + 0.65 * shade})` : `rgba(0,80,140,${0.25 + 0.75 * shade})`;
        context.fillRect(k % columns, Math.floor(k / columns), 1, 1);
      }
      const marks = model.get("status").overview ?? {};
      if (marks.span) {
        context.strokeStyle = "#E69F00";
        context.strokeRect(marks.span[0] + 0.5, 0.5, Math.max(2, marks.span[1] - marks.span[0]), rows - 1);
      }
      const bar = (place, colour, width) => {
        context.fillStyle = colour;
        context.fillRect(place[0] - (width - 1) / 2, 0, width, rows);
      };
      for (const place of marks.matches ?? []) bar(place, "rgba(0,158,115,0.7)", 1);
      if (marks.selected) bar(marks.selected, "#CC79A7", 2);
      if (marks.current) bar(marks.current, "#D55E00", 2);
    };

    // -- where we are, and what is selected -------------------------------------------------------------------------
    const crumbs = make("nav", "workbench-crumbs", root);
    crumbs.setAttribute("aria-label", "Boxes around what is shown");
    const details = make("div", "workbench-details", root);
    details.setAttribute("aria-live", "polite");
    const facts = make("div", "workbench-facts", details);
    const edges = make("div", "workbench-edges", details);
    const trouble = make("div", "workbench-trouble", root);
    trouble.setAttribute("role", "alert");

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
      previous.disabled = next.disabled = !now.found;
      there.disabled = !now.title;
      size.textContent = now.zoom ?? "100 %";
      direction.textContent = now.direction === "right" ? "\u2192" : "\u2193";
      const other = now.direction === "right" ? "Data flows to the right; press for downwards" : "Data flows downwards; press for to the right";
      direction.title = other;
      direction.setAttribute("aria-label", other);
      boxes.textContent = now.boxes ?? "";
      trouble.textContent = now.error ? `\u2716 ${now.error}` : "";
      trouble.style.display = now.error ? "" : "none";
      paint();
      // buttons that are pressed must not be exchanged while nothing of them has changed
      const key = JSON.stringify([now.crumbs, now.title, now.producers, now.consumers, now.breakpoint, now.opens]);
      facts.replaceChildren();
      make("b", "", facts, now.title ?? "");
      for (const fact of now.facts ?? []) make("span", fact.bad ? "workbench-bad" : "", facts, fact.text);
      if (!now.title) make("span", "workbench-hint", facts, "Click a node to see it here. " + HELP);
      if (key === shown) return;
      shown = key;
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
      look();
    };
    model.on("change:status", update);
    show();

    // What the picture is about comes into sight, once: who scrolls elsewhere then stays there until it is about another place.
    let looked = "";
    let waits;
    const look = (tries = 0) => {
      clearTimeout(waits);
      const sight = model.get("status").sight;
      const figure = home?.querySelector(".workbench-figure");
      const scroller = home?.querySelector(".workbench-scroll");
      if (!sight || JSON.stringify(sight) === looked) return;
      const layout = figure?._fullLayout;
      // the words are here before the picture is drawn
      if (!scroller || !layout?.xaxis?.l2p || Math.abs(layout.height - sight.height) > 1) {
        if (tries < 400) waits = setTimeout(() => look(tries + 1), 50);
        return;
      }
      looked = JSON.stringify(sight);
      for (const [place, side, room] of [
        [layout._size.l + layout.xaxis.l2p(sight.x), "scrollLeft", scroller.clientWidth],
        [layout._size.t + layout.yaxis.l2p(sight.y), "scrollTop", scroller.clientHeight],
      ]) {
        if (place < scroller[side] + 60 || place > scroller[side] + room - 60) scroller[side] = place - room / 2;
      }
    };

    const fitNow = () => {
      const room = home?.querySelector(".workbench-scroll");
      send("zoom", { value: "fit", width: room?.clientWidth ?? 0 });
    };

    // -- keys, and moving the picture by dragging -------------------------------------------------------------------
    let home;
    const onKey = (event) => {
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Enter" && event.target.tagName === "BUTTON") return;
      if (event.key === "/") search.focus();
      else if (event.key === "f" || event.key === "F") fitNow();
      else if (KEYS.has(event.key)) send("key", { text: event.key });
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    let drag = null;
    const onDown = (event) => {
      const scroller = event.target.closest?.(".workbench-scroll");
      if (!scroller || event.button || !event.target.closest(".workbench-figure")) return;
      home.focus({ preventScroll: true });
      drag = { scroller, x: event.clientX, y: event.clientY, left: scroller.scrollLeft, top: scroller.scrollTop };
    };
    const onMove = (event) => {
      if (!drag) return;
      if (!(event.buttons & 1)) return (drag = null);
      drag.scroller.scrollLeft = drag.left - (event.clientX - drag.x);
      drag.scroller.scrollTop = drag.top - (event.clientY - drag.y);
    };
    const attach = () => {
      home = el.closest(".workbench-graph");
      if (!home) return;
      home.setAttribute("data-lm-suppress-shortcuts", "true");
      home.setAttribute("role", "group");
      home.setAttribute("aria-label", `Picture of the graph. ${HELP}`);
      home.tabIndex = 0;
      home.addEventListener("keydown", onKey);
      home.addEventListener("pointerdown", onDown, true);
      window.addEventListener("pointermove", onMove, true);
      look();
    };
    const waiting = setTimeout(attach, 0);
    const theme = new MutationObserver(paint);
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    return () => {
      clearTimeout(waiting);
      clearTimeout(typed);
      theme.disconnect();
      clearTimeout(waits);
      model.off("change:status", update);
      home?.removeEventListener("keydown", onKey);
      home?.removeEventListener("pointerdown", onDown, true);
      window.removeEventListener("pointermove", onMove, true);
    };
  },
};
