// A line of controls above a figure, made of the browser's own elements, so that keyboard and screen readers know them.
// Names from a graph are set as text.

function choice(control, box, act) {
  const group = aria(make("div", "workbench-choice", box), "radiogroup", control.label);
  const buttons = control.options.map((option) => {
    const button = make("button", "", group, option.text);
    button.type = "button";
    button.title = option.tip ?? option.text;
    button.dataset.value = option.value;
    button.setAttribute("role", "radio");
    button.addEventListener("click", () => act(option.value));
    return button;
  });
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    taken(event);
    const at = buttons.indexOf(focusAround(box));
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
  return (now) => {
    for (const button of buttons) {
      const on = button.dataset.value === String(now.value);
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
  };
}

function press(control, box, act) {
  const group = aria(make("div", "workbench-choice", box), "group", control.label);
  for (const option of control.options) makeButton(option.text, option.tip, group, () => act(option.value));
  return () => {};
}

function select(control, box, act) {
  const label = make("label", "workbench-field", box);
  make("span", "", label, control.label);
  const list = make("select", "", label);
  list.title = control.tip ?? control.label;
  for (const option of control.options) {
    const item = make("option", "", list, option.text);
    item.value = option.value;
  }
  list.addEventListener("change", () => act(list.value));
  return (now) => {
    if (list.value !== now.value) list.value = now.value;
  };
}

function checks(control, box, act) {
  const fold = make("details", "workbench-checks", box);
  const head = make("summary", "", fold);
  head.title = control.tip ?? control.label;
  const list = aria(make("div", "workbench-list", fold), "group", control.label);
  const boxes = control.options.map((option) => {
    const label = make("label", "", list);
    const input = make("input", "", label);
    input.type = "checkbox";
    input.value = option.value;
    make("span", "", label, option.text);
    label.title = option.tip ?? option.text;
    input.addEventListener("change", () => act(boxes.filter((b) => b.checked).map((b) => b.value)));
    return input;
  });
  fold.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !fold.open) return;
    event.stopPropagation();
    fold.open = false;
    head.focus();
  });
  return (now) => {
    for (const input of boxes) input.checked = now.value.includes(input.value);
    head.textContent = `${control.label} (${now.value.length} of ${boxes.length})`;
  };
}

function toggle(control, box, act) {
  const label = make("label", "workbench-field", box);
  const input = make("input", "", label);
  input.type = "checkbox";
  make("span", "", label, control.label);
  label.title = control.tip ?? control.label;
  input.addEventListener("change", () => act(input.checked));
  return (now) => {
    input.checked = Boolean(now.value);
  };
}

function field(control, box, act) {
  const label = make("label", "workbench-field", box);
  make("span", "", label, control.label);
  const input = make("input", "", label);
  input.type = "text";
  input.size = control.size ?? 8;
  input.placeholder = control.placeholder ?? "";
  input.title = control.tip ?? control.label;
  input.addEventListener("change", () => act(input.value));
  return (now) => {
    if (focusAround(input) !== input) input.value = now.value ?? "";
  };
}

const MAKERS = { choice, press, select, checks, switch: toggle, text: field };

export default {
  render({ model, el }) {
    const line = make("div", "workbench-controls", el);
    const joined = model.get("status").headline ? joinHead(el, line) : () => {};
    // beside the title of a narrow area these are behind a button
    const { fold, rest: box, open: unfold } = makeFold("View \u25be", "What this view shows, and how", line, "workbench-controls-fold", "workbench-controls-rest");
    aria(box, "group");
    // keys typed here are no commands of the notebook
    line.addEventListener("keydown", (event) => {
      if (["INPUT", "SELECT", "SUMMARY", "BUTTON"].includes(event.target.tagName) && !/^F\d+$/.test(event.key)) {
        event.stopPropagation();
      }
    });
    let made = "";
    let updates = [];
    let error;
    let focused;
    return follow(model, el, (now) => {
      const controls = (now.controls ?? []).filter((c) => c.shown !== false);
      box.setAttribute("aria-label", now.label ?? "Settings");
      fold.hidden = !controls.length;
      const shape = JSON.stringify(controls.map((c) => [c.name, c.type, c.label, c.options]));
      if (shape !== made) {
        made = shape;
        const unfolded = box.dataset.open === "true";
        const open = [...box.querySelectorAll("details[open]")].map((d) => d.dataset.name);
        focused = box.contains(focusAround(box))
          ? focusAround(box).closest("[data-name]")?.dataset.name
          : undefined;
        box.replaceChildren();
        updates = controls.map((control) => {
          const update = MAKERS[control.type](control, box, (value) =>
            tell(model, { kind: "act", name: control.name, value }),
          );
          const element = box.lastElementChild;
          element.dataset.name = control.name;
          if (open.includes(control.name)) element.open = true;
          return update;
        });
        if (unfolded) unfold(true); // what had the focus is gone, and closed it
        error = make("span", "workbench-control-error", box);
        error.setAttribute("role", "alert");
      }
      controls.forEach((control, k) => updates[k](control));
      if (focused) {
        const place = [...box.children].find((element) => element.dataset.name === focused);
        (place?.querySelector('[aria-checked="true"]') ?? place?.querySelector("select, input, summary"))?.focus();
        focused = undefined;
      }
      error.textContent = now.error ? `\u26a0 ${now.error}` : "";
    }, joined);
  },
};
