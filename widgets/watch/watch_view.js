// A watched loop: three cards (how it stands, what is wrong with its values, if it will end), a button that asks it to stop, and
// a strip for each variable.

const FEW = 5; // variables whose strips are high
const STATES = { ready: "ready", running: "running", quiet: "looking", stopped: "paused", failed: "failed" };

function watchCard(kind, parent) {
  const box = make("div", `workbench-card workbench-card-${kind}`, parent);
  return { box, title: make("div", "workbench-card-title", box), detail: make("div", "workbench-card-detail", box) };
}

function fillCard({ box, title, detail }, tone, words, more) {
  box.dataset.tone = tone;
  if (words !== undefined) title.textContent = words;
  detail.textContent = more;
  title.title = title.textContent;
  detail.title = more;
}

// The end in a card: its tone, the words, and what stands below them.
function watchEnd(status) {
  const { status: known, outcome, sentence = "", state } = status;
  if (status.reached) return ["ended", status.reached, "the loop goes on"];
  if (state === "quiet") return ["quiet", ...[...sentence.split(/\. (?=If )/), ""].slice(0, 2)];
  if (!["ready", "running"].includes(state)) return [status.standing || "over", status.headline || sentence, status.why ?? ""];
  if (known !== "PREDICTED") return ["", "Not known yet", sentence];
  const told = "not proved: only the recorded values are seen";
  if (outcome === "never") return ["never", `Forecast: ${sentence}`, told];
  const [words, ...rest] = sentence.split(/(?= \(|, (?=[^)]*$))/);
  const more = rest.map((part) => part.replace(/^[ ,]+/, "").replace(/^\((.*)\)$/, "$1 (90 %)"));
  return ["forecast", `Forecast: ${words}`, [...more, told].join(" \u00b7 ")];
}

function watchRow(row, span, table) {
  const line = make("div", "workbench-watch-row", table);
  line.title = row.why;
  const name = make("div", "workbench-watch-name", line);
  make("code", "", name, row.name);
  const levels = make("div", "workbench-watch-levels");
  const drawn = watchStrip(row, span, levels);
  if (drawn.dataset.scale === "log") make("span", "workbench-watch-log", name, "log scale");
  const picture = make("div", "workbench-watch-picture", line);
  picture.append(levels, drawn);
  const cross = make("i", "workbench-watch-cross", picture);
  const words = make("div", "workbench-watch-words", line);
  if (row.measure) make("span", "workbench-flow-dim", words, `${row.measure} `);
  const value = make("b", "", words, row.value ?? "");
  make("span", "", words, ` ${row.label ?? ""} `);
  const numbers = [];
  if ((row.bound ?? null) !== null) numbers.push(`dashed: ${numeral(row.bound)}`);
  if (row.rate !== null) numbers.push(`rate ${numeral(row.rate, 4)}`);
  if (row.limit !== null) numbers.push(`limit ${row.limit}`);
  make("span", "workbench-flow-dim", words, numbers.join(", "));
  // at the iteration under the pointer, null where there is none: the crosshair, and the value there
  return (at) => {
    const k = at === null ? -1 : row.x.reduce((best, x, i) => (best < 0 || Math.abs(x - at) < Math.abs(row.x[best] - at) ? i : best), -1);
    const near = k >= 0 && Math.abs(row.x[k] - at) <= Math.max(0.5, (span.to - span.from) / 200);
    cross.hidden = at === null;
    cross.style.left = at === null ? "" : `${100 * watchAcross(span, at)}%`;
    value.textContent = at === null ? (row.value ?? "") : near ? `${row.y[k] === null ? "not finite" : numeral(row.y[k], 6)} in ${numeral(row.x[k])}` : "\u2013";
    value.dataset.at = String(at !== null);
  };
}

// The iterations below the strips, all of which have the same.
function watchAxis(span, table) {
  const axis = make("div", "workbench-watch-row workbench-watch-axis", table);
  const told = make("span", "", axis, "iteration");
  const marks = make("div", "workbench-watch-ends", axis);
  for (const at of watchTicks(span)) make("span", "", marks, numeral(at)).style.left = `${100 * watchAcross(span, at)}%`;
  make("span", "workbench-watch-finishes", axis, span.end ? `ends about ${numeral(span.end.at)}` : "");
  return (at) => {
    told.textContent = at === null ? "iteration" : `iteration ${numeral(at)}`;
  };
}

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-watch", el), "region", "Watched loop");
    const cards = aria(make("div", "workbench-status", box), "status");
    const state = watchCard("state", cards);
    const name = make("span", "workbench-flow-line", state.title);
    const word = make("span", "workbench-watch-state", state.title);
    const stop = makeButton("Stop", "Ask the loop to stop: watch.stop_requested becomes True", state.title, () => {
      tell(model, { kind: "act", name: "stop", value: true });
    });
    const health = watchCard("health", cards);
    const end = watchCard("verdict", cards);
    end.box.classList.add("workbench-watch-outlook");
    const facts = make("div", "workbench-watch-facts", box);
    const table = make("div", "workbench-watch-rows", box);

    // one crosshair for all strips
    let [span, parts, at] = [null, [], null];
    const look = (event) => {
      const box = event.target.closest?.(".workbench-watch-picture")?.getBoundingClientRect();
      at = box && span ? Math.round(span.from + ((event.clientX - box.left) / box.width) * (span.to - span.from)) : null;
      for (const part of parts) part(at);
    };
    table.addEventListener("pointermove", look);
    table.addEventListener("pointerleave", () => look({ target: table }));

    return followSilently(model, el, (status) => {
      const open = ["ready", "running", "quiet"].includes(status.state);
      name.textContent = status.name ?? "";
      word.textContent = status.stopping && status.state === "running" ? "asked to stop" : (status.state ?? "");
      const count = `iteration ${numeral(status.iteration ?? 0)}, ${status.rate ?? 0} per second`;
      fillCard(state, STATES[status.state] ?? "finished", undefined, open ? count : `${numeral(status.iteration ?? 0)} iterations`);
      stop.disabled = status.stopping || !open;
      stop.style.display = open ? "" : "none";
      const rows = status.variables ?? [];
      const checked = rows.length ? `in ${rows.length === 1 ? rows[0].name : `${rows.length} variables`}` : "";
      const [tone, finding] = status.bad ? ["bad", status.bad] : rows.length ? ["good", "No NaN, no infinity"] : ["quiet", "Nothing recorded yet"];
      fillCard(health, tone, finding, status.bad ? "" : checked);
      fillCard(end, ...watchEnd(status));
      const gap = status.gap && status.state === "running" ? [`Gap to ${status.gap[0]}: ${status.gap[1]}.`] : [];
      facts.textContent = [...gap, ...(status.found ?? [])].join(" ");
      table.replaceChildren();
      table.dataset.few = String(rows.length <= FEW);
      span = watchSpan(status);
      parts = rows.map((row) => watchRow(row, span, table));
      if (span) parts.push(watchAxis(span, table));
      for (const part of parts) part(span ? at : null);
    });
  },
};
