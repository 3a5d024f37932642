// A watched loop: a line of state, the outlook, a button that asks it to stop, and a strip for each variable.

const WATCH_SVG = "http://www.w3.org/2000/svg";
const STRIP = { width: 360, height: 44 };

function svgPart(tag, attributes, parent) {
  const part = document.createElementNS(WATCH_SVG, tag);
  for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
  parent.appendChild(part);
  return part;
}

// The history as a line; logarithmic where it spans two decades and is positive. Values that are not finite leave a gap.
function strip(row) {
  const svg = document.createElementNS(WATCH_SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${STRIP.width} ${STRIP.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "workbench-watch-strip");
  const known = row.y.filter((y) => y !== null);
  if (!known.length) return svg;
  let low = Math.min(...known);
  let high = Math.max(...known);
  const log = low > 0 && high / low >= 100;
  const bound = row.bound ?? null;
  if (bound !== null && (!log || bound > 0)) {
    low = Math.min(low, bound);
    high = Math.max(high, bound);
  }
  const scale = (y) => (log ? Math.log10(y) : y);
  const span = scale(high) - scale(low) || 1;
  const last = row.x[row.x.length - 1];
  const across = (x) => (last > row.x[0] ? ((x - row.x[0]) / (last - row.x[0])) * STRIP.width : STRIP.width / 2);
  const up = (y) => STRIP.height - 3 - ((scale(y) - scale(low)) / span) * (STRIP.height - 6);
  svg.setAttribute("role", "img");
  const from = `iterations ${row.x[0]} to ${last}, ${low.toPrecision(3)} to ${high.toPrecision(3)}`;
  svg.setAttribute("aria-label", `${[row.measure, row.name].filter(Boolean).join(" of ")}: ${from}${log ? ", logarithmic" : ""}`);
  if (bound !== null && (!log || bound > 0)) {
    svgPart("line", { x1: 0, x2: STRIP.width, y1: up(bound), y2: up(bound), class: "workbench-watch-bound" }, svg);
  }
  let path = "";
  row.y.forEach((y, k) => {
    if (y === null) return;
    path += `${path && row.y[k - 1] !== null ? "L" : "M"}${across(row.x[k]).toFixed(1)} ${up(y).toFixed(1)}`;
  });
  svgPart("path", { d: path, class: "workbench-watch-line" }, svg);
  svg.dataset.scale = log ? "log" : "linear";
  return svg;
}

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-watch", el), "region", "Watched loop");
    const head = make("div", "workbench-flow-bar", box);
    const name = make("span", "workbench-flow-line", head);
    const state = make("span", "workbench-watch-state", head);
    const count = make("span", "workbench-flow-dim", head);
    const stop = makeButton("Stop", "Ask the loop to stop: watch.stop_requested becomes True", head, () => {
      tell(model, { kind: "act", name: "stop", value: true });
    });
    const outlook = aria(make("div", "workbench-watch-outlook", box), "status");
    const facts = make("div", "workbench-watch-facts", box);
    const table = make("div", "workbench-watch-rows", box);

    return followSilently(model, el, (status) => {
      name.textContent = status.name ?? "";
      state.textContent = status.stopping && status.state === "running" ? "asked to stop" : (status.state ?? "");
      count.textContent = `${(status.iteration ?? 0).toLocaleString("en")} iterations, ${status.rate ?? 0} per second`;
      stop.disabled = status.stopping || !["ready", "running", "quiet"].includes(status.state);
      outlook.replaceChildren();
      if (status.status && status.state === "running") make("b", "workbench-watch-status", outlook, status.status);
      make("span", "", outlook, status.sentence ?? "");
      const lines = [...(status.found ?? [])];
      if (status.gap && status.state === "running") lines.unshift(`Gap to ${status.gap[0]}: ${status.gap[1]}`);
      facts.textContent = lines.join(" ");
      table.replaceChildren();
      for (const row of status.variables ?? []) {
        const line = make("div", "workbench-watch-row", table);
        make("code", "workbench-watch-name", line, row.name);
        const picture = make("div", "workbench-watch-picture", line);
        const drawn = strip(row);
        picture.appendChild(drawn);
        if (drawn.dataset.scale === "log") make("span", "workbench-watch-log", picture, "log");
        const words = make("div", "workbench-watch-words", line);
        if (row.measure) make("span", "workbench-flow-dim", words, `${row.measure} `);
        make("b", "", words, row.value ?? "");
        make("span", "", words, ` ${(row.label ?? "").toLowerCase()} `);
        const numbers = [];
        if ((row.bound ?? null) !== null) numbers.push(`dashed: ${row.bound}`);
        if (row.rate !== null) numbers.push(`rate ${row.rate.toPrecision(4)}`);
        if (row.limit !== null) numbers.push(`limit ${row.limit}`);
        make("span", "workbench-flow-dim", words, numbers.join(", "));
        line.title = row.why;
      }
      const seen = (status.variables ?? []).map((row) => row.x).filter((x) => x.length);
      if (!seen.length) return;
      // the iterations below the curves, all of which have the same
      const axis = make("div", "workbench-watch-row workbench-watch-axis", table);
      make("span", "", axis, "iteration");
      const ends = make("div", "workbench-watch-ends", axis);
      const whole = (k) => Math.round(k).toLocaleString("en").replaceAll(",", "\u2009");
      const [from, to] = [Math.min(...seen.map((x) => x[0])), Math.max(...seen.map((x) => x[x.length - 1]))];
      for (const at of [from, (from + to) / 2, to]) make("span", "", ends, whole(at));
      make("span", "", axis);
    });
  },
};
