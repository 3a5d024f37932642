// Keys on the picture of a graph, moving it by dragging, and bringing into sight what it is about.

const KEYS = new Set([
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Backspace", "b", "B", "n", "N", "+", "-", "0", "f", "Escape",
]);
const HELP = "Click a node to see its facts here. Arrows move, Enter opens a box, B sets a breakpoint, / searches, F fits.";
const KEY_HELP = "Arrow keys move along the edges, Enter opens a box, Backspace closes the box around, B sets a breakpoint, " +
  "/ searches, N goes to the next match, + and - zoom, 0 is full size, F fits.";

// Where a number is drawn between the two ends of its axis: the graph fills its figure, without margins.
const pixel = (number, [first, last], length) => ((number - first) / (last - first)) * length;

// The part of an element that is on the screen: left and top within the element, width and height.
function inSight(element) {
  const own = element.getBoundingClientRect();
  let [left, top, right, bottom] = [Math.max(own.left, 0), Math.max(own.top, 0), Math.min(own.right, innerWidth), Math.min(own.bottom, innerHeight)];
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (!/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowY)) continue;
    const around = box.getBoundingClientRect();
    // what is placed absolutely is not clipped by what is around it
    if (around.bottom <= own.top || around.top >= own.bottom || around.right <= own.left || !around.width) continue;
    [left, top] = [Math.max(left, around.left), Math.max(top, around.top)];
    [right, bottom] = [Math.min(right, around.right), Math.min(bottom, around.bottom)];
  }
  return [left - own.left, top - own.top, Math.max(0, right - left), Math.max(0, bottom - top)];
}

// Near an end of the picture its own scrolling does not reach: then what is around scrolls, until a height of the page is seen.
function scrollPage(scroller, y) {
  const [, top, , height] = inSight(scroller);
  const first = scroller.getBoundingClientRect().top + top;
  if (y > first + 20 && y < first + height - 20) return;
  for (let box = scroller.parentElement; box; box = box.parentElement) {
    if (!/auto|scroll/.test(getComputedStyle(box).overflowY) || box.scrollHeight <= box.clientHeight + 1) continue;
    const around = box.getBoundingClientRect();
    box.scrollTop += y - (around.top + around.height / 2);
    return;
  }
}

// Gives what the bar above asks for: `look` and `fit`, `home` takes the focus, and `leave` ends the listening.
function hand(model, el, line, search, send) {
  let home;
  let hover;
  // What the picture is about comes into sight, and stays there while sizes change (words that come late, another window), until
  // somebody moves something: who scrolls elsewhere stays there until the picture is about another place.
  let looked = "";
  let waits;
  let moved = false;
  const onHand = () => (moved = true);
  const HANDS = ["wheel", "pointerdown", "touchstart", "keydown"];
  let again;
  const onSize = () => {
    clearTimeout(again);
    again = setTimeout(() => !moved && looked && place(JSON.parse(looked)), 100);
  };
  const resized = new ResizeObserver(onSize);
  // another size of the room, by a divider or a window, fits the picture again
  let room = 0;
  let fits;
  const refits = new ResizeObserver(([{ target }]) => {
    const size = target.clientWidth + target.clientHeight;
    // less room may hide a part of what is fitted, a little more is nothing to draw it anew for
    if (target.clientWidth < 50 || (size > room - 4 && size < room + 40)) return;
    clearTimeout(fits);
    if (room) fits = setTimeout(() => zoom("again"), 150);
    room = size;
  });

  const place = (sight) => {
    const layout = home?.querySelector(".workbench-figure")?.layout;
    const scroller = home?.querySelector(".workbench-scroll");
    if (!scroller || !layout?.width) return;
    const at = [
      pixel(sight.x, layout.xaxis.range, layout.width),
      pixel(sight.y, [...layout.yaxis.range].reverse(), layout.height),
    ];
    if (sight.middle && inSight(scroller)[3] < 120) scroller.scrollIntoView({ block: "nearest" });
    const [left, top, width, height] = inSight(scroller);
    const sides = [["scrollLeft", at[0], left, width], ["scrollTop", at[1], top, height]];
    for (const [side, where, first, room] of sides) {
      const seen = where - scroller[side] - first;
      if (sight.middle || seen < 60 || seen > room - 60) scroller[side] = where - first - room / 2;
    }
    if (sight.middle) scrollPage(scroller, scroller.getBoundingClientRect().top + at[1] - scroller.scrollTop);
  };

  const look = (tries = 0) => {
    clearTimeout(waits);
    const sight = model.get("status").sight;
    const figure = home?.querySelector(".workbench-figure");
    const scroller = home?.querySelector(".workbench-scroll");
    if (!sight || JSON.stringify(sight) === looked) return;
    // the words are here before the picture is drawn, and plotly knows a size before it has made room for it
    const drawn = figure?.querySelector(".main-svg")?.getBoundingClientRect().height ?? 0;
    const late = (height) => !height || Math.abs(height - sight.height) > 1.5;
    if (!scroller || late(figure?.layout?.height) || late(drawn)) {
      if (tries < 2400) waits = setTimeout(() => look(tries + 1), Math.min(50 + tries, 500));
      return;
    }
    looked = JSON.stringify(sight);
    moved = false;
    place(sight);
    resized.disconnect();
    for (const box of [scroller, figure]) resized.observe(box);
  };

  const zoom = (value) => {
    const room = home?.querySelector(".workbench-scroll");
    // the area of a panel shows less of the room than there is, where the picture is high
    const area = room?.closest(".workbench-area");
    const shown = area ? area.getBoundingClientRect().top + area.clientHeight - room.getBoundingClientRect().top : innerHeight - 160;
    const tall = Math.min(room?.clientHeight ?? 0, shown);
    send("zoom", { value, width: room?.clientWidth ?? 0, height: tall });
  };
  const fitNow = () => zoom("fit");
  // The first picture shows the whole graph where it can be read so, once its figure is there; a view that was zoomed stays.
  let starts;
  const start = (tries = 0) => {
    const layout = home?.querySelector(".workbench-figure")?.layout;
    const place = home?.querySelector(".workbench-scroll");
    if (layout?.width && place?.clientWidth > 50) {
      if (model.get("status").zoom === "100 %") zoom("start");
      refits.observe(place);
    } else if (tries < 200) starts = setTimeout(() => start(tries + 1), 50);
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
    aria(home, "group", `Picture of the graph. ${KEY_HELP}`);
    home.tabIndex = 0;
    for (const place of [home, line]) place.addEventListener("keydown", onKey);
    home.addEventListener("pointerdown", onDown, true);
    window.addEventListener("pointermove", onMove, true);
    for (const kind of HANDS) window.addEventListener(kind, onHand, { capture: true, passive: true });
    window.addEventListener("resize", onSize);
    hover = hoverWords(home);
    start();
    look();
  };
  const waiting = setTimeout(attach, 0);
  return {
    look,
    fit: (how = "fit") => zoom(how),
    home: () => home?.focus(),
    leave() {
      clearTimeout(waiting);
      clearTimeout(waits);
      clearTimeout(starts);
      hover?.();
      for (const place of [home, line]) place?.removeEventListener("keydown", onKey);
      home?.removeEventListener("pointerdown", onDown, true);
      window.removeEventListener("pointermove", onMove, true);
      for (const kind of HANDS) window.removeEventListener(kind, onHand, { capture: true });
      window.removeEventListener("resize", onSize);
      clearTimeout(again);
      clearTimeout(fits);
      resized.disconnect();
      refits.disconnect();
    },
  };
}
