// One figure, behind wire.js and imported.js: fetches plotly.js from the shared bundle model (once a page), then hands the
// work to plotly's own FigureModel and FigureView. It adds the container width, JupyterLab's theme and the acknowledgement
// of updates. Nothing is requested from any server.

async function unpack(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}

async function plotly(model) {
  const bundle = await model.widget_manager.get_model(model.get("_bundle_id"));
  const cache = (globalThis.__workbenchPlotly ??= {});
  const version = bundle.get("version");
  cache[version] ??= unpack(bundle.get("code")).then(imported);
  return await cache[version];
}

function dark() {
  return document.body.dataset.jpThemeLight === "false";
}

// The model as plotly's parts see it. The last updates of a figure may be carried out after its comm was closed, and people
// may zoom in a figure that the kernel has closed: both change the page alone.
function forgiving(model) {
  const twin = Object.create(model);
  twin.save_changes = () => {
    try {
      model.save_changes();
    } catch {
      // there is no comm any more
    }
  };
  return twin;
}

// A view of plotly's, not drawn yet. Its class is exported but its model's value readers are not, so the view is taken from
// plotly's own render; its event handlers go to this view's model, which anywidget cleans up with the view.
function makeView(module, inner, model, el) {
  const proto = module.FigureView.prototype;
  const draw = proto.perform_render;
  let view;
  proto.perform_render = function () {
    view = this;
  };
  try {
    inner.render({ model: forgiving(model), el });
  } finally {
    proto.perform_render = draw;
  }
  view.model = Object.create(view.model);
  view.listening = false;
  view.model.on = (name, callback) => view.listening || model.on(name, callback);
  return quiet(view);
}

// The update protocol of FigureWidget normally reports all default values back after each redraw. Nobody reads them
// here, and at 20 updates a second they would keep the kernel busy.
function quiet(view) {
  view._sendTraceDeltas = () => {};
  view._sendLayoutDelta = () => {};
  return view;
}

// Relayout in this browser only: the class exports no Plotly, so the view gets a message of our own through a stand-in model.
function relayout(view, data) {
  const twin = Object.create(view);
  const message = { relayout_data: { ...data }, source_view_id: null, layout_edit_id: 0 };
  twin.model = { get: (key) => (key === "_py2js_relayout" ? message : view.model.get(key)) };
  twin.do_relayout();
}

// What people do to the range of the horizontal axis. plotly's own message names the end that changed alone, and after a
// double click the range of the first drawing, which is the whole no longer; here the kernel hears all of the range, or null
// for the whole. plotly forgets who listens when it draws a figure anew.
function hearRange(model, el) {
  let twice = false;
  el.on("plotly_doubleclick", () => {
    twice = true;
  });
  el.on("plotly_relayout", (changed) => {
    if (changed._doNotReportToPy || !Object.keys(changed).some((key) => key.startsWith("xaxis."))) return;
    const { autorange, range } = el.layout.xaxis;
    tell(model, { kind: "range", range: twice || autorange ? null : [...range] });
    twice = false;
  });
}

// What people have zoomed into stays when a figure is drawn anew: the kernel leaves the range to the browser, and in the
// browser it is no longer automatic.
function keepRanges(layout, shown) {
  for (const axis of ["xaxis", "yaxis"]) {
    if (layout[axis]?.autorange !== true || shown[axis]?.autorange !== false) continue;
    Object.assign(layout[axis], { autorange: false, range: [...shown[axis].range] });
  }
}

// Plotly may take longer than anywidget waits for a model to be initialised, so the drawing waits for it instead.
export default () => {
  let starting;
  const start = async (model) => {
    const module = await plotly(model);
    const inner = module.default();
    inner.initialize({ model: forgiving(model) });
    return { module, inner };
  };
  return {
    async render({ model, el }) {
      let parts;
      try {
        parts = await (starting ??= start(model));
      } catch {
        starting = undefined; // the kernel has gone, or the figure was closed meanwhile
        el.textContent = "This figure needs its kernel: run the cell again.";
        return;
      }
      return draw({ model, el, ...parts });
    },
  };
};

function draw({ model, el, module, inner }) {
  el.classList.add("workbench-figure");
  el.style.width = "100%";
  const height = model.get("_widget_layout").height;
  if (height) el.style.minHeight = `${height}px`;
  const themes = model.get("_themes");
  // What this browser adds to the stored layout before the first drawing: its theme and its width. The width is always
  // given: plotly ends automatic sizing for good as soon as an update names a height.
  let width = el.clientWidth || 640;
  Object.assign(model.get("_widget_layout"), { template: themes[dark() ? "dark" : "light"], width });
  const view = makeView(module, inner, model, el);
  view.perform_render();
  view.listening = true;

  // A figure may ask for a least width, and for ranges to be set again when the width changes (layout.meta).
  const wish = () => (el.layout ?? model.get("_widget_layout")).meta ?? {};
  const room = () => {
    el.style.minWidth = wish().min_width ? `${wish().min_width}px` : "";
    const tall = el.layout?.height;
    if (tall) el.style.minHeight = `${tall}px`;
  };
  const fit = () => {
    room();
    if (!el._fullLayout || !el.clientWidth || el.clientWidth === width) return;
    width = el.clientWidth;
    model.get("_widget_layout").width = width;
    relayout(view, { width, ...(wish().ranges ?? {}) });
  };
  const resize = new ResizeObserver(fit);
  resize.observe(el);

  const theme = new MutationObserver(() => {
    const template = themes[dark() ? "dark" : "light"];
    model.get("_widget_layout").template = template;
    if (el._fullLayout) relayout(view, { template });
  });
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });

  // plotly draws inside the change events of the messages that precede this one; one frame later it is on the screen
  model.on("change:_push", () => {
    const push = model.get("_push");
    room();
    requestAnimationFrame(() => setTimeout(() => tell(model, { kind: "ack", push, traces: el.data?.length }), 0));
  });
  // An update may be lost between the kernel's message and a figure that is only being made: when the numbers of traces differ,
  // the kernel sends its whole state, and everything is drawn from that.
  const onMessage = (message) => {
    if (message?.kind !== "redraw") return;
    const layout = model.get("_widget_layout");
    Object.assign(layout, { template: themes[dark() ? "dark" : "light"], width });
    keepRanges(layout, el.layout ?? {});
    view.perform_render();
    hearRange(model, el);
    tell(model, { kind: "ack", push: model.get("_push"), traces: el.data?.length });
  };
  model.on("msg:custom", onMessage);
  // the press that begins a drag is no click, but plotly counts it as the first of a double click
  const released = () => {
    if (el._dragged) el._mouseDownTime = 0;
  };
  window.addEventListener("pointerup", released, true);
  // a figure that is scrolled out of sight is refreshed rarely
  const sight = new IntersectionObserver((entries) => {
    tell(model, { kind: "sight", seen: entries.some((entry) => entry.isIntersecting) });
  });
  let gone = false;
  const ready = () => {
    if (gone) return;
    if (!el._fullLayout) return setTimeout(ready, 20);
    fit();
    hearRange(model, el);
    tell(model, { kind: "view", traces: el.data.length });
    sight.observe(el);
  };
  ready();
  return () => {
    gone = true;
    model.off("msg:custom", onMessage);
    window.removeEventListener("pointerup", released, true);
    sight.disconnect();
    resize.disconnect();
    theme.disconnect();
    view.remove();
    tell(model, { kind: "gone" });
  };
}
