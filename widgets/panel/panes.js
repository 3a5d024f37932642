// The tabs of the tools. A tool's view is made by the kernel when its tab is chosen for the first time, and closed by the tab's
// cross. It also clears up behind tools and panels that are closed, whether it is on the page or not.

// JupyterLab holds every comm for as long as it is connected to the kernel, and with it a closed model and the model's last
// view with all that was in it. A model that is about to be closed lets go of its comm.
const nothing = () => {}; // outside: a function made inside would hold the model
function release(manager, ids) {
  for (const id of ids.filter((one) => manager.has_model(one))) {
    manager.get_model(id).then((closing) => {
      closing.once("destroy", () => {
        closing.comm?.on_close(nothing);
        closing.comm?.on_msg(nothing);
      });
    });
  }
}

// Tells the panel's layout.
function shout(el, name, detail) {
  el.closest(".workbench-debugger")?.dispatchEvent(new CustomEvent(name, { detail }));
}

export default {
  hear(model) {
    listen(model, "msg:custom", (message) => {
      if (message.kind === "closing") release(model.widget_manager, message.models);
    });
  },
  render({ model, el }) {
    const box = aria(make("div", "workbench-tabs-row", el), "tablist", "Tools");
    el.classList.add("workbench-tabs");
    const more = make("details", "workbench-more", el);
    const summary = make("summary", "", more, "More \u25be");
    summary.title = "More tabs";
    const menu = make("div", "workbench-menu", more);
    makeMaximise("tools", "the tools", el, () => shout(el, "workbench-maximise", "tools"));
    const tabs = new Map();
    let panes = [];
    let chosen = model.get("status").selected;
    const root = () => el.closest(".workbench-debugger");

    function choose(key) {
      const pane = panes.find((one) => one.key === key);
      more.open = false;
      if (pane && !pane.open) {
        tabs.get(key).dataset.waits = "true";
        tell(model, { kind: "pane", key });
      } else shout(el, "workbench-tool", key);
    }
    function tab(key, label, tip) {
      const button = makeButton(label, tip, box, () => choose(key));
      aria(button, "tab");
      button.dataset.tab = key;
      tabs.set(key, button);
      return button;
    }
    for (const [key, label] of AREAS) tab(key, label, `Show: ${label}`);

    // Tabs that have no room go to the menu, the chosen one never.
    function place() {
      for (const button of tabs.values()) box.appendChild(button);
      menu.replaceChildren();
      more.hidden = false;
      const room = box.clientWidth;
      if (!room) return;
      const seen = [...tabs.values()].filter((button) => button.offsetWidth > 0);
      let used = seen.find((button) => button.ariaSelected === "true")?.offsetWidth ?? 0;
      let full = false;
      for (const button of seen) {
        if (button.ariaSelected === "true") continue;
        const width = button.offsetWidth;
        full ||= used + width > room;
        if (full) menu.appendChild(button);
        else used += width;
      }
      more.hidden = !menu.childElementCount;
    }
    const shown = () => {
      const tool = root()?.dataset.tool;
      for (const [key, button] of tabs) {
        button.setAttribute("aria-selected", String(key === tool));
        if (button.lastElementChild) button.lastElementChild.hidden = key !== tool;
      }
      place();
    };
    const show = (status) => {
      panes = status.panes ?? [];
      for (const pane of panes) {
        if (!tabs.has(pane.key)) tab(pane.key, "", pane.tip).dataset.pane = pane.key;
        const button = tabs.get(pane.key);
        delete button.dataset.waits;
        button.setAttribute("aria-expanded", String(pane.open));
        if (button.firstChild?.textContent !== pane.label || Boolean(button.lastElementChild) !== (pane.open && pane.closes)) {
          button.replaceChildren(document.createTextNode(pane.label));
          if (pane.open && pane.closes) {
            const cross = make("span", "workbench-cross", button, "\u00d7");
            cross.title = `Close ${pane.label}`;
            cross.addEventListener("click", (event) => {
              event.stopPropagation();
              tell(model, { kind: "pane", key: pane.key });
            });
          }
        }
      }
      const at = root();
      if (at) at.dataset.newest = status.selected;
      if (status.selected !== chosen) {
        chosen = status.selected;
        shout(el, "workbench-tool", chosen);
      }
      shown();
    };
    box.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const seen = [...box.querySelectorAll("button")].filter((button) => button.offsetWidth > 0);
      const at = seen.indexOf(focusAround(box));
      if (!way || at < 0) return;
      taken(event);
      seen[(at + way + seen.length) % seen.length].focus();
    });
    const resized = new ResizeObserver(place);
    resized.observe(el);
    let home = null;
    const waiting = setTimeout(() => {
      home = root();
      home?.addEventListener("workbench-shown", shown);
      if (home) home.dataset.newest = chosen;
      shout(el, "workbench-tool", "");
      shown();
    }, 0);
    return follow(model, el, show, () => {
      clearTimeout(waiting);
      resized.disconnect();
      home?.removeEventListener("workbench-shown", shown);
    });
  },
};
