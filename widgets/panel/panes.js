// The row of panes that can be opened. A click only tells the kernel, which makes or closes the view. It also clears up behind
// panes and panels that are closed, whether it is on the page or not.

// JupyterLab holds every comm for as long as it is connected to the kernel, and with it a closed model and the model's last
// view with all that was in it. A model that is about to be closed lets go of its comm.
const nothing = () => {}; // outside: a function made inside would hold the model
function release(manager, ids) {
  for (const id of ids.filter((one) => manager.has_model(one))) {
    manager.get_model(id).then((closing) => {
      closing.once("destroy", () => {
        closing.comm?.on_close(nothing);
        closing.comm?.on_msg(nothing);
      });
    });
  }
}

export default {
  initialize({ model }) {
    hearLate(model);
    return listen(model, "msg:custom", (message) => {
      if (message.kind === "closing") release(model.widget_manager, message.models);
    });
  },
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-pane-bar", el), "toolbar", "Panes");
    const buttons = new Map();
    const show = (status) => {
      for (const pane of status.panes ?? []) {
        if (!buttons.has(pane.key)) {
          const button = makeButton(pane.label, pane.tip, box, () => {
            button.dataset.waits = "true";
            tell(model, { kind: "pane", key: pane.key });
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
    };
    return follow(model, el, show);
  },
};
