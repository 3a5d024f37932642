// Progress of a trace that goes to disk. The bar is a native progress element, so that assistive software knows it; state
// is told in words and by the bar's pattern, never by colour alone.

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-bar workbench-spill", el), "group", "Trace on disk");
    box.tabIndex = 0;
    const word = make("b", "workbench-spill-word", box);
    const bar = make("progress", "workbench-spill-bar", box);
    bar.max = 100;
    const used = make("span", "workbench-spill-used", box);
    const rows = make("span", "workbench-spill-rows", box);
    const rate = make("span", "workbench-spill-rate", box);
    const error = aria(make("div", "workbench-spill-error", box), "alert");

    return follow(model, el, (now) => {
      box.dataset.state = now.state ?? "";
      word.textContent = now.word ?? "";
      const known = typeof now.percent === "number";
      bar.style.display = known ? "" : "none";
      if (known) bar.value = now.percent;
      bar.setAttribute("aria-label", now.spoken ?? "");
      bar.title = now.spoken ?? "";
      used.textContent = known ? `${now.used} (${now.percent} %)` : now.used ?? "";
      rows.textContent = now.rows ?? "";
      rate.textContent = now.rate ?? "";
      complain(error, now.error);
      error.style.display = now.error ? "" : "none";
    });
  },
};
