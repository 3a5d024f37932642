// What the small widgets share; esm.py puts it in front of each of them. All texts are set as textContent, so that a name
// with tags in it is shown and not obeyed.

function make(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}

// A button that is spoken as its tooltip.
function makeButton(label, tooltip, parent, onClick) {
  const button = make("button", "", parent, label);
  button.type = "button";
  button.title = tooltip;
  button.setAttribute("aria-label", tooltip);
  if (onClick) button.addEventListener("click", onClick);
  return button;
}

// A drawing of one path on a grid of 14 x 14.
function icon(path) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 14 14");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(namespace, "path");
  shape.setAttribute("d", path ?? "");
  svg.appendChild(shape);
  return svg;
}

// The keys of an event as "Ctrl+Shift+F9".
function chord(event) {
  const parts = [];
  if (event.ctrlKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.metaKey) parts.push("Meta");
  if (event.shiftKey) parts.push("Shift");
  parts.push(event.key);
  return parts.join("+");
}

// Says something to the kernel. When the comm has gone (the kernel was restarted, or has closed the widget) nobody hears
// it, and nothing is thrown in the middle of a click or of a farewell.
function tell(model, content) {
  try {
    model.send(content);
  } catch {
    // there is no comm any more
  }
}

// Calls `show` now and at each new status, acknowledges it, and tells the kernel that a view is there; what the kernel says
// went wrong stands in front of the view. Gives the function that ends all of it.
function follow(model, el, show) {
  let problem = null;
  const trouble = () => {
    const words = model.get("trouble");
    if (!words) {
      problem?.remove();
      problem = null;
      return;
    }
    if (!problem) {
      problem = make("div", "workbench-trouble");
      problem.setAttribute("role", "alert");
      problem.style.cssText = "color:#e8467c;font:600 13px var(--jp-ui-font-family,system-ui,sans-serif);padding:2px 8px";
      el.prepend(problem);
    }
    problem.textContent = `\u2716 ${words}`;
  };
  const update = () => {
    show(model.get("status"));
    tell(model, { kind: "ack", push: model.get("push") });
  };
  model.on("change:status", update);
  model.on("change:trouble", trouble);
  trouble();
  update();
  tell(model, { kind: "view" });
  return () => {
    model.off("change:status", update);
    model.off("change:trouble", trouble);
    tell(model, { kind: "gone" });
  };
}
