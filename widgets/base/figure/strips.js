// What the browser adds to a figure, as its layout.meta asks for it: the heads of strips (name, value, a few words), one
// crosshair for all figures with the same link, the wheel on the iteration axis, and ticks at whole numbers. It travels once for
// all figures of a page, with plotly.js; strips.css (STYLE), numerals.js, ticks.js and wheel.js stand in front of it.

const MOVED = "workbench-crosshair";
const PLACED = "workbench-plot"; // where the iterations of strips stand: the time slider above them stands alike
// From this width on the heads stand at the left of the strips, in a column of their own; pixels of the column, of a head above a
// strip, and between strips.
const WIDE = 440;
const COLUMN = 132;
const HEAD = 22;
const BETWEEN = 12;
const LINE = 17;
let taken = null;

// Styles of a page do not reach into a shadow root, in which marimo draws.
const styled = new WeakSet();
function style(root) {
  if (styled.has(root)) return;
  styled.add(root);
  (root.head ?? root).append(Object.assign(document.createElement("style"), { textContent: STYLE }));
}
style(document);

function make(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}

// Texts of a figure are escaped (spec.py); here they are set as text.
function plain(text) {
  return text.includes("&") ? new DOMParser().parseFromString(text, "text/html").documentElement.textContent : text;
}

function put(node, escaped) {
  const text = plain(escaped);
  if (node.textContent !== text) node.textContent = text;
}

