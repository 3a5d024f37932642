// Keys on the picture of a graph, moving it by dragging, and bringing into sight what it is about.

const KEYS = new Set([
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Backspace", "b", "B", "n", "N", "+", "-", "0", "f", "Escape",
]);
const HELP = "Arrow keys move along the edges, Enter opens a box, Backspace closes the box around, B sets a breakpoint, " +
  "/ searches, N goes to the next match, + and - zoom, 0 is full size, F fits.";

// Where a number is drawn between the two ends of its axis: the graph fills its figure, without margins.
const pixel = (number, [first, last], length) => ((number - first) / (last - first)) * length;

// Gives what the bar above asks for: `look` and `fit`, `home` takes the focus, and `leave` ends the listening.
function hand(model, el, search, send) {
  let home;
  // What the picture is about comes into sight, once: who scrolls elsewhere then stays there until it is about another place.
  let looked = "";
  let waits;
  const look = (tries = 0) => {
    clearTimeout(waits);
    const sight = model.get("status").sight;
    const figure = home?.querySelector(".workbench-figure");
    const scroller = home?.querySelector(".workbench-scroll");
    if (!sight || JSON.stringify(sight) === looked) return;
    const layout = figure?.layout;
    // the words are here before the picture is drawn
    if (!scroller || !layout?.width || Math.abs(layout.height - sight.height) > 1) {
      if (tries < 400) waits = setTimeout(() => look(tries + 1), 50);
      return;
    }
    looked = JSON.stringify(sight);
    for (const [place, side, room] of [
      [pixel(sight.x, layout.xaxis.range, layout.width), "scrollLeft", scroller.clientWidth],
      [pixel(sight.y, [...layout.yaxis.range].reverse(), layout.height), "scrollTop", scroller.clientHeight],
    ]) {
      if (place < scroller[side] + 60 || place > scroller[side] + room - 60) scroller[side] = place - room / 2;
    }
  };

  const fitNow = () => {
    const room = home?.querySelector(".workbench-scroll");
    send("zoom", { value: "fit", width: room?.clientWidth ?? 0 });
  };

  const onKey = (event) => {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && event.target.tagName === "BUTTON") return;
    if (event.key === "/") search.focus();
    else if (event.key === "f" || event.key === "F") fitNow();
    else if (KEYS.has(event.key)) send("key", { text: event.key });
    else return;
    taken(event);
  };
  let drag = null;
  const onDown = (event) => {
    const scroller = event.target.closest?.(".workbench-scroll");
    if (!scroller || event.button || !event.target.closest(".workbench-figure")) return;
    home.focus({ preventScroll: true });
    drag = { scroller, x: event.clientX, y: event.clientY, left: scroller.scrollLeft, top: scroller.scrollTop };
  };
  const onMove = (event) => {
    if (!drag) return;
    if (!(event.buttons & 1)) return (drag = null);
    drag.scroller.scrollLeft = drag.left - (event.clientX - drag.x);
    drag.scroller.scrollTop = drag.top - (event.clientY - drag.y);
  };
  const attach = () => {
    home = el.closest(".workbench-graph");
    if (!home) return;
    ownKeys(home);
    aria(home, "group", `Picture of the graph. ${HELP}`);
    home.tabIndex = 0;
    home.addEventListener("keydown", onKey);
    home.addEventListener("pointerdown", onDown, true);
    window.addEventListener("pointermove", onMove, true);
    look();
  };
  const waiting = setTimeout(attach, 0);
  return {
    look,
    fit: fitNow,
    home: () => home?.focus(),
    leave() {
      clearTimeout(waiting);
      clearTimeout(waits);
      home?.removeEventListener("keydown", onKey);
      home?.removeEventListener("pointerdown", onDown, true);
      window.removeEventListener("pointermove", onMove, true);
    },
  };
}
