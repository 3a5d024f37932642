// The runs of a panel as chips: this one first, then the others with a sample of their dashes.

const DASHES = ["5 3", "2 3", "8 3"];

function sample(slot) {
  const svg = icon("M0 3H18");
  svg.setAttribute("viewBox", "0 0 18 6");
  if (slot !== null) svg.firstChild.setAttribute("stroke-dasharray", DASHES[slot % DASHES.length]);
  return svg;
}

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-bar workbench-runs", el), "group", "Runs that are drawn");
    const row = make("div", "workbench-runs-row", box);
    const problem = aria(make("div", "workbench-bad", box), "alert");
    const root = () => el.closest(".workbench-debugger");
    const open = (key) => {
      const tab = root()?.querySelector(`[data-pane=${key}]`);
      if (tab?.ariaSelected !== "true") tab?.click();
    };

    function chip(run) {
      const tip = run ? `${run.on ? "Drawn" : "Not drawn"} beside this run: ${run.tip}` : "The run of this panel";
      const button = makeButton("", tip, row, () => run && tell(model, { kind: "draw", label: run.label, on: !run.on }));
      button.className = "workbench-run-chip";
      button.dataset.run = run ? run.label : "";
      button.setAttribute("aria-pressed", String(run ? run.on : true));
      button.disabled = !run;
      button.appendChild(sample(run ? run.slot : null));
      make("span", "", button, run ? run.words : model.get("status").this);
      if (!run?.added) return;
      const cross = makeButton("\u00d7", `Remove ${run.label} from this panel`, row, () => tell(model, { kind: "remove", label: run.label }));
      cross.className = "workbench-run-cross";
    }

    const menu = make("details", "workbench-more");
    make("summary", "", menu, "+").title = "Add a run beside this one";
    const inside = make("div", "workbench-menu", menu);
    const entry = (label, tip, act) =>
      makeButton(label, tip, inside, () => {
        menu.open = false;
        act();
      });
    const inputs = entry("Other inputs \u2026", "Run with other inputs; the earlier run is kept beside it", () => open("inputs"));
    const copy = entry("Copy of this run", "Copy this session at its present position; each of the two can continue", () => tell(model, { kind: "copy" }));
    const form = make("form", "workbench-runs-file", inside);
    const file = makeField("file of a saved trace", 22, form, "path");
    make("button", "", form, "Load").type = "submit";
    form.addEventListener("submit", (event) => {
      taken(event);
      menu.open = false;
      tell(model, { kind: "load", path: file.value });
    });
    const difference = makeButton("Difference", "Also draw the difference of the values", null, () =>
      tell(model, { kind: "difference", on: difference.ariaPressed !== "true" }),
    );
    const compare = makeButton("Compare", "List all values that differ, the first difference first", null, () => open("compare"));

    return follow(model, el, (now) => {
      const runs = now.runs ?? [];
      const held = focusAround(row)?.dataset.run;
      row.replaceChildren();
      chip(null);
      runs.forEach(chip);
      row.appendChild(menu);
      for (const button of [inputs, copy]) button.hidden = !now.live;
      if (runs.some((run) => run.on)) row.append(difference, compare);
      difference.setAttribute("aria-pressed", String(now.difference));
      if (held) row.querySelector(`[data-run="${CSS.escape(held)}"]`)?.focus();
      problem.textContent = now.said ? `\u2716 ${now.said}` : "";
    });
  },
};
