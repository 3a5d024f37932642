// A watched loop: three cards (how it stands, what is wrong with its values, if it will end) and a button that asks it to stop.

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
  const told = "not proved: based on the recorded values alone";
  if (outcome === "never") return ["never", `Forecast: ${sentence}`, told];
  const [words, ...rest] = sentence.split(/(?= \(|, (?=[^)]*$))/);
  const more = rest.map((part) => part.replace(/^[ ,]+/, "").replace(/^\((.*)\)$/, "$1 (90 %)"));
  return ["forecast", `Forecast: ${words}`, [...more, told].join(" \u00b7 ")];
}

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-flow workbench-watch-cards", el), "region", "Watched loop");
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

    return followSilently(model, el, (status) => {
      const open = ["ready", "running", "quiet"].includes(status.state);
      name.textContent = status.name ?? "";
      word.textContent = status.stopping && status.state === "running" ? "asked to stop" : (status.state ?? "");
      const count = `iteration ${numeral(status.iteration ?? 0)}, ${status.rate ?? 0} per second`;
      fillCard(state, STATES[status.state] ?? "finished", undefined, open ? count : `${numeral(status.iteration ?? 0)} iteration${status.iteration === 1 ? "" : "s"}`);
      stop.disabled = status.stopping || !open;
      stop.style.display = open ? "" : "none";
      const names = status.variables ?? [];
      const checked = names.length ? `in ${names.length === 1 ? names[0] : `${names.length} variables`}` : "";
      const [tone, finding] = status.bad ? ["bad", status.bad] : names.length ? ["good", "No NaN, no infinity"] : ["quiet", "Nothing recorded yet"];
      fillCard(health, tone, finding, status.bad ? "" : checked);
      fillCard(end, ...watchEnd(status));
      const gap = status.gap && status.state === "running" ? [`Gap to ${status.gap[0]}: ${status.gap[1]}.`] : [];
      facts.textContent = [...gap, ...(status.found ?? [])].join(" ");
    });
  },
};
