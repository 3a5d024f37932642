// What the browser adds to a figure, as its layout.meta asks for it: the heads of strips (name, value, a few words), one
// crosshair for all figures with the same link, the wheel on the iteration axis, and ticks at whole numbers. It travels once for
// all figures of a page, with plotly.js; strips.css (STYLE), numerals.js, ticks.js, wheel.js and strip_heads.js stand in front of it.

const MOVED = "workbench-crosshair";
const PLACED = "workbench-plot"; // where the iterations of strips stand: the time slider above them stands alike
let taken = null;

export default function strips(view) {
  const { el } = view;
  const scaled = new Set(); // vertical axes that people have scaled
  let shape = "";
  // the iteration under the pointer, and whether the heads stand at the left
  const here = { at: null, aside: false };
  const meta = () => view.held.layout.meta ?? {};
  const axes = () => Object.keys(view.held.layout).filter((name) => /^[xy]axis\d*$/.test(name));
  const zoomed = () => scaled.size > 0 || (view.held.layout.xaxis?.autorange === true && el._fullLayout.xaxis.autorange === false);

  const heads = stripHeads(view, here, { meta, zoomed, refit });

  // -- axes
  // The places of the strips in a figure of this size, as properties of its layout: the heads take the same pixels however high it is.
  function places(width, height) {
    const told = meta();
    if (!told.heads?.length || !width || !height) return {};
    const { t, b, l } = view.held.layout.margin;
    here.aside = width >= WIDE;
    const room = Math.max(1, height - t - b);
    // what has words in place of lines takes the same pixels at any height, and leaves the rest to the others
    const over = here.aside ? BETWEEN : HEAD;
    const fixed = (head) => (head.fixed ? head.fixed + over + 6 : 0);
    const left = Math.max(1, room - told.heads.reduce((sum, head) => sum + fixed(head), 0));
    const total = told.heads.reduce((sum, head) => sum + (head.fixed ? 0 : head.share ?? 1), 0) || 1;
    const update = { "margin.l": here.aside ? l + COLUMN : l };
    let from = 0;
    told.heads.forEach((head, k) => {
      const to = from + (head.fixed ? fixed(head) : ((head.share ?? 1) / total) * left);
      const [top, bottom] = [from + (here.aside ? (k ? BETWEEN : 6) : HEAD), to - (k + 1 < told.heads.length ? 6 : 0)];
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
    heads.remove(); // their colours may be those of another theme
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

  function show(k) {
    if (k === here.at) return;
    here.at = k;
    if (meta().heads && el._fullLayout) heads.draw();
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
    if (meta().heads || heads.there()) heads.draw();
    tellPlace();
    return ticked;
  }

  // Pixels of the figure at which an iteration stands, for the area around; none while only a part of them is shown.
  function tellPlace() {
    const area = el.closest(".workbench-area");
    if (!area || !meta().heads) return;
    const { _size: size, xaxis } = el._fullLayout;
    area.workbenchPlot = here.aside && !zoomed() ? { el, link: meta().link, place: (k) => size.l + xaxis.d2p(k) } : null;
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
