// The words about the box that the pointer is on: below the box or above it, never on it, and gone with a click.

const HOVER_MS = 250;

// Gives the function that ends it.
function hoverWords(home) {
  const words = make("div", "workbench-hover", document.body);
  words.setAttribute("role", "tooltip");
  words.hidden = true;
  let at = ""; // the box that the pointer is on, also while its words were sent away by a click
  let timer;
  const hide = () => {
    clearTimeout(timer);
    words.hidden = true;
  };
  const leave = () => {
    hide();
    at = "";
  };
  const move = (event) => {
    const figure = event.target.closest?.(".workbench-figure");
    const layout = figure?._fullLayout;
    const hit = figure?.data?.at(-1);
    if (!layout?.xaxis?.p2l || !hit?.customdata || event.buttons) return leave();
    const box = figure.getBoundingClientRect();
    const [left, top] = [box.left + layout._size.l, box.top + layout._size.t];
    const [x, y] = [layout.xaxis.p2l(event.clientX - left), layout.yaxis.p2l(event.clientY - top)];
    const k = hit.customdata.findIndex((d) => x >= d[2] && x <= d[3] && y >= d[4] && y <= d[5]);
    if (k < 0) return leave();
    const [, key, first, , above, below] = hit.customdata[k];
    if (key === at) return;
    hide();
    at = key;
    timer = setTimeout(() => {
      const root = home.getRootNode();
      if (root instanceof ShadowRoot && words.parentNode !== root) root.append(words); // where the styles are
      words.textContent = hit.hovertext[k];
      words.hidden = false;
      const size = words.getBoundingClientRect();
      const low = top + layout.yaxis.l2p(below) + 16;
      const high = top + layout.yaxis.l2p(above) - 16 - size.height;
      words.style.top = `${low + size.height < innerHeight || high < 0 ? low : high}px`;
      words.style.left = `${Math.max(4, Math.min(left + layout.xaxis.l2p(first), innerWidth - size.width - 8))}px`;
    }, HOVER_MS);
  };
  const ends = [["pointermove", move], ["pointerleave", leave], ["pointerdown", hide], ["keydown", hide], ["wheel", leave]];
  for (const [event, listener] of ends) home.addEventListener(event, listener, { capture: true, passive: true });
  return () => {
    clearTimeout(timer);
    for (const [event, listener] of ends) home.removeEventListener(event, listener, { capture: true });
    words.remove();
  };
}
