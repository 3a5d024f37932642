// What the small widgets share; esm.py puts it in front of each of them, behind wire.js. All texts are set as textContent, so
// that a name with tags in it is shown and not obeyed.

function make(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  if (tag === "button") keepPress(element);
  return element;
}

// A press on a button counts although the page moves between down and up, as it does when an answer of the kernel changes what
// stands above: the pointer belongs to the button until it is released, or has been moved away from where it went down.
const PRESS_MOVES = 12; // pixels
function keepPress(button) {
  let at = [0, 0];
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    at = [event.clientX, event.clientY];
    button.setPointerCapture(event.pointerId);
  });
  button.addEventListener("pointermove", (event) => {
    if (!button.hasPointerCapture(event.pointerId)) return;
    const moved = Math.hypot(event.clientX - at[0], event.clientY - at[1]);
    if (moved > PRESS_MOVES && !within(button, event)) button.releasePointerCapture(event.pointerId);
  });
}
function within(element, event) {
  const box = element.getBoundingClientRect();
  return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
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

// A place whose content a style sheet may put behind a button, as beside the title of a narrow area: the button opens it, and
// it closes when the focus leaves both. On Escape the focus goes back to the button.
function makeFold(label, tooltip, parent, foldClass, restClass) {
  const fold = makeButton(label, tooltip, parent, () => open(fold.ariaExpanded !== "true"));
  fold.classList.add(foldClass);
  const rest = make("span", restClass, parent);
  rest.tabIndex = -1; // a press beside what is in it takes the focus no farther
  rest.style.outline = "none";
  const open = (on) => {
    fold.ariaExpanded = String(on);
    rest.dataset.open = String(on);
  };
  open(false);
  const held = (element) => element === fold || rest.contains(element);
  for (const part of [fold, rest]) {
    part.addEventListener("focusout", (event) => held(event.relatedTarget) || open(false));
    part.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || rest.dataset.open !== "true") return;
      taken(event);
      open(false);
      fold.focus();
    });
  }
  return { fold, rest, open };
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
  parts.push(event.key.length === 1 ? event.key.toUpperCase() : event.key);
  return parts.join("+");
}

// Gives an element a role and the name that is spoken; gives the element.
function aria(element, role, label) {
  if (role) element.setAttribute("role", role);
  if (label) element.setAttribute("aria-label", label);
  return element;
}

// A sign beside words that say the same: it is seen and not spoken.
function makeMark(text, parent, className = "workbench-flow-mark") {
  const mark = make("span", className, parent, text);
  mark.setAttribute("aria-hidden", "true");
  return mark;
}

// A field of text that is spoken as its hint.
function makeField(hint, size, parent, name) {
  const input = make("input", "", parent);
  if (name) input.name = name;
  input.size = size;
  input.placeholder = hint;
  return aria(input, "", hint);
}

// Names that a field offers; gives the function that exchanges them.
let lists = 0;
function suggest(input) {
  const list = make("datalist");
  input.after(list);
  list.id = `workbench-names-${(lists += 1)}-${Math.random().toString(36).slice(2)}`;
  input.setAttribute("list", list.id);
  let shown = "";
  return (names) => {
    const now = JSON.stringify(names);
    if (now === shown) return;
    shown = now;
    list.replaceChildren();
    for (const name of names) make("option", "", list).value = name;
  };
}

// The element that has the focus, as those around `element` see it: in a shadow root (marimo) it is one inside.
const focusAround = (element) => element.getRootNode().activeElement ?? null;

// Draws the inside of an element anew. Who is on a button or in a field there stays on the one of the same spoken name, with
// what has been typed: what a field shows of itself is its defaultValue.
function redraw(box, draw) {
  const at = box.contains(focusAround(box)) ? focusAround(box) : null;
  const typed = at?.value !== at?.defaultValue ? [at.value, at.selectionStart, at.selectionEnd] : null;
  box.replaceChildren();
  draw();
  const label = at?.getAttribute("aria-label");
  const again = label && [...box.querySelectorAll(at.tagName)].find((e) => e.getAttribute("aria-label") === label);
  if (!again) return;
  again.focus();
  if (at.type !== "text" || !typed) return;
  again.value = typed[0];
  again.setSelectionRange(typed[1], typed[2]);
}

