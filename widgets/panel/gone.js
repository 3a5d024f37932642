// A panel whose kernel has gone: one line says so, the buttons are off, and the last picture stays, pale.

const GONE = ["restarting", "autorestarting", "terminating", "dead"];

// Watches the kernel of a model for as long as its view is on the page; gives the function that ends it.
function mournWithoutKernel(model, homeOf) {
  const ends = [];
  let over = false;
  const gone = () => {
    const home = homeOf();
    if (over || !home?.isConnected || home.classList.contains("workbench-gone")) return;
    home.classList.add("workbench-gone");
    const words = make("div", "workbench-gone-words");
    const again = home.closest(".workbench-document") ? "Open its file again." : "Run its cell again."; // a tab of a file has no cell
    aria(words, "alert").textContent = `The kernel of this panel is gone. ${again}`;
    home.before(words);
    for (const part of home.querySelectorAll("button, input, select, textarea")) part.disabled = true;
    home.inert = true;
  };
  const hear = (signal, slot) => {
    signal?.connect?.(slot);
    ends.push(() => signal?.disconnect?.(slot));
  };
  const kernel = model.widget_manager?.kernel;
  hear(kernel?.statusChanged, (_kernel, status) => GONE.includes(status) && gone());
  hear(kernel?.disposed, gone);
  const own = model.get("_own_id");
  if (own) {
    Promise.resolve(model.widget_manager?.get_model?.(own))
      .then((mine) => ends.push(listen(model, "comm_live_update", () => mine?.comm_live === false && gone())))
      .catch(() => {}); // another front end, which does not say it
  }
  return () => {
    over = true;
    for (const end of ends) end();
  };
}
