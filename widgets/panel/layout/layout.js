// The layout of a panel: as high as the page shows, in one, two or three columns by its width in its own letters, with
// dividers. Sizes, the size of the text and what was chosen are kept for the person, in the browser.

const LEAST_EM = 44; // height of a panel in a low window
const SCALES = [1, 1.15, 1.3, 1.54];
const PRESENTING = 1.54; // 20 pixels for 13
// what scrolls around a cell in JupyterLab, in a view of its output, and in Notebook 7
const PAGES = ".jp-WindowedPanel-outer, .jp-LinkedOutputView, .jp-Notebook, .jp-NotebookPanel-notebook";
const COLUMNS = {
  two: { loop: [40, 60], plain: [45, 55] },
  three: { loop: [29.5, 41.5, 29], field: [24, 37, 39], plain: [26, 49, 25] },
  wide: { loop: [29, 43, 28], field: [24, 38, 38], plain: [36, 40, 24] },
};
const GRAPH_MOST = { loop: 42, field: 32 }; // percent
const ROWS = { middle: [80, 20], right: [52, 48], field: [68, 32], two: [55, 45] };

// what is presented has two columns at most: the graph, and a strip above a large number
const modeOf = (em) => (em < 58 ? "one" : em < 82 ? "two" : em < 125 ? "three" : "wide");

class PanelLayout {
  constructor(root, status, tell) {
    Object.assign(this, { root, tell });
    this.caption = aria(make("div", "workbench-caption"), "status");
    root.prepend(this.caption);
    this.ends = [() => this.caption.remove()];
    this.body = root.querySelector(":scope > .workbench-body");
    this.column = (name) => this.body.querySelector(`:scope > .workbench-column-${name}`);
    this.area = (key) => this.body.querySelector(`.workbench-area-${key}`);
    this.kind = status.loop ? "loop" : "plain";
    this.field = Boolean(status.loop && status.field); // the value is an image, which wants room
    this.graph = status.graph_width;
    this.store = remembered();
    this.presenting = false;
    this.tool = "";
    this.maximised = "";
    this.mode = "";
    root.dataset.loop = String(status.loop);
    for (const [key, title] of AREAS) this.head(key, title);
    this.divide();
    this.watch();
    this.fit();
  }

  get scale() {
    return this.presenting ? PRESENTING : SCALES.includes(this.store.scale) ? this.store.scale : 1;
  }

  // The line above an area. It stands last in the page's order, where it moves no place of JupyterLab's own, and is shown first.
  head(key, title) {
    const area = this.area(key);
    if (!area) return;
    const head = make("div", "workbench-area-head", area);
    aria(make("span", "workbench-area-title", head, title), "heading").setAttribute("aria-level", "3");
    const slot = make("div", "workbench-area-slot", head);
    slot.append(...area.querySelectorAll(".workbench-headline")); // of views that were there before; others come by themselves
    makeMaximise(key, title, head, () => this.maximise(key));
    this.ends.push(() => {
      for (const line of [...slot.children]) line.workbenchHome?.prepend(line);
      head.remove();
    });
  }

  maximise(key) {
    this.maximised = this.maximised === key ? "" : key;
    this.arrange();
  }

  // One divider for each pair of tracks of each layout; the style sheet shows those of the present one.
  divide() {
    const scale = () => this.scale;
    const add = (name, grid, axis, track, least) => {
      if (!grid) return;
      const bar = divider(grid, axis, track, least, scale, (sizes) => this.sized(name, sizes));
      bar.dataset.divider = name;
      this.ends.push(() => bar.remove());
    };
    add("columns", this.body, "columns", 1, 220);
    add("columns", this.body, "columns", 3, 220);
    this.body.lastElementChild.dataset.second = "true";
    add("two", this.body, "rows", 1, 120);
    add("middle", this.column("middle"), "rows", 1, 90);
    add("right", this.column("right"), "rows", 1, 90);
  }

  name(name) {
    const kind = this.field && COLUMNS[this.mode]?.field ? "field" : this.kind;
    if (name === "right" && kind === "field") return kind;
    return name === "columns" ? `${this.mode}-${kind}` : name;
  }

  sized(name, sizes) {
    const tracks = { ...this.store.tracks };
    if (sizes) tracks[this.name(name)] = sizes;
    else delete tracks[this.name(name)];
    this.store.tracks = tracks;
    remember({ tracks });
    this.arrange();
  }

