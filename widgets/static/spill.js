// Progress of a trace that goes to disk. The bar is a native progress element, so that assistive software knows it; state
// is told in words and by the bar's pattern, never by colour alone.

export default {
  render({ model, el }) {
    const box = make("div", "workbench-spill", el);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Trace on disk");
    box.tabIndex = 0;
    const word = make("b", "workbench-spill-word", box);
    const bar = make("progress", "workbench-spill-bar", box);
    bar.max = 100;
    const used = make("span", "workbench-spill-used", box);
    const rows = make("span", "workbench-spill-rows", box);
    const rate = make("span", "workbench-spill-rate", box);
    const error = make("div", "workbench-spill-error", box);
    error.setAttribute("role", "alert");

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
      const text = now.error ? `\u2716 ${now.error}` : "";
      if (error.textContent !== text) error.textContent = text;
      error.style.display = text ? "" : "none";
    });
  },
};
