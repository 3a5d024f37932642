// The row of panes that can be opened. A click only tells the kernel, which makes or closes the view.

export default {
  render({ model, el }) {
    const box = make("div", "workbench-flow workbench-pane-bar", el);
    box.setAttribute("role", "toolbar");
    box.setAttribute("aria-label", "Panes");
    const buttons = new Map();
    return follow(model, el, (status) => {
      for (const pane of status.panes ?? []) {
        if (!buttons.has(pane.key)) {
          const button = makeButton(pane.label, pane.tip, box, () => {
            button.dataset.waits = "true";
            model.send({ kind: "pane", key: pane.key });
          });
          button.dataset.pane = pane.key;
          buttons.set(pane.key, button);
        }
        const button = buttons.get(pane.key);
        delete button.dataset.waits;
        button.setAttribute("aria-pressed", String(pane.open));
        button.setAttribute("aria-expanded", String(pane.open));
        button.textContent = `${pane.open ? "\u25be" : "\u25b8"} ${pane.label}`;
      }
    });
  },
};