  // Shares of the columns; a graph that needs more than its share gets some of the others'.
  get columns() {
    const kind = this.field && COLUMNS[this.mode].field ? "field" : this.kind;
    const shares = COLUMNS[this.mode][kind];
    if (kind === "plain" || this.mode === "two") return shares;
    const left = Math.max(shares[0], Math.min(GRAPH_MOST[kind], (100 * this.graph) / this.width));
    return [left, ...shares.slice(1).map((share) => (share * (100 - left)) / (100 - shares[0]))];
  }

  tracks(name, shares) {
    const told = this.store.tracks?.[this.name(name)];
    const plain = shares.flatMap((share, k) => (k ? [0, share] : [share]));
    return typeof told === "string" && /^[\w\s.,()]+$/.test(told) ? told : template(plain);
  }

  // Mode, sizes and what is in sight.
  arrange() {
    const { root, body, mode } = this;
    root.dataset.mode = mode;
    root.dataset.maximised = this.maximised;
    const alone = mode === "one" || this.maximised;
    const rows = { middle: this.column("middle"), right: this.column("right") };
    for (const [name, column] of Object.entries(rows)) {
      const whole = alone || mode === "two" || (name === "middle" && this.kind === "plain");
      column.style.gridTemplateRows = whole ? "" : this.tracks(name, ROWS[this.name(name)]);
    }
    body.style.gridTemplateColumns = alone ? "minmax(0, 1fr)" : this.tracks("columns", this.columns);
    body.style.gridTemplateRows = mode === "two" && !alone ? this.tracks("two", ROWS.two) : "minmax(0, 1fr)";
    this.select(this.tool);
    for (const button of root.querySelectorAll("[data-maximise]")) {
      const open = this.maximised === button.dataset.maximise;
      button.setAttribute("aria-pressed", String(open));
      button.lastElementChild.textContent = open ? "Restore" : "Maximise";
    }
  }

  // Areas that are tabs in this layout.
  get tabbed() {
    const all = this.kind === "loop" ? ["graph", "iterations", "value", "ending"] : ["graph", "nodes", "value"];
    if (this.mode === "one") return all;
    return this.mode === "two" ? all.filter((key) => key !== "graph" && key !== "iterations") : [];
  }

  // Shows one tab: of the tools, or an area where the layout has it among them.
  select(key) {
    const tabbed = this.tabbed;
    const tools = [...this.body.querySelectorAll(".workbench-tool")];
    const known = (k) => tabbed.includes(k) || tools.some((tool) => tool.classList.contains(`workbench-tool-${k}`));
    this.tool = key;
    const wanted = this.presenting ? "value" : key;
    const shown = known(wanted) ? wanted : (tabbed[0] ?? this.root.dataset.newest ?? "");
    const { maximised } = this;
    for (const area of AREAS.map(([key]) => key)) {
      const element = this.area(area);
      const absent = this.kind === "plain" && (area === "iterations" || area === "ending"); // the nodes stand there
      const off = absent || (maximised ? maximised !== area : tabbed.includes(area) && shown !== area);
      element?.classList.toggle("workbench-off", off);
    }
    for (const tool of tools) {
      const here = tool.classList.contains(`workbench-tool-${shown}`);
      tool.classList.toggle("workbench-off", !here || Boolean(maximised && maximised !== "tools"));
    }
    this.root.dataset.tool = shown;
    this.root.dispatchEvent(new CustomEvent("workbench-shown"));
  }

  fit() {
    const { root, scale } = this;
    const outside = root.parentElement;
    if (!outside?.clientWidth) return;
    const page = root.getRootNode().fullscreenElement ?? outside.closest(PAGES);
    const room = (page?.clientHeight || window.innerHeight) - (this.presenting ? 0 : this.around(page));
    const em = Number.parseFloat(getComputedStyle(root).fontSize) || 13;
    const width = outside.clientWidth / scale;
    const least = this.presenting ? 0 : Math.min(LEAST_EM * em, 1.4 * room); // nothing scrolls around what is presented
    const height = Math.max(room / scale, least);
    const style = { width: `${width}px`, height: `${height}px`, transform: scale === 1 ? "" : `scale(${scale})` };
    style.marginBottom = scale === 1 ? "" : `${height * (scale - 1)}px`;
    Object.assign(root.style, style);
    const found = modeOf(width / em);
    const mode = this.presenting && found !== "one" ? "two" : found;
    this.width = width;
    if (mode === this.mode) return;
    this.mode = mode;
    this.arrange();
  }