// The place of a number in ascending numbers, or of the nearest one.
function nearest(x, at) {
  let [low, high] = [0, x.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - x[low - 1] < x[low] - at ? low - 1 : low;
}

export default function strips(view) {
  const { el } = view;
  const scaled = new Set(); // vertical axes that people have scaled
  let shape = "";
  let at = null; // the iteration under the pointer
  let aside = false; // the heads stand at the left
  let box;
  let rows = [];
  let line;
  const meta = () => view.held.layout.meta ?? {};
  const axes = () => Object.keys(view.held.layout).filter((name) => /^[xy]axis\d*$/.test(name));
  const zoomed = () => scaled.size > 0 || (view.held.layout.xaxis?.autorange === true && el._fullLayout.xaxis.autorange === false);

  // -- axes
  // The places of the strips in a figure of this size, as properties of its layout: the heads take the same pixels however high it is.
  function places(width, height) {
    const told = meta();
    if (!told.heads?.length || !width || !height) return {};
    const { t, b, l } = view.held.layout.margin;
    aside = width >= WIDE;
    const room = Math.max(1, height - t - b);
    // what has words in place of lines takes the same pixels at any height, and leaves the rest to the others
    const over = aside ? BETWEEN : HEAD;
    const fixed = (head) => (head.fixed ? head.fixed + over + 6 : 0);
    const left = Math.max(1, room - told.heads.reduce((sum, head) => sum + fixed(head), 0));
    const total = told.heads.reduce((sum, head) => sum + (head.fixed ? 0 : head.share ?? 1), 0) || 1;
    const update = { "margin.l": aside ? l + COLUMN : l };
    let from = 0;
    told.heads.forEach((head, k) => {
      const to = from + (head.fixed ? fixed(head) : ((head.share ?? 1) / total) * left);
      const [top, bottom] = [from + (aside ? (k ? BETWEEN : 6) : HEAD), to - (k + 1 < told.heads.length ? 6 : 0)];
      update[`${head.axis.replace("y", "yaxis")}.domain`] = [Math.max(0, 1 - bottom / room), Math.max(0, 1 - Math.min(top, bottom) / room)];
      from = to;
    });
    return update;
  }

  // Before a whole figure is drawn: what people have scaled stays as it is.
  function whole(layout) {
    for (const [name, value] of Object.entries(places(layout.width, layout.height))) {
      const [axis, what] = name.split(".");
      layout[axis] = { ...layout[axis], [what]: value };
    }
    const now = JSON.stringify([axes(), (meta().heads ?? []).map((head) => head.name)]);
    if (now !== shape) scaled.clear();
    shape = now;
    box?.remove(); // its colours may be those of another theme
    box = undefined;
    for (const axis of scaled) {
      const range = el.layout?.[axis]?.range;
      if (!range || !layout[axis]) continue;
      layout[axis].range = [...range];
      layout[axis].tickmode = "auto";
    }
  }

  // Of an update, what is not to be drawn.
  function filtered(update) {
    delete update.meta;
    if (meta().heads?.length) {
      for (const name of Object.keys(update)) if (/^margin|\.domain$/.test(name)) delete update[name];
      for (const [name, value] of Object.entries(places(el._fullLayout.width, el._fullLayout.height))) {
        const [axis, what] = name.split(".");
        if (String(el._fullLayout[axis]?.[what]) !== String(value)) update[name] = value;
      }
    }
    for (const axis of scaled) {
      // plotly.js forgets the range of an axis whose type is named, also when that is the one it has
      for (const name of ["type", "range", "autorange", "tickmode", "tickvals", "ticktext"]) delete update[`${axis}.${name}`];
    }
    for (const axis of meta().whole ?? []) {
      for (const name of ["dtick", "tickmode"]) delete update[`${axis}.${name}`];
    }
    return update;
  }

  function heard(changed, twice) {
    const update = {};
    for (const name of Object.keys(changed)) {
      const [axis, what] = name.split(".");
      if (!/^yaxis\d*$/.test(axis) || !meta().heads || twice || !what?.startsWith("range")) continue;
      scaled.add(axis);
      update[`${axis}.tickmode`] = "auto";
    }
    if (twice && meta().heads) return refit();
    if (Object.keys(update).length) view.queue(() => view.Plotly.update(el, {}, update));
    view.queue(() => after());
  }

  // All axes as the kernel has them.
  function refit() {
    scaled.clear();
    const update = {};
    for (const axis of axes()) {
      const { autorange, range, tickmode, tickvals, ticktext } = view.held.layout[axis];
      if (autorange !== undefined) update[`${axis}.autorange`] = autorange;
      if (autorange === false && range) update[`${axis}.range`] = [...range];
      if (tickvals) Object.assign(update, { [`${axis}.tickmode`]: tickmode, [`${axis}.tickvals`]: tickvals, [`${axis}.ticktext`]: ticktext });
    }
    return view.queue(() => view.Plotly.update(el, {}, update)).then(() => after());
  }

  // -- heads
  function build() {
    box?.remove();
    rows = [];
    el.style.position = "relative";
    for (const [name, colour] of Object.entries(view.tokens())) el.style.setProperty(`--wb-${name}`, colour);
    box = make("div", "workbench-heads", el);
    const top = make("div", "workbench-head", box);
    const words = make("b", "workbench-head-now", top);
    const note = make("span", "workbench-head-notes", top);
    const reset = make("button", "", top, "All iterations");
    reset.type = "button";
    reset.title = "Show all iterations again (double click)";
    reset.addEventListener("click", () => {
      refit();
      view.tell({ kind: "range", range: null });
    });
    const end = make("span", "workbench-head-end", top);
    rows.push({ words, note, end, reset });
    for (const head of meta().heads ?? []) {
      const row = make("div", "workbench-head workbench-head-strip", box);
      const name = make("b", "", row);
      const values = make("span", "workbench-head-values", row);
      const notes = make("span", "workbench-head-notes", row);
      rows.push({ row, name, values, notes });
    }
    line = make("div", "workbench-crosshair", box);
  }

  // The value of a line in an iteration: [text, whether it is of that iteration].
  function valueAt(number, flags, digits) {
    for (const k of [number, number + 1]) {
      const { x, y } = view.held.data[k] ?? {};
      if (!x?.length || at < x[0] || at > x[x.length - 1]) continue;
      const place = nearest(x, at);
      const text = flags && (y[place] === 0 || y[place] === 1) ? String(y[place] === 1) : numeral(y[place], digits);
      return x[place] === at ? [text + (k > number ? " ahead" : ""), true] : [`${text} (${numeral(x[place])})`, false];
    }
    return ["\u2013", false];
  }

  function heads() {
    const told = meta();
    if (!told.heads) {
      box?.remove();
      box = undefined;
      return;
    }
    if (rows.length !== told.heads.length + 1 || !box?.isConnected) build();
    const { _size: size } = el._fullLayout;
    const [first, ...rest] = rows;
    box.dataset.aside = String(aside);
    put(first.words, at === null ? (told.words ?? "") : `${told.loop ?? "iteration"} ${numeral(at)}`);
    put(first.note, told.note ?? "");
    put(first.end, told.end?.word ?? "");
    first.end.dataset.proved = String(Boolean(told.end?.proved));
    first.reset.hidden = !zoomed();
    if (at === null) describe(told);
    told.heads.forEach((head, k) => {
      const { row, name, values, notes } = rest[k];
      const axis = el._fullLayout[head.axis.replace("y", "yaxis")];
      if (!axis) return;
      const top = size.t + (1 - axis.domain[1]) * size.h;
      row.style.top = `${aside ? top - 4 : top - 21}px`;
      const lines = Math.max(1, Math.floor(((axis.domain[1] - axis.domain[0]) * size.h + 10) / LINE));
      row.style.maxHeight = aside ? `${lines * LINE}px` : ""; // whole lines
      row.style.width = aside ? `${COLUMN + 4}px` : "";
      put(name, head.name);
      row.title = plain([head.name, head.value, ...head.notes].filter(Boolean).join(" \u00b7 "));
      row.dataset.bad = String(head.bad);
      const several = head.lines.length > 1;
      const texts = at === null && !several ? [[head.value, true]] : head.lines.map((own) => valueOf(own, head));
      values.replaceChildren();
      texts.forEach(([text, exact], i) => {
        if (several) {
          const own = head.lines[i];
          make("i", "", values).style.borderTop = `2px ${own.dash === "solid" ? "solid" : "dashed"} ${view.tokens()[own.tone]}`;
          make("span", "", values, plain(own.name));
        }
        make("code", "", values, plain(text)).dataset.exact = String(exact);
      });
      fill(row, notes, head.notes, values.offsetHeight);
    });
    crosshair();
  }

  // The notes of a strip. In the column at the left each has a line of its own, and those that have no room are in the tooltip
  // alone; of the first one at least what stands in front of its comma is shown.
  function fill(row, notes, texts, above) {
    const key = JSON.stringify([texts, aside, row.style.maxHeight, row.clientWidth, above]);
    if (row.dataset.notes === key) return;
    row.dataset.notes = key;
    notes.replaceChildren();
    if (!aside) return put(notes, texts.join(" \u00b7 "));
    const lines = texts.map((text) => make("span", "", notes, plain(text)));
    const high = () => row.scrollHeight > row.clientHeight + 1;
    while (lines.length > 1 && high()) lines.pop().remove();
    if (lines.length && high()) lines[0].textContent = lines[0].textContent.split(", ")[0];
  }

  // One sentence for those who do not see the curves.
  function describe(told) {
    const parts = told.heads.map((head) => [head.name, head.value, ...head.notes].filter(Boolean).join(", "));
    el.setAttribute("role", "group");
    el.setAttribute("aria-label", plain([told.words, ...parts, told.end?.word].filter(Boolean).join("; ")));
  }

  function valueOf(own, head) {
    const digits = aside && head.lines.length > 1 ? 4 : undefined;
    if (at !== null) return valueAt(own.trace, head.flags, digits);
    const now = meta().now;
    if (now === null || now === undefined) return ["", true];
    at = now;
    const found = valueAt(own.trace, head.flags, digits);
    at = null;
    return found[1] ? found : ["", true];
  }

  // -- the crosshair
  function crosshair() {
    if (!line) return;
    const { _size: size, xaxis } = el._fullLayout;
    const shown = at !== null && xaxis && at >= xaxis.range[0] && at <= xaxis.range[1];
    line.hidden = !shown;
    if (!shown) return;
    line.style.left = `${size.l + xaxis.d2p(at)}px`;
    line.style.top = `${size.t}px`;
    line.style.height = `${size.h}px`;
  }

  function show(k) {
    if (k === at) return;
    at = k;
    if (meta().heads && el._fullLayout) heads();
  }

  function tellAll(k) {
    const { link } = meta();
    if (link) document.dispatchEvent(new CustomEvent(MOVED, { detail: { link, k } }));
    else show(k);
  }

  function under(event) {
    const full = el._fullLayout;
    if (!meta().heads || !full?.xaxis?._length) return null;
    const bounds = el.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left - full._size.l, event.clientY - bounds.top - full._size.t];
    return x < 0 || y < 0 || x > full._size.w || y > full._size.h + full._size.b ? null : full.xaxis.p2d(x);
  }

  const onMove = (event) => {
    const x = under(event);
    taken = x === null ? null : el;
    tellAll(x === null ? null : Math.max(0, Math.round(x)));
  };
  const onLeave = () => {
    taken = null;
    tellAll(null);
  };
  const onMoved = ({ detail }) => detail.link === meta().link && show(detail.k);

  // The least height of the strips: heads at their left need no room above them.
  function least(width) {
    const told = meta();
    const shares = (told.heads ?? []).reduce((sum, head) => sum + (head.share ?? 1), 0);
    return told.least && width >= WIDE ? told.least - Math.round(shares * (HEAD - BETWEEN)) : told.least;
  }

  function after() {
    const root = el.getRootNode();
    if (root instanceof ShadowRoot) style(root);
    const ticks = wholeTicks(el, meta().whole ?? []);
    const ticked = Object.keys(ticks).length ? view.Plotly.update(el, {}, ticks) : undefined;
    if (meta().heads || box) heads();
    tellPlace();
    return ticked;
  }

  // Pixels of the figure at which an iteration stands, for the area around; none while only a part of them is shown.
  function tellPlace() {
    const area = el.closest(".workbench-area");
    if (!area || !meta().heads) return;
    const { _size: size, xaxis } = el._fullLayout;
    area.workbenchPlot = aside && !zoomed() ? { el, link: meta().link, place: (k) => size.l + xaxis.d2p(k) } : null;
    area.dispatchEvent(new Event(PLACED));
  }

  const onWheel = wheelZoom(view, { under, taken: () => taken === el, zoomed, after });
  el.addEventListener("mousemove", onMove);
  el.addEventListener("mouseleave", onLeave);
  el.addEventListener("wheel", onWheel, { passive: false, capture: true });
  document.addEventListener(MOVED, onMoved);
  return {
    whole,
    places,
    least,
    filtered,
    heard,
    refit,
    after,
    close: () => document.removeEventListener(MOVED, onMoved),
  };
}