// What went wrong, in a place for it; nothing for no words.
const complain = (place, words) => {
  const text = words ? `\u2716 ${words}` : "";
  if (place.textContent !== text) place.textContent = text;
};

// Carried out here: neither the page around nor the browser gets this event.
function taken(event) {
  event.preventDefault();
  event.stopPropagation();
}

// JupyterLab's own shortcuts stay out of an element, and Enter in a field of it is the field's: the notebook around would take
// it to begin to edit a cell.
function ownKeys(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.tagName === "INPUT") event.stopPropagation();
  });
}

// What a person has chosen, kept in the browser: sizes, the size of the text, the tab of a value.
const STORE = "workbench:layout";
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {}; // a page without storage, or what somebody else wrote there
  }
}
function remember(changes) {
  try {
    localStorage.setItem(STORE, JSON.stringify({ ...remembered(), ...changes }));
    dispatchEvent(new Event(STORE)); // the extension of JupyterLab keeps it in the settings
  } catch {
    // full, or forbidden: it lasts as long as the page
  }
}

// Puts a line of controls beside the title of the area around, where there is one; a view that stands alone keeps it in its
// element. The area may get its title later, and takes what is marked then (layout.js). Gives the function that ends it.
function joinHead(home, line) {
  line.classList.add("workbench-headline");
  line.workbenchHome = home;
  let waiting = 0;
  const join = () => {
    if (!home.isConnected) {
      waiting = requestAnimationFrame(join);
      return;
    }
    const own = [...(home.closest(".workbench-panel")?.classList ?? [])].filter((name) => name.startsWith("workbench-is-"));
    line.classList.add(...own); // it is a part of this view, wherever it stands
    home.closest(".workbench-area")?.querySelector(":scope > .workbench-area-head > .workbench-area-slot")?.append(line);
  };
  waiting = requestAnimationFrame(join);
  return () => {
    cancelAnimationFrame(waiting);
    line.remove();
  };
}

// Calls back at an event of the model; gives the function that ends it.
function listen(model, event, callback) {
  model.on(event, callback);
  return () => model.off(event, callback);
}

// Calls back when JupyterLab's theme changes; gives the function that ends it.
function onTheme(callback) {
  const observer = new MutationObserver(callback);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  return () => observer.disconnect();
}
const isDark = () => document.body.dataset.jpThemeLight === "false";

// Calls `show` now and at each new status, acknowledges it (unless `show` returns false), and tells the kernel that a view is
// there; what the kernel says went wrong stands in front of the view. Gives the function that ends all of it, and what is in
// `more`.
function follow(model, el, show, ...more) {
  return attend(model, el, show, (message) => tell(model, message), more);
}

// The same for a view whose kernel waits for no answers. Each message would make JupyterLab show a kernel at work as idle: it
// is taken on a subshell, which tells that it is idle again, and JupyterLab knows one state of a kernel only.
function followSilently(model, el, show) {
  return attend(model, el, show, () => {}, []);
}

function attend(model, el, show, say, more) {
  let problem = null;
  const trouble = () => {
    const words = model.get("trouble");
    if (!words) {
      problem?.remove();
      problem = null;
      return;
    }
    if (!problem) {
      problem = aria(make("div", "workbench-trouble"), "alert");
      problem.style.cssText = "font:13px var(--jp-ui-font-family,system-ui,sans-serif);padding:2px 8px";
      make("b", "", problem, "This view could not be drawn. ");
      makeButton("Try again", "Draw this view again", problem, () => tell(model, { kind: "again" }));
      const folded = make("details", "", problem);
      make("summary", "", folded, "Details");
      make("div", "workbench-bad", folded);
      el.prepend(problem);
    }
    problem.querySelector(".workbench-bad").textContent = words;
  };
  const update = () => {
    if (show(model.get("status")) !== false) say({ kind: "ack", push: model.get("push") });
  };
  const ends = [listen(model, "change:status", update), listen(model, "change:trouble", trouble), ...more];
  trouble();
  update();
  say({ kind: "view" });
  return () => {
    for (const end of ends) end();
    say({ kind: "gone" });
    el.replaceChildren(); // who holds the element of a closed view holds nothing else
  };
}
