// The signs of a graph's picture with their meaning, in one line below it.

const DASHES = { dot: "2 3", dash: "5 3" };
const NAMESPACE = "http://www.w3.org/2000/svg";

function sign({ sign: kind, colour, style }, parent) {
  if (kind === "text") return (make("i", "", parent, style).style.color = colour);
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 26 12");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(NAMESPACE, { box: "rect", line: "path", point: "circle" }[kind]);
  const look = {
    box: { x: 3, y: 1.5, width: 20, height: 9, rx: 1.5, fill: style === "solid" ? colour : "none", "fill-opacity": 0.25 },
    line: { d: "M1 6h24", fill: "none" },
    point: { cx: 13, cy: 6, r: 4, fill: colour },
  }[kind];
  const line = { stroke: colour, "stroke-width": style === "bold" ? 2.8 : 1.5, "stroke-dasharray": DASHES[style] ?? "" };
  for (const [name, value] of Object.entries({ ...look, ...line })) shape.setAttribute(name, value);
  svg.appendChild(shape);
  parent.appendChild(svg);
}

export default {
  render({ model, el }) {
    const root = aria(make("div", "workbench-legend", el), "group", "Legend");
    const box = make("div", "workbench-legend-signs", root);
    make("span", "workbench-legend-keys", root, "F10 step \u00b7 F9 run \u00b7 / search \u00b7 ? keys");
    let shown = "";
    return follow(model, el, ({ signs = [] }) => {
      const key = JSON.stringify(signs);
      if (key === shown) return;
      shown = key;
      box.replaceChildren();
      root.title = signs.map((one) => (one.sign === "text" ? `${one.style}: ${one.text}` : one.text)).join(", ");
      for (const one of signs) {
        const holder = make("span", "", box);
        sign(one, holder);
        make("span", "", holder, one.text);
      }
    });
  },
};
