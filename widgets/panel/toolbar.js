// Buttons, keys, breadcrumbs and status line. A click sends a message and nothing else; the kernel answers through the
// synced status.

const QUIET_MS = 1000;

// Groups that have their word in front of the buttons.
const NAMED = ["back", "forward"];

export default {
  render({ model, el }) {
    const bar = aria(make("div", "workbench-bar workbench-toolbar", el), "toolbar", "Debugger");
    bar.tabIndex = 0;
    const buttons = new Map();
    const groups = new Map();
    const shelf = make("div", "workbench-commands", bar);
    const more = make("details", "workbench-more");
    make("summary", "", more, "More \u25be").title = "More commands";
    for (const command of model.get("commands")) {
      if (!groups.has(command.group)) {
        const inside = command.group === "more" ? more : shelf;
        const group = aria(make("div", `workbench-group workbench-group-${command.group}`, inside), "group", command.group_label);
        if (inside === more) group.classList.add("workbench-menu");
        groups.set(command.group, group);
        if (NAMED.includes(command.group)) make("span", "workbench-group-name", group, command.group_label);
      }
      const button = makeButton("", "", groups.get(command.group), () => {
        more.open = false;
        press(command.name);
      });
      button.dataset.command = command.name;
      button.appendChild(icon(ICONS[command.name]));
      if (command.short) make("span", "", button, command.short);
      buttons.set(command.name, button);
    }
    shelf.appendChild(more);
    const right = make("div", "workbench-group workbench-group-right", shelf);
    for (const place of [right, groups.get("more")]) {
      for (const [name, label, tip, path] of RIGHT) {
        const button = makeButton("", tip, place, () => aside(name));
        button.dataset.view = name;
        button.appendChild(icon(path));
        make("span", "", button, label);
      }
    }
    const help = makeButton("?", "Keys (?)", right, () => keys.toggle());
    help.classList.add("workbench-help");
    help.setAttribute("aria-expanded", "false");
    const status = aria(make("div", "workbench-status", bar), "status");
    status.setAttribute("aria-live", "polite");
    const state = card(status, "state");
    const fields = {};
    for (const name of ["state", "iteration", "rate"]) fields[name] = make("span", `workbench-${name}`, state.title);
    const progress = make("progress", "workbench-progress", state.title);
    const back = makeButton("Back to newest", "Look at the newest state again", state.detail, () => tell(model, { kind: "look", frame: [], iteration: [] }));
    back.classList.add("workbench-newest");
    const trail = aria(make("nav", "workbench-crumbs", state.detail), "", "Loops around the next node");
    for (const name of ["looking", "next", "error", "reason", "event"]) {
      fields[name] = make("span", `workbench-${name}`, state.detail);
    }
    const why = (name, box) => whyButton(name, box, () => el.closest(".workbench-debugger")?.dispatchEvent(new CustomEvent("workbench-why", { detail: name })));
    const health = card(status, "health");
    health.box.classList.add("workbench-health");
    const unhealthy = make("span", "workbench-health-title", health.title);
    const there = makeButton("Go there", "Look at it in all views", health.detail, () => tell(model, { kind: "health" }));
    const checked = make("span", "", health.detail);
    const verdict = card(status, "verdict");
    const ending = make("span", "", verdict.detail);
    const behind = { state: why("state", state.box), health: why("health", health.box), verdict: why("verdict", verdict.box) };
    const result = makeButton("Show", "Show this value", null, () => tell(model, { kind: "output" })); // of a run without loops
    const given = makeButton("Enter inputs", "Open the form of the inputs", null, () => el.closest(".workbench-debugger")?.querySelector("[data-pane=inputs]")?.click());

    // the whole story of a failure, folded; a new one replaces it. In a panel it is behind the card of the state.
    const report = make("details", "workbench-report", bar);
    make("summary", "", report).textContent = "Details of the failure and how to fix it";
    const story = make("pre", "", report);
    const keys = keyList(model, bar, help);

    function aside(name) {
      more.open = false;
      const root = el.closest(".workbench-debugger");
      if (name === "share") root?.querySelector("[data-pane=export]")?.click();
      else if (name === "tab") globalThis.__workbenchLab?.openInTab(el);
      else root?.dispatchEvent(new CustomEvent(`workbench-${name}`));
    }

    function tooltips() {
      const chords = Object.fromEntries(Object.entries(model.get("keymap")).map(([key, name]) => [name, key]));
      for (const command of model.get("commands")) {
        const tip = command.short === command.label ? command.does : `${command.label}: ${command.does}`;
        const button = buttons.get(command.name);
        button.title = chords[command.name] ? `${tip} (${chords[command.name]})` : tip;
        button.setAttribute("aria-label", `${command.label}. ${command.does}`);
        button.setAttribute("aria-keyshortcuts", (chords[command.name] ?? "").replace("Ctrl", "Control"));
      }
    }
    tooltips();

    function press(name) {
      if (buttons.get(name)?.disabled) return;
      tell(model, { kind: "command", name });
    }

    function field(name, title, value) {
      const span = fields[name];
      const text = value ? `${title} ${value}` : "";
      if (span.dataset.text === text) return;
      span.dataset.text = text;
      span.replaceChildren();
      span.style.display = value ? "" : "none";
      if (!value) return;
      if (title) make("b", "", span).textContent = `${title} `;
      span.appendChild(document.createTextNode(value));
    }

    function showTrail(crumbs) {
      const text = JSON.stringify(crumbs);
      if (trail.dataset.shown === text) return;
      trail.dataset.shown = text;
      trail.replaceChildren();
      crumbs.forEach((crumb, k) => {
        if (k) make("span", "workbench-between", trail, "\u203a").setAttribute("aria-hidden", "true");
        const tip = crumb.frame.length ? `Look at ${crumb.text}` : "Look at the newest state";
        makeButton(crumb.text, tip, trail, () =>
          tell(model, { kind: "look", frame: crumb.frame, iteration: crumb.iteration }),
        );
      });
      trail.style.display = crumbs.length > 2 ? "" : "none"; // of one loop the title says it
    }

    // While it runs: iterations a second, and what is left of them where the end is proved or forecast.
    let begun = null;
    function run({ state, at, end, proved }) {
      if (state !== "running" || !(at >= 0)) {
        begun = null;
        progress.hidden = true;
        return field("rate", "", "");
      }
      const now = performance.now() / 1000;
      if (!begun || at < begun.at) begun = { at, now };
      const rate = (at - begun.at) / (now - begun.now);
      const known = end > at;
      progress.hidden = !known;
      if (known) {
        progress.max = end;
        progress.value = at;
      }
      if (!(rate > 0) || now - begun.now < 0.5) return;
      const left = known ? `, ${proved ? "" : "about "}${lasting((end - at) / rate)} left` : "";
      field("rate", "", `${rate >= 10 ? numeral(Math.round(rate)) : rate.toPrecision(2)} a second${left}`);
    }

    let answered = -Infinity;
    const show = (now) => {
      const enabled = new Set(now.enabled ?? []);
      fields.state.dataset.state = now.state ?? "";
      bar.dataset.state = now.state ?? "";
      bar.dataset.nested = String(Boolean(now.nested));
      bar.dataset.loop = String(Boolean(now.loop));
      bar.dataset.edited = String(enabled.has("undo_edit"));
      bar.dataset.lab = String(Boolean(globalThis.__workbenchLab));
      state.box.dataset.tone = now.looking ? "looking" : now.state;
      field("state", "", now.word);
      field("event", "", now.event === undefined ? "" : `${now.event} node${now.event === "1" ? "" : "s"} done`);
      const inside = (now.crumbs ?? []).at(-1)?.iteration ?? [];
      field("iteration", "", inside.length && now.state !== "running" ? `in iteration ${numeral(inside.at(-1))}${inside.length > 1 ? ` of ${now.inside}` : ""}` : now.state === "finished" ? "" : now.iteration);
      field("next", "next", now.step);
      fields.next.title = now.tag || now.next || ""; // the name of the node, as the graph has it
      field("looking", "looking at", now.looking);
      back.style.display = now.looking ? "" : "none";
      field("reason", "", now.reason);
      fields.reason.title = now.reason_in_full ?? "";
      field("error", "", now.error ? `\u2716 ${now.error}` : "");
      fields.error.title = now.error ?? "";
      run(now);
      const sick = Boolean(now.health);
      const told = now.verdict ?? {};
      health.box.dataset.tone = now.tones?.health ?? "quiet";
      set(unhealthy, sick || now.trouble ? now.health_title || (now.health || now.trouble).split(", ")[0] : now.finite ? "No NaN, no infinity" : now.starts || (now.state === "ready" ? "Nothing computed yet" : ""));
      unhealthy.title = now.health || now.trouble || "";
      there.style.display = sick ? "" : "none";
      set(checked, (sick ? now.operands : now.trouble ? ["computed ahead", now.random].filter(Boolean).join(" ") : now.finite) ?? "");
      verdict.box.dataset.tone = now.tones?.verdict ?? "";
      verdict.box.style.display = told.headline ? "" : "none";
      set(verdict.title, told.headline ?? "");
      const made = Boolean(told.headline && now.random && now.state === "ready"); // made up, and nothing has run
      const detail = made ? "Random inputs, so the verdict means little" : [told.headline && now.random, told.detail].filter(Boolean).join(": ");
      set(ending, detail);
      if (!made) given.remove();
      else if (!given.isConnected) verdict.detail.prepend(given);
      if (!told.node) result.remove();
      else if (!result.isConnected) verdict.detail.prepend(result);
      verdict.title.title = told.headline ?? "";
      verdict.detail.title = detail;
      behind.state.hidden = now.state !== "failed" || !now.error;
      behind.health.hidden = !now.health_why && !now.trouble;
      behind.verdict.hidden = !told.headline || !now.loop || now.state === "failed"; // the state says that
      showTrail(now.crumbs ?? []);
      story.textContent = now.report ?? "";
      report.style.display = now.report ? "" : "none";
      for (const [name, button] of buttons) button.disabled = !enabled.has(name);
      const undo = buttons.get("undo_edit"); // it is there only while there is an edit
      if (undo) undo.style.display = enabled.has("undo_edit") ? "" : "none";
      // each answer has JupyterLab show a busy kernel and an idle one: while the session runs, few are given
      const quiet = now.state === "running" && performance.now() - answered < QUIET_MS;
      if (!quiet) answered = performance.now();
      return !quiet;
    };

    // keys work while anything inside the debugger has the focus, and only then
    let home = bar;
    const onKey = (event) => {
      if (keys.waits() || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable) return;
      const name = event.key === "?" ? "?" : model.get("keymap")[chord(event)];
      if (!name) return;
      taken(event);
      if (name === "?") keys.toggle();
      else press(name);
    };
    const attach = () => {
      home = el.closest(".workbench-debugger") ?? bar;
      ownKeys(home);
      if (home !== bar) home.tabIndex = -1;
      home.addEventListener("keydown", onKey);
    };
    const waiting = setTimeout(attach, 0);
    const detach = () => {
      clearTimeout(waiting);
      home.removeEventListener("keydown", onKey);
    };
    const mourned = mournWithoutKernel(model, () => el.closest(".workbench-debugger") ?? bar);
    return follow(model, el, show, listen(model, "change:keymap", tooltips), keys.leave, detach, mourned);
  },
};
