// One value: what to show of it, the number or table, statistics, and cells that can be edited.

const MODE_WORDS = {
  value: "Value",
  previous: "Previous",
  difference: "Difference",
  against: "Against",
};
const MODE_TIPS = {
  value: "The value as it is",
  previous: "The value in the previous iteration",
  difference: "Value minus its value in the previous iteration",
  against: "Value minus its value in another iteration",
};
const BAD = new Set(["NaN", "Inf", "health"]);

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-words", el), "region", "Value");
    ownKeys(box);
    const set = (field, value) => tell(model, { kind: "set", field, value });
    const first = make("div", "workbench-flow-bar", box);
    const name = field(first, "name", "Value", "name of a value or node", 22);
    const offerNames = suggest(name);
    const modes = aria(make("span", "", first), "group", "What to show");
    const buttons = {};
    for (const mode of model.get("status").modes ?? []) {
      buttons[mode] = makeButton(MODE_WORDS[mode], MODE_TIPS[mode], modes, () => set("mode", mode));
    }
    const second = make("div", "workbench-flow-bar", box);
    const fields = {
      name,
      against: field(first, "against", "", "other iteration, e.g. 3", 12),
      index: field(second, "index", "Index", "[0, :, 3]", 9),
      time: field(second, "time", "Time", "as the slider; 7, -1, 10:20", 22),
    };
    const display = aria(make("select", "", second), "", "Display");
    for (const one of model.get("status").displays ?? []) make("option", "", display, one).value = one;
    display.addEventListener("change", () => set("display", display.value));
    const problem = aria(make("div", "workbench-flow-error", box), "alert");
    const head = make("div", "", box);
    const scalar = make("div", "workbench-scalar", box);
    const wide = make("div", "workbench-flow-wide", box);
    const table = make("table", "workbench-flow-cells", wide);
    const more = make("div", "workbench-flow-dim", box);
    const facts = make("div", "workbench-flow-facts", box);
    const said = aria(make("div", "workbench-flow-said", box), "status");

    function field(parent, key, label, hint, size) {
      const holder = make("label", "", parent, label ? `${label} ` : "");
      const input = make("input", "", holder);
      input.size = size;
      input.placeholder = hint;
      input.dataset.field = key;
      input.setAttribute("aria-label", label ? `${label}: ${hint}` : hint);
      const told = () => input.value !== input.dataset.told && set(key, (input.dataset.told = input.value));
      input.addEventListener("change", told);
      input.addEventListener("keydown", (event) => event.key === "Enter" && told());
      return input;
    }

    // an open edit stays open while values go on below it
    let editing = null;
    function edit(cell, row, column, words) {
      if (editing) return;
      const input = document.createElement("input");
      input.value = words;
      input.size = Math.max(8, words.length);
      input.setAttribute("aria-label", "New value; press Enter to set it, Escape to cancel");
      cell.replaceChildren(input);
      editing = input;
      let over = false;
      const end = (send) => {
        if (over) return;
        over = true;
        editing = null;
        if (send && input.value !== words) tell(model, { kind: "edit", row, column, text: input.value });
        show(model.get("status"), true);
        if (send !== null) box.querySelector(`[data-place="${row},${column}"]`)?.focus();
      };
      input.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
      });
      input.addEventListener("blur", () => end(null));
      input.focus();
      input.select();
    }

    // one cell is reached by Tab, the others from there by the arrow keys
    function editable(cell, row, column, words) {
      cell.tabIndex = row || column ? -1 : 0;
      cell.dataset.place = `${row},${column}`;
      cell.title = "Double-click or press Enter to edit; use the arrow keys to move";
      cell.classList.add("workbench-flow-editable");
      cell.addEventListener("dblclick", () => edit(cell, row, column, words));
      cell.addEventListener("keydown", (event) => {
        if (event.target !== cell || !["Enter", "F2"].includes(event.key)) return;
        event.preventDefault();
        edit(cell, row, column, words);
      });
    }

    const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    table.addEventListener("keydown", (event) => {
      const [down, right] = STEPS[event.key] ?? [];
      if (down === undefined || !event.target.dataset.place) return;
      const [row, column] = event.target.dataset.place.split(",").map(Number);
      const next = table.querySelector(`[data-place="${row + down},${column + right}"]`);
      if (!next) return;
      event.preventDefault();
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });

    function fill(status) {
      const at = table.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
      table.replaceChildren();
      wide.style.display = status.cells.length ? "" : "none";
      if (status.columns.length) {
        const line = make("tr", "", make("thead", "", table));
        make("th", "", line);
        for (const column of status.columns) make("th", "", line, column).setAttribute("scope", "col");
      }
      const body = make("tbody", "", table);
      const bad = new Set(status.bad.map(([i, j]) => `${i},${j}`));
      status.cells.forEach((cells, i) => {
        const line = make("tr", "", body);
        if (status.rows.length) make("th", "", line, status.rows[i]).setAttribute("scope", "row");
        cells.forEach((words, j) => {
          const wrong = bad.has(`${i},${j}`);
          const cell = make("td", wrong ? "workbench-bad" : "", line, wrong ? `\u26A0 ${words}` : words);
          if (status.editable) editable(cell, i, j, words);
        });
      });
      const again = at && table.querySelector(`[data-place="${at}"]`);
      if (again) {
        table.querySelector('[data-place="0,0"]').tabIndex = -1;
        again.tabIndex = 0;
        again.focus();
      }
    }

    let drawn = "";
    function show(status, again) {
      if (editing) return;
      for (const [key, input] of Object.entries(fields)) {
        const value = (key === "name" ? status.name : status[`set_${key}`]) ?? "";
        // what is being typed stays; once it was told, the kernel's answer is shown
        const active = document.activeElement === input;
        if (active && input.value !== (input.dataset.told ?? "")) continue;
        if (value !== input.dataset.shown || !active) {
          if (!status.errors[key]) input.value = input.dataset.told = value;
          input.dataset.shown = value;
        }
        input.setAttribute("aria-invalid", status.errors[key] ? "true" : "false");
      }
      fields.against.parentElement.style.display = status.set_mode === "against" ? "" : "none";
      for (const [mode, button] of Object.entries(buttons)) {
        button.setAttribute("aria-pressed", String(mode === status.set_mode));
      }
      display.value = status.set_display;
      offerNames(status.names);
      problem.textContent = Object.values(status.errors).map((words) => `\u2716 ${words}`).join(" ");
      head.replaceChildren();
      make("b", "", head, status.name);
      if (status.where) make("span", "workbench-flow-dim", head, status.where);
      make("span", "workbench-flow-dim", head, status.header);
      const state = JSON.stringify([status.kind, status.text, status.cells, status.rows, status.columns, status.editable]);
      if (state !== drawn || again) {
        drawn = state;
        fill(status);
        scalar.replaceChildren();
        scalar.style.display = status.kind === "table" ? "none" : "";
        const holder = make("span", "", scalar, status.text);
        if (status.kind === "scalar" && status.editable) editable(holder, 0, 0, status.text);
      }
      more.textContent = [status.more, status.note].filter(Boolean).join(" \u00B7 ");
      facts.replaceChildren();
      for (const [key, value] of Object.entries(status.statistics)) {
        const wrong = BAD.has(key);
        make("span", wrong ? "workbench-bad" : "", facts, `${wrong ? "\u26A0 " : ""}${key} ${value}`);
      }
      said.textContent = status.said ?? "";
    }
    return follow(model, el, show);
  },
};