  // Pixels of the page above and below the panel: its padding, and a note that stands above.
  around(page) {
    const { paddingTop, paddingBottom } = page ? getComputedStyle(page) : {};
    const note = this.root.parentElement.querySelector(":scope > :has(> .widget-html-content > .workbench-note), :scope > :has(> .workbench-note)");
    const padding = (Number.parseFloat(paddingTop) || 0) + (Number.parseFloat(paddingBottom) || 0);
    return Math.max(12, padding + 4) + (note?.offsetHeight ?? 0);
  }

  larger() {
    const at = SCALES.indexOf(this.scale);
    this.store.scale = SCALES[(at + 1) % SCALES.length];
    remember({ scale: this.store.scale });
    this.fit();
  }

  // The content grows, and what it is set with goes.
  presents(on) {
    if (on === this.presenting) return;
    this.presenting = on;
    this.root.dataset.presenting = String(on);
    this.tell({ kind: "presenting", value: on });
    this.maximised = "";
    this.mode = "";
    this.fit();
    const picture = on ? "fit" : "start";
    setTimeout(() => this.area("graph")?.dispatchEvent(new CustomEvent("workbench-picture", { detail: picture })), 300);
  }

  // The words of the bookmark that is looked at, in a line above all.
  mark({ words = "", at = 0, count = 0 } = {}) {
    this.caption.textContent = words;
    this.caption.dataset.count = count ? `${at} of ${count}` : "";
    this.caption.hidden = !words;
  }

  async present() {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await this.root.parentElement.requestFullscreen();
  }

  watch() {
    const { root } = this;
    const on = (target, event, callback) => {
      target.addEventListener(event, callback);
      this.ends.push(() => target.removeEventListener(event, callback));
    };
    on(root, "workbench-tool", (event) => this.select(event.detail));
    on(root, "workbench-maximise", (event) => this.maximise(event.detail));
    on(root, "workbench-larger", () => this.larger());
    on(root, "workbench-present", () => this.present().catch(() => {}));
    on(document, "keydown", (event) => {
      if (!["PageDown", "PageUp"].includes(event.key) || !this.presenting) return;
      taken(event);
      this.tell({ kind: "turn", by: event.key === "PageDown" ? 1 : -1 });
    });
    on(root, "workbench-mark", () => this.tell({ kind: "mark" }));
    on(root, "keydown", (event) => {
      if (event.key !== "Escape" || !this.maximised) return;
      taken(event);
      this.maximise(this.maximised);
    });
    on(document, "fullscreenchange", () => {
      this.presents(root.getRootNode().fullscreenElement?.contains(root) ?? false);
    });
    const resized = new ResizeObserver(() => this.fit());
    resized.observe(root.parentElement);
    const page = root.parentElement.closest(PAGES);
    if (page) resized.observe(page);
    // JupyterLab adds the views of a pane when they are made
    const grown = new MutationObserver(() => this.select(this.tool));
    const tools = this.body.querySelector(".workbench-panes");
    if (tools) grown.observe(tools, { childList: true });
    this.ends.push(() => resized.disconnect(), () => grown.disconnect());
  }

  end() {
    for (const end of this.ends) end();
  }
}

export default {
  render({ model, el }) {
    let layout = null;
    let waiting = 0;
    // the parts of the panel are on the page some time after this one
    const begin = () => {
      const root = el.closest(".workbench-debugger");
      if (root?.parentElement && root.querySelectorAll(".workbench-column").length === 3 && root.querySelector(".workbench-area-value")) {
        layout = new PanelLayout(root, model.get("status"), (message) => tell(model, message));
        layout.mark(model.get("status").mark);
        if (model.get("status").reveal) {
          (root.previousElementSibling ?? root).scrollIntoView({ block: "start" });
          tell(model, { kind: "revealed" });
        }
      } else {
        waiting = requestAnimationFrame(begin);
      }
    };
    begin();
    const told = listen(model, "change:status", () => layout?.mark(model.get("status").mark));
    return () => {
      told();
      cancelAnimationFrame(waiting);
      layout?.end();
    };
  },
};
