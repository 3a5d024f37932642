// anywidget (0.10 and 0.11) gives a model two seconds to import its script. On a busy machine that may be too little: the
// model's view is drawn all the same, but anywidget passes on no message of the kernel to it any more, for good. Such a model
// takes its messages itself from then on, and asks for the state that it has missed.
async function hearLate(model) {
  const own = await model.widget_manager.get_model(model.get("_own_id"));
  if (!own._handle_comm_msg) return; // another front end than Jupyter's (marimo), which loses none
  const probe = { content: { data: { method: "none" } }, buffers: [] }; // what no model handles
  try {
    await own._handle_comm_msg(probe);
  } catch (error) {
    if (!String(error?.message).includes("Failed to initialize model")) throw error;
    const base = Object.getPrototypeOf(Object.getPrototypeOf(own)); // that of anywidget's own class
    own.comm.on_msg((message) => base._handle_comm_msg.call(own, message));
    // anywidget takes from its views the listener to these classes
    own.on("change:_dom_classes", () => {
      const views = Object.values(own.views ?? {});
      for (const view of views) view.then(({ el }) => el.classList.add(...own.get("_dom_classes")));
    });
    own.comm.send({ method: "request_state" }, own.callbacks());
  }
}
export { hearLate };
