// Dividers between the tracks of a CSS grid: dragged, moved by arrow keys while they have the focus, and reset by a double
// click. Sizes are told in "fr", so that they stay what they are in another window.

// The sizes of the tracks in CSS pixels, and whether each is a divider.
const tracksOf = (grid, axis) =>
  getComputedStyle(grid)[axis === "columns" ? "gridTemplateColumns" : "gridTemplateRows"].split(" ").map(Number.parseFloat);

// Tracks as a template: dividers keep their width, and the others share what is left in proportion.
const template = (sizes) => sizes.map((size, k) => (k % 2 ? `${DIVIDER}px` : `minmax(0, ${size.toFixed(2)}fr)`)).join(" ");
const DIVIDER = 7;
const KEY_STEP = 24; // pixels that a press on an arrow key moves

// A divider on track `track` of `grid`; the tracks beside it keep `least` pixels. `scale()` is by how much the panel is
// enlarged, `changed(sizes)` gets the sizes when people have moved it, and nothing when they have reset it.
function divider(grid, axis, track, least, scale, changed) {
  const bar = aria(make("div", "workbench-divider", grid), "separator", axis === "columns" ? "Width" : "Height");
  bar.dataset.axis = axis;
  bar.tabIndex = 0;
  bar.title = "Drag, or press arrow keys, to resize; double-click to reset";
  bar.setAttribute("aria-orientation", axis === "columns" ? "vertical" : "horizontal");
  bar.style[axis === "columns" ? "gridColumn" : "gridRow"] = String(track + 1);

  function move(sizes, by) {
    const both = sizes[track - 1] + sizes[track + 1];
    const low = Math.min(least, both / 2);
    const first = Math.max(low, Math.min(both - low, sizes[track - 1] + by));
    const moved = sizes.with(track - 1, first).with(track + 1, both - first);
    changed(template(moved));
    bar.setAttribute("aria-valuenow", String(Math.round((100 * first) / both)));
  }
  bar.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    taken(event);
    bar.focus();
    bar.setPointerCapture(event.pointerId);
    const sizes = tracksOf(grid, axis);
    const at = (e) => (axis === "columns" ? e.clientX : e.clientY) / scale();
    const start = at(event);
    const dragged = (e) => move(sizes, at(e) - start);
    const done = () => {
      bar.removeEventListener("pointermove", dragged);
      bar.removeEventListener("lostpointercapture", done);
    };
    bar.addEventListener("pointermove", dragged);
    bar.addEventListener("lostpointercapture", done);
  });
  bar.addEventListener("keydown", (event) => {
    const keys = axis === "columns" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const way = keys.indexOf(event.key);
    if (way < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    taken(event);
    move(tracksOf(grid, axis), way ? KEY_STEP : -KEY_STEP);
  });
  bar.addEventListener("dblclick", () => changed(null));
  return bar;
}
