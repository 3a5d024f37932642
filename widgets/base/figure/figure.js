// One figure, behind comm.js, imported.js and figure_data.js: plotly.js from the shared bundle model (once a page) draws what
// the kernel sends. Each update has a number. A view draws an update that follows on what it shows, and the whole figure
// otherwise; a page that has missed an update asks the kernel for the whole figure. Nothing is requested from any server.

async function gunzip(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}

// plotly.js hands itself to the CommonJS module that it finds, and sets the page's Plotly as well, which may be another one.
async function importPlotly(code) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const module = await imported(`const module = { exports: {} };\n${code}\nexport default module.exports;`);
  if (before) Object.defineProperty(globalThis, "Plotly", before);
  else delete globalThis.Plotly;
  return module.default;
}

async function plotly(model) {
  const bundle = await model.widget_manager.get_model(model.get("_bundle_id"));
  const cache = (globalThis.__workbenchPlotly ??= {});
  const version = bundle.get("version");
  cache[version] ??= gunzip(bundle.get("code")).then(importPlotly);
  const tools = (globalThis.__workbenchFigureTools ??= new Map());
  const code = bundle.get("tools");
  if (!tools.has(code)) tools.set(code, imported(code));
  return [await cache[version], await tools.get(code)];
}

function themed(model) {
  return model.get("_themes")[document.body.dataset.jpThemeLight === "false" ? "dark" : "light"];
}

// The newest figure of the kernel that this page has, for all views of one model.
class Held {
  constructor(model) {
    const { figure, buffers } = model.get("_whole");
    this.model = model;
    this.whole(figure, buffers);
  }

  whole({ push, data, layout }, buffers) {
    this.push = push;
    this.data = unpack(data, buffers);
    this.layout = unpack(layout, buffers);
    this.changes = null;
  }

  // Takes in a message, once for all views; what follows on update `push - 1` is left in `changes`.
  hear(message, buffers) {
    if (message.push <= this.push) return;
    if (message.kind === "whole") return this.whole(message, buffers);
    if (message.kind !== "push") return;
    if (message.push > this.push + 1) {
      if (this.asked !== message.push) tell(this.model, { kind: "lost", push: this.push });
      this.asked = message.push;
      return;
    }
    const traces = message.traces.map(([k, properties]) => [k, unpack(properties, buffers)]);
    const layout = unpack(message.layout, buffers);
    for (const [k, properties] of traces) {
      for (const [name, value] of Object.entries(properties)) put(this.data[k], name, value);
    }
    for (const [name, value] of Object.entries(layout)) put(this.layout, name, value);
    this.push = message.push;
    this.changes = { traces, layout };
  }
}

// Properties of several traces as plotly.js takes them: a list for each name, with nothing for traces that keep theirs.
function restyled(traces, tokens) {
  const names = new Set(traces.flatMap(([, properties]) => Object.keys(properties)));
  return Object.fromEntries(
    [...names].map((name) => [name, traces.map(([, properties]) => dressed(properties[name], tokens, name))]),
  );
}

// What people have zoomed into stays when a figure is drawn anew: the kernel leaves the range to the browser, and in the
// browser it is no longer automatic.
function keepRanges(layout, shown) {
  for (const axis of ["xaxis", "yaxis"]) {
    if (layout[axis]?.autorange !== true || shown?.[axis]?.autorange !== false) continue;
    Object.assign(layout[axis], { autorange: false, range: [...shown[axis].range] });
  }
}

// An axis that was reversed, for an image, stays so in plotly.js when its range is found automatically again.
function ascending(layout, shown) {
  for (const axis of ["xaxis", "yaxis"]) {
    const range = shown?.[axis]?.range;
    if (layout[`${axis}.autorange`] === true && range?.[0] > range?.[1]) layout[`${axis}.range`] = [range[1], range[0]];
  }
  return layout;
}

// Properties of a layout by their dotted names.
function dressedUpdate(layout, tokens) {
  return Object.fromEntries(Object.entries(layout).map(([name, value]) => [name, dressed(value, tokens, name)]));
}

