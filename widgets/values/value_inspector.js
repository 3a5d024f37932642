// One value: what to show of it, the number or table, statistics, and cells that can be edited.

const FIRST_WORDS = { image: "Image", line: "Chart", scalar: "Number", table: "Value", none: "Value" };
const TABS = [
  ["first", "", "The value as it is"],
  ["change", "Change", "Before, now, and the difference"],
  ["table", "Table", "The items as numbers"],
  ["statistics", "Statistics", "How the items are distributed"],
];
const BAD = new Set(["NaN", "Inf", "health"]);
const SHORT = new Set(["elements", "NaN", "Inf", "min", "max", "mean", "largest difference", "true", "false", "sample"]);
const TIPS = { spacing: "Distance to the next number of this type, away from zero", std: "Standard deviation" };

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-words workbench-value", el), "region", "Value");
    ownKeys(box);
    const set = (field, value) => tell(model, { kind: "set", field, value });
    const line = make("div", "workbench-flow workbench-words workbench-value", el);
    el.prepend(line);
    ownKeys(line);
    const first = make("div", "workbench-flow-bar", line);
    const named = make("span", "workbench-value-named", first);
    const name = field(named, "name", "Value", "name of a value or node", 10);
    const offerNames = suggest(name);
    const short = make("span", "workbench-value-short", named);
    const tabs = aria(make("span", "workbench-value-tabs", first), "tablist", "Display of the value");
    const buttons = {};
    for (const [key, words, tip] of TABS) {
      buttons[key] = makeButton(words, tip, tabs, () => {
        remember({ tab: key });
        set("tab", key);
      });
      buttons[key].setAttribute("role", "tab");
      buttons[key].dataset.tab = key;
    }
    const problem = aria(make("div", "workbench-flow-error", box), "alert");
    const head = make("div", "workbench-value-head", box);
    const scalar = make("div", "workbench-value-number", box);
    const lately = make("table", "workbench-flow-cells", box);
    const wide = make("div", "workbench-flow-wide", box);
    const table = make("table", "workbench-flow-cells", wide);
    const more = make("div", "workbench-flow-dim", box);
    const facts = make("div", "workbench-flow-facts", box);
    const part = make("details", "workbench-value-part", box);
    make("summary", "", part, "Part and time");
    const second = make("div", "workbench-flow-bar", part);
    const fields = {
      name,
      index: field(second, "index", "Index", "[0, :, 3]", 9),
      time: field(second, "time", "Time", "as the slider; 7, -1, 10:20", 22),
      against: field(second, "against", "Change against", "the iteration before; 3", 18),
    };
    const said = aria(make("div", "workbench-flow-said", box), "status");

    function field(parent, key, label, hint, size) {
      const holder = make("label", "", parent);
      if (label) make("span", "workbench-value-field", holder, `${label} `);
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
      const at = table.contains(focusAround(table)) ? focusAround(table).dataset.place : undefined;
      table.replaceChildren();
      wide.style.display = status.cells.length ? "" : "none";
      if (status.columns.length) {
        const line = make("tr", "", make("thead", "", table));
        make("th", "", line, status.corner);
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

    // all digits of a number; those that were others in the iteration before are grey
    function fillNumber(status) {
      scalar.replaceChildren();
      scalar.style.display = status.kind === "table" ? "none" : "";
      scalar.dataset.kind = status.kind;
      const holder = make("span", "", scalar);
      const known = status.kind === "scalar" ? status.settled ?? status.text.length : status.text.length;
      make("span", "", holder, status.text.slice(0, known));
      if (known < status.text.length) make("span", "workbench-value-moving", holder, status.text.slice(known));
      scalar.title = known < status.text.length ? "Grey from the first digit that differs from the iteration before" : "";
      if (status.kind !== "scalar" || !status.editable) return;
      editable(holder, 0, 0, status.text);
      const where = status.where ? ` of ${status.where}` : "";
      scalar.style.setProperty("--workbench-digits", status.text.length); // what is presented is as large as it fits
      makeButton("Set", `Set the value${where}`, scalar, () => edit(holder, 0, 0, status.text)).classList.add("workbench-set");
    }

    // the tab that this person has chosen last, once for each view
    const usual = remembered().tab;
    let began = !(usual in buttons) || usual === "first";
    function begin(status) {
      if (began || status.first === "none") return;
      began = true;
      if (status.tab === "first" && (status.first !== "scalar" || usual === "change")) set("tab", usual);
    }

    let drawn = "";
    function show(status, again) {
      if (editing) return;
      begin(status);
      for (const [key, input] of Object.entries(fields)) {
        const value = (key === "name" ? status.name : status[`set_${key}`]) ?? "";
        // what is being typed stays; once it was told, the kernel's answer is shown
        const active = focusAround(input) === input;
        if (active && input.value !== (input.dataset.told ?? "")) continue;
        if (value !== input.dataset.shown || !active) {
          if (!status.errors[key]) input.value = input.dataset.told = value;
          input.dataset.shown = value;
        }
        input.setAttribute("aria-invalid", status.errors[key] ? "true" : "false");
      }
      buttons.first.textContent = FIRST_WORDS[status.first] ?? "Value";
      for (const [key, button] of Object.entries(buttons)) {
        button.setAttribute("aria-selected", String(key === status.tab));
        const offered = status.first === "none" ? [] : status.first === "scalar" ? ["first", "change"] : Object.keys(buttons);
        button.style.display = offered.includes(key) ? "" : "none";
      }
      if (status.set_index || status.set_time || status.set_against) part.open = true;
      offerNames(status.names);
      problem.textContent = Object.values(status.errors).map((words) => `\u2716 ${words}`).join(" ");
      // the type of a number stands among its facts, so that its name and tabs have one line
      short.textContent = status.kind === "scalar" ? "" : status.short;
      short.title = `${status.short}: ${status.header}`;
      // an image has its own line
      head.textContent = status.display === "image" ? "" : status.where;
      const shown = status.display === "table" || status.kind !== "table";
      const state = JSON.stringify([status.kind, status.text, status.cells, status.rows, status.columns, status.editable, status.where, status.recent, status.ahead, status.now, status.settled, shown]);
      if (state !== drawn || again) {
        drawn = state;
        fill(shown ? status : { ...status, cells: [], columns: [], rows: [], bad: [] });
        fillRecent(lately, status);
        fillNumber(status);
      }
      more.textContent = [shown ? status.more : "", status.note].filter(Boolean).join(" \u00B7 ");
      facts.replaceChildren();
      if (status.kind === "scalar") make("span", "workbench-value-label", facts, status.short).title = status.header;
      for (const [key, value] of Object.entries(status.statistics)) {
        if (status.display === "image" || (status.display === "line" && !SHORT.has(key))) continue;
        const wrong = BAD.has(key);
        const fact = make("span", wrong ? "workbench-bad" : "", facts);
        make("span", "workbench-value-label", fact, `${wrong ? "\u26A0 " : ""}${key} `);
        make("span", "", fact, value);
        fact.title = TIPS[key] ?? "";
      }
      said.textContent = status.said ?? "";
    }
    return follow(model, el, show, joinHead(el, line));
  },
};
