// The page of a panel: draws each picture, and draws it again where the slider stands. The data are figures of the newest
// state and, for each moment, what differs from it, with dotted names.

(() => {
  const data = JSON.parse(document.getElementById("workbench-data").textContent);
  const main = document.querySelector("main");
  const query = matchMedia("(prefers-color-scheme: dark)");
  const last = data.moments.length - 1;
  let at = last;
  let timer = null;

  const dark = () => (data.theme === "auto" ? query.matches : data.theme === "dark");

  // sets a.b.c of a copy; null takes it away
  function put(tree, name, value) {
    const keys = name.split(".");
    let place = tree;
    for (const key of keys.slice(0, -1)) {
      if (Object.hasOwn(Object.prototype, key)) return;
      place = place[key] = { ...(place[key] ?? {}) };
    }
    if (value === null) delete place[keys.at(-1)];
    else place[keys.at(-1)] = value;
  }

  function figureAt(picture) {
    const moment = picture.moments[at] ?? {};
    const spec = moment.all ?? picture.spec;
    const traces = spec.data.map((trace, k) => {
      const copy = { ...trace };
      for (const [name, value] of Object.entries(moment.traces?.[k] ?? {})) put(copy, name, value);
      return copy;
    });
    const layout = { ...spec.layout };
    for (const [name, value] of Object.entries(moment.layout ?? {})) put(layout, name, value);
    return { traces, layout };
  }

  // Titles are words of the page, which wrap; the figure is as high as what is left.
  const plain = (line) => new DOMParser().parseFromString(line, "text/html").body.textContent;
  const filled = (data) => Boolean(data && (data.length || data.bdata?.length || data.values?.length));
  const empty = (trace) => !["x", "y", "z", "header", "cells"].some((key) => filled(trace[key]));

  function titled(picture, layout, traces) {
    const lines = (layout.title?.text ?? "").split("<br>").map(plain).filter(Boolean);
    picture.words.replaceChildren();
    for (const line of lines) make("div", "", picture.words, line);
    if (!lines.length) return layout;
    const before = layout.margin?.t ?? 30;
    const top = Math.max(24, before - 15 * lines.length);
    const height = traces.every(empty) ? 90 : (layout.height ?? 300) - before + top;
    return { ...layout, height, margin: { ...layout.margin, t: top }, title: { text: "" } };
  }

  function draw(picture) {
    const name = dark() ? "dark" : "light";
    const ink = data.themes[name].layout.font.color;
    const { traces, layout } = figureAt(picture);
    for (const trace of traces) {
      if (trace.type !== "table") continue; // tables know no templates
      for (const part of ["header", "cells"]) trace[part] = { ...trace[part], font: { ...trace[part]?.font, color: ink } };
    }
    const least = layout.meta?.min_width;
    picture.place.style.minWidth = least ? `${least}px` : "";
    const { width, ...rest } = dressed(titled(picture, layout, traces), data.tokens[name]);
    Plotly.react(
      picture.place,
      dressed(traces, data.tokens[name]),
      { ...rest, autosize: true, template: data.themes[name], paper_bgcolor: "rgba(0,0,0,0)" },
      data.config,
    );
  }

  function drawAll() {
    document.documentElement.style.setProperty("--page", data.pages[dark() ? "dark" : "light"]);
    document.documentElement.style.setProperty("--ink", data.themes[dark() ? "dark" : "light"].layout.font.color);
    document.documentElement.style.setProperty("--line", dark() ? "#6a6a6a" : "#b5b5b5");
    for (const picture of data.pictures) draw(picture);
  }

  for (const [name, lines] of Object.entries(data.told ?? {})) {
    const box = make("section", `workbench-page-${name}`, main);
    for (const line of lines) make("p", "", box, line);
  }

  if (last > 0) {
    const bar = make("div", "workbench-page-time", main);
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Time");
    const play = makeButton("\u25b6", "Play the iterations", bar, () => (timer ? halt() : start()));
    const before = makeButton("\u25c0 before", "Previous iteration", bar, () => go(at - 1));
    const range = make("input", "", bar);
    range.type = "range";
    range.min = 0;
    range.max = last;
    range.setAttribute("aria-label", "Iteration");
    const after = makeButton("after \u25b6", "Next iteration", bar, () => go(at + 1));
    const told = make("output", "", bar);

    const show = () => {
      range.value = at;
      told.textContent = data.moments[at];
      range.setAttribute("aria-valuetext", data.moments[at]);
      before.disabled = at === 0;
      after.disabled = at === last;
    };
    let waits = false;
    const go = (to) => {
      at = Math.max(0, Math.min(last, to));
      show();
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        drawAll();
      });
    };
    const halt = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "\u25b6";
    };
    const start = () => {
      if (at === last) go(0);
      play.textContent = "\u275a\u275a";
      timer = setInterval(() => (at < last ? go(at + 1) : halt()), 400);
    };
    range.addEventListener("input", () => {
      if (timer) halt();
      go(Number(range.value));
    });
    show();
  }
  for (const picture of data.pictures) {
    make("h2", "", main, picture.title);
    picture.words = make("div", "workbench-page-words", main);
    const frame = make("figure", "", main);
    frame.setAttribute("aria-label", picture.title);
    picture.place = make("div", "workbench-picture", frame);
  }
  query.addEventListener("change", drawAll);
  let shownWidth = main.clientWidth;
  addEventListener("resize", () => {
    if (main.clientWidth !== shownWidth) drawAll();
    shownWidth = main.clientWidth;
  });
  drawAll();
})();