class View {
  constructor([Plotly, tools], model, held, el) {
    Object.assign(this, { Plotly, model, held, el, width: 0, height: 0, at: -1, heard: held.push, gone: false });
    this.drawing = Promise.resolve();
    this.tools = tools.default(this);
  }

  tell(message) {
    tell(this.model, message);
  }

  tokens() {
    return themed(this.model).tokens ?? {};
  }

  // One drawing after the other: plotly.js may finish later than it returns.
  queue(draw) {
    this.drawing = this.drawing.then(() => this.gone || draw()).catch((error) => this.gone || console.error(error));
    return this.drawing;
  }

  async drawWhole() {
    const { held, el } = this;
    const layout = { ...dressed(held.layout, this.tokens()), template: { layout: themed(this.model).layout } };
    // The width is always given: plotly.js ends automatic sizing for good as soon as an update names a height.
    layout.width = this.width = el.clientWidth || this.width || 640;
    layout.height = this.height = this.filled() ?? layout.height;
    keepRanges(layout, el.layout);
    this.tools.whole(layout);
    this.at = held.push;
    const config = { ...this.model.get("_config"), ...layout.meta?.config };
    await this.Plotly.react(el, dressed(held.data, this.tokens()), layout, config);
    await this.upright();
    this.tools.after();
  }

  // Larger is higher: an axis with a ratio to another one (a phase portrait) keeps the direction of an image before it.
  async upright() {
    const { range } = this.el._fullLayout?.yaxis ?? {};
    if (this.held.layout.yaxis?.autorange !== true || !(range?.[0] > range?.[1])) return;
    await this.Plotly.relayout(this.el, { "yaxis.range": [range[1], range[0]], "yaxis.autorange": true });
  }

  // The height that an area of a panel leaves for a figure with a least height (layout.meta); undefined for one that has the
  // height which the kernel gave it.
  filled() {
    const least = this.tools.least(this.el.clientWidth);
    const area = least && this.el.closest(".workbench-area");
    if (!area) return undefined;
    if (!area.clientHeight) return this.height; // not in sight
    return Math.max(least, roomIn(area, this.el));
  }

  async drawPush(push, { traces, layout }) {
    if (push <= this.at) return;
    if (push !== this.at + 1) return this.drawWhole();
    this.at = push;
    const update = this.tools.filtered(ascending(dressedUpdate(layout, this.tokens()), this.el._fullLayout));
    if (this.filled()) delete update.height;
    // a picture whose axes have one scale is stretched by plotly.js when its height changes, and stays so
    else if (update.height) Object.assign(update, dressed(this.held.layout.meta?.ranges ?? {}, {}));
    const numbers = traces.map(([k]) => k);
    await this.Plotly.update(this.el, restyled(traces, this.tokens()), update, numbers);
    await this.upright();
    this.tools.after();
  }

  // The message that has come is drawn; one frame later it is on the screen.
  hear() {
    const { push, changes } = this.held;
    if (push <= this.heard) return;
    this.heard = push;
    this.queue(() => (changes ? this.drawPush(push, changes) : this.at < push && this.drawWhole())).then(() => {
      this.room();
      requestAnimationFrame(() => setTimeout(() => tell(this.model, { kind: "ack", push }), 0));
    });
  }

  // The room that a figure takes: it may ask for a least width (layout.meta).
  room() {
    const { height, meta } = this.held.layout;
    this.el.style.minWidth = meta?.min_width ? `${meta.min_width}px` : "";
    const room = this.filled() ?? height;
    if (room) this.el.style.minHeight = `${room}px`;
  }

  // Follows the width of the container, and sets ranges again that the figure wants to keep then (layout.meta).
  fit() {
    this.room();
    const { clientWidth: width } = this.el;
    const height = this.filled() ?? this.held.layout.height;
    if (!width || (width === this.width && height === this.height)) return;
    Object.assign(this, { width, height });
    const ranges = dressed(this.held.layout.meta?.ranges ?? {}, {});
    this.queue(() => this.Plotly.update(this.el, {}, { width, height, ...ranges, ...this.tools.places(width, height) }).then(() => this.tools.after()));
  }

