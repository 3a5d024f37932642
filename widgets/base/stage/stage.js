// Draws a widget with all that is in it where the page around knows widgets of anywidget alone: boxes, words and fields of
// ipywidgets here, all others by the page itself (`host`), in the same shadow root, so that scripts and styles find each other.

const MODEL = /^(IPY_MODEL_|anywidget:)/;
const reference = (name) => `anywidget:${name.replace(MODEL, "")}`;

// The classes that the kernel gives to an element; the scripts of a panel add others, which stay.
function classes(model, node) {
  let known = [];
  const set = () => {
    const now = (model.get("_dom_classes") ?? []).filter(Boolean);
    node.classList.remove(...known.filter((name) => !now.includes(name)));
    node.classList.add(...now);
    known = now;
  };
  model.on("change:_dom_classes", set);
  set();
}

function always(model, names, set) {
  for (const name of names) model.on(`change:${name}`, set);
  set();
}

// Children keep their elements while they are children: a part that is drawn anew loses what people did in it.
function box(host, model, node, signal) {
  node.classList.add("widget-box");
  if (model.get("_model_name") === "VBoxModel") node.classList.add("widget-vbox");
  const parts = new Map();
  always(model, ["children"], () => {
    const names = model.get("children") ?? [];
    for (const [name, { element, leaves }] of parts) {
      if (names.includes(name)) continue;
      leaves.abort();
      element.remove();
      parts.delete(name);
    }
    let before = null;
    for (const name of names) {
      if (!parts.has(name)) {
        const element = make("div", "jupyter-widgets");
        const leaves = new AbortController();
        signal.addEventListener("abort", () => leaves.abort(), { once: true });
        if (before) before.after(element);
        else node.prepend(element);
        parts.set(name, { element, leaves });
        draw(host, name, element, leaves.signal);
      }
      before = parts.get(name).element;
    }
  });
}

function words(model, node) {
  node.classList.add("widget-html");
  always(model, ["value"], () => (node.innerHTML = model.get("value")));
}

function button(model, node, pressed) {
  const made = makeButton("", "", node, pressed);
  made.classList.add("jupyter-button");
  always(model, ["description", "tooltip", "disabled"], () => {
    made.textContent = model.get("description");
    made.title = model.get("tooltip") ?? "";
    made.setAttribute("aria-label", made.title || made.textContent);
    made.disabled = Boolean(model.get("disabled"));
  });
  return made;
}

function toggle(model, node) {
  const made = button(model, node, () => keep(model, "value", !model.get("value")));
  always(model, ["value"], () => made.setAttribute("aria-pressed", String(model.get("value"))));
}

function field(model, node, kind, read) {
  node.classList.add("widget-inline");
  const label = make("label", "", node, model.get("description"));
  const made = make(kind, "", label);
  if (kind === "input") made.placeholder = model.get("placeholder") ?? "";
  aria(made, "", model.get("tooltip") || model.get("description") || model.get("placeholder"));
  made.addEventListener("change", () => keep(model, ...read(made)));
  return made;
}

function text(model, node) {
  const number = model.get("_model_name") === "FloatTextModel";
  const made = field(model, node, "input", ({ value }) => ["value", number ? Number(value) || 0 : value]);
  always(model, ["value"], () => (made.value = String(model.get("value"))));
}

function choice(model, node) {
  const made = field(model, node, "select", ({ selectedIndex }) => ["index", selectedIndex]);
  always(model, ["_options_labels", "index"], () => {
    made.replaceChildren(...(model.get("_options_labels") ?? []).map((label) => make("option", "", null, label)));
    made.selectedIndex = model.get("index") ?? -1;
  });
}

const DRAWN = {
  HTMLModel: words,
  ButtonModel: (model, node) => button(model, node, () => tell(model, { event: "click" })),
  ToggleButtonModel: toggle,
  TextModel: text,
  FloatTextModel: text,
  DropdownModel: choice,
};

async function draw(host, name, node, signal) {
  const model = await host.getModel(reference(name));
  if (signal.aborted) return;
  classes(model, node);
  const kind = model.get("_model_name");
  if (/Box(Model)$/.test(kind)) box(host, model, node, signal);
  else if (DRAWN[kind]) DRAWN[kind](model, node);
  else await (await host.getWidget(reference(name))).render({ el: node, signal });
}

export default {
  async render({ model, el, host, signal }) {
    if (!host?.getWidget) {
      el.textContent = "This page cannot draw a widget inside another one; marimo 0.25 or later can.";
      return;
    }
    el.classList.add("workbench-stage");
    await draw(host, model.get("_shown"), make("div", "jupyter-widgets", el), signal);
  },
};
