// The history of one variable of a watched loop as a line over the iterations, with its bound and the end that is forecast.

const WATCH_SVG = "http://www.w3.org/2000/svg";
const STRIP = { width: 360, height: 44 };
// an end that is forecast is drawn up to so many times of what was seen
const FARTHEST = 3;

function svgPart(tag, attributes, parent) {
  const part = document.createElementNS(WATCH_SVG, tag);
  for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
  parent.appendChild(part);
  return part;
}

// The iterations that all strips show: those that were seen, and on to the end that is forecast where that is not too far.
function watchSpan(status) {
  const seen = (status.variables ?? []).map((row) => row.x).filter((x) => x.length);
  if (!seen.length) return null;
  const [from, last] = [Math.min(...seen.map((x) => x[0])), Math.max(...seen.map((x) => x[x.length - 1]))];
  const { remaining, interval, iteration } = status;
  const span = { from, to: last, last, end: null };
  if (!remaining || status.status !== "PREDICTED") return span;
  const [low, high] = interval ?? [remaining, remaining];
  const end = { at: iteration + remaining, low: iteration + low, high: iteration + (high ?? remaining) };
  if (end.at - from > FARTHEST * (last - from)) return span;
  return { ...span, end, to: Math.max(last, Math.min(end.high, from + FARTHEST * (last - from))) };
}

// Numbers at even distances, at most one more than `most`; whole ones, if `least` is 1.
function watchTicks({ from, to }, most = 5, least = 1) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, (to - from) / most)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => (to - from) / k <= most) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// The round numbers of a vertical axis, at most four: of a logarithmic one powers of ten.
function watchLevels(low, high, log) {
  if (!(high > low)) return [low];
  if (!log) return watchTicks({ from: low, to: high }, 3, 0);
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first + 1) / 4));
  const found = [];
  for (let k = first; k <= last; k += step) found.push(10 ** k);
  return found;
}

const watchAcross = ({ from, to }, x) => (to > from ? (x - from) / (to - from) : 0.5);

// Logarithmic where the values, and the bound that they go to, are positive and span two decades. Values that are not finite
// leave a gap.
function watchStrip(row, span, scale_ = null) {
  const svg = document.createElementNS(WATCH_SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${STRIP.width} ${STRIP.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "workbench-watch-strip");
  const known = row.y.filter((y) => y !== null);
  if (!known.length || !span) return svg;
  let low = Math.min(...known);
  let high = Math.max(...known);
  const bound = row.bound ?? null;
  const reached = bound !== null && bound > 0 ? [Math.min(low, bound), Math.max(high, bound)] : [low, high];
  const log = reached[0] > 0 && reached[1] / reached[0] >= 100;
  const bounded = bound !== null && (!log || bound > 0);
  if (bounded) [low, high] = [Math.min(low, bound), Math.max(high, bound)];
  const scale = (y) => (log ? Math.log10(y) : y);
  const height = scale(high) - scale(low) || 1;
  const across = (x) => watchAcross(span, x) * STRIP.width;
  const up = (y) => STRIP.height - 3 - ((scale(y) - scale(low)) / height) * (STRIP.height - 6);
  svg.setAttribute("role", "img");
  const told = `iterations ${row.x[0]} to ${row.x.at(-1)}, ${low.toPrecision(3)} to ${high.toPrecision(3)}`;
  svg.setAttribute("aria-label", `${[row.measure, row.name].filter(Boolean).join(" of ")}: ${told}${log ? ", logarithmic" : ""}`);
  const all = { y1: 0, y2: STRIP.height };
  if (span.end) {
    const { at, low: early, high: late } = span.end;
    const [x1, x2] = [across(early), across(Math.min(late, span.to))];
    if (x2 > x1) svgPart("rect", { x: x1, y: 0, width: x2 - x1, height: STRIP.height, class: "workbench-watch-band" }, svg);
    svgPart("line", { x1: across(at), x2: across(at), ...all, class: "workbench-watch-finish" }, svg);
    svgPart("line", { x1: across(span.last), x2: across(span.last), ...all, class: "workbench-watch-now" }, svg);
  }
  if (bounded) svgPart("line", { x1: 0, x2: STRIP.width, y1: up(bound), y2: up(bound), class: "workbench-watch-bound" }, svg);
  let path = "";
  row.y.forEach((y, k) => {
    if (y === null) return;
    path += `${path && row.y[k - 1] !== null ? "L" : "M"}${across(row.x[k]).toFixed(1)} ${up(y).toFixed(1)}`;
  });
  svgPart("path", { d: path, class: "workbench-watch-line" }, svg);
  svg.dataset.scale = log ? "log" : "linear";
  for (const y of scale_ ? watchLevels(low, high, log) : []) make("span", "", scale_, numeral(y, 4)).style.top = `${(100 * up(y)) / STRIP.height}%`;
  return svg;
}
