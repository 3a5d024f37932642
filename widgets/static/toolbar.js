// Buttons and status line. A click sends a message and nothing else; the kernel answers through the synced status.
// All texts are set as textContent, so that a name with tags in it is shown and not obeyed.

const ICONS = {
  step_back: "M9 2 3 7l6 5zM1 2h2v10H1z",
  step: "M5 2l6 5-6 5zM11 2h2v10h-2z",
  next_iteration: "M7 1a6 6 0 1 0 6 6h-2a4 4 0 1 1-4-4v2l4-3-4-3z",
  run: "M3 1l9 6-9 6z",
  pause: "M3 1h3v12H3zM8 1h3v12H8z",
  restart: "M7 2V0L2 3.5 7 7V4.5A3.8 3.8 0 1 1 3.2 8.3H1A6 6 0 1 0 7 2z",
};

function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (parent) parent.appendChild(element);
  return element;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.appendChild(path);
  return svg;
}

function chord(event) {
  const parts = [];
  if (event.ctrlKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.metaKey) parts.push("Meta");
  if (event.shiftKey) parts.push("Shift");
  parts.push(event.key);
  return parts.join("+");
}

export default {
  render({ model, el }) {
    const bar = make("div", "workbench-toolbar", el);
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Debugger");
    bar.tabIndex = 0;
    const buttons = new Map();
    for (const command of model.get("commands")) {
      const button = make("button", "", bar);
      button.type = "button";
      button.dataset.command = command.name;
      button.title = command.tooltip;
      button.setAttribute("aria-label", command.tooltip);
      button.appendChild(icon(command.name));
      make("span", "", button).textContent = command.label;
      button.addEventListener("click", () => press(command.name));
      buttons.set(command.name, button);
    }
    const status = make("div", "workbench-status", bar);
    status.setAttribute("role", "status");
    status.setAttribute("aria-live", "polite");
    const fields = {};
    for (const name of ["state", "event", "iteration", "next", "reason", "error"]) {
      fields[name] = make("span", `workbench-${name}`, status);
    }

    // the whole story of a failure, folded; a new one replaces it
    const report = make("details", "workbench-report", status);
    make("summary", "", report).textContent = "What happened, and what to do";
    const story = make("pre", "", report);

    function press(name) {
      if (buttons.get(name)?.disabled) return;
      model.send({ kind: "command", name });
    }

    function field(name, title, value) {
      const span = fields[name];
      span.replaceChildren();
      span.style.display = value ? "" : "none";
      if (!value) return;
      if (title) make("b", "", span).textContent = `${title} `;
      span.appendChild(document.createTextNode(value));
    }

    function show() {
      const now = model.get("status");
      const enabled = new Set(now.enabled ?? []);
      fields.state.dataset.state = now.state ?? "";
      field("state", "", now.word);
      field("event", "event", now.event);
      field("iteration", "", now.iteration);
      field("next", "next", now.next ? now.tag || now.next : "");
      field("reason", "", now.reason);
      field("error", "", now.error ? `\u2716 ${now.error}` : "");
      story.textContent = now.report ?? "";
      report.style.display = now.report ? "" : "none";
      for (const [name, button] of buttons) button.disabled = !enabled.has(name);
      model.send({ kind: "ack", push: model.get("push") });
    }
    model.on("change:status", show);
    show();

    // keys work while anything inside the debugger has the focus, and only then
    let home = bar;
    const onKey = (event) => {
      const name = model.get("keymap")[chord(event)];
      if (!name || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      event.preventDefault();
      event.stopPropagation();
      press(name);
    };
    const attach = () => {
      home = el.closest(".workbench-debugger") ?? bar;
      home.setAttribute("data-lm-suppress-shortcuts", "true");
      if (home !== bar) home.tabIndex = -1;
      home.addEventListener("keydown", onKey);
    };
    const waiting = setTimeout(attach, 0);
    model.send({ kind: "view" });
    return () => {
      clearTimeout(waiting);
      home.removeEventListener("keydown", onKey);
      model.send({ kind: "gone" });
    };
  },
};
