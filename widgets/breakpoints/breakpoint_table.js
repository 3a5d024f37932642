// Breakpoints as a table, a form for a new one, what is recommended, and the lines of logpoints.

const HINTS = { when: "condition, e.g. x > 1e6 and iteration > 3", log: "line, e.g. x is {value}" };
const KIND_WORDS = {
  always: "always stop",
  when: "stop when",
  health: "stop on health",
  change: "stop when the value changes",
  log: "log a line, do not stop",
  "log health": "log health, do not stop",
  ignore: "ignore expected values",
};
const HEALTHY = ["health", "log health", "ignore"];

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow", el), "region", "Breakpoints");
    ownKeys(box);
    const send = (kind, more) => tell(model, { kind, ...more });

    const wide = make("div", "workbench-flow-wide workbench-flow-breakpoints", box);
    const table = make("table", "workbench-flow-table", wide);
    const head = make("tr", "", make("thead", "", table));
    for (const name of ["on", "kind", "where", "condition", "hits", ""]) {
      make("th", "", head, name).setAttribute("scope", "col");
    }
    const body = make("tbody", "", table);
    const empty = make("div", "workbench-flow-dim", box);

    const form = aria(make("form", "workbench-flow-bar workbench-breakpoint-form", box), "", "Add a breakpoint");
    const where = makeField("value, node or condition", 24, form, "where");
    where.placeholder = "x, or x < 2"; // as long as the field is in a narrow pane
    where.title = "The name of a value or of a node, or a condition such as x < 1.42 and iteration > 1";
    const offerNames = suggest(where);
    const kind = aria(make("select", "", form), "", "Kind of breakpoint");
    for (const name of Object.keys(KIND_WORDS)) {
      make("option", "", kind, KIND_WORDS[name]).value = name;
    }
    const argument = makeField("", 24, form, "text");
    const health = aria(make("select", "", form), "", "Health check");
    const anything = make("option", "", health, "anything");
    anything.value = "";
    for (const word of model.get("health")) make("option", "", health, word).value = word;
    const iteration = makeField("iteration", 11, form, "iteration");
    iteration.title = "In this iteration only, for example 3; in nested loops 1, 3: iteration 1 of the outer loop, 3 of the inner loop";
    const hits = makeField("hit number", 12, form, "hits");
    hits.title = "At this hit only, for example 3 for the third";
    const add = make("button", "", form, "Add");
    add.type = "submit";
    const problem = aria(make("div", "workbench-flow-error", box), "alert");

    const advice = make("details", "workbench-flow-fold", box);
    make("summary", "", advice, "Recommended");
    const advised = make("ul", "", advice);
    advice.addEventListener("toggle", () => advice.open && send("recommend"));
    const log = make("details", "workbench-flow-fold", box);
    log.open = true;
    const logTitle = make("summary", "", log, "Log");
    const lines = make("ol", "workbench-flow-log", log);
    const ignored = aria(make("ul", "workbench-flow-fold", box), "", "Ignore rules");

    function suit() {
      const hint = HINTS[kind.value];
      argument.style.display = hint ? "" : "none";
      argument.placeholder = hint ?? "";
      argument.setAttribute("aria-label", hint || "text");
      health.style.display = HEALTHY.includes(kind.value) ? "" : "none";
      anything.hidden = anything.disabled = kind.value !== "ignore";
      if (!health.value && kind.value !== "ignore") health.value = "nan";
      iteration.style.display = hits.style.display = kind.value === "ignore" ? "none" : "";
    }
    kind.addEventListener("change", suit);
    suit();

    // what was sent and is not answered yet: token -> what stood in each field
    const sent = new Map();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const token = Math.random().toString(36).slice(2);
      sent.set(token, [where, argument, iteration, hits].map((field) => [field, field.value]));
      const text = HEALTHY.includes(kind.value) ? health.value : argument.value;
      const fields = { where: where.value, as: kind.value, text, iteration: iteration.value, hits: hits.value };
      send("add", { ...fields, token });
    });
    // the fields of what is added become empty, unless the next one is being written there; of what is refused they stay
    function answered(status) {
      const fields = sent.get(status.answered);
      sent.delete(status.answered);
      if (!fields || status.error) return;
      for (const [field, value] of fields) if (field.value === value) field.value = "";
    }

    function draw(row) {
      const line = make("tr", row.enabled ? "" : "workbench-flow-off", body);
      line.dataset.kind = row.kind;
      const on = make("input", "", make("td", "", line));
      on.type = "checkbox";
      on.checked = row.enabled;
      on.setAttribute("aria-label", `Breakpoint ${row.number} on ${row.where}: on or off`);
      on.addEventListener("change", () => send("toggle", { number: row.number }));
      const kindCell = make("td", "", line);
      makeMark(row.mark, kindCell);
      make("span", "", kindCell, row.word);
      make("code", "", make("td", "", line), row.where);
      const condition = make("td", "", line);
      {
        const input = make("input", "", condition);
        input.value = input.defaultValue = row.condition;
        input.size = Math.min(40, Math.max(12, row.condition.length));
        input.placeholder = row.field === "when" ? "no condition" : "";
        const what = row.field === "when" ? "Condition" : "Line";
        input.setAttribute("aria-label", `${what} of breakpoint ${row.number}; press Enter to change it`);
        input.addEventListener("keydown", (event) => {
          if (event.key === "Enter") {
            input.defaultValue = input.value; // it is told: what comes back is shown
            send("edit", { number: row.number, text: input.value });
          }
          if (event.key === "Escape") input.value = input.defaultValue = row.condition;
        });
        if (row.also) make("span", "workbench-flow-dim", condition, row.also);
      }
      make("td", "workbench-flow-number", line, String(row.hits)).dataset.unit = row.hits === 1 ? "hit" : "hits";
      const tools = make("td", "workbench-flow-tools", line);
      makeButton("Recheck", `Find the places so far where breakpoint ${row.number} applies, without running again`, tools, () =>
        send("recheck", { number: row.number }),
      );
      makeButton("\u2715", `Remove breakpoint ${row.number}`, tools, () => send("remove", { number: row.number }));
      if (!row.recheck) return;
      const found = make("td", "", make("tr", "", body));
      found.colSpan = 6;
      const times = row.recheck.count === "1" ? "once" : `${row.recheck.count} times`;
      make("span", "workbench-flow-dim", found, `would have ${row.kind === "log" ? "logged" : "stopped"} ${times} `);
      row.recheck.tags.forEach((tag, hit) => {
        makeButton(tag.text, `Look at ${tag.text}`, found, () => send("look", { number: row.number, hit }));
      });
      if (row.recheck.more) make("span", "workbench-flow-dim", found, ` and ${row.recheck.more} more`);
    }

    const names = () => offerNames(model.get("names"));
    names();

    let shown = "";
    let logged = "";
    const show = (status) => {
      form.style.display = advice.style.display = status.live ? "" : "none";
      const rows = status.rows ?? [];
      wide.style.display = rows.length ? "" : "none";
      empty.textContent = rows.length ? "" : status.live ? "No breakpoints yet." : "A recorded run has no breakpoints.";
      complain(problem, status.error);
      answered(status);
      if (!where.value && status.selected && focusAround(where) !== where) where.value = status.selected;
      const state = JSON.stringify(rows);
      if (state !== shown) {
        shown = state;
        redraw(body, () => rows.forEach(draw));
      }
      advised.replaceChildren();
      (status.recommended ?? []).forEach((item, number) => {
        const line = make("li", "", advised);
        makeButton("Add", `Add: ${item.text}`, line, () => send("take", { number }));
        make("code", "", line, item.text);
        make("span", "workbench-flow-dim", line, item.why);
      });
      if (status.asked && !(status.recommended ?? []).length) make("li", "", advised, "No more recommendations.");
      log.style.display = status.log?.length ? "" : "none";
      logTitle.textContent = `Log (${status.logged ?? 0} line${status.logged === 1 ? "" : "s"})`;
      const written = JSON.stringify(status.log ?? []);
      if (written !== logged) {
        logged = written;
        lines.replaceChildren();
        (status.log ?? []).forEach((entry, number) => {
          makeButton(entry.text, `Look at ${entry.node}: ${entry.text}`, make("li", "", lines), () => send("line", { number }));
        });
        lines.scrollTop = lines.scrollHeight;
      }
      ignored.replaceChildren();
      for (const rule of status.ignored ?? []) {
        const line = make("li", "", ignored);
        make("span", "", line, rule.text);
        makeButton("\u2715", `Remove the rule: ${rule.text}`, line, () => send("remove", { number: rule.number }));
      }
    };
    return follow(model, el, show, listen(model, "change:names", names));
  },
};
