// One slider per level of the loop that is looked at. At most one message is under way: the next one, always the newest,
// leaves when the kernel has answered; what plays may have a few under way.

const SPEEDS = [["1 / s", 1], ["2 / s", 2], ["5 / s", 5], ["10 / s", 10], ["20 / s", 20], ["all in 10 s", 0]];
const PLAY = "M3 1l9 6-9 6z";
const HALT = "M3 1h3v12H3zM8 1h3v12H8z";
const ICONS = { back: "M10 1 3 7l7 6z", on: "M4 1l7 6-7 6z", newest: "M1 1l6 6-6 6zM7 1l6 6-6 6zM12 1h2v12h-2z", go: "M1 2l6 5-6 5zM9 0h2v14H9zM11 1h3v4h-3z" };
const SLOW_MS = 2000;
const UNDER_WAY = 4; // questions of what plays
const PLACED = "workbench-plot"; // base/figure/strips.js
const KNOB = 16; // pixels of the knob of a slider
const NAME = 90; // least pixels for the name in front of it

export default {
  render({ model, el }) {
    const box = aria(make("div", "workbench-bar workbench-time", el), "group", "Iteration shown in all views");
    const line = make("div", "workbench-bar workbench-time", box);
    const tools = make("div", "workbench-time-tools", line);
    const frames = aria(make("select", "", tools), "", "Loop");
    frames.title = "Loop whose iterations the slider shows";
    const play = makeButton("", "Play the iterations", tools, () => (timer ? halt() : start()));
    play.dataset.time = "play";
    play.appendChild(icon(PLAY));
    const speed = aria(make("select", "", tools), "", "Speed");
    speed.title = "Iterations per second";
    for (const [label, rate] of SPEEDS) make("option", "", speed, label).value = rate;
    speed.value = 5;
    const back = makeButton("", "Previous iteration", tools, () => move(-1));
    back.appendChild(icon(ICONS.back));
    const on = makeButton("", "Next iteration", tools, () => move(1));
    on.appendChild(icon(ICONS.on));
    [back.dataset.time, on.dataset.time] = ["back", "on"];
    const jump = make("input", "workbench-time-jump", tools);
    jump.type = "number";
    jump.min = 0;
    jump.placeholder = "at";
    jump.setAttribute("aria-label", "Look at iteration");
    const newest = makeButton("", "Show the newest state", tools, () => {
      halt();
      ask({ kind: "newest" });
    });
    newest.appendChild(icon(ICONS.newest));
    newest.dataset.time = "newest";
    const go = makeButton("", "Move the session to this iteration, forwards or back", tools, () => {
      halt();
      ask({ kind: "go" });
    });
    go.dataset.time = "go";
    go.appendChild(icon(ICONS.go));
    make("span", "", go, "Go there");
    const rows = make("div", "workbench-time-levels", box);
    const told = make("span", "workbench-time-told", tools);
    told.setAttribute("aria-live", "polite");

    let now = {};
    let sliders = [];
    let timer = null;
    let sequence = model.get("status")?.seen ?? 0;
    let heard = sequence; // the newest message that the kernel has answered
    let open = 0; // sequence number of the newest message that is under way, or 0
    let sentAt = 0;
    let waiting = null;

    function ask(message) {
      if (open && performance.now() - sentAt < SLOW_MS) {
        waiting = message;
        return;
      }
      send(message);
    }
    function send(message) {
      waiting = null;
      open = ++sequence;
      sentAt = performance.now();
      if (!tell(model, { ...message, seq: open })) halt();
    }
    const deepest = () => {
      const set = (now.levels ?? []).findLastIndex((level) => level.set);
      return set < 0 ? (now.levels ?? []).length : set + 1;
    };
    const level = () => now.levels?.[deepest() - 1];
    const look = (value) => ask({ kind: "look", depth: deepest(), value });

    // "5 of 9", and without the last one where it has no room
    const tellCount = (output, value, last) => {
      output.textContent = output.title = counted(value, last);
      if (output.scrollWidth > output.clientWidth + 1) output.textContent = numeral(Number(value));
    };
    const counted = (value, last) => `${numeral(Number(value))} of ${numeral(Number(last))}`;

    function move(by) {
      halt();
      const at = level();
      if (at) look(Math.max(0, Math.min(at.last, at.value + by)));
    }
    // Playing goes by the clock: at 20 a second the iteration of now is asked for, and one that nobody had time for is left out.
    // A few questions may be under way, so that a long way to the kernel and back does not slow it down.
    function start() {
      const first = level();
      if (!first || first.last < 1) return;
      let from = now.live || first.value >= first.last ? 0 : first.value;
      let began = performance.now();
      let asked = from;
      const rate = Number(speed.value) || first.last / 10;
      const step = (value) => send({ kind: "look", depth: deepest(), value, playing: true, push: model.get("push") });
      step(from);
      timer = setInterval(() => {
        if (sequence - heard >= UNDER_WAY) return; // the kernel has not heard the last ones yet
        const here = level();
        if (!here || (now.live && !open)) return halt();
        if (!open && here.value !== asked) [from, asked, began] = [here.value, here.value, performance.now()]; // moved from elsewhere
        const wanted = Math.min(here.last, from + Math.floor(((performance.now() - began) * rate) / 1000));
        if (wanted > asked) step((asked = wanted));
        else if (!open && here.value >= here.last && !now.running) halt();
      }, 10);
      showPlaying();
    }
    function halt() {
      if (timer) tell(model, { kind: "ack", push: model.get("push") });
      clearInterval(timer);
      timer = null;
      showPlaying();
    }
    function showPlaying() {
      play.replaceChildren(icon(timer ? HALT : PLAY));
      const words = timer ? "Stop playing" : "Play the iterations";
      play.title = words;
      play.setAttribute("aria-label", words);
      play.setAttribute("aria-pressed", String(Boolean(timer)));
    }
    speed.addEventListener("change", () => {
      if (!timer) return;
      halt();
      start();
    });
    frames.addEventListener("change", () => {
      halt();
      ask({ kind: "frame", frame: Number(frames.value) });
    });
    jump.addEventListener("keydown", (event) => {
      event.stopPropagation(); // the notebook would take Enter for itself
      if (event.key !== "Enter") return;
      event.preventDefault();
      halt();
      const value = Number.parseInt(jump.value, 10);
      const at = level();
      if (!at || !Number.isFinite(value)) return;
      if (value > at.last && now.can_run) ask({ kind: "go", depth: deepest(), value }); // not there yet: run to it
      else look(Math.max(0, Math.min(at.last, value)));
      jump.value = "";
    });

    function build(count) {
      rows.replaceChildren();
      sliders = Array.from({ length: count }, (_, k) => {
        const row = make("label", "workbench-time-level", rows);
        const name = make("span", "workbench-time-name", row);
        const range = make("input", "", row);
        range.type = "range";
        range.min = 0;
        range.step = 1;
        const count_ = make("output", "workbench-time-count", row);
        const chosen = () => {
          halt();
          ask({ kind: "look", depth: k + 1, value: Number(range.value) });
          tellCount(count_, range.value, range.max);
        };
        range.addEventListener("input", chosen);
        // a notebook keeps arrow keys for itself, so they are carried out here
        range.addEventListener("keydown", (event) => {
          const [at, last] = [Number(range.value), Number(range.max)];
          const page = Math.max(1, Math.round(last / 10));
          const target = {
            ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
            PageDown: at - page, PageUp: at + page, Home: 0, End: last,
          }[event.key];
          if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
          taken(event);
          range.value = Math.max(0, Math.min(last, target));
          chosen();
        });
        return { row, name, range, count: count_ };
      });
      align();
    }

    // The slider of the innermost loop stands above the iterations of the curves below it, where these are of that loop.
    let area = null;
    let aligned = "";
    function align() {
      const at = sliders.at(-1);
      const plot = area?.workbenchPlot;
      if (!at) return;
      const mine = plot?.link && plot.link.slice(plot.link.indexOf("/") + 1, plot.link.lastIndexOf("/")) === now.loop;
      const { row, range } = at;
      if (!row.clientWidth && row.dataset.aligned) return; // not in sight, as while the theme is exchanged: it stays as it is
      let [from, to] = [0, 0];
      if (mine && row.clientWidth) {
        const box = row.getBoundingClientRect();
        const ahead = (plot.el.getBoundingClientRect().left - box.left) * (row.offsetWidth / box.width);
        [from, to] = [0, Number(range.max)].map((k) => ahead + plot.place(k));
      }
      const fits = from >= NAME && to <= row.clientWidth + KNOB;
      row.dataset.aligned = String(fits);
      row.style.setProperty("--workbench-room", fits ? `${from - KNOB}px` : "");
      range.style.left = fits ? `${from - KNOB / 2}px` : "";
      range.style.width = fits ? `${to - from + KNOB}px` : "";
      if (Number(range.max) && !range.disabled) tellCount(at.count, range.value, range.max); // there may be room again
    }

    const show = (status) => {
      now = status;
      heard = status.seen;
      if (open && heard >= open) open = 0;
      const names = status.frames ?? [];
      if (frames.dataset.names !== JSON.stringify(names)) {
        frames.dataset.names = JSON.stringify(names);
        frames.replaceChildren();
        names.forEach((name, k) => (make("option", "", frames, name).value = k));
      }
      frames.value = status.frame;
      frames.style.display = names.length > 1 ? "" : "none";
      line.dataset.several = String(names.length > 1);
      const levels = status.levels ?? [];
      box.style.display = line.style.display = levels.length ? "" : "none";
      if (!area && (area = el.closest(".workbench-area"))) area.addEventListener(PLACED, align);
      if (levels.length !== sliders.length) build(levels.length);
      levels.forEach((at, k) => {
        const { name, range, count: output } = sliders[k];
        const ran = at.last >= 0;
        name.textContent = name.title = at.name;
        if (waiting?.depth !== k + 1) {
          range.max = Math.max(at.last, 0);
          range.value = at.value;
          if (ran) tellCount(output, at.value, at.last);
          else output.textContent = output.title = "has not run yet";
        }
        range.disabled = !ran;
        const of = at.name === "iteration" ? "" : ` of ${at.name}`;
        range.setAttribute("aria-label", `Iteration${of}`);
        range.setAttribute("aria-valuetext", ran ? `iteration ${at.value} of ${at.last}${of}` : "has not run yet");
        range.dataset.set = String(at.set);
      });
      box.dataset.live = line.dataset.live = String(Boolean(status.live));
      newest.setAttribute("aria-pressed", String(Boolean(status.live)));
      go.disabled = !status.can_go;
      const text = status.live ? `newest: ${status.text}` : `looking at ${status.text}`;
      if (told.textContent !== text && !(status.running && status.live)) told.textContent = text;
      else if (status.running && status.live) told.textContent = "newest";
      const ran = (levels[0]?.last ?? -1) >= 0;
      for (const control of [play, back, on]) control.disabled = !ran;
      jump.disabled = !ran && !status.can_run;
      jump.title = `Type a number and press Enter${status.can_run ? "; iterations that have not run yet are run first" : ""}`;
      const placed = JSON.stringify([status.loop, levels.map((at) => at.last)]);
      if (!timer || placed !== aligned) align(); // it measures the page
      aligned = placed;
      if (!open && waiting) ask(waiting);
      return !timer; // what plays answers with its next question
    };
    const resized = new ResizeObserver(() => align());
    resized.observe(rows);
    const quit = () => {
      resized.disconnect();
      area?.removeEventListener(PLACED, align);
    };
    return follow(model, el, show, halt, joinHead(box, line), quit);
  },
};
