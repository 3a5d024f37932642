// All nodes in the order in which they run: a bar for each, or for a few in a row, as high and as coloured as its value is bad.

const TALL = 20; // pixels of a bar that is full
const LOOP = 4; // pixels below the bars, for the lines of the loops
const TOP = 6; // above them, for the sign of the next node
// height, and colour in the light and in the dark; by level: not computed, older, computed, older Inf, Inf, older NaN, NaN, failed
const BARS = [
  [0.1, "#9aa1a9", "#6d747c"], [0.3, "#a8cbe6", "#3d6480"], [0.45, "#2f86c1", "#56b4e9"],
  [0.6, "#f3cf85", "#8a6a1d"], [0.72, "#e69f00", "#e69f00"], [0.85, "#f3a9c2", "#8f3a58"],
  [1, "#d81b60", "#ff5c93"], [1, "#8a0f4d", "#ffb3d1"],
];
const WORDS = ["not computed", "from an earlier iteration", "computed", "Inf in an earlier iteration", "Inf", "NaN in an earlier iteration", "NaN", "failed"];
const SIGNS = [[2, "computed"], [1, "earlier iteration"], [0, "not computed"], [4, "Inf"], [6, "NaN"], [7, "failed"]];
const LEAST_NAMED = 34; // pixels of a cell in which a name is written

