// Your actions as lines of Python: to read, to select and to copy.

export default {
  render({ model, el }) {
    const box = make("div", "workbench-flow", el);
    const bar = make("div", "workbench-flow-bar", box);
    const told = aria(make("span", "workbench-flow-line", bar), "status");
    let again;
    const copy = makeButton("Copy", "Copy all lines", bar, async () => {
      const lines = (model.get("status").lines ?? []).join("\n");
      try {
        await navigator.clipboard.writeText(lines);
      } catch {
        getSelection().selectAllChildren(code); // no permission: the old way
        document.execCommand("copy");
      }
      copy.textContent = "Copied";
      clearTimeout(again);
      again = setTimeout(() => (copy.textContent = "Copy"), 1500);
    });
    const clear = makeButton("Clear", "Clear these lines", bar, () => tell(model, { kind: "forget" }));
    const code = make("pre", "workbench-code", box);
    code.tabIndex = 0;
    code.setAttribute("aria-label", "Lines of Python");
    const show = (status) => {
      const lines = status.lines ?? [];
      const atEnd = code.scrollTop + code.clientHeight >= code.scrollHeight - 4;
      code.textContent = lines.join("\n");
      if (atEnd) code.scrollTop = code.scrollHeight;
      told.textContent = lines.length ? `${lines.length} line${lines.length === 1 ? "" : "s"}` : "No actions listed.";
      copy.disabled = clear.disabled = !lines.length;
    };
    return follow(model, el, show, () => clearTimeout(again));
  },
};
