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
  if (state === "quiet") return ["quiet", sentence, ""];
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
  const drawn = watchStrip(row, span);
  if (drawn.dataset.scale === "log") make("span", "workbench-watch-log", name, "log scale");
  make("div", "workbench-watch-picture", line).appendChild(drawn);
  const words = make("div", "workbench-watch-words", line);
  if (row.measure) make("span", "workbench-flow-dim", words, `${row.measure} `);
  make("b", "", words, row.value ?? "");
  make("span", "", words, ` ${row.label ?? ""} `);
  const numbers = [];
  if ((row.bound ?? null) !== null) numbers.push(`dashed: ${numeral(row.bound)}`);
  if (row.rate !== null) numbers.push(`rate ${numeral(row.rate, 4)}`);
  if (row.limit !== null) numbers.push(`limit ${row.limit}`);
  make("span", "workbench-flow-dim", words, numbers.join(", "));
}

// The iterations below the strips, all of which have the same.
function watchAxis(span, table) {
  const axis = make("div", "workbench-watch-row workbench-watch-axis", table);
  make("span", "", axis, "iteration");
  const marks = make("div", "workbench-watch-ends", axis);
  for (const at of watchTicks(span)) make("span", "", marks, numeral(at)).style.left = `${100 * watchAcross(span, at)}%`;
  make("span", "workbench-watch-finishes", axis, span.end ? `ends about ${numeral(span.end.at)}` : "");
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
      const span = watchSpan(status);
      for (const row of rows) watchRow(row, span, table);
      if (span) watchAxis(span, table);
    });
  },
};