export default {
  render({ model, el }) {
    const root = aria(make("div", "workbench-allnodes", el), "group", "All nodes");
    ownKeys(root);
    const head = make("span", "workbench-allnodes-head", root);
    make("b", "", head, "All nodes");
    const total = make("span", "workbench-allnodes-total", head);
    const strip = aria(make("div", "workbench-allnodes-strip", root), "slider", "All nodes in the order in which they run");
    strip.tabIndex = 0;
    const canvas = make("canvas", "", strip);
    const tail = make("span", "workbench-allnodes-tail", root);
    const wrong = ["NaN", "Inf"].map((word, k) => {
      const button = makeButton("", `Go to the first ${word}`, tail, () => tell(model, { kind: "choose", number: model.get("status").wrong[k].number }));
      button.className = "workbench-allnodes-wrong";
      button.dataset.word = word;
      return button;
    });
    const signs = make("span", "workbench-allnodes-signs", tail);

    const cellAt = (event) => {
      const box = strip.getBoundingClientRect();
      const { cells } = model.get("status");
      const at = Math.floor(((event.clientX - box.x) / box.width) * cells.length);
      return Math.max(0, Math.min(cells.length - 1, at));
    };
    strip.addEventListener("click", (event) => tell(model, { kind: "cell", number: cellAt(event) }));
    strip.addEventListener("pointermove", (event) => {
      const { cells, loops } = model.get("status");
      if (!cells) return;
      const k = cellAt(event);
      const around = loops.filter(([first, last]) => first <= k && k <= last).map(([, , name]) => name);
      const where = around.length ? ` \u00b7 in ${around.join(" \u203a ")}` : "";
      strip.title = `${model.get("names")[k] ?? ""}: ${WORDS[cells[k]]}${where}`;
    });
    strip.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const { at, count } = model.get("status");
      const page = Math.max(1, Math.round(count / 10));
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0, End: count - 1 };
      if (!(event.key in to)) return;
      taken(event);
      tell(model, { kind: "choose", number: Math.max(0, Math.min(count - 1, to[event.key])) });
    });

    const paint = () => {
      const status = model.get("status");
      const { cells, loops, now, selected } = status;
      const width = strip.clientWidth;
      if (!width || !cells) return;
      const ratio = window.devicePixelRatio || 1;
      const tall = TOP + TALL + LOOP;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      const night = isDark();
      const wide = width / cells.length;
      const gap = wide >= 5 ? 1 : 0;
      const left = (k) => k * wide;
      context.globalAlpha = status.running || status.past ? 0.55 : 1;
      // the bars of cells that share a pixel: the worst is drawn last
      const order = [...cells].map((_, k) => k).sort((a, b) => cells[a] - cells[b]);
      for (const k of order) {
        const [share, day, dark] = BARS[cells[k]];
        context.fillStyle = night ? dark : day;
        const high = Math.max(2, share * TALL);
        context.fillRect(left(k), TOP + TALL - high, Math.max(wide - gap, 1), high);
      }
      if (wide >= LEAST_NAMED) {
        context.font = `11px ${getComputedStyle(root).fontFamily}`;
        context.textBaseline = "bottom";
        const names = model.get("names");
        const ink = getComputedStyle(root).color;
        for (let k = 0; k < cells.length; k++) {
          const name = (names[k] ?? "").replace(/ \(.+\)$/, "");
          if (context.measureText(name).width > wide - gap - 6) continue; // a piece of a name is none: the tooltip has it
          const [share] = BARS[cells[k]];
          const low = share < 0.5; // then it stands above the bar
          context.fillStyle = low ? ink : share >= 1 && !night ? "#ffffff" : "#1f2328";
          context.fillText(name, left(k) + 3, TOP + (low ? TALL * 0.6 : TALL - 2));
        }
      }
      context.fillStyle = "#e69f00";
      for (const [first, last, , depth] of loops) {
        context.globalAlpha = Math.max(0.35, 1 - 0.3 * (depth - 1));
        context.fillRect(left(first), TOP + TALL + 1, Math.max(2, left(last + 1) - left(first) - gap), LOOP - 1);
      }
      context.globalAlpha = 1;
      if (selected >= 0) {
        context.strokeStyle = night ? "#e59cc4" : "#b0488c";
        context.lineWidth = 2;
        context.strokeRect(left(selected) - 1, TOP - 1, Math.max(wide - gap + 2, 5), TALL + 2);
      }
      if (now >= 0) {
        const middle = Math.max(4, Math.min(width - 4, left(now) + (wide - gap) / 2));
        context.fillStyle = night ? "#ff8a3d" : "#d55e00";
        context.beginPath();
        context.moveTo(middle - 5, 0);
        context.lineTo(middle + 5, 0);
        context.lineTo(middle, TOP);
        context.fill();
        context.fillRect(middle - 1, TOP - 1, 2, TALL + 1);
      }
    };

    const show = (status) => {
      strip.setAttribute("aria-valuemin", "1");
      strip.setAttribute("aria-valuemax", String(status.count));
      strip.setAttribute("aria-valuenow", String(status.at + 1));
      strip.setAttribute("aria-valuetext", status.words);
      const stale = status.running ? ", as they were before this run" : status.past ? ", the newest values" : status.reading ? ", reading \u2026" : "";
      total.textContent = status.total + stale;
      status.wrong.forEach(({ text, tip }, k) => {
        const button = wrong[k];
        button.hidden = !text;
        button.textContent = text;
        button.title = tip ?? "";
        button.setAttribute("aria-label", tip ? `${text}. ${tip}` : "");
      });
      const present = SIGNS.filter(([level]) => status.cells.includes(String(level)));
      const key = present.map(([level]) => level).join();
      if (signs.dataset.shown !== key || signs.dataset.night !== String(isDark())) {
        signs.dataset.shown = key;
        signs.dataset.night = String(isDark());
        signs.replaceChildren();
        for (const [level, words] of present) {
          const [share, day, dark] = BARS[level];
          const one = make("span", "", signs);
          const mark = makeMark("", one, "workbench-allnodes-sign");
          mark.style.height = `${Math.max(2, Math.round(share * 12))}px`;
          mark.style.background = isDark() ? dark : day;
          make("span", "", one, words);
        }
      }
      paint();
    };
    const resized = new ResizeObserver(paint);
    resized.observe(strip);
    // while JupyterLab exchanges its style sheets nothing has a width
    const again = () => requestAnimationFrame(() => show(model.get("status")));
    return follow(model, el, show, onTheme(again), listen(model, "change:names", paint), () => resized.disconnect());
  },
};
