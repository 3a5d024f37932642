// The wheel on the iteration axis of strips zooms into it, about the iteration under the pointer.

// the wheel belongs to the page while it scrolls: a turn that began elsewhere is not taken over
const GESTURE_MS = 350;
const LEAST_SPAN = 4;
let scrolled = 0;
window.addEventListener("wheel", (event) => !event.workbenchZoom && (scrolled = event.timeStamp), { passive: true });

// Gives the listener. `under(event)`: the iteration under the pointer, or null; `taken()`: the pointer has come to this figure;
// `zoomed()`: a part is shown; `after()`: it was drawn.
function wheelZoom(view, { under, taken, zoomed, after }) {
  const { el } = view;
  let waiting = null; // where the wheel is going

  // What there is to see: from the first to the last point of all lines.
  function reach() {
    let [low, high] = [Infinity, -Infinity];
    for (const { x } of view.held.data) {
      if (!x?.length) continue;
      low = Math.min(low, x[0]);
      high = Math.max(high, x[x.length - 1]);
    }
    return low < high ? [low - 0.02 * (high - low), high + 0.02 * (high - low)] : [0, LEAST_SPAN];
  }

  return (event) => {
    const x = under(event);
    if (x === null || !taken() || event.timeStamp - scrolled < GESTURE_MS || event.ctrlKey) return;
    const axis = el._fullLayout.xaxis;
    const [low, high] = Array.isArray(waiting) ? waiting : axis.range;
    const [first, last] = reach();
    const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
    const span = Math.max(LEAST_SPAN, (high - low) * factor);
    if (factor > 1 && !zoomed() && !waiting) return; // all is shown: the page may scroll
    event.preventDefault();
    event.stopPropagation();
    event.workbenchZoom = true;
    const share = (x - axis.range[0]) / (axis.range[1] - axis.range[0]);
    let from = x - share * span;
    from = Math.max(first, Math.min(from, last - span));
    if (span === high - low && from === low) return; // as near as it goes
    const due = waiting === null;
    waiting = span >= last - first ? "all" : [from, from + span];
    if (!due) return;
    view.queue(() => {
      const to = waiting;
      waiting = null;
      if (to !== "all") return view.Plotly.relayout(el, { "xaxis.range": to });
      view.tell({ kind: "range", range: null });
      return view.Plotly.update(el, {}, { "xaxis.autorange": true });
    }).then(() => after());
  };
}
