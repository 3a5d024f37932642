// The verdict about a loop. Each section is built anew only when what it says has changed, so that a button keeps the
// focus while numbers beside it move. All names are set as text.

function section(box, tag, className, build) {
  const element = make(tag, className, box);
  let shown;
  return (value) => {
    const key = JSON.stringify(value);
    if (key === shown) return;
    shown = key;
    const at = [...element.querySelectorAll("button")].indexOf(focusAround(element));
    element.replaceChildren();
    build(element, value);
    if (at >= 0) element.querySelectorAll("button")[at]?.focus();
  };
}

export default {
  render({ model, el }) {
    const box = aria(make("section", "workbench-verdict", el), "", "Will the loop end, and when");
    const act = (name, value) => tell(model, { kind: "act", name, value });
    box.addEventListener("keydown", (event) => {
      if (event.target.tagName === "BUTTON" && ["Enter", " "].includes(event.key)) event.stopPropagation();
    });

    const head = section(box, "div", "workbench-verdict-head", (place, now) => {
      const sign = make("span", "workbench-verdict-sign", place, now.sign);
      sign.setAttribute("aria-hidden", "true");
      make("b", "", place, now.headline);
      if (now.badge) make("span", "workbench-verdict-badge", place, now.badge);
      if (now.moment) make("span", "workbench-verdict-moment", place, now.moment);
    });
    box.firstElementChild.setAttribute("role", "status");
    const reason = section(box, "p", "workbench-verdict-reason", (place, text) => {
      place.textContent = text;
    });
    const clauses = section(box, "div", "workbench-verdict-clauses", (place, rows) => {
      if (!rows.length) return;
      const table = aria(make("table", "", place), "", "Clauses of the condition");
      const titles = make("tr", "", make("thead", "", table));
      const trend = rows.some((row) => row.trend) ? ["trend"] : []; // a loop that has ended has none
      for (const title of ["clause", "now", "is", "gap", ...trend, ""]) {
        make("th", "", titles, title).scope = "col";
      }
      const body = make("tbody", "", table);
      rows.forEach((row, k) => {
        const line = make("tr", row.blocks ? "workbench-verdict-blocks" : "", body);
        makeButton(row.text, `Select the clause ${row.text}`, make("td", "", line), () => act("clause", k)).className =
          "workbench-link";
        for (const text of [row.now, row.state, row.gap, ...trend.map(() => row.trend)]) make("td", "", line, text);
        make("td", "", line, row.word ? `\u25c0 ${row.word}` : "");
      });
    });
    const facts = section(box, "dl", "workbench-verdict-facts", (place, [rows, root, bad, tone]) => {
      for (const [label, text] of rows) {
        make("dt", "", place, label);
        make("dd", "", place, text);
      }
      if (root.length) {
        make("dt", "", place, tone === "never" ? "Cause" : "Decided by");
        const names = make("dd", "", place);
        root.forEach((name, k) => {
          makeButton(name, `Select ${name}`, names, () => act("root", k)).className = "workbench-link";
        });
      }
      if (bad) {
        make("dt", "", place, "First bad iteration");
        makeButton(bad, `Look at ${bad}`, make("dd", "", place), () => act("moment", 0)).className = "workbench-link";
      }
    });
    const claims = section(box, "ol", "workbench-verdict-claims", (place, rows) => {
      place.setAttribute("aria-label", "What is known, and how it was checked");
      for (const { text, how, card } of rows) {
        const item = make("li", "", place);
        make("div", card < 0 ? "" : "workbench-verdict-card-says", item, text);
        if (how) make("div", "workbench-verdict-how", item, `checked: ${how}`);
      }
    });
    const fixes = section(box, "ul", "workbench-verdict-fixes", (place, rows) => {
      place.setAttribute("aria-label", "Suggested fixes");
      rows.forEach((row) => {
        const k = row.number;
        const item = make("li", "", place);
        make("span", "", item, `To fix it: ${row.sentence} `);
        if (row.applies) {
          const trying = row.state === "trying";
          const button = makeButton(
            trying ? "Trying \u2026" : "Try beside",
            `Try this fix in a copy of the session, which is drawn beside this run: ${row.sentence}`,
            item,
            () => act("try", k),
          );
          button.disabled = trying;
          button.className = "workbench-try";
        }
        if (row.result) {
          const result = make("div", "workbench-try-result", item, row.result);
          result.dataset.state = row.state;
          result.setAttribute("role", "status");
        }
        if (row.copy) {
          const acts = make("div", "workbench-try-copy", item);
          makeButton("Open the copy", "Show the fixed copy in another panel, below this one", acts, () => act("open", k));
          makeButton("Use this fix here", "Show the fixed copy in place of this run", acts, () => act("use", k));
          makeButton("Discard the copy", "Close the copy; this run stays as it is", acts, () => act("discard", k));
        }
      });
    });
    const error = section(box, "div", "workbench-control-error", (place, text) => {
      place.textContent = text ? `\u26a0 ${text}` : "";
    });

    return follow(model, el, (now) => {
      const rows = now.clauses ?? [];
      box.dataset.tone = now.tone ?? "unknown";
      box.dataset.part = now.part ?? "all";
      head({ sign: now.sign, headline: now.headline, badge: now.badge, moment: now.moment });
      // in a panel the card says it
      reason(now.part === "all" || (now.part === "clauses" && !rows.length) ? (now.reason ?? "") : "");
      clauses(now.part === "why" ? [] : rows);
      const why = now.part !== "clauses";
      const left = now.part === "why" ? ["Iterations left"] : []; // the title of the card says it
      facts([why ? (now.facts ?? []).filter(([label]) => !left.includes(label)) : [], why ? (now.root ?? []) : [], (why && now.bad) || "", now.tone ?? "unknown"]);
      claims(why ? (now.claims ?? []) : []);
      fixes(why ? (now.fixes ?? []) : []);
      error(now.error ?? "");
    });
  },
};
