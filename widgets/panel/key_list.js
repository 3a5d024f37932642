// The list of keys: each one can be changed by a click on it and the new keys.
function keyList(model, parent, opener) {
  const box = aria(make("div", "workbench-keys", parent), "dialog", "Keys");
  box.hidden = true;
  make("p", "", box, "Keys work while the panel has the focus. Click one to change it, then press the new keys.");
  const table = make("table", "", box);
  let changing = null;

  function fill() {
    table.replaceChildren();
    const chords = Object.fromEntries(Object.entries(model.get("keymap")).map(([key, name]) => [name, key]));
    for (const command of model.get("commands")) {
      const row = make("tr", "", table);
      const cell = make("td", "", row);
      const asked = changing === command.name;
      const text = asked ? "press the new keys" : (chords[command.name] ?? "none");
      const tip = asked ? `Press the new keys of ${command.label}` : `Change the keys of ${command.label}, now ${text}`;
      const button = makeButton(text, tip, cell, () => {
        changing = command.name;
        fill();
      });
      button.dataset.rebind = command.name;
      make("td", "", row, command.label);
      make("td", "", row, command.does);
      if (asked) button.focus();
    }
  }
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      if (changing) {
        changing = null;
        fill();
      } else list.toggle();
      return;
    }
    if (!changing || /^(Shift|Control|Alt|Meta)$/.test(event.key)) return;
    taken(event);
    const keymap = Object.fromEntries(Object.entries(model.get("keymap")).filter(([, name]) => name !== changing));
    const name = changing;
    keymap[chord(event)] = name;
    changing = null;
    keep(model, "keymap", keymap);
    fill();
    table.querySelector(`[data-rebind=${name}]`)?.focus();
  });

  const list = {
    waits: () => changing !== null,
    toggle() {
      box.hidden = !box.hidden;
      opener.setAttribute("aria-expanded", String(!box.hidden));
      changing = null;
      if (box.hidden) opener.focus();
      else {
        fill();
        table.querySelector("button")?.focus();
      }
    },
    leave: listen(model, "change:keymap", fill),
  };
  return list;
}
