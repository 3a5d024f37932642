// The heads of strips: name, value and a few words of each, the end of the loop, and the line of the crosshair.

// From this width on the heads stand at the left of the strips, in a column of their own; pixels of the column, of a head above a
// strip, and between strips.
const WIDE = 440;
const COLUMN = 132;
const HEAD = 22;
const BETWEEN = 12;
const LINE = 17;

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
  if (node.textContent === text) return;
  // a long name breaks behind a joint, not inside of a word or a number
  node.replaceChildren(...text.split(/(?<=[_/]|\.(?!\d))/).flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
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

// ``here`` is what the pointer and the width say (strips.js); ``figure`` gives the marks of the layout, and the way back.
function stripHeads(view, here, figure) {
  const { el } = view;
  const { meta } = figure;
  let box;
  let rows = [];
  let line;

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
      figure.refit();
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
      if (!x?.length || here.at < x[0] || here.at > x[x.length - 1]) continue;
      const place = nearest(x, here.at);
      const text = flags && (y[place] === 0 || y[place] === 1) ? String(y[place] === 1) : numeral(y[place], digits);
      return x[place] === here.at ? [text + (k > number ? " ahead" : ""), true] : [`${text} (${numeral(x[place])})`, false];
    }
    return ["\u2013", false];
  }

  function draw() {
    const told = meta();
    if (!told.heads) return remove();
    if (rows.length !== told.heads.length + 1 || !box?.isConnected) build();
    const { _size: size } = el._fullLayout;
    const [first, ...rest] = rows;
    box.dataset.aside = String(here.aside);
    put(first.words, here.at === null ? (told.words ?? "") : `${told.loop ?? "iteration"} ${numeral(here.at)}`);
    put(first.note, told.note ?? "");
    put(first.end, told.end?.word ?? "");
    first.end.dataset.proved = String(Boolean(told.end?.proved));
    first.reset.hidden = !figure.zoomed();
    if (here.at === null) describe(told);
    told.heads.forEach((head, k) => {
      const { row, name, values, notes } = rest[k];
      const axis = el._fullLayout[head.axis.replace("y", "yaxis")];
      if (!axis) return;
      const top = size.t + (1 - axis.domain[1]) * size.h;
      row.style.top = `${here.aside ? top - 4 : top - 21}px`;
      const lines = Math.max(1, Math.floor(((axis.domain[1] - axis.domain[0]) * size.h + 10) / LINE));
      row.style.maxHeight = here.aside ? `${lines * LINE}px` : ""; // whole lines
      row.style.width = here.aside ? `${COLUMN + 4}px` : "";
      put(name, head.name);
      row.title = plain([head.name, head.value, ...head.notes].filter(Boolean).join(" \u00b7 "));
      row.dataset.bad = String(head.bad);
      const several = head.lines.length > 1;
      const texts = here.at === null && !several ? [[head.value, true]] : head.lines.map((own) => valueOf(own, head));
      values.replaceChildren();
      texts.forEach(([text, exact], i) => {
        if (several) {
          const own = head.lines[i];
          make("i", "", values).style.borderTop = `2px ${own.dash === "solid" ? "solid" : "dashed"} ${view.tokens()[own.tone]}`;
          make("span", "", values, plain(own.name));
        }
        make("code", "", values, plain(text)).dataset.exact = String(exact);
      });
      fill(row, notes, head.notes, values.offsetHeight + values.offsetWidth);
    });
    crosshair();
  }

  // The notes of a strip: in the column at the left a line for each, above a strip one behind another. Those that have no room
  // are in the tooltip alone, and of the first one what stands behind its comma: no sentence is shown without its end.
  function fill(row, notes, texts, above) {
    const key = JSON.stringify([texts, here.aside, row.style.maxHeight, row.clientWidth, above]);
    if (row.dataset.notes === key) return;
    row.dataset.notes = key;
    notes.replaceChildren();
    const lines = texts.map((text, k) => make("span", "", notes, (k && !here.aside ? " \u00b7 " : "") + plain(text)));
    const full = () => row.scrollHeight > row.clientHeight + 1 || notes.scrollWidth > notes.clientWidth + 1 || row.scrollWidth > row.clientWidth + 1;
    while (lines.length > 1 && full()) lines.pop().remove();
    for (const end of [", ", / (?:to|at|since) /]) {
      if (lines.length && full()) lines[0].textContent = lines[0].textContent.split(end)[0];
    }
    if (!here.aside && lines.length && full()) lines[0].remove();
  }

  // One sentence for those who do not see the curves.
  function describe(told) {
    const parts = told.heads.map((head) => [head.name, head.value, ...head.notes].filter(Boolean).join(", "));
    el.setAttribute("role", "group");
    el.setAttribute("aria-label", plain([told.words, ...parts, told.end?.word].filter(Boolean).join("; ")));
  }

  function valueOf(own, head) {
    const digits = here.aside && head.lines.length > 1 ? 4 : undefined;
    if (here.at !== null) return valueAt(own.trace, head.flags, digits);
    const now = meta().now;
    if (now === null || now === undefined) return ["", true];
    here.at = now;
    const found = valueAt(own.trace, head.flags, digits);
    here.at = null;
    return found[1] ? found : ["", true];
  }

  // -- the crosshair
  function crosshair() {
    if (!line) return;
    const { _size: size, xaxis } = el._fullLayout;
    const shown = here.at !== null && xaxis && here.at >= xaxis.range[0] && here.at <= xaxis.range[1];
    line.hidden = !shown;
    if (!shown) return;
    line.style.left = `${size.l + xaxis.d2p(here.at)}px`;
    line.style.top = `${size.t}px`;
    line.style.height = `${size.h}px`;
  }

  function remove() {
    box?.remove();
    box = undefined;
  }

  return { draw, remove, there: () => box !== undefined };
}