  recolour() {
    this.queue(() => this.drawWhole());
  }
}

// What people do with points.
function hearPoints(model, el, kind) {
  el.on(`plotly_${kind}`, ({ points: [point], event }) => {
    if (!point) return;
    const keys = ["alt", "ctrl", "meta", "shift"].filter((key) => event?.[`${key}Key`]);
    tell(model, { kind, trace: point.curveNumber, point: point.pointNumber, x: point.x, y: point.y, keys });
  });
}

// A box that people drag (layout.dragmode "select"); it is told once, and goes.
function hearBox(view, model, el) {
  el.on("plotly_selected", (selected) => {
    const { x, y } = selected?.range ?? {};
    if (!x || !y) return;
    tell(model, { kind: "box", x, y });
    view.queue(() => view.Plotly.relayout(el, { selections: [] }));
  });
}

// What people do to the range of the horizontal axis; updates of our own are no such event. plotly.js names the end that
// changed alone, and after a double click the range of the first drawing, which is the whole no longer; here the kernel hears
// all of the range, or null for the whole.
function hearRange(view, model, el) {
  let twice = false;
  el.on("plotly_doubleclick", () => {
    twice = true;
  });
  el.on("plotly_relayout", (changed) => {
    view.tools.heard(changed, twice);
    if (!Object.keys(changed).some((key) => key.startsWith("xaxis."))) {
      twice = false;
      return;
    }
    const { autorange, range } = el.layout.xaxis;
    tell(model, { kind: "range", range: twice || autorange ? null : [...range] });
    twice = false;
  });
}

// plotly.js may take longer than anywidget waits for a model to be initialised, so the drawing waits for it instead.
export default () => {
  let starting;
  let held;
  return {
    async render({ model, el }) {
      let made;
      try {
        made = await (starting ??= plotly(model));
      } catch {
        starting = undefined; // the kernel has gone, or the figure was closed meanwhile
        el.textContent = "This figure is not available without its kernel: run its cell, or open its file, again.";
        return;
      }
      held ??= new Held(model);
      return show(new View(made, model, held, el));
    },
  };
};

function show(view) {
  const { Plotly, model, held, el } = view;
  el.classList.add("workbench-figure");
  el.style.width = "100%";
  view.room();
  const onMessage = (message, buffers) => {
    if (message.kind === "refit") return view.tools.refit();
    held.hear(message, buffers);
    view.hear();
  };
  // a figure that is scrolled out of sight is refreshed rarely
  const sight = new IntersectionObserver((entries) => {
    tell(model, { kind: "sight", seen: entries.some((entry) => entry.isIntersecting) });
  });
  const resize = new ResizeObserver(() => view.fit());
  const theme = new MutationObserver(() => view.recolour());
  // The press that begins a drag is not a click, but plotly.js counts it as the first of a double click. It has no event and no
  // option for that: `doubleClickDelay` is fixed with the figure, and without double clicks people could not zoom out.
  const released = () => {
    if (el._dragged) el._mouseDownTime = 0;
  };
  window.addEventListener("pointerup", released, true);

  model.on("msg:custom", onMessage);
  view.queue(() => view.drawWhole()).then(() => {
    if (view.gone) return;
    for (const kind of model.get("_hears_hover") ? ["click", "hover"] : ["click"]) hearPoints(model, el, kind);
    hearRange(view, model, el);
    hearBox(view, model, el);
    resize.observe(el);
    const area = el.closest(".workbench-area");
    // what stands above and below a figure decides what is left for it
    for (const part of [area, ...(area?.children ?? []), ...(area ? el.parentElement.children : [])]) if (part && part !== el) resize.observe(part);
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    sight.observe(el);
    tell(model, { kind: "view", push: view.at });
  });
  return () => {
    view.gone = true;
    model.off("msg:custom", onMessage);
    window.removeEventListener("pointerup", released, true);
    view.tools.close();
    for (const observer of [sight, resize, theme]) observer.disconnect();
    Plotly.purge(el);
    tell(model, { kind: "gone" });
  };
}
