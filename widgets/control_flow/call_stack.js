// The open frames as a list of buttons, the outermost first. A click looks at that iteration.

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow", el), "region", "Call stack");
    const head = make("div", "workbench-flow-bar", box);
    const line = aria(make("span", "workbench-flow-line", head), "status");
    const now = makeButton("Back to newest", "Show the newest state again", head, () => tell(model, { kind: "now" }));
    const list = make("ol", "workbench-flow-stack", box);

    return follow(model, el, (status) => {
      line.textContent = status.headline ?? "";
      now.style.display = status.looking ? "" : "none";
      const focused = [...list.querySelectorAll("button")].indexOf(focusAround(list));
      list.replaceChildren();
      (status.rows ?? []).forEach((row, number) => {
        const item = make("li", "", list);
        const tip = row.frame.length ? `Look at ${row.name}, ${row.where}` : "Look at the newest state";
        const button = makeButton("", `${tip}${row.node ? `, node ${row.node}` : ""}`, item, () =>
          tell(model, { kind: "look", row: number }),
        );
        if (row.inner) button.setAttribute("aria-current", "true");
        button.style.paddingLeft = `${8 + 14 * number}px`;
        makeMark(row.inner ? "\u25B6" : "\u2514", button);
        make("b", "", button, row.name);
        if (row.where) make("span", "", button, row.where);
        if (row.node) make("code", "", button, row.step).title = row.node;
        if (row.source) make("span", "workbench-flow-dim", button, row.source);
        if (row.expression) make("code", "workbench-flow-dim", button, row.expression);
      });
      list.querySelectorAll("button")[focused]?.focus();
    });
  },
};
