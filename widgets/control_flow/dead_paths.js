// The sides of each decision in words: dead or alive at the moment, why, and the nodes on them as buttons.

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow", el), "region", "Dead paths");
    const answer = aria(make("div", "workbench-flow-line", box), "status");
    const list = make("ul", "workbench-flow-paths", box);
    const help = make("details", "workbench-flow-fold", box);
    make("summary", "", help, "What is a dead token?");
    make(
      "div",
      "",
      help,
      "A Switch sends its token to only one of its two sides. A node that waits for the other side gets no token: it is " +
        "dead in this iteration and does not fire, and neither do the nodes behind it, up to a Merge, which takes " +
        "whichever token is alive.",
    );

    return follow(model, el, (status) => {
      const paths = status.paths ?? [];
      box.style.display = paths.length ? "" : "none";
      answer.textContent = status.answer ?? "";
      list.replaceChildren();
      for (const path of paths) {
        const item = make("li", "", list);
        item.dataset.dead = String(path.dead);
        const mark = path.dead === null ? "?" : path.dead ? "\u2716 dead" : "\u2714 alive";
        make("b", "", item, `${mark} `);
        make("span", "", item, `${path.name}: ${path.side} `);
        make("span", "workbench-flow-dim", item, path.counted);
        make("div", "", item, path.why);
        if (!path.dead) continue;
        const nodes = make("div", "workbench-flow-bar", item);
        for (const node of path.nodes) {
          makeButton(node, `Select ${node} in all views`, nodes, () => tell(model, { kind: "select", node }));
        }
        if (path.more) make("span", "workbench-flow-dim", nodes, `and ${path.more} more`);
      }
    });
  },
};
