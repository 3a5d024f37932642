// Two files: a page that works offline, and a finding that can be opened again. The kernel writes them; a link brings
// them to this side.

const TEXTS = {
  page: ["Write the page", "One HTML file with all views and the time slider, which works offline"],
  finding: ["Save the finding", "The recorded run with its position, breakpoints and selection: wb.open_finding opens it"],
};

export default {
  render({ model, el }) {
    const box = make("div", "workbench-flow", el);
    const rows = {};
    for (const what of Object.keys(TEXTS)) {
      const row = make("div", "workbench-flow-bar", box);
      const name = make("input", "", row);
      name.type = "text";
      name.size = 24;
      name.setAttribute("aria-label", `File name of the ${what}`);
      const suffix = make("span", "", row);
      const button = makeButton(TEXTS[what][0], TEXTS[what][1], row, () =>
        model.send({ kind: "write", what, name: name.value }),
      );
      button.dataset.write = what;
      make("span", "workbench-flow-dim", row, TEXTS[what][1]);
      const done = make("div", "", box);
      done.setAttribute("role", "status");
      rows[what] = { name, suffix, button, done };
    }
    const error = make("div", "workbench-flow-error", box);
    error.setAttribute("role", "alert");

    model.on("msg:custom", (message, buffers) => {
      if (message.kind !== "file") return;
      const link = make("a", "", box);
      link.href = URL.createObjectURL(new Blob([buffers[0]]));
      link.download = message.name;
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    return follow(model, el, (status) => {
      for (const [what, row] of Object.entries(rows)) {
        if (!row.name.value) row.name.value = status.name;
        row.suffix.textContent = status.suffix[what];
        row.button.disabled = Boolean(status.busy);
        row.button.textContent = status.busy === what ? "Writing \u2026" : TEXTS[what][0];
        const file = status.done[what];
        row.done.replaceChildren();
        if (!file) continue;
        make("span", "", row.done, `\u2714 ${file.path} (${(file.bytes / 1e6).toFixed(1)} MB) `).dataset.file = file.path;
        makeButton("Download", `Bring ${file.path} to this side`, row.done, () => model.send({ kind: "download", what }));
      }
      error.textContent = status.error ? `\u2716 ${status.error}` : "";
    });
  },
};
